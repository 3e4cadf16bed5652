//! The engines of `truckee-kernel`: this machine's own TCP stack, and the prober pointed at it.

use std::borrow::Cow;
use std::time::{Duration, Instant};
use truckee_kernel::probe;
use truckee_lab::{Cancel, Engine, Failure};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// What this machine lacks.
fn lacks() -> Option<String> {
    truckee_kernel::check().err().map(|e| format!("cannot run here: {e}"))
}

fn failure(error: &truckee_kernel::Error) -> Failure {
    use truckee_kernel::Error;
    let once = matches!(error, Error::Broken(_) | Error::System { .. } | Error::Bpf { .. });
    Failure { reason: error.to_string(), once }
}

/// The stack of this machine's kernel, of `truckee-kernel`. Its runs end early when `cancel` is wished.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Whoever made it may wish it.
    pub cancel: Cancel,
}

impl Engine for Kernel {
    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        truckee_kernel::run_tapped(scenario, vantage, &self.cancel).map_err(|e| failure(&e))
    }

    fn name(&self) -> &str {
        "kernel"
    }

    fn build(&self) -> Cow<'_, str> {
        crate::builds::KERNEL_BUILD.into()
    }

    fn refuses(&self, scenario: &Scenario) -> Option<String> {
        truckee_kernel::refuses(scenario).map(|e| e.to_string())
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        truckee_kernel::run(scenario, series, &self.cancel).map_err(|e| failure(&e))
    }

    fn is_live(&self) -> bool {
        true
    }

    fn lacks(&self) -> Option<String> {
        lacks()
    }
}

/// The prober of `truckee-kernel`, pointed at a server of our own: the sender of the scenario's first flow, behind the
/// scenario's path, on this machine's stack. What it gives are the metrics `probe.…`.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Whoever made it may wish it.
    pub cancel: Cancel,
}

/// A server of our own needs no pause that spares it, and shows its first retransmissions soon.
const PAUSE: Duration = Duration::from_millis(50);
const WATCH: Duration = Duration::from_millis(600);
const REPETITIONS: u32 = 2;

impl Probe {
    fn options() -> probe::Options {
        probe::Options { pause: PAUSE, watch: WATCH, repeat: REPETITIONS, ..probe::Options::default() }
    }
}

impl Engine for Probe {
    fn name(&self) -> &str {
        "probe"
    }

    fn build(&self) -> Cow<'_, str> {
        crate::builds::KERNEL_BUILD.into()
    }

    fn run(&self, scenario: &Scenario, _series: bool) -> Result<Outcome, Failure> {
        let started = Instant::now();
        let report = probe::probe_flow(scenario, &Self::options(), &self.cancel).map_err(|e| failure(&e))?;
        Ok(crate::probe::outcome(scenario, &report, started.elapsed().as_secs_f64())?)
    }

    fn is_live(&self) -> bool {
        true
    }

    fn lacks(&self) -> Option<String> {
        lacks()
    }

    fn takes(&self, _: &Scenario) -> Option<Duration> {
        let options = Self::options();
        // Half a second more for each connection's round trips.
        Some(options.lasts() + Duration::from_millis(500) * options.connections())
    }
}
