//! A file that is made with the rights of who typed the command. Not for: whom that is (see [`truckee_host::user`]).

use crate::Error;
use nix::unistd::{Gid, Uid, geteuid, setfsgid, setfsuid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::fs::{File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use truckee_host::user::User;

/// See [`super::create_file`].
pub(super) fn create_file(path: &Path) -> Result<File, Error> {
    let user = User::invoking()?;
    let doing = || format!("write {}", path.display());
    std::thread::scope(|scope| {
        // On a thread of its own, which ends with the rights it has given up.
        let made = scope.spawn(|| {
            let (uid, gid) = user.numbers();
            if geteuid().is_root() {
                setfsgid(Gid::from_raw(gid));
                setfsuid(Uid::from_raw(uid));
            } else {
                let sets = rustix::thread::capabilities(None)?;
                set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..sets })?;
            }
            // A link is followed only if it is the user's own or root's: see `truckee_lab::disk`, which this is to agree with.
            // Where there is none, none that is laid meanwhile is followed.
            let link = std::fs::symlink_metadata(path).ok().filter(Metadata::is_symlink);
            let followed = link.is_some_and(|link| link.uid() == 0 || link.uid() == uid);
            let flags = if followed { 0 } else { libc::O_NOFOLLOW };
            OpenOptions::new().write(true).create(true).truncate(true).custom_flags(flags).open(path)
        });
        made.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
    .map_err(|e| Error::system(doing(), e))
}
