//! Which TCP a server has: connections of our own making, one at a time with a pause between them, each for a part of the
//! answer. Not for: what is made of what they show (see [`super::recovery`], [`super::control`]).
//!
//! Losses are feigned by leaving out what has come, as TBIT does. A duplicate ACK goes for a segment that has come, one at
//! most, and never for nothing: the server hears no more of its path than any receiver behind a lossy link would tell it.

mod fingerprint;
mod receiver;
mod repairs;
mod rounds;
mod secure;

use super::control;
use super::fault::Fault;
use super::fetch::Answer;
use super::greet::{Greeted, Greeting, greet};
use super::http;
use super::identity::{Finding, Identity, Unseen};
use super::line;
use super::recovery::recovery;
use super::round_trips::RoundTrips;
use super::sockets::Sockets;
use super::stop::Stop;
use super::tls::{Config, Tls};
use super::wire::Offer;
use super::{Options, Watch};
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::Span;

/// Segments of this size every host takes (RFC 9293, section 3.7.1), and they make a window of many out of a short answer.
pub const SMALL_MSS: u16 = 536;
/// Bits by which a window is shifted.
const SCALE: u8 = 7;
/// What repairs are seen in: more than their windows.
const REPAIRS_WINDOW: u32 = 256 << 10;
/// A part is given up after so many connections in a row that showed nothing, and one in which this machine stood still is
/// made again, so often at most.
const ENOUGH: u32 = 2;
const REPLACED: u32 = 3;

/// What asks.
pub struct Asker<'a> {
    /// The sockets.
    pub sockets: &'a Sockets,
    /// How to.
    pub options: &'a Options,
    /// Whom.
    pub answer: &'a Answer,
    /// What is known of its path.
    pub round_trips: &'a mut RoundTrips,
    /// Whom to trust over TLS.
    pub config: &'a Config,
    /// Whether to stop.
    pub cancel: &'a Cancel,
}

impl Asker<'_> {
    /// Asks it all.
    pub fn identify(&mut self, watch: &mut dyn Watch) -> Result<Identity, Stop> {
        let mut faults = Vec::new();
        let (cancel, patience) = (self.cancel, self.options.patience);
        let fingerprint = self.part("fingerprint", 1, &mut faults, watch, &mut |a| {
            let Greeted { mut connection, header, agreed } =
                a.open(true, true, REPAIRS_WINDOW, |_| Span::ZERO)?;
            fingerprint::run(&mut connection, &header, &agreed, patience, cancel)
        })?;
        let (mut with, mut without, mut all_rounds) = (Vec::new(), Vec::new(), Vec::new());
        for k in 1..=self.options.repeat {
            for offered in [true, false] {
                // Who has agreed to none is asked once for what both would show.
                if !offered && with.last().is_some_and(|seen: &super::identity::Repairs| !seen.sack) {
                    continue;
                }
                let seen = self.part("repairs", k, &mut faults, watch, &mut |a| {
                    let Greeted { mut connection, agreed, .. } =
                        a.open(offered, false, REPAIRS_WINDOW, |_| Span::ZERO)?;
                    repairs::run(&mut connection, k, offered && agreed.sack, patience, cancel)
                })?;
                if offered { &mut with } else { &mut without }.extend(seen);
            }
            let seen = self.part("rounds", k, &mut faults, watch, &mut |a| {
                let window = rounds::offered(a.mss());
                let Greeted { mut connection, agreed, .. } = a.open(true, false, window, rounds::held)?;
                rounds::run(&mut connection, k, agreed.sack, patience, cancel)
            })?;
            all_rounds.extend(seen);
        }
        let without_sack = (!without.is_empty()).then(|| recovery(&without.iter().collect::<Vec<_>>()));
        Ok(Identity {
            recovery: explained(recovery(&with.iter().collect::<Vec<_>>()), "repairs", &faults),
            recovery_without_sack: without_sack,
            control: explained(control::control(&all_rounds), "rounds", &faults),
            fingerprint,
            repairs: with.into_iter().chain(without).collect(),
            rounds: all_rounds,
            faults,
        })
    }

    fn mss(&self) -> u16 {
        self.options.mss.map_or(SMALL_MSS, |mss| mss.min(u32::from(u16::MAX)) as u16)
    }

    /// A connection of its own, past the handshake of TLS where there is one; `held`: by so much longer than the path's its
    /// round trips are.
    fn open(
        &mut self,
        sack: bool,
        stamps: bool,
        window: u32,
        held: fn(Duration) -> Span,
    ) -> Result<Greeted<'_>, Stop> {
        let offer = Offer { mss: self.mss(), scale: SCALE, sack, stamps };
        let (patience, target) = (self.options.patience, &self.answer.target);
        let request = http::request(target);
        // Over TLS nothing is asked before the handshake.
        let plain = if target.tls() { Vec::new() } else { request.clone() };
        let greeting = Greeting { offer, window, patience, request: plain };
        let mut greeted = greet(self.sockets, self.answer.address, greeting, self.round_trips, self.cancel)?;
        if target.tls() {
            let connection = &mut greeted.connection;
            let mut tls = Tls::new(self.config, &target.host())?;
            let held = held(connection.rtt);
            secure::secure(connection, &mut tls, &request, held, patience, self.cancel)?;
        }
        Ok(greeted)
    }

    /// One connection for a part, after a pause; none if it showed nothing.
    fn part<T>(
        &mut self,
        part: &'static str,
        repetition: u32,
        faults: &mut Vec<Unseen>,
        watch: &mut dyn Watch,
        run: &mut dyn FnMut(&mut Self) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let failed =
            faults.iter().filter(|f| f.part == part && !matches!(f.fault, Fault::Stood { .. })).count();
        if failed as u32 >= ENOUGH {
            return Ok(None);
        }
        for time in 0..=REPLACED {
            line::pause(self.options.pause, self.cancel)?;
            watch.identifying(part, repetition);
            match run(self) {
                Ok(seen) => return Ok(Some(seen)),
                Err(Stop::Fault(fault @ Fault::Stood { .. })) if time < REPLACED => {
                    faults.push(Unseen { part, repetition, fault });
                }
                Err(Stop::Fault(fault)) => {
                    faults.push(Unseen { part, repetition, fault });
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Why there is no finding, where connections failed for it.
fn explained<T>(mut finding: Finding<T>, part: &str, faults: &[Unseen]) -> Finding<T> {
    if finding.judged == 0
        && let Some(unseen) = faults.iter().rfind(|f| f.part == part)
    {
        finding.evidence = vec![unseen.fault.to_string()];
    }
    finding
}

#[cfg(test)]
#[path = "identify_faults.rs"]
mod faults;
#[cfg(test)]
#[path = "identify_tests.rs"]
mod tests;
