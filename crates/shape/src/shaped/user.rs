//! Who typed the command, also through sudo; what is run and written for them has their rights. Not for: our own rights
//! (see [`truckee_host::rights`]).

use crate::Error;
use nix::unistd::{
    Gid, Uid, User as Account, geteuid, getgid, getgrouplist, getuid, setfsgid, setfsuid, setgroups,
    setresgid, setresuid,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::ffi::CString;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use truckee_host::control::by_sudo;

/// A user, as a program gets one.
#[derive(Debug, Clone)]
pub(super) struct User {
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
    /// Name and home, for the environment; `None` where the environment is the user's already, or nobody knows them.
    account: Option<(String, PathBuf)>,
    /// Whether a program has to become the user, or is it already.
    other: bool,
}

impl User {
    /// Who typed the command: by sudo's word where we are root through it, else the real user.
    pub(super) fn invoking() -> Result<Self, Error> {
        let Some((uid, gid)) = by_sudo()? else {
            let other = geteuid() != getuid();
            return Ok(Self { uid: getuid(), gid: getgid(), groups: Vec::new(), account: None, other });
        };
        match Account::from_uid(uid.into()) {
            Ok(Some(account)) => Self::of(account),
            // A user without an account has no other groups than sudo's word.
            _ => {
                let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid.unwrap_or(uid)));
                Ok(Self { uid, gid, groups: vec![gid], account: None, other: uid != getuid() })
            }
        }
    }

    /// The user of this name or number. Only root can run a program as another.
    pub(super) fn named(name: &str) -> Result<Self, Error> {
        let refused = |why: &str| Error::Refused { place: format!("user \"{name}\""), why: why.to_owned() };
        let by_number = name.parse::<u32>().ok().map(|uid| Account::from_uid(uid.into()));
        let found = by_number.unwrap_or_else(|| Account::from_name(name));
        let account = found.map_err(|e| Error::system(format!("look up the user {name}"), e))?;
        let account =
            account.ok_or_else(|| refused("there is none of this name (getent passwd lists them)"))?;
        if !geteuid().is_root() && account.uid != getuid() {
            return Err(refused("only root can run a program as another user: sudo truckee …"));
        }
        Self::of(account)
    }

    fn of(account: Account) -> Result<Self, Error> {
        let doing = |e: io::Error| Error::system(format!("look up the groups of {}", account.name), e);
        let name = CString::new(account.name.as_str()).map_err(|e| doing(e.into()))?;
        let groups = getgrouplist(&name, account.gid).map_err(|e| doing(e.into()))?;
        let other = account.uid != getuid() || geteuid() != getuid();
        Ok(Self {
            uid: account.uid,
            gid: account.gid,
            groups,
            account: Some((account.name, account.dir)),
            other,
        })
    }

    /// Their number and that of their group.
    pub(super) fn numbers(&self) -> (u32, u32) {
        (self.uid.as_raw(), self.gid.as_raw())
    }

    /// Has the program's environment say who it is.
    pub(super) fn tell(&self, command: &mut Command) {
        if let (true, Some((name, home))) = (self.other, &self.account) {
            command.env("USER", name).env("LOGNAME", name).env("HOME", home);
        }
    }

    /// Becomes the user for good: no way back is left. Between fork and exec: it takes no memory.
    pub(super) fn become_it(&self) -> io::Result<()> {
        if !self.other {
            return Ok(());
        }
        if geteuid().is_root() {
            setgroups(&self.groups)?;
        }
        setresgid(self.gid, self.gid, self.gid)?;
        setresuid(self.uid, self.uid, self.uid)?;
        Ok(())
    }
}

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
