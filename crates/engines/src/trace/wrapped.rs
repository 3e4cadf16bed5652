//! An engine that runs scenarios in a way of its own. Not for: what else an engine says of itself.

use std::borrow::Cow;
use std::time::Duration;
use truckee_lab::{Engine, Failure};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// An engine, and how it runs a scenario, with time series or without.
#[derive(Clone, Copy)]
pub struct Wrapped<'a, F> {
    engine: &'a dyn Engine,
    run: F,
    /// See [`Engine::goes_by_live_runs`].
    by: Option<&'static str>,
}

impl<'a, F: Fn(&Scenario, bool) -> Result<Outcome, Failure> + Send + Sync> Wrapped<'a, F> {
    pub(super) fn new(engine: &'a dyn Engine, run: F) -> Self {
        Self { engine, run, by: None }
    }

    /// The same, which goes by live runs so.
    pub(super) fn by_live_runs(self, how: &'static str) -> Self {
        Self { by: Some(how), ..self }
    }
}

/// The same engine, whose runs keep the packets that pass at the flows' senders.
pub fn tapped(
    engine: &dyn Engine,
) -> Wrapped<'_, impl Fn(&Scenario, bool) -> Result<Outcome, Failure> + Send + Sync> {
    Wrapped::new(engine, move |scenario, _| engine.run_tapped(scenario, Vantage::Sender))
}

impl<F: Fn(&Scenario, bool) -> Result<Outcome, Failure> + Send + Sync> Engine for Wrapped<'_, F> {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        (self.run)(scenario, series)
    }

    fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
        self.engine.run_tapped(scenario, vantage)
    }

    fn refuses(&self, scenario: &Scenario) -> Option<String> {
        self.engine.refuses(scenario)
    }

    fn lacks(&self) -> Option<String> {
        self.engine.lacks()
    }

    fn is_live(&self) -> bool {
        self.engine.is_live()
    }

    fn goes_by_live_runs(&self) -> Option<&str> {
        self.by
    }

    fn build(&self) -> Cow<'_, str> {
        self.engine.build()
    }

    fn takes(&self, scenario: &Scenario) -> Option<Duration> {
        self.engine.takes(scenario)
    }
}
