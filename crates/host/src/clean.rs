//! Removing what a crashed run left behind, and nothing else.
//!
//! A run is dead if nobody holds the lock of its file (see [`crate::session`]). What carries its digits is then removed:
//! control groups with the processes in them (but for a program whose ACKs were shaped, which goes on), congestion controls, interfaces, namespaces, pinned BPF objects, and last
//! the file. Names without such a file are a user's own, whatever they look like.
//!
//! Not for: the ordinary end of a run, where each part removes what it made.

#[cfg(live)]
mod cgroup;
#[cfg(live)]
mod control;
#[cfg(live)]
mod device;
mod found;
#[cfg(live)]
mod names;
#[cfg(live)]
mod sweep;

#[cfg(live)]
pub use {
    cgroup::NOTE as CGROUP_NOTE, cgroup::mount as cgroup_mount, control::registered_with, names::names_in,
    sweep::PINS, sweep::sweep,
};

pub use found::{Item, Kind, Run, Swept};

use crate::Error;

/// Removes what dead runs left behind, and lists what there is of those alive. With `dry`, nothing is removed. Runs are
/// in order of their digits.
pub fn clean(dry: bool) -> Result<Vec<Run>, Error> {
    #[cfg(live)]
    {
        let _rights = crate::rights::Raised::live();
        sweep::runs(dry)
    }
    #[cfg(not(live))]
    {
        let _ = dry;
        Err(Error::NotBuilt)
    }
}

#[cfg(test)]
mod live;
