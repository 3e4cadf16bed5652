//! What a thread that shapes gives up: capabilities, and nearly all of the file system. Not for: those of a program that is
//! run, which are its user's (see `truckee exec`).

use super::keep_only;
use crate::Error;
use crate::identity::FOLDER;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus,
};
use rustix::thread::{CapabilitySet, set_no_new_privs};
use std::io;
use std::path::Path;

/// What of the file system's rights is known here; an older kernel takes what it knows.
const KNOWN: ABI = ABI::V5;

/// The capabilities that a thread keeps. None is for shaping: to send held ACKs, to look into the BPF program's maps and to hang
/// it on another interface takes what is open already, from Linux 6.6 on, before which nothing of it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// None.
    Nothing,
    /// What it takes to sweep up at a session's end, in folders that are nobody's to write; see [`shed`] for which.
    Sweep,
}

/// This thread keeps these capabilities, gets none back, makes no TCP connection, runs no program and writes no file, but for
/// what the end of a session takes: removing the session's own files, and its control group, if it has one, after moving
/// who is left in it to the group above. A kernel without Landlock (before 5.13) does without the latter.
pub fn shed(group: Option<&Path>, kept: Kept) -> Result<(), Error> {
    let doing = |e: io::Error| Error::system("give up rights", e);
    set_no_new_privs(true).map_err(|e| doing(e.into()))?;
    confine(group).map_err(|e| doing(io::Error::other(e)))?;
    keep_only(match kept {
        Kept::Nothing => CapabilitySet::empty(),
        Kept::Sweep => CapabilitySet::DAC_OVERRIDE,
    })
}

fn confine(group: Option<&Path>) -> Result<RulesetStatus, RulesetError> {
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_write(KNOWN) | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .create()?;
    let mut rules = allow(rules, Path::new(FOLDER), AccessFs::RemoveFile | AccessFs::RemoveDir)?;
    if let Some(group) = group {
        rules = allow(rules, group, AccessFs::WriteFile | AccessFs::RemoveDir)?;
        if let Some(above) = group.parent() {
            rules = allow(rules, above, AccessFs::RemoveDir.into())?;
            rules = allow(rules, &above.join("cgroup.procs"), AccessFs::WriteFile.into())?;
        }
    }
    rules.restrict_self().map(|done| done.ruleset)
}

/// What is not there needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    what: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(opened) => rules.add_rule(PathBeneath::new(opened, what)),
        Err(_) => Ok(rules),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;

    /// On a thread of its own, which ends with what it has given up.
    fn apart(test: impl FnOnce() + Send) {
        std::thread::scope(|scope| scope.spawn(test).join()).unwrap();
    }

    #[test]
    fn what_is_given_up_is_gone() {
        apart(|| {
            shed(None, Kept::Nothing).unwrap();
            let left = rustix::thread::capabilities(None).unwrap();
            assert!(left.permitted.is_empty() && left.effective.is_empty() && left.inheritable.is_empty());
            assert!(rustix::thread::no_new_privs().unwrap());
        });
    }

    #[test]
    fn nothing_is_written_run_or_connected_to_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        apart(|| {
            let status = confine(None).unwrap();
            if status == RulesetStatus::NotEnforced {
                truckee_testing::skip("the kernel has no Landlock");
                return;
            }
            let denied = |e: io::Error| e.kind() == io::ErrorKind::PermissionDenied;
            assert!(File::create(folder.path().join("new")).is_err_and(denied));
            assert!(Command::new("true").spawn().is_err_and(denied));
            assert!(File::open("/proc/self/status").is_ok(), "to read is allowed");
            // An older kernel knows of files alone.
            if status == RulesetStatus::FullyEnforced {
                assert!(TcpStream::connect(there).is_err_and(denied));
            }
        });
        // Other threads have what they had.
        assert!(File::create(folder.path().join("new")).is_ok() && TcpStream::connect(there).is_ok());
    }
}
