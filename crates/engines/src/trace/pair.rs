//! A simulation and live runs that are compared by means, each simulated run as late as the live one of its seed: what is apart
//! then is the stacks' and not the machine's. Not for: what that takes (`beside.rs`).

use super::beside::as_late_as;
use super::wrapped::Wrapped;
use std::collections::BTreeMap;
use std::sync::Mutex;
use truckee_lab::compare::{Compared, Runs, Tolerance, compare};
use truckee_lab::sweep::Progress;
use truckee_lab::{Cancel, Engine, Error};
use truckee_scenario::outcome::{FlowSeries, Vantage};
use truckee_scenario::{Outcome, Scenario};

/// As [`compare`], each simulated run as late as the live one of its seed was.
///
/// # Errors
/// Its, and of engines that are not one simulator and one live.
pub fn compare_as_late(
    scenario: &Scenario,
    engines: &[&dyn Engine],
    runs: Runs,
    tolerances: &[Tolerance],
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Option<Compared>, Error> {
    let kept = LiveRuns::default();
    let [one, other] = match *engines {
        [one, other] if one.is_live() != other.is_live() => [one, other],
        _ => {
            let names = engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
            return Err(Error::Compare {
                reason: format!(
                    "simulated runs are as late as live ones of one simulator and one live engine, such as sim,kernel; found {names}"
                ),
            });
        }
    };
    let (live, simulator) = if one.is_live() { (one, other) } else { (other, one) };
    let (live, simulator) = (kept.of(live), kept.beside(simulator));
    let pair: [&dyn Engine; 2] = if one.is_live() { [&live, &simulator] } else { [&simulator, &live] };
    let runs = Runs { live_first: true, ..runs };
    let mut compared = compare(scenario, &pair, runs, tolerances, progress, cancel)?;
    if let Some((_, comparison)) = &mut compared {
        comparison.notes.push(AS_LATE.to_owned());
    }
    Ok(compared)
}

/// What is to be known of the simulated runs.
const AS_LATE: &str = "each simulated run is as late as the live one of its seed was, packet by packet";

/// What simulated runs wait for: live ones with their packets, by seed.
#[derive(Debug, Default)]
struct LiveRuns(Mutex<BTreeMap<u64, Outcome>>);

impl LiveRuns {
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
            Ok(parted(late.ok_or("how late the live run was is not known")?, series).0)
        })
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
