//! What the live leg makes of the machine that it runs on, and takes back.
//!
//! Network namespaces ([`netns`]) with what is in them and the settings of their TCP stacks ([`stack`]); control groups
//! ([`cgroup`]); the names that all of it carries, by which a run owns it ([`session`]) and [`clean`] tells what a killed
//! one left from what is a user's own; the capabilities that are in effect around it alone ([`rights`]); who typed the
//! command ([`user`]), and programs that are run for them ([`program`]). One
//! that runs may be asked by who started it ([`control`]). The [`doctor`] tries what a machine can do.
//!
//! All of it needs Linux, and clang when it was built; without them there is only [`Error::NotBuilt`].
//!
//! Not for: packets, senders, receivers; which are the business of the crates that stand on this one.

pub mod clean;
pub mod doctor;
mod error;
#[cfg(target_os = "linux")]
pub mod rights;
pub mod signals;

#[cfg(live)]
pub mod bpf;
#[cfg(live)]
pub mod cgroup;
#[cfg(live)]
pub mod control;
#[cfg(live)]
pub mod device;
#[cfg(live)]
pub mod identity;
#[cfg(live)]
pub mod netns;
#[cfg(live)]
pub mod program;
#[cfg(live)]
pub mod punctual;
#[cfg(live)]
pub mod session;
#[cfg(live)]
pub mod stack;
#[cfg(live)]
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(live)]
pub mod ticks;
#[cfg(live)]
pub mod user;

pub use error::Error;

/// Whether this build has the live leg.
pub const BUILT: bool = cfg!(live);
