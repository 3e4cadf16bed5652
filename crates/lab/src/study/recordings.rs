//! Recordings that a study needs and the program does not bring, since they may not be handed on. They are in the folder
//! `traces` of what `TRUCKEE_DATA` names. Not for: files that come with a scenario, which stand beside it.

use std::path::{Path, PathBuf};

/// The environment's name for where other people's recordings are.
const DATA: &str = "TRUCKEE_DATA";

/// Where recordings are looked for, if the environment says.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os(DATA).map(|data| Path::new(&data).join("traces"))
}

/// Why a study that needs these cannot be run here; nothing where they are all there.
pub(super) fn missing(names: &[String]) -> Option<String> {
    lacking(names, folder().as_deref())
}

fn lacking(names: &[String], folder: Option<&Path>) -> Option<String> {
    let first = names.iter().find(|name| !folder.is_some_and(|folder| folder.join(name).is_file()))?;
    Some(match folder {
        Some(folder) => format!("it needs the recording {first}, and {} has none", folder.display()),
        None => {
            format!("it needs the recording {first}, and {DATA} names no folder that could have it in traces")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_where_it_was_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("here.down"), "1\n").unwrap();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(lacking(&[], None), None);
        assert_eq!(lacking(&names(&["here.down"]), Some(dir.path())), None);
        let why = lacking(&names(&["here.down", "there.up"]), Some(dir.path())).unwrap();
        assert!(why.contains("the recording there.up, and ") && why.ends_with(" has none"), "{why}");
        let why = lacking(&names(&["here.down"]), None).unwrap();
        assert!(why.contains("here.down") && why.contains("TRUCKEE_DATA"), "{why}");
    }
}
