//! A simulation and live runs that are compared by means, each simulated run as late as the live one of its seed: what is apart
//! then is the stacks' and not the machine's. Not for: what that takes (`beside.rs`).

use super::beside::as_late_as;
use super::wrapped::Wrapped;
use std::collections::BTreeMap;
use std::sync::Mutex;
use truckee_lab::{Engine, Error};
use truckee_scenario::outcome::{FlowSeries, Vantage};
use truckee_scenario::{Outcome, Scenario};

/// Has something asked of a simulator and a live engine, each simulated run as late as the live one of its seed was.
///
/// # Errors
/// The engines are not one of each.
pub fn as_late<T>(engines: &[&dyn Engine], ask: impl FnOnce(&[&dyn Engine]) -> T) -> Result<T, Error> {
    let kept = Kept::default();
    match *engines {
        [sim, live] if !sim.is_live() && live.is_live() => Ok(ask(&[&kept.beside(sim), &kept.of(live)])),
        [live, sim] if live.is_live() && !sim.is_live() => Ok(ask(&[&kept.of(live), &kept.beside(sim)])),
        _ => {
            let names = engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
            let expected = "one simulator and one live engine, such as sim,kernel";
            let reason = format!("simulated runs are as late as live ones of {expected}; found {names}");
            Err(Error::Compare { reason })
        }
    }
}

/// What is to be known of the simulated runs.
const AS_LATE: &str = "each simulated run is as late as the live one of its seed was, packet by packet";

/// What simulated runs wait for: live ones with their packets, by seed.
#[derive(Debug, Default)]
struct Kept(Mutex<BTreeMap<u64, Outcome>>);

impl Kept {
    /// A live engine whose runs are kept here, each until it has been asked for.
    fn of<'a>(&'a self, engine: &'a dyn Engine) -> impl Engine + 'a {
        Wrapped::new(engine, move |scenario: &Scenario, series| {
            let (shown, whole) = parted(engine.run_tapped(scenario, Vantage::Sender)?, series);
            self.0.lock().expect(UNPOISONED).insert(scenario.seed, whole);
            Ok(shown)
        })
    }

    /// A simulator each of whose runs is as late as the one kept here of the same seed.
    fn beside<'a>(&'a self, engine: &'a dyn Engine) -> impl Engine + 'a {
        Wrapped::new(engine, move |scenario: &Scenario, series| {
            let live = self.0.lock().expect(UNPOISONED).remove(&scenario.seed);
            let live = live.ok_or("there is no live run of its seed to be as late as")?;
            let simulated = engine.run_tapped(scenario, Vantage::Sender)?;
            let late = as_late_as(engine, scenario, &simulated, &live)?;
            Ok(parted(late.ok_or("what passed in the live run is not known")?, series).0)
        })
        .by_live_runs(AS_LATE)
    }
}

const UNPOISONED: &str = "nobody panics while holding it";

/// What is asked for of a run, and with it all that passed, which may be much.
fn parted(mut outcome: Outcome, series: bool) -> (Outcome, Outcome) {
    let whole = std::mem::take(&mut outcome.series);
    if series {
        let without =
            |of: &FlowSeries| FlowSeries { packets: Vec::new(), late: Default::default(), ..of.clone() };
        outcome.series = whole.iter().map(without).collect();
    } else {
        (outcome.queues, outcome.air) = Default::default();
    }
    let whole = Outcome { series: whole, ..outcome.clone() };
    (outcome, whole)
}
