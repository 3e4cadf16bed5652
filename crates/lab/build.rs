//! Lists the studies, so that they are built in. Those of the workspace: `studies` here is a link to them, which a package
//! of this crate has as a folder.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("studies");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut list = String::from("const STUDIES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        writeln!(list, "    ({name:?}, include_str!({:?})),", file.canonicalize()?)?;
    }
    list.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("studies.rs"), list)?;
    Ok(())
}

/// All `.toml` files below `dir`; new and vanished ones build anew.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", dir.display());
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
