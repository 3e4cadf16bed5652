//! Runs of the same scenario under the same seeds on several engines.

use crate::engine::default_jobs;
use crate::realtime::Schedule;
use crate::sweep::pool::Pool;
use crate::sweep::{Cell, Progress};
use crate::{Engine, Error};
use std::sync::atomic::{AtomicBool, Ordering};
use truckee_scenario::{Outcome, Scenario};

/// Which runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// Seeds, counted up from the scenario's own.
    pub count: u64,
    /// Runs at once; `None`: one for a live engine, which then has the machine for itself, and else one a core.
    pub jobs: Option<usize>,
    /// Whether the run under the first seed records its time series.
    pub series: bool,
}

/// For each engine, in order, one outcome a seed; `None` when `cancel` became true before all were done. Engines run one
/// after the other: a simulation beside it would take the processor from a live run. In what `progress` is told, a
/// cell's point is the engine's number.
pub fn run(
    scenario: &Scenario,
    engines: &[&dyn Engine],
    runs: Runs,
    progress: &mut dyn Progress,
    cancel: &AtomicBool,
) -> Result<Option<Vec<Vec<Outcome>>>, Error> {
    let seeds: Vec<u64> = (0..runs.count).map(|k| scenario.seed.wrapping_add(k)).collect();
    let mut all = Vec::new();
    for (point, engine) in engines.iter().enumerate() {
        progress.started(engines.len() * seeds.len(), point * seeds.len());
        let Some(outcomes) = side(scenario, (point, *engine), &seeds, runs, progress, cancel)? else {
            return Ok(None);
        };
        all.push(outcomes);
    }
    Ok(Some(all))
}

/// The runs of one engine.
fn side(
    scenario: &Scenario,
    (point, engine): (usize, &dyn Engine),
    seeds: &[u64],
    runs: Runs,
    progress: &mut dyn Progress,
    cancel: &AtomicBool,
) -> Result<Option<Vec<Outcome>>, Error> {
    let at_once = runs.jobs.unwrap_or(if engine.is_live() { 1 } else { default_jobs(engine) });
    let length = engine.takes(scenario);
    let mut schedule = Schedule::new(seeds.iter().filter_map(|_| length), at_once);
    if engine.is_live() {
        progress.live(schedule.plan(engine.name()));
    }
    let cells: Vec<Cell> = seeds.iter().map(|&seed| Cell { point, seed }).collect();
    let one = |cell: Cell| {
        let scenario = Scenario { seed: cell.seed, ..scenario.clone() };
        let outcome = engine.run(&scenario, runs.series && cell.seed == seeds[0]);
        let outcome = outcome.map_err(|reason| Error::Engine {
            point: format!("engine={}", engine.name()),
            seed: cell.seed,
            reason,
        })?;
        Ok((cell, outcome))
    };
    let mut done = Vec::new();
    Pool::new(at_once)?.run(&cells, cancel, one, |outcomes| {
        for (cell, outcome) in outcomes {
            done.push((cell, outcome));
            progress.finished(cell);
            if let Some(length) = length {
                progress.left(schedule.finish(length));
            }
        }
        Ok(())
    })?;
    if cancel.load(Ordering::Relaxed) && done.len() < cells.len() {
        return Ok(None);
    }
    // Seeds that wrap around keep their order.
    done.sort_by_key(|(cell, _)| cell.seed.wrapping_sub(scenario.seed));
    Ok(Some(done.into_iter().map(|(_, outcome)| outcome).collect()))
}
