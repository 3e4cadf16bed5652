//! What turns a question into an answer: the seam between the laboratory and the engines.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use truckee_scenario::{Outcome, Scenario};

/// Threads of a live sweep for each core: its runs are real time, and idle for most of it.
const LIVE_RUNS_PER_CORE: usize = 2;

/// Something that runs scenarios. The same scenario with the same seed must give the same outcome (but for
/// `wall_s`) on a deterministic engine, and the same digest. A live engine gives no digest: an empty string.
pub trait Engine: Sync {
    /// Its name in results: `sim` or `kernel`.
    fn name(&self) -> &'static str;

    /// Runs one scenario to its end, with time series where asked for; an error is told in words.
    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, String>;

    /// Whether its runs happen in real time, on a real stack: none ends before its time, and no two are the same.
    fn is_live(&self) -> bool {
        false
    }

    /// How long a run takes at most; `None` where it takes as long as the machine needs.
    fn takes(&self, scenario: &Scenario) -> Option<Duration> {
        self.is_live().then(|| Duration::from_nanos(scenario.duration))
    }
}

/// The simulator of `truckee-net`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Simulator;

impl Engine for Simulator {
    fn name(&self) -> &'static str {
        EngineName::Sim.as_str()
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, String> {
        truckee_net::run(scenario, &truckee_net::Options { series }).map_err(|e| e.to_string())
    }
}

/// The stack of this machine's kernel, of `truckee-kernel`. Its runs end early when `cancel` becomes true.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Set from outside.
    pub cancel: &'static AtomicBool,
}

impl Kernel {
    /// Looks whether this machine can run it.
    pub fn check(&self) -> Result<(), Missing> {
        let missing = |e| Missing { engine: EngineName::Kernel, reason: format!("cannot run here: {e}") };
        truckee_kernel::check().map_err(missing)
    }
}

impl Engine for Kernel {
    fn name(&self) -> &'static str {
        EngineName::Kernel.as_str()
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, String> {
        truckee_kernel::run(scenario, series, self.cancel).map_err(|e| e.to_string())
    }

    fn is_live(&self) -> bool {
        true
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
}

impl EngineName {
    /// As written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Kernel => "kernel",
        }
    }

    /// Whether its runs happen in real time; see [`Engine::is_live`].
    pub fn is_live(self) -> bool {
        self == Self::Kernel
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

/// Only itself.
impl Engines for Simulator {
    fn find(&self, name: EngineName) -> Result<&dyn Engine, Missing> {
        match name {
            EngineName::Sim => Ok(self),
            engine => Err(Missing { engine, reason: "was not given, only the simulator".to_owned() }),
        }
    }
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
    use crate::tests::{Fake, scenario};

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
    fn the_simulator_alone_has_no_kernel() {
        assert_eq!(Simulator.find(EngineName::Sim).unwrap().name(), "sim");
        let missing = Simulator.find(EngineName::Kernel).err().unwrap();
        assert_eq!(missing.to_string(), "the kernel engine was not given, only the simulator");
    }

    #[test]
    fn names_are_those_of_files() {
        #[derive(Deserialize)]
        struct Key {
            engine: EngineName,
        }
        for name in [EngineName::Sim, EngineName::Kernel] {
            let key: Key = toml::from_str(&format!("engine = \"{name}\"")).unwrap();
            assert_eq!(key.engine, name);
        }
    }
}
