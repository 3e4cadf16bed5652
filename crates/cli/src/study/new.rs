//! A study's file to begin with.

use crate::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_engines::drive::Algorithms;
use truckee_lab::Error as LabError;
use truckee_lab::study::Study;

/// Runs as it is written, and has the habits that a study convinces by.
const SKELETON: &str = include_str!("skeleton.toml");

/// Writes the skeleton of a study to `wanted`: an id, for a file of its name in this folder, or a path that ends in
/// `ID.toml`. What is there stays.
pub fn new(out: &mut dyn Write, wanted: &str) -> Result<(), Error> {
    let path = match wanted.ends_with(".toml") {
        true => PathBuf::from(wanted),
        false => PathBuf::from(format!("{wanted}.toml")),
    };
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || id.starts_with('-') || !id.chars().all(is_plain) {
        return Err(Error::Usage(format!(
            "\"{id}\" is no id: lower-case letters, digits and dashes, such as my-study"
        )));
    }
    let text =
        SKELETON.replace("THIS-FILE", &path.display().to_string()).replace("\"NAME\"", &format!("\"{id}\""));
    // A skeleton that could not be read would be of no use to anybody.
    Study::parse(&id, &text, &Algorithms)?;
    write(&path, &text)?;
    Ok(writeln!(out, "{}\ntruckee study run {0} --quick", path.display())?)
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    let fail = |e| LabError::write(path, e);
    let mut file = std::fs::File::create_new(path).map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)
}
