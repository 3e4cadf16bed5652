//! The command as it was given, for the record of what it keeps.

use std::ffi::OsString;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<String>> = OnceLock::new();

/// Keeps it, once.
pub fn keep(words: &[OsString]) {
    let _ = WORDS.set(words.iter().map(|word| word.to_string_lossy().into_owned()).collect());
}

/// It.
pub fn given() -> Vec<String> {
    WORDS.get().cloned().unwrap_or_default()
}
