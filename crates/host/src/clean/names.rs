//! What a folder has. Not for: what of it is a run's.

use std::fs;
use std::path::Path;

/// Names of what is in a folder, in order; none if there is no such folder.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}
