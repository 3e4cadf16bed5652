//! A simulation beside a live run has clocks whose ticks lie where those of the live run's kernel did: no scenario says where that
//! is, as little as it says which packets noise will lose. Not for: what a tick does (`truckee_tcp::wheel`).

use truckee_lab::{Engine, Failure};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::Time;
use truckee_tcp::wheel::TICK;

/// Runs once more, with their packets kept, those of two sides that are simulations of `scenario`, each beside the live run of the
/// same seed; where that run's ticks are not known, it stays as it is.
///
/// # Errors
/// The engine's.
pub fn on_the_same_ticks(
    scenario: &Scenario,
    engines: [&dyn Engine; 2],
    sides: &mut [Vec<Outcome>],
) -> Result<(), Failure> {
    let [one, other] = sides else { return Ok(()) };
    let both = one.iter_mut().zip(other);
    for (a, b) in both {
        let (engine, simulated, live) = match engines.map(Engine::is_live) {
            [false, true] => (engines[0], a, &*b),
            [true, false] => (engines[1], b, &*a),
            _ => return Ok(()),
        };
        if let Some(beside) = beside(scenario, simulated, live) {
            *simulated = engine.run_tapped(&beside, Vantage::Sender)?;
        }
    }
    Ok(())
}

/// The scenario of a simulated run with the clocks of a live one; the time of either counts from a flow's first packet. A flow
/// begins as far into a tick of the simulation's time as it did into one of the kernel's: timestamps, CUBIC and the receiver's
/// round trips go by ticks of that time, which lie where those of the kernel's own monotonic clock do, and the wheel's age is
/// whole ticks.
fn beside(scenario: &Scenario, simulated: &Outcome, live: &Outcome) -> Option<Scenario> {
    let age = live.timers_age?;
    let mut beside = Scenario { seed: simulated.seed, ..scenario.clone() };
    for flow in &mut beside.flows {
        let first = |outcome: &Outcome| {
            let series = outcome.series.iter().find(|series| series.flow == flow.name)?;
            series.packets.first().map(|packet| packet.at)
        };
        let (ours, theirs) = (first(simulated)?, first(live)?);
        let age = (age + Time::since_start(theirs)).saturating_sub(Time::since_start(ours));
        flow.stack.timers_age = TICK * age.ticks(TICK);
        flow.start += age - flow.stack.timers_age;
    }
    Some(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulator;
    use crate::trace::{Tapped, Trace};
    use std::borrow::Cow;
    use std::time::Duration;
    use truckee_scenario::Document;
    use truckee_tcp::Span;

    /// One segment that is lost, so that what a timer does is seen.
    const LOST: &str = r#"
duration = "3s"
profile = "linux"
[[link]]
between = ["a", "b"]
rate = "10Mbit/s"
delay = "10ms"
channel = { kind = "scripted", counts = "data", packets = [1] }
[[flow]]
from = "a"
to = "b"
sender = "newreno"
app = { kind = "file", size = "1kB" }
"#;

    /// A simulation that says it were a kernel's, with timers of that age.
    #[derive(Clone, Copy)]
    struct Live(Span);

    impl Engine for Live {
        fn name(&self) -> &str {
            "kernel"
        }
        fn run(&self, scenario: &Scenario, _: bool) -> Result<Outcome, Failure> {
            self.run_tapped(scenario, Vantage::Sender)
        }
        fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
            let mut scenario = scenario.clone();
            scenario.flows[0].stack.timers_age = self.0;
            let outcome = Simulator.run_tapped(&scenario, vantage)?;
            Ok(Outcome { timers_age: Some(self.0), ..outcome })
        }
        fn refuses(&self, _: &Scenario) -> Option<String> {
            None
        }
        fn is_live(&self) -> bool {
            true
        }
        fn build(&self) -> Cow<'_, str> {
            "none".into()
        }
        fn takes(&self, _: &Scenario) -> Option<Duration> {
            None
        }
    }

    fn times(outcome: &Outcome) -> Vec<Time> {
        outcome.series[0].packets.iter().map(|packet| packet.at).collect()
    }

    /// Since the first one.
    fn apart(outcome: &Outcome) -> Vec<Span> {
        let times = times(outcome);
        times.iter().map(|&at| at - times[0]).collect()
    }

    #[test]
    fn a_simulation_has_the_ticks_of_the_live_run_beside_it() {
        let scenario = Document::parse("lost.toml", LOST).unwrap().scenario().unwrap();
        for age in [3, 250, 1_000_001].map(Span::ms) {
            let engines: [&dyn Engine; 2] = [&Simulator, &Live(age)];
            let run = |engine: &dyn Engine| vec![Tapped(engine).run(&scenario, true).unwrap()];
            let mut sides = [run(engines[0]), run(engines[1])];
            assert_ne!(apart(&sides[0][0]), apart(&sides[1][0]), "{age:?}");
            on_the_same_ticks(&scenario, engines, &mut sides).unwrap();
            assert_eq!(apart(&sides[0][0]), apart(&sides[1][0]), "{age:?}");
            // Clocks other than the wheel count the simulation's own time.
            let into = |time: Time| time.since_start() - TICK * time.since_start().ticks(TICK);
            let began = age + times(&sides[1][0])[0].since_start();
            assert_eq!(into(times(&sides[0][0])[0]), began - TICK * began.ticks(TICK), "{age:?}");
            let trace = Trace::of(&sides[0][0], &scenario.flows[0]).unwrap();
            assert_eq!(trace.late, Span::ZERO, "a simulation that begins later is not late: {age:?}");
        }
    }
}
