//! The simulator of `truckee-net` as an engine.

use std::borrow::Cow;
use truckee_lab::{Cancel, Engine, Failure};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::Registry;

/// The simulator of `truckee-net`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Simulator;

impl Engine for Simulator {
    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        let options =
            truckee_net::Options { series: true, packets: Some(vantage), ..truckee_net::Options::default() };
        truckee_net::run(scenario, &options).map_err(|e| e.to_string().into())
    }

    fn name(&self) -> &str {
        "sim"
    }

    fn build(&self) -> Cow<'_, str> {
        crate::builds::SIMULATOR_BUILD.into()
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        truckee_net::run(scenario, &truckee_net::Options { series, ..Default::default() })
            .map_err(|e| e.to_string().into())
    }
}

/// The simulator for a program in which others have a say: its runs end early when `cancel` is wished, and algorithms may
/// come from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct OpenSimulator {
    /// Whoever made it may wish it.
    pub cancel: Cancel,
    /// Algorithms that are not built in.
    pub foreign: Registry,
    /// What these are, which decides the records, too: digits of their sources, say. Empty where there are none.
    pub of: String,
}

impl OpenSimulator {
    fn ran(&self, scenario: &Scenario, series: bool, packets: Option<Vantage>) -> Result<Outcome, Failure> {
        let options = truckee_net::Options { series, packets, cancel: Some(self.cancel.clone()) };
        truckee_net::run_among(scenario, &options, &self.foreign).map_err(|e| {
            let once = matches!(e, truckee_net::Error::Stopped { .. });
            Failure { reason: e.to_string(), once }
        })
    }
}

impl Engine for OpenSimulator {
    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        self.ran(scenario, true, Some(vantage))
    }

    fn name(&self) -> &str {
        Simulator.name()
    }

    fn build(&self) -> Cow<'_, str> {
        format!("{}{}", crate::builds::SIMULATOR_BUILD, self.of).into()
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        self.ran(scenario, series, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_lab::EngineName;
    use truckee_scenario::Document;

    #[test]
    fn a_run_ends_early_when_it_is_wished_and_is_the_same_when_it_is_not() {
        let text = "duration = \"20s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
        let scenario = Document::parse("x.toml", text).unwrap().scenario().unwrap();
        let open = OpenSimulator::default();
        let digest = |engine: &dyn Engine| engine.run(&scenario, false).unwrap().digest;
        assert_eq!(digest(&open), digest(&Simulator));
        assert_eq!(open.build(), Simulator.build());
        open.cancel.cancel();
        let failure = open.run(&scenario, false).unwrap_err();
        assert!(failure.once && failure.reason.starts_with("stopped at 0"), "{failure}");
    }

    #[test]
    fn a_build_is_known_by_digits_that_are_the_same_in_every_profile() {
        let build = Simulator.build();
        assert!(build.len() == 16 && build.chars().all(|c| c.is_ascii_hexdigit()), "{build}");
    }

    #[test]
    fn it_is_what_is_meant_where_no_engine_is_named() {
        assert_eq!(EngineName::default().as_str(), Simulator.name());
    }
}
