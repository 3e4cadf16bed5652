//! Runs of the same scenario under the same seeds on several engines, more of them while nothing is decided.

use super::{Comparison, Tolerance, Verdict};
use crate::engine::default_jobs;
use crate::realtime::Schedule;
use crate::sweep::pool::Pool;
use crate::sweep::{Cell, Progress, replaced};
use crate::validity::{Broken, to_replace};
use crate::{Cancel, Engine, Error, Failure};
use std::collections::{BTreeMap, BTreeSet};
use truckee_scenario::{Lateness, Outcome, Scenario};

/// Which runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// Seeds, counted up from the scenario's own.
    pub count: u64,
    /// Most of them, where a tolerance is undecided with fewer; at most `count`: no more than these.
    pub at_most: u64,
    /// Runs at once; `None`: one for a live engine, which then has the machine for itself, and else one a core.
    pub jobs: Option<usize>,
    /// Whether the run under the first seed records its time series.
    pub series: bool,
    /// Whether the simulator runs the scenario as written, too, where the kernel does otherwise than the definition and
    /// the simulator can be set alike ([`truckee_scenario::alike`]).
    pub as_written: bool,
}

/// What came of it: the runs, for each engine one outcome a seed, and what they say.
pub type Compared = (Vec<Vec<Outcome>>, Comparison);

/// Runs and compares; `None` when `cancel` was wished before all was done. As long as a tolerance is undecided, there
/// are twice as many seeds, up to [`Runs::at_most`]: few looks, so that looking again and again does not decide.
///
/// # Errors
/// An engine's, and those of [`Comparison::new`] and [`Comparison::hold`].
pub fn compare(
    scenario: &Scenario,
    engines: &[&dyn Engine],
    runs: Runs,
    tolerances: &[Tolerance],
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Option<Compared>, Error> {
    if let Some(reason) = engines.iter().find_map(|engine| engine.refuses(scenario)) {
        return Err(Error::Scenario { point: String::new(), reason });
    }
    let mut sides: Vec<Vec<Outcome>> = engines.iter().map(|_| Vec::new()).collect();
    let mut count = runs.count;
    let (set, mut notes) = set_alike(scenario, engines, runs);
    let follows = |engine: &dyn Engine| engine.goes_by_live_runs().is_some();
    notes.extend(engines.iter().filter_map(|engine| engine.goes_by_live_runs()).map(str::to_owned));
    let mut order: Vec<(usize, &dyn Engine)> = engines.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, engine)| follows(*engine));
    loop {
        let seeds: Vec<u64> = (0..count).map(|k| scenario.seed.wrapping_add(k)).collect();
        let mut again: BTreeSet<u64> = BTreeSet::new();
        for &(point, engine) in &order {
            let mut have = std::mem::take(&mut sides[point]);
            if follows(engine) {
                have.retain(|outcome| !again.contains(&outcome.seed));
            }
            let had = replacements(&have);
            progress.started(engines.len() * seeds.len(), point * seeds.len() + have.len());
            let scenario = if engine.is_live() { scenario } else { &set };
            let all = side(scenario, (point, engine), &seeds, (runs, have), progress, cancel)?;
            let Some(all) = all else { return Ok(None) };
            let made = replacements(&all).into_iter();
            again.extend(
                made.filter(|(seed, n)| had.get(seed).is_some_and(|of| of != n)).map(|(seed, _)| seed),
            );
            sides[point] = all;
        }
        let mut comparison = Comparison { notes: notes.clone(), ..Comparison::new(&sides)? };
        comparison.hold(tolerances)?;
        if comparison.verdict != Verdict::Undecided || count >= runs.at_most {
            return Ok(Some((sides, comparison)));
        }
        count = (2 * count).min(runs.at_most);
    }
}

/// How often each seed's run was made again.
fn replacements(outcomes: &[Outcome]) -> BTreeMap<u64, u64> {
    let replaces = |outcome: &Outcome| outcome.lateness.map_or(0, |lateness| lateness.replaces);
    outcomes.iter().map(|outcome| (outcome.seed, replaces(outcome))).collect()
}

