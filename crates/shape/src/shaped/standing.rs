//! A shaper that stands at interfaces, from its start to its end. Not for: the parts of that.

use super::apart::apart;
use super::asked::{Report, Standing, Watch};
use super::attend::{Shaping, is_stop};
use super::signals::Signals;
use crate::Error;
use crate::{Devices, Scope};
use nix::sys::signal::Signal;
use std::time::Instant;
use truckee_host::rights::{self, Kept};
use truckee_host::session::Session;
use truckee_host::signals::hangup_is_ignored;
use truckee_host::user::User;

/// Signals that end it; a hangup does not where that is ignored.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// See [`super::stand`].
pub(super) fn run(standing: Standing<'_>, watch: &mut dyn Watch) -> Result<Report, Error> {
    apart(standing.namespace, |signals| stand(standing, signals, watch))
}

fn stand(standing: Standing<'_>, signals: &Signals, watch: &mut dyn Watch) -> Result<Report, Error> {
    let Standing { devices, wanted, lasting, .. } = standing;
    let devices = if devices.is_empty() { Devices::All } else { Devices::Named(devices.to_vec()) };
    let owner = User::invoking()?;
    let session = Session::begin()?;
    let mut shaping = Shaping::begin(session, &owner, wanted, Scope::Everything, devices)?;
    if let Err(error) = rights::shed(None, Kept::Sweep) {
        watch.warned(&format!("more rights are kept than needed: {error}"));
    }
    watch.begun(shaping.id());
    let stays = hangup_is_ignored();
    let ends = |signal| ENDING.contains(&signal) && !(stays && signal == Signal::SIGHUP);
    let until = lasting.and_then(|lasting| Instant::now().checked_add(lasting));
    while until.is_none_or(|until| Instant::now() < until) {
        shaping.wait(signals, until, watch);
        while let Some(came) = signals.next() {
            if ends(came.signal) {
                return Ok(shaping.end());
            }
            if is_stop(came.signal) {
                shaping.stop_here(watch);
            }
        }
    }
    Ok(shaping.end())
}
