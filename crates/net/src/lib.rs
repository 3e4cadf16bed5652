//! A deterministic packet-level network in simulated time: the engine `sim`.
//!
//! [`run`] takes a scenario and returns its outcome; same scenario and seed, same digest, on any machine. Links, queues,
//! routes, cross traffic and applications are here; what endpoints decide is in `truckee-tcp`, what noise does to a
//! packet in `truckee-channel`. Not for: reading files, sweeping, printing.

mod ack_filter;
mod agenda;
mod app;
mod connection;
mod digest;
mod link;
mod network;
mod outcome;
mod packet;
mod quick_start;
mod record;
mod red;
mod transit;

use truckee_scenario::{Outcome, Scenario};

/// What a run records beside its outcome.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether to record time series.
    pub series: bool,
}

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No way from one node to another.
    #[error("\"{flow}\": no route from \"{from}\" to \"{to}\"")]
    NoRoute {
        /// The flow or traffic.
        flow: String,
        /// Where it starts.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// A part of a sender or receiver cannot be built.
    #[error("flow \"{flow}\": {error}")]
    Refused {
        /// The flow.
        flow: String,
        /// Why.
        error: truckee_tcp::SpecError,
    },
}

/// Runs a scenario to its end.
pub fn run(scenario: &Scenario, options: &Options) -> Result<Outcome, Error> {
    let started = std::time::Instant::now();
    let mut network = network::Network::new(scenario, options)?;
    network.run();
    let mut outcome = outcome::outcome(network, scenario);
    outcome.wall_s = started.elapsed().as_secs_f64();
    Ok(outcome)
}
