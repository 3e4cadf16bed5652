//! Giving up rights that are no longer needed. A thread has its own, so each gives up its own.

#[cfg(live)]
mod shed;

#[cfg(live)]
pub(crate) use shed::{Kept, shed};

use crate::Error;
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};
use std::io;

/// This thread keeps these of its capabilities, and gets none back.
pub(crate) fn keep_only(kept: CapabilitySet) -> Result<(), Error> {
    let doing = |e: io::Error| Error::system("give up rights", e);
    set_no_new_privs(true).map_err(|e| doing(e.into()))?;
    // A kernel before 4.3 has no ambient ones.
    let _ = clear_ambient_capability_set();
    // Those that it has: one who is not root may do with less.
    let kept = kept & rustix::thread::capabilities(None).map_err(|e| doing(e.into()))?.permitted;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(|e| doing(e.into()))
}
