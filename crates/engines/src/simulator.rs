//! The simulator of `truckee-net` as an engine.

use std::borrow::Cow;
use truckee_lab::{Engine, Failure};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// The simulator of `truckee-net`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Simulator;

impl Engine for Simulator {
    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        let options = truckee_net::Options { series: true, packets: Some(vantage) };
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

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_lab::EngineName;

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
