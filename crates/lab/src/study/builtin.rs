//! The studies that come with the program, built in so that an installed one has them.

use super::Study;
use crate::Error;
use crate::error::closest;
use std::path::Path;

// STUDIES: &[(&str, &str)], path below `studies/` and text of every study, by path.
include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// All built-in studies, in order of paper and id.
pub fn builtin() -> Result<Vec<Study>, Error> {
    STUDIES.iter().map(|(path, text)| Study::parse(path, text)).collect()
}

/// The built-in study with this id or, failing that, the study in the file of this path.
pub fn find(id: &str) -> Result<Study, Error> {
    let all = builtin()?;
    if let Some(study) = all.iter().find(|s| s.id == id) {
        return Ok(study.clone());
    }
    let path = Path::new(id);
    if path.exists() {
        return Study::read(path);
    }
    let near = closest(id, all.iter().map(|s| s.id.as_str()));
    Err(Error::UnknownStudy { id: id.to_owned(), near })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_whole_and_named_after_its_file() {
        let studies = builtin().unwrap();
        assert!(studies.len() >= 4);
        for (study, (path, _)) in studies.iter().zip(STUDIES) {
            assert!(path.ends_with(&format!("/{}.toml", study.id)), "{path}: {}", study.id);
            for sweep in &study.sweeps {
                for quick in [false, true] {
                    study.grid(sweep, quick).unwrap();
                }
            }
        }
    }

    #[test]
    fn an_unknown_study_is_refused_with_the_nearest() {
        let message = find("wireless-downlod").unwrap_err().to_string();
        assert_eq!(message, "there is no study \"wireless-downlod\"; did you mean \"wireless-download\"?");
    }
}
