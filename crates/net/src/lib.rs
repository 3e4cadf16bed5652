//! A deterministic packet-level network in simulated time: the engine `sim`.
//!
//! [`run`](fn@run) takes a scenario and returns its outcome, a [`Run`] goes on as far as it is told; same scenario and seed, same digest, on any machine. Links, queues,
//! routes, cross traffic and applications are here; what endpoints decide is in `truckee-tcp`, what noise does to a
//! packet in `truckee-channel`. Not for: reading files, sweeping, printing.

mod ack_filter;
mod agenda;
mod air;
mod app;
mod births;
mod cells;
mod connection;
mod digest;
mod error;
mod lanes;
mod link;
mod network;
mod options;
mod outcome;
mod packet;
mod quick_start;
mod record;
mod roaming;
mod routers;
mod run;
mod transit;

pub use error::Error;
pub use options::Options;
pub use run::Run;

use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::{Registry, Time};

/// Runs a scenario to its end.
pub fn run(scenario: &Scenario, options: &Options) -> Result<Outcome, Error> {
    run_among(scenario, options, &Registry::new())
}

/// Runs a scenario whose algorithms are built in or in the registry.
pub fn run_among(scenario: &Scenario, options: &Options, registry: &Registry) -> Result<Outcome, Error> {
    // There is no clock in a browser's WebAssembly: who runs it there measures it from outside.
    let started = (!cfg!(target_family = "wasm")).then(std::time::Instant::now);
    let scenario = &*scenario.drawn();
    let mut run = Run::new(scenario, options, registry)?;
    run.advance(Time::MAX)?;
    let mut outcome = run.outcome();
    outcome.wall_s = started.map_or(0.0, |started| started.elapsed().as_secs_f64());
    Ok(outcome)
}
