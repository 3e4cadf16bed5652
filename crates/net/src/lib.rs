//! A deterministic packet-level network in simulated time.

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
    #[error("flow \"{flow}\": no route from \"{from}\" to \"{to}\"")]
    NoRoute {
        /// The flow or traffic.
        flow: String,
        /// Where it starts.
        from: String,
        /// Where it should go.
        to: String,
    },
}

/// Runs a scenario to its end.
pub fn run(_scenario: &Scenario, _options: &Options) -> Result<Outcome, Error> {
    Err(Error::NoRoute { flow: String::new(), from: String::new(), to: String::new() })
}
