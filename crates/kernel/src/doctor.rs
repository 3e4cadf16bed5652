//! The doctor of `truckee-host`, who tries also what the crates above that one do.

pub use truckee_host::doctor::{Capability, Check, Report, State};

use crate::Error;
use truckee_host::doctor::{self, Trial};

const MORE: &[Trial] = &[(Capability::Shaping, truckee_shape::trial)];

/// Tries everything: a second or less.
pub fn examine() -> Report {
    doctor::examine(MORE)
}

/// Whether this build and this machine can run scenarios.
///
/// # Errors
/// What is missing, and what mends it.
pub fn ready() -> Result<(), Error> {
    use Capability::{Built, Linux, Namespaces, Privileges, Tun};
    check(&[Linux, Built, Privileges, Namespaces, Tun])
}

/// Tries what is needed, and fails with the first thing that is missing.
///
/// # Errors
/// What is missing, and what mends it.
pub fn check(needs: &[Capability]) -> Result<(), Error> {
    doctor::check(needs, MORE)
}
