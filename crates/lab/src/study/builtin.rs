//! The studies that come with the program, built in so that an installed one has them.

use super::{Drives, Study};
use crate::Error;
use std::path::Path;
use truckee_measure::closest;

// STUDIES: &[(&str, &str)], path below `studies/` and text of every study, by path.
include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// All built-in studies, in order of paper and id.
pub fn builtin(drives: &dyn Drives) -> Result<Vec<Study>, Error> {
    STUDIES.iter().map(|(path, text)| Study::parse(path, text, drives)).collect()
}

/// The built-in study with this id or, failing that, the study in the file of this path.
pub fn find(id: &str, drives: &dyn Drives) -> Result<Study, Error> {
    let all = builtin(drives)?;
    if let Some(study) = all.iter().find(|s| s.id == id) {
        return Ok(study.clone());
    }
    let path = Path::new(id);
    if path.exists() {
        return Study::read(path, drives);
    }
    let near = closest(id, all.iter().map(|s| s.id.as_str()));
    Err(Error::UnknownStudy { id: id.to_owned(), near })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_named_after_its_file() {
        for (path, text) in STUDIES {
            let table: toml::Table = text.parse().unwrap();
            let id = table["id"].as_str().unwrap();
            assert!(path.ends_with(&format!("/{id}.toml")), "{path}: {id}");
        }
    }
}
