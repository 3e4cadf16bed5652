//! One link on its own, in real time, between two namespaces or two interfaces that the user names: the emulator without
//! a scenario's flows. Not for: arguments and tables; runs of scenarios.

#[cfg(live)]
mod alone;
mod request;

pub use request::{End, Made, Prefixed, Report, Request, Watch};

use crate::Error;
use truckee_scenario::Cancel;

/// Runs the link for the scenario's duration, or until `cancel` is wished. Whatever it made is gone when it returns, and
/// whatever it changed of an interface restored.
///
/// # Errors
/// The link asks for what the emulator does not do; an end does not exist; rights are missing; this build has no live
/// leg.
pub fn run(request: &Request<'_>, cancel: &Cancel, watch: &mut dyn Watch) -> Result<Report, Error> {
    #[cfg(live)]
    {
        let _rights = truckee_host::rights::Raised::live();
        alone::run(request, cancel, watch)
    }
    #[cfg(not(live))]
    {
        let _ = (request, cancel, watch);
        Err(Error::NotBuilt)
    }
}
