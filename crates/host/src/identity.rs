//! How a run is told: its four hex digits, the file that lists it, and the names of what carries the digits. Not for: being
//! a run (see [`crate::session`]).

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the runs of this machine are listed.
pub const FOLDER: &str = "/run/truckee";

/// The file of a run.
pub fn path(id: &str) -> PathBuf {
    Path::new(FOLDER).join(id)
}

/// The lock of a run's file, if its process is gone; `None` while it lives, or if there is no such file any more.
pub fn lock(file: File, id: &str) -> Option<Flock<File>> {
    let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    // It may have been removed, or replaced, between being opened and being locked.
    let (ours, there) = (file.metadata().ok()?, fs::metadata(path(id)).ok()?);
    (ours.ino() == there.ino()).then_some(file)
}

/// The digits in a namespace's name, if it is a name that a run could have given.
pub fn id_of_namespace(name: &str) -> Option<&str> {
    let (id, node) = name.strip_prefix("truckee-")?.split_once('-')?;
    (is_id(id) && !node.is_empty()).then_some(id)
}

/// The digits in a congestion control's name, if it is a name that a run could have given.
pub fn id_of_control(name: &str) -> Option<&str> {
    let (id, k) = name.strip_prefix("tk")?.split_once('_')?;
    (is_id(id) && !k.is_empty() && k.bytes().all(|b| b.is_ascii_digit())).then_some(id)
}

/// Whether this is a run's identity: four hex digits, in lower case.
pub fn is_id(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
