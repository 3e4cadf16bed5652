//! Who typed the command, also through sudo; what is run and written for them has their rights. Not for: our own rights
//! (see [`crate::rights`]).

use crate::Error;
use crate::control::by_sudo;
use crate::rights;
use nix::unistd::{
    Gid, Uid, User as Account, geteuid, getgid, getgrouplist, getuid, setgroups, setresgid, setresuid,
};
use rustix::thread::{CapabilitySet, set_keep_capabilities};
use std::ffi::CString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// A user, as a program gets one.
#[derive(Debug, Clone)]
pub struct User {
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
    ///
    /// # Errors
    /// What sudo says is no number; the user's groups cannot be looked up.
    pub fn invoking() -> Result<Self, Error> {
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
    ///
    /// # Errors
    /// There is none; it is another, and we are not root.
    pub fn named(name: &str) -> Result<Self, Error> {
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
    pub fn numbers(&self) -> (u32, u32) {
        (self.uid.as_raw(), self.gid.as_raw())
    }

    /// Has the program's environment say who it is.
    pub fn tell(&self, command: &mut Command) {
        if let (true, Some((name, home))) = (self.other, &self.account) {
            command.env("USER", name).env("LOGNAME", name).env("HOME", home);
        }
    }

    /// Becomes the user for good: no way back is left. Between fork and exec: it takes no memory.
    ///
    /// # Errors
    /// It may not.
    pub fn become_it(&self) -> io::Result<()> {
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

    /// Becomes the user for good, as which this process keeps these of its capabilities and gets none back. Before any
    /// thread is started.
    ///
    /// # Errors
    /// It may not.
    pub fn become_it_with(&self, kept: CapabilitySet) -> Result<(), Error> {
        let doing = |e: io::Error| Error::system("become who typed the command", e);
        set_keep_capabilities(true).map_err(|e| doing(e.into()))?;
        self.become_it().map_err(doing)?;
        rights::keep_only(kept)
    }
}
