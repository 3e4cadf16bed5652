//! Whether this machine can do it: what the doctor tries.

use crate::{Devices, Error, Policy, Request, Scope, Shaper};
use truckee_tcp::Spec;

/// Hangs the program that shapes ACKs on the loopback of the namespace of this name, and takes it back; what was seen.
///
/// # Errors
/// The kernel does not take it.
pub fn trial(namespace: &str) -> Result<String, Error> {
    let request = Request {
        scope: Scope::Everything,
        devices: Devices::Named(vec!["lo".into()]),
        namespace: Some(namespace.to_owned()),
        policies: vec![Policy::of(&Spec::named("division"))?],
        most_flows: 1,
    };
    let shaper = Shaper::start(&request)?;
    shaper.stop()?;
    Ok("shaped those of a loopback".into())
}
