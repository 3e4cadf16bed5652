//! Rights: none is in effect but around what needs it, and those that are no longer needed are given up. A thread has its
//! own, so each raises, lowers and gives up its own.
//!
//! A file with capabilities may be run by who has none: whatever such a user names is to be read and written with that
//! user's rights. So [`lower`] takes all capabilities out of effect when the program starts, and what the live leg does
//! raises them for as long as it does it ([`Raised`]): those for networks, namespaces and BPF, with which no file can be
//! opened that could not be without; and, around what is done in the system's own folders alone, that which overrides
//! the rights of files. For root nothing changes: its rights are those of the user.
//!
//! Not for: what a program that is run may do, which is its user's (see `truckee exec`).

#[cfg(live)]
mod shed;

#[cfg(live)]
pub use shed::{Kept, shed};

use crate::Error;
use nix::unistd::{Gid, Uid, geteuid, getuid, setfsgid, setfsuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs,
};
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// With these no file can be opened that could not be opened without.
const LIVE: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_ADMIN)
    .union(CapabilitySet::SYS_NICE)
    .union(CapabilitySet::SYS_RESOURCE)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON);

/// Takes every capability out of effect, and away from programs that are run, until something raises it. To be called
/// before any thread is started.
///
/// # Errors
/// It cannot be done; or the program's file is set-user-ID root, whose rights over files cannot be told from the user's.
pub fn lower() -> Result<(), Error> {
    if geteuid().is_root() {
        if getuid().is_root() {
            return Ok(());
        }
        return Err(Error::Refused {
            place: "the program's file".into(),
            why: "it is set-user-ID root, and would open whatever its user names as root; use sudo, or capabilities (setcap)".into(),
        });
    }
    let doing = |e: io::Error| Error::system("take rights out of effect", e);
    let sets = capabilities(None).map_err(|e| doing(e.into()))?;
    // A kernel before 4.3 has no ambient ones.
    let _ = clear_ambient_capability_set();
    let lowered =
        CapabilitySets { effective: CapabilitySet::empty(), inheritable: CapabilitySet::empty(), ..sets };
    set_capabilities(None, lowered).map_err(|e| doing(e.into()))
}

/// Capabilities that are in effect in this thread, and in those that it starts meanwhile, until this is dropped. Those
/// that the process does not have are not.
#[must_use]
pub struct Raised {
    before: CapabilitySet,
    /// It is of the thread that made it.
    _here: PhantomData<*const ()>,
}

impl Raised {
    /// What the live leg needs, but for the system's own folders.
    pub fn live() -> Self {
        Self::new(LIVE)
    }

    /// Also that which overrides the rights of files. Never while anything is opened that a user could have named.
    #[cfg(live)]
    pub fn folders() -> Self {
        Self::new(LIVE | CapabilitySet::DAC_OVERRIDE)
    }

    fn new(wanted: CapabilitySet) -> Self {
        let sets = capabilities(None);
        let before = sets.as_ref().map_or(CapabilitySet::empty(), |sets| sets.effective);
        if let Ok(sets) = sets {
            put(sets, sets.effective | (wanted & sets.permitted));
        }
        Self { before, _here: PhantomData }
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        // What was given up meanwhile is gone.
        if let Ok(sets) = capabilities(None) {
            put(sets, self.before & sets.permitted);
        }
    }
}

/// Has these in effect. What cannot be raised is missing where it is needed, which says so.
fn put(sets: CapabilitySets, effective: CapabilitySet) {
    if effective != sets.effective {
        let _ = set_capabilities(None, CapabilitySets { effective, ..sets });
    }
}

/// Does what is done in the system's own folders, such as /run/truckee or that of the control groups, where this user may
/// have no right to; see [`Raised::folders`].
#[cfg(live)]
pub fn in_folders<T>(work: impl FnOnce() -> T) -> T {
    let _raised = Raised::folders();
    work()
}

/// From now on this thread opens and makes files as the one whose folder this is, or is going to be: who owns it, or the
/// nearest above it that is there. For root alone, who without its capabilities is a stranger in another user's folder;
/// capabilities for networks stay.
///
/// # Errors
/// Nothing of that path can be looked at.
pub fn work_as_owner_of(folder: &Path) -> Result<(), Error> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let whole = Path::new(".").join(folder);
    let nearest = whole.ancestors().find_map(|path| match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        looked => Some(looked),
    });
    let there = match nearest {
        Some(looked) => looked.map_err(|e| Error::system(format!("look at {}", folder.display()), e))?,
        None => return Ok(()),
    };
    if there.uid() != 0 {
        setfsgid(Gid::from_raw(there.gid()));
        setfsuid(Uid::from_raw(there.uid()));
    }
    Ok(())
}

/// This thread keeps these of its capabilities, and gets none back.
pub fn keep_only(kept: CapabilitySet) -> Result<(), Error> {
    let doing = |e: io::Error| Error::system("give up rights", e);
    set_no_new_privs(true).map_err(|e| doing(e.into()))?;
    // A kernel before 4.3 has no ambient ones.
    let _ = clear_ambient_capability_set();
    // Those that it has: one who is not root may do with less.
    let kept = kept & capabilities(None).map_err(|e| doing(e.into()))?.permitted;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(|e| doing(e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective() -> CapabilitySet {
        capabilities(None).unwrap().effective
    }

    #[test]
    fn what_is_raised_is_in_effect_here_and_as_long_as_it_is_needed() {
        let _ = std::thread::spawn(|| {
            let sets = capabilities(None).unwrap();
            set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..sets }).unwrap();
            let have = sets.permitted;
            {
                let _raised = Raised::live();
                assert_eq!(effective(), LIVE & have);
                assert!(!effective().contains(CapabilitySet::DAC_OVERRIDE));
                #[cfg(live)]
                assert_eq!(in_folders(effective), (LIVE | CapabilitySet::DAC_OVERRIDE) & have);
                assert_eq!(effective(), LIVE & have, "lowered again");
                std::thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(effective(), LIVE & have));
                });
                keep_only(CapabilitySet::NET_ADMIN).unwrap();
                let _again = Raised::live();
                assert_eq!(
                    effective(),
                    CapabilitySet::NET_ADMIN & have,
                    "what was given up does not come back"
                );
            }
            assert!(effective().is_empty());
        })
        .join()
        .map_err(|panic| std::panic::resume_unwind(panic));
    }

    mod live {
        use super::*;

        #[test]
        fn in_another_users_folder_root_works_as_that_user_also_without_its_rights() {
            if !truckee_testing::root() {
                return;
            }
            const NOBODY: u32 = 65_534;
            let dir = tempfile::tempdir().unwrap();
            std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            let theirs = dir.path().join("theirs");
            std::fs::create_dir(&theirs).unwrap();
            std::os::unix::fs::chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
            let work = || {
                work_as_owner_of(&theirs.join("campaign/of today")).unwrap();
                keep_only(CapabilitySet::NET_ADMIN).unwrap();
                std::fs::write(theirs.join("summary"), "all").unwrap();
            };
            std::thread::scope(|scope| scope.spawn(work).join()).unwrap();
            assert_eq!(std::fs::metadata(theirs.join("summary")).unwrap().uid(), NOBODY);
            // Other threads are root's as before, and so is this one in a folder of root's.
            std::fs::write(dir.path().join("ours"), "").unwrap();
            work_as_owner_of(dir.path()).unwrap();
            std::fs::write(theirs.join("ours"), "").unwrap();
            assert_eq!(std::fs::metadata(theirs.join("ours")).unwrap().uid(), 0);
        }
    }
}