/// What simulators run, and what is to be said of it: something only where there is a kernel beside them.
fn set_alike(scenario: &Scenario, engines: &[&dyn Engine], runs: Runs) -> (Scenario, Vec<String>) {
    let live = engines.iter().filter(|engine| engine.is_live()).count();
    if live == 0 || live == engines.len() {
        return (scenario.clone(), Vec::new());
    }
    truckee_scenario::alike(scenario, runs.as_written)
}

/// The same without a question: for each engine, in order, one outcome a seed.
pub fn run(
    scenario: &Scenario,
    engines: &[&dyn Engine],
    runs: Runs,
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Option<Vec<Vec<Outcome>>>, Error> {
    Ok(compare(scenario, engines, runs, &[], progress, cancel)?.map(|(sides, _)| sides))
}

/// The runs of one engine, those it has and those it lacks. Engines run one after the other: a simulation beside it would
/// take the processor from a live run. In what `progress` is told, a cell's point is the engine's number.
fn side(
    scenario: &Scenario,
    (point, engine): (usize, &dyn Engine),
    seeds: &[u64],
    (runs, have): (Runs, Vec<Outcome>),
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Option<Vec<Outcome>>, Error> {
    let at_once = runs.jobs.unwrap_or(if engine.is_live() { 1 } else { default_jobs(engine) });
    let pool = Pool::new(at_once);
    let length = engine.takes(scenario);
    let point_of = format!("engine={}", engine.name());
    let failed = |cell: Cell, failure: Failure| Error::Engine {
        point: point_of.clone(),
        seed: cell.seed,
        reason: failure.reason,
    };
    let cell = |&seed: &u64| Cell { point, seed };
    let mut broken = Broken::default();
    let mut done: BTreeMap<Cell, Outcome> = have.into_iter().map(|o| (cell(&o.seed), o)).collect();
    loop {
        let missing: Vec<Cell> = seeds.iter().map(cell).filter(|c| !done.contains_key(c)).collect();
        let late = to_replace(seeds.len(), done.iter().map(|(cell, o)| (*cell, o.lateness.as_ref())));
        let cells = if missing.is_empty() { late } else { missing };
        if cells.is_empty() {
            break;
        }
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let late = |cell: &Cell| Some(done.get(cell)?.lateness?.replaces + 1);
        let again = cells.iter().filter(|cell| late(cell).is_some()).count();
        if again > 0 {
            progress.warned(&replaced(again));
        }
        let replaces = |cell: &Cell| (*cell, late(cell).unwrap_or(0) + broken.of(cell));
        let replaces: BTreeMap<Cell, u64> = cells.iter().map(replaces).collect();
        let mut schedule = Schedule::new(cells.iter().filter_map(|_| length), at_once);
        if engine.is_live() {
            progress.live(schedule.plan(engine.name()));
        }
        let one = |cell: Cell| {
            let scenario = Scenario { seed: cell.seed, ..scenario.clone() };
            let mut outcome = match engine.run(&scenario, runs.series && cell.seed == seeds[0]) {
                Ok(outcome) => outcome,
                Err(failure) if failure.once => return Ok((cell, Err(failure))),
                Err(failure) => return Err(failed(cell, failure)),
            };
            let replaces = replaces.get(&cell).copied().unwrap_or(0);
            outcome.lateness = outcome.lateness.map(|lateness| Lateness { replaces, ..lateness });
            Ok((cell, Ok(outcome)))
        };
        pool.run(&cells, cancel, one, |outcomes| {
            for (cell, outcome) in outcomes {
                match outcome {
                    Ok(outcome) => done.insert(cell, outcome),
                    Err(failure) if !broken.add(cell, seeds.len()) => return Err(failed(cell, failure)),
                    Err(failure) => {
                        progress.warned(&Broken::said(&point_of, cell.seed, &failure));
                        continue;
                    }
                };
                progress.finished(cell);
                if let Some(length) = length {
                    progress.left(schedule.finish(length));
                }
            }
            Ok(())
        })?;
    }
    let mut all: Vec<Outcome> = done.into_values().collect();
    // Seeds that wrap around keep their order.
    all.sort_by_key(|outcome| outcome.seed.wrapping_sub(scenario.seed));
    Ok(Some(all))
}
