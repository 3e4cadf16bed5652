//! The simulator of `truckee-net` as an engine.

use std::borrow::Cow;
use truckee_lab::{Engine, EngineName, Engines, Failure, Missing};
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

    fn name(&self) -> &'static str {
        EngineName::Sim.as_str()
    }

    fn build(&self) -> Cow<'_, str> {
        crate::SIMULATOR_BUILD.into()
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        truckee_net::run(scenario, &truckee_net::Options { series, ..Default::default() })
            .map_err(|e| e.to_string().into())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_known_by_digits_that_are_the_same_in_every_profile() {
        let build = Simulator.build();
        assert!(build.len() == 16 && build.chars().all(|c| c.is_ascii_hexdigit()), "{build}");
    }

    #[test]
    fn the_simulator_alone_has_no_kernel() {
        assert_eq!(Simulator.find(EngineName::Sim).unwrap().name(), "sim");
        let missing = Simulator.find(EngineName::Kernel).err().unwrap();
        assert_eq!(missing.to_string(), "the kernel engine was not given, only the simulator");
    }
}
