//! One link on its own, in real time, between two namespaces or two interfaces that the user names: the emulator without
//! a scenario's flows. Not for: arguments and tables; runs of scenarios.

#[cfg(live)]
mod alone;
#[cfg(live)]
mod asked;
#[cfg(live)]
mod dials;
mod request;

pub use request::{End, Hand, Made, Prefixed, Report, Request, Setting, Showing, Watch};

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

/// The identities of the links on their own that run on this machine at present, in order.
pub fn running() -> Vec<String> {
    #[cfg(live)]
    return truckee_host::control::running(&asked::KIND);
    #[cfg(not(live))]
    Vec::new()
}

/// What the running link of this identity shows.
///
/// # Errors
/// There is none, or it is another user's.
pub fn show(id: &str) -> Result<Showing, Error> {
    #[cfg(live)]
    return asked::ask(id, &asked::Ask::Show);
    #[cfg(not(live))]
    {
        let _ = id;
        Err(Error::NotBuilt)
    }
}

/// Turns a running link: settings of the form `KEY=VALUE`, all of them or none. The keys are those of a `[[link]]` that
/// need no other devices (`rate`, `delay`, `queue`, `channel`, `channel.per`, each with `_back`), and beside them `loss`,
/// `reorder`, `reorder_by` and `up`. What it shows afterwards.
///
/// # Errors
/// As above; or it refuses.
pub fn set(id: &str, settings: Vec<String>) -> Result<Showing, Error> {
    #[cfg(live)]
    return asked::ask(id, &asked::Ask::Set(settings));
    #[cfg(not(live))]
    {
        let _ = (id, settings);
        Err(Error::NotBuilt)
    }
}
