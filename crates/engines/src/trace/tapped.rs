//! An engine that keeps every packet at its senders. Not for: what is made of them.

use std::borrow::Cow;
use std::time::Duration;
use truckee_lab::{Engine, Failure};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// The engine within, whose runs keep the packets that pass at the flows' senders.
#[derive(Clone, Copy)]
pub struct Tapped<'a>(pub &'a dyn Engine);

impl Engine for Tapped<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn run(&self, scenario: &Scenario, _: bool) -> Result<Outcome, Failure> {
        self.0.run_tapped(scenario, Vantage::Sender)
    }

    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        self.0.run_tapped(scenario, vantage)
    }

    fn refuses(&self, scenario: &Scenario) -> Option<String> {
        self.0.refuses(scenario)
    }

    fn lacks(&self) -> Option<String> {
        self.0.lacks()
    }

    fn is_live(&self) -> bool {
        self.0.is_live()
    }

    fn build(&self) -> Cow<'_, str> {
        self.0.build()
    }

    fn takes(&self, scenario: &Scenario) -> Option<Duration> {
        self.0.takes(scenario)
    }
}
