//! The engines of `truckee-kernel`: this machine's own TCP stack, and the prober pointed at it.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use truckee_kernel::probe;
use truckee_lab::{Engine, EngineName, Failure, Missing};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

fn failure(error: &truckee_kernel::Error) -> Failure {
    use truckee_kernel::Error;
    let once = matches!(error, Error::Broken(_) | Error::System { .. } | Error::Bpf { .. });
    Failure { reason: error.to_string(), once }
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
    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        truckee_kernel::run_tapped(scenario, vantage, self.cancel).map_err(|e| failure(&e))
    }

    fn name(&self) -> &'static str {
        EngineName::Kernel.as_str()
    }

    fn build(&self) -> Cow<'_, str> {
        crate::KERNEL_BUILD.into()
    }

    fn refuses(&self, scenario: &Scenario) -> Option<String> {
        truckee_kernel::refuses(scenario).map(|e| e.to_string())
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        truckee_kernel::run(scenario, series, self.cancel).map_err(|e| failure(&e))
    }

    fn is_live(&self) -> bool {
        true
    }
}

/// The prober of `truckee-kernel`, pointed at a server of our own: the sender of the scenario's first flow, behind the
/// scenario's path, on this machine's stack. What it gives are the metrics `probe.…`.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Set from outside.
    pub cancel: &'static AtomicBool,
}

/// A server of our own needs no pause that spares it, and shows its first retransmissions soon.
const PAUSE: Duration = Duration::from_millis(50);
const WATCH: Duration = Duration::from_millis(600);
const REPETITIONS: u32 = 2;

impl Probe {
    /// Looks whether this machine can run it.
    pub fn check(&self) -> Result<(), Missing> {
        let missing = |e| Missing { engine: EngineName::Probe, reason: format!("cannot run here: {e}") };
        truckee_kernel::check().map_err(missing)
    }

    fn options() -> probe::Options {
        probe::Options { pause: PAUSE, watch: WATCH, repeat: REPETITIONS, ..probe::Options::default() }
    }
}

impl Engine for Probe {
    fn name(&self) -> &'static str {
        EngineName::Probe.as_str()
    }

    fn build(&self) -> Cow<'_, str> {
        crate::KERNEL_BUILD.into()
    }

    fn run(&self, scenario: &Scenario, _series: bool) -> Result<Outcome, Failure> {
        let started = Instant::now();
        let report = probe::probe_flow(scenario, &Self::options(), self.cancel).map_err(|e| failure(&e))?;
        Ok(crate::probe::outcome(scenario, &report, started.elapsed().as_secs_f64())?)
    }

    fn is_live(&self) -> bool {
        true
    }

    fn takes(&self, _: &Scenario) -> Option<Duration> {
        let options = Self::options();
        // Half a second more for each connection's round trips.
        Some(options.lasts() + Duration::from_millis(500) * options.connections())
    }
}
