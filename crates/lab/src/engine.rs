//! What turns a question into an answer: the seam between the laboratory and the engines.

use truckee_scenario::{Outcome, Scenario};

/// Something that runs scenarios. The same scenario with the same seed must give the same outcome (but for
/// `wall_s`) on a deterministic engine: a sweep that resumes relies on it.
pub trait Engine: Sync {
    /// Its name in results: `sim` or `kernel`.
    fn name(&self) -> &'static str;
    /// Runs one scenario to its end, with time series where asked for; an error is told in words.
    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, String>;
}

/// The simulator of `truckee-net`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Simulator;

impl Engine for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, String> {
        truckee_net::run(scenario, &truckee_net::Options { series }).map_err(|e| e.to_string())
    }
}
