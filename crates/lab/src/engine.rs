//! What turns a question into an answer: the seam between the laboratory and the engines.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// Threads of a live sweep for each core: its runs are real time, and idle for most of it.
const LIVE_RUNS_PER_CORE: usize = 2;

/// Why a run has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// In words.
    pub reason: String,
    /// Whether it befell this run, as a machine in want of something does it: made again, it may go well. Else every run of
    /// the scenario fails.
    pub once: bool,
}

impl From<String> for Failure {
    /// One that every run of the scenario has.
    fn from(reason: String) -> Self {
        Self { reason, once: false }
    }
}

impl From<&str> for Failure {
    /// The same.
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

/// Something that runs scenarios. The same scenario with the same seed must give the same outcome (but for
/// `wall_s`) on a deterministic engine, and the same digest. A live engine gives no digest: an empty string.
pub trait Engine: Sync {
    /// Its name in results: `sim`, `kernel` or `probe`.
    fn name(&self) -> &'static str;

    /// Runs one scenario to its end, with time series where asked for.
    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure>;

    /// The same with time series and every packet of the flows at that end of theirs, for a capture.
    fn run_tapped(&self, _scenario: &Scenario, _vantage: Vantage) -> Result<Outcome, Failure> {
        Err(format!("the {} engine keeps no packets", self.name()).into())
    }

    /// Why it can run the scenario on no machine: what is to be mended in the file. Nothing is run.
    fn refuses(&self, _scenario: &Scenario) -> Option<String> {
        None
    }

    /// Whether its runs happen in real time, on a real stack: none ends before its time, and no two are the same.
    fn is_live(&self) -> bool {
        false
    }

    /// What of the program decides the records of this engine: a hash of sources and locked dependencies, say. Records of
    /// one build are never taken for those of another.
    fn build(&self) -> Cow<'_, str> {
        Cow::Borrowed(env!("CARGO_PKG_VERSION"))
    }

    /// How long a run takes at most; `None` where it takes as long as the machine needs.
    fn takes(&self, scenario: &Scenario) -> Option<Duration> {
        self.is_live().then(|| Duration::from(scenario.duration))
    }
}

/// The engines there are, as commands and studies name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// The simulator.
    #[default]
    Sim,
    /// The real stack of this machine's kernel.
    Kernel,
    /// The same, probed from the other end.
    Probe,
}

impl EngineName {
    /// As written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Kernel => "kernel",
            Self::Probe => "probe",
        }
    }

    /// Whether its runs happen in real time; see [`Engine::is_live`].
    pub fn is_live(self) -> bool {
        self != Self::Sim
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an engine cannot be had here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {engine} engine {reason}")]
pub struct Missing {
    /// Which.
    pub engine: EngineName,
    /// What is missing, in words that follow "the kernel engine"; where more is told is added by who shows it.
    pub reason: String,
}

/// Where engines come from.
pub trait Engines {
    /// The engine of this name, if this machine can run it.
    fn find(&self, name: EngineName) -> Result<&dyn Engine, Missing>;
}

/// How many runs go at once unless told otherwise: one a core, or two where they are live.
pub fn default_jobs(engine: &dyn Engine) -> usize {
    // Where the number of cores is not told, one is sure.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if engine.is_live() { LIVE_RUNS_PER_CORE * cores } else { cores }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, scenario};

    #[test]
    fn a_live_run_takes_its_time_and_more_go_at_once() {
        let (live, not) = (Fake::live(), Fake::new());
        let ten_seconds = scenario("s", 10_000_000_000);
        assert_eq!(
            (live.takes(&ten_seconds), not.takes(&ten_seconds)),
            (Some(Duration::from_secs(10)), None)
        );
        assert_eq!(default_jobs(&live), 2 * default_jobs(&not));
    }

    #[test]
    fn names_are_those_of_files() {
        #[derive(Deserialize)]
        struct Key {
            engine: EngineName,
        }
        for name in [EngineName::Sim, EngineName::Kernel, EngineName::Probe] {
            let key: Key = toml::from_str(&format!("engine = \"{name}\"")).unwrap();
            assert_eq!(key.engine, name);
        }
    }
}
