//! A grid of scenarios × seeds over all cores.
//!
//! Results do not depend on the number of threads, on the order in which runs finish, or on whether the sweep was
//! interrupted in between: a cell (one point, one seed) is a pure function of both, and which seeds a precision
//! target asks for is decided from complete rounds of seeds only. Of a live engine the last holds, the rest only as far
//! as the machine has room: a cell that is done is never run again, since it would not come out the same. The one
//! exception are runs in which the machine was too late, which are replaced as [`crate::validity`] says, whatever they
//! showed.
//!
//! Not for: rendering progress (see [`Progress`]), or what is on disk ([`crate::store`]).

pub(crate) mod pool;

use crate::engine::default_jobs;
use crate::realtime::{LivePlan, Schedule};
use crate::stats::{CONFIDENCE, Estimate};
use crate::store::{Manifest, Row, Store, build};
use crate::validity::{Broken, LiveRuns, to_replace};
use crate::{Engine, Error, Failure, Grid, Metric};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use truckee_scenario::Lateness;

/// Fewest seeds under a precision target.
pub const MIN_SEEDS: u64 = 5;
/// Most seeds under a precision target.
pub const MAX_SEEDS: u64 = 1000;

/// Which replications are run.
#[derive(Debug, Clone, PartialEq)]
pub enum Runs {
    /// So many seeds, counted up from the scenario's own.
    Count(u64),
    /// These seeds.
    Seeds(Vec<u64>),
    /// Seeds counted up from the scenario's own until at every point the relative half-width of the metric's mean is
    /// at most `target`; at least [`MIN_SEEDS`], at most [`MAX_SEEDS`]. A point where a run has no value for the
    /// metric goes on to the maximum, unless its other runs suffice.
    Precision {
        /// For example 0.02 for 2 %.
        target: f64,
        /// Whose mean.
        metric: Metric,
    },
}

/// What to sweep.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenarios.
    pub grid: Grid,
    /// The replications.
    pub runs: Runs,
    /// What is kept of each run. See [`Plan::new`].
    pub metrics: Vec<Metric>,
    /// Names of those that were asked for.
    pub asked: Vec<String>,
    /// Runs at once; `None`: [`default_jobs`].
    pub jobs: Option<usize>,
    /// The command line, for the record.
    pub command: Vec<String>,
}

impl Plan {
    /// A plan that keeps every unqualified metric, those of all who watch, `more`, and the one that a precision target
    /// looks at.
    pub fn new(grid: Grid, runs: Runs, more: Vec<Metric>) -> Self {
        let mut metrics = Metric::unqualified();
        let asked = more.iter().map(|m| m.name().to_owned()).collect();
        let target = match &runs {
            Runs::Precision { metric, .. } => Some(metric.clone()),
            _ => None,
        };
        let observers = grid.points.iter().flat_map(Metric::of_observers);
        for metric in observers.chain(more).chain(target) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        Self { grid, runs, metrics, asked, jobs: None, command: Vec::new() }
    }

    fn first_seed(&self) -> u64 {
        self.grid.points.first().map_or(1, |s| s.seed)
    }
}

/// One run of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The grid point's number.
    pub point: usize,
    /// The seed.
    pub seed: u64,
}

/// Who wants to know how far a sweep is. Called from one thread only.
pub trait Progress {
    /// Before anything runs, and again when a precision target asks for more: cells in all, and those done already.
    fn started(&mut self, _total: usize, _done: usize) {}
    /// After [`started`](Self::started), where the runs to come are live: what they will take.
    fn live(&mut self, _plan: LivePlan) {}
    /// After [`finished`](Self::finished), where runs are live: how long the others take at most.
    fn left(&mut self, _at_most: Duration) {}
    /// A cell has finished and, if there is a store, is on disk.
    fn finished(&mut self, _cell: Cell) {}
    /// Something the user should read: a damaged file, say.
    fn warned(&mut self, _message: &str) {}
}

/// Nobody.
impl Progress for () {}

/// What a sweep found.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The scenarios it ran.
    pub grid: Grid,
    /// The metrics, in the order of each row's values.
    pub metrics: Vec<Metric>,
    /// All finished runs in order of point and seed.
    pub rows: Vec<Row>,
    /// Whether all cells were done: false after an interruption.
    pub complete: bool,
    /// Whether the runs are of a live engine. Those in which the machine was too late, and which could not be replaced,
    /// are among the rows and say so.
    pub live: bool,
    /// Points that did not reach the precision target within [`MAX_SEEDS`].
    pub imprecise: Vec<usize>,
    /// `rows.parquet`, where there is a store and the sweep is complete.
    pub file: Option<PathBuf>,
}

impl Sweep {
    /// The rows of one point, by seed.
    pub fn rows_at(&self, point: usize) -> &[Row] {
        let from = self.rows.partition_point(|r| r.point < point);
        let to = self.rows.partition_point(|r| r.point <= point);
        &self.rows[from..to]
    }

    /// The live runs; `None` of the simulator.
    pub fn live_runs(&self) -> Option<LiveRuns> {
        self.live.then(|| LiveRuns::of(self.rows.iter().map(|row| row.lateness.as_ref())))
    }

    /// The seeds of the invalid runs at one point; see [`Row::is_invalid`].
    pub fn invalid(&self, point: usize) -> BTreeSet<u64> {
        self.rows_at(point).iter().filter(|row| row.is_invalid()).map(|row| row.seed).collect()
    }

    /// The values of a metric at one point, by seed; empty for a metric that was not kept.
    pub fn values(&self, point: usize, metric: &str) -> Vec<(u64, Option<f64>)> {
        let Some(at) = self.metrics.iter().position(|m| m.name() == metric) else { return Vec::new() };
        self.rows_at(point).iter().map(|r| (r.seed, r.values.get(at).copied().flatten())).collect()
    }

    /// Values at two points, paired by common seeds.
    pub fn pairs(&self, a: (usize, &str), b: (usize, &str)) -> Vec<(Option<f64>, Option<f64>)> {
        let right: BTreeMap<u64, Option<f64>> = self.values(b.0, b.1).into_iter().collect();
        let left = self.values(a.0, a.1).into_iter();
        left.filter_map(|(seed, x)| Some((x, *right.get(&seed)?))).collect()
    }
}

/// Runs `plan`. With a `dir`, every finished run is stored there at once, and what is stored there already is not run
/// again. When `cancel` becomes true the cells under way finish, and what there is comes back as an incomplete sweep.
pub fn sweep(
    plan: &Plan,
    engine: &dyn Engine,
    dir: Option<&Path>,
    progress: &mut dyn Progress,
    cancel: &AtomicBool,
) -> Result<Sweep, Error> {
    for (point, scenario) in plan.grid.points.iter().enumerate() {
        if let Some(reason) = engine.refuses(scenario) {
            return Err(Error::Scenario { point: plan.grid.label(point), reason });
        }
    }
    let mut done: BTreeMap<Cell, Row> = BTreeMap::new();
    let mut store = match dir {
        None => None,
        Some(dir) => {
            let (store, found) = Store::open(dir, &manifest(plan, engine))?;
            if let Some(what) = found.changed {
                progress.warned(&what);
            }
            for path in found.damaged {
                progress.warned(&format!("{} is damaged; its runs are done again", path.display()));
            }
            done.extend(found.rows.into_iter().map(|r| (Cell { point: r.point, seed: r.seed }, r)));
            Some(store)
        }
    };
    let at_once = plan.jobs.unwrap_or_else(|| default_jobs(engine));
    let pool = pool::Pool::new(at_once)?;
    let takes = |cell: Cell| engine.takes(&plan.grid.points[cell.point]);
    let mut wanted = first_round(plan);
    let mut broken = Broken::default();
    loop {
        let missing: Vec<Cell> = wanted.iter().filter(|c| !done.contains_key(c)).copied().collect();
        let again = late(&wanted, &done);
        if missing.is_empty() && !again.is_empty() {
            progress.warned(&replaced(again.len()));
        }
        let cells = if missing.is_empty() { again } else { missing };
        let replaced =
            |cell: &Cell| done.get(cell).and_then(|row| row.lateness).map_or(0, |l| l.replaces + 1);
        let replaces: BTreeMap<Cell, u64> =
            cells.iter().map(|cell| (*cell, replaced(cell) + broken.of(cell))).collect();
        progress.started(wanted.len(), wanted.len() - cells.len());
        let mut schedule = Schedule::new(cells.iter().filter_map(|&c| takes(c)), at_once);
        if engine.is_live() && !cells.is_empty() {
            progress.live(schedule.plan(engine.name()));
        }
        pool.run(
            &cells,
            cancel,
            |cell| run_cell(plan, engine, cell, replaces.get(&cell).copied().unwrap_or(0)),
            |ran| {
                let (rows, failures) = apart(ran);
                if let Some(store) = &mut store {
                    store.append(&rows)?;
                }
                for (cell, failure) in failures {
                    let point = plan.grid.label(cell.point);
                    if !broken.add(cell, wanted.len()) {
                        return Err(Error::Engine { point, seed: cell.seed, reason: failure.reason });
                    }
                    progress.warned(&Broken::said(&point, cell.seed, &failure));
                }
                for row in rows {
                    let cell = Cell { point: row.point, seed: row.seed };
                    done.insert(cell, row);
                    progress.finished(cell);
                    if let Some(length) = takes(cell) {
                        progress.left(schedule.finish(length));
                    }
                }
                Ok(())
            },
        )?;
        let to_do = wanted.iter().any(|c| !done.contains_key(c)) || !late(&wanted, &done).is_empty();
        if to_do && cancel.load(Ordering::Relaxed) {
            return Ok(result(plan, engine, done, &wanted, false));
        }
        if to_do {
            continue;
        }
        let more = next_round(plan, &wanted, &done);
        if more.is_empty() {
            break;
        }
        wanted.extend(more);
    }
    let mut sweep = result(plan, engine, done, &wanted, true);
    if let Some(store) = &store {
        sweep.file = Some(store.finish(&sweep.grid, &sweep.rows)?);
    }
    Ok(sweep)
}

/// What is said when invalid runs are replaced.
pub(crate) fn replaced(runs: usize) -> String {
    match runs {
        1 => "the machine was too late in one run, which is made again".to_owned(),
        n => format!("the machine was too late in {n} runs, which are made again"),
    }
}

/// The cells of runs in which the machine was too late, and which are to be made again.
fn late(wanted: &BTreeSet<Cell>, done: &BTreeMap<Cell, Row>) -> Vec<Cell> {
    let rows = wanted.iter().filter_map(|cell| Some((*cell, done.get(cell)?.lateness.as_ref())));
    to_replace(wanted.len(), rows)
}

/// A run that was made, or one that broke off.
type Ran = Result<Row, (Cell, Failure)>;

fn apart(ran: Vec<Ran>) -> (Vec<Row>, Vec<(Cell, Failure)>) {
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for one in ran {
        match one {
            Ok(row) => rows.push(row),
            Err(failure) => failures.push(failure),
        }
    }
    (rows, failures)
}

fn run_cell(plan: &Plan, engine: &dyn Engine, cell: Cell, replaces: u64) -> Result<Ran, Error> {
    let mut scenario = plan.grid.points[cell.point].clone();
    scenario.seed = cell.seed;
    let outcome = match engine.run(&scenario, false) {
        Ok(outcome) => outcome,
        Err(failure) if failure.once => return Ok(Err((cell, failure))),
        Err(Failure { reason, .. }) => {
            return Err(Error::Engine { point: plan.grid.label(cell.point), seed: cell.seed, reason });
        }
    };
    let values = plan.metrics.iter().map(|m| m.of(&outcome)).collect::<Result<_, _>>()?;
    let lateness = outcome.lateness.map(|lateness| Lateness { replaces, ..lateness });
    Ok(Ok(Row { point: cell.point, seed: cell.seed, digest: outcome.digest, values, lateness }))
}

fn manifest(plan: &Plan, engine: &dyn Engine) -> Manifest {
    Manifest {
        truckee: env!("CARGO_PKG_VERSION").to_owned(),
        engine: engine.name().to_owned(),
        scenario: plan.grid.points.first().map(|s| s.name.clone()).unwrap_or_default(),
        digest: plan.grid.digest(),
        axes: plan.grid.axes.clone(),
        metrics: plan.metrics.iter().map(|m| m.name().to_owned()).collect(),
        asked: plan.asked.clone(),
        commands: vec![plan.command.clone()],
        builds: vec![build()],
    }
}

fn first_round(plan: &Plan) -> BTreeSet<Cell> {
    let first = plan.first_seed();
    let seeds: Vec<u64> = match &plan.runs {
        Runs::Count(n) => (0..*n).map(|k| first.wrapping_add(k)).collect(),
        Runs::Seeds(seeds) => seeds.clone(),
        Runs::Precision { .. } => (0..MIN_SEEDS).map(|k| first.wrapping_add(k)).collect(),
    };
    let points = 0..plan.grid.points.len();
    points.flat_map(|point| seeds.iter().map(move |&seed| Cell { point, seed })).collect()
}

/// The cells that a precision target asks for beyond those wanted so far, all of which are done.
fn next_round(plan: &Plan, wanted: &BTreeSet<Cell>, done: &BTreeMap<Cell, Row>) -> Vec<Cell> {
    let Runs::Precision { target, .. } = plan.runs else { return Vec::new() };
    let first = plan.first_seed();
    let mut more = Vec::new();
    for point in 0..plan.grid.points.len() {
        let have = wanted.range(cells_of(point)).count() as u64;
        let width = relative_half_width(plan, point, wanted, done);
        if width.is_some_and(|w| w <= target) || have >= MAX_SEEDS {
            continue;
        }
        // The half-width falls with the root of the number of seeds. At most doubling keeps a lucky or unlucky
        // first estimate from deciding too much.
        let ask = width.map_or(2 * have, |w| (have as f64 * (w / target).powi(2)).ceil() as u64);
        let ask = ask.clamp(have + 1, 2 * have).min(MAX_SEEDS);
        more.extend((have..ask).map(|k| Cell { point, seed: first.wrapping_add(k) }));
    }
    more
}

/// All cells of a point.
fn cells_of(point: usize) -> RangeInclusive<Cell> {
    Cell { point, seed: 0 }..=Cell { point, seed: u64::MAX }
}

/// Of the precision target's metric at a point, over the wanted cells only: more may be on disk.
fn relative_half_width(
    plan: &Plan,
    point: usize,
    wanted: &BTreeSet<Cell>,
    done: &BTreeMap<Cell, Row>,
) -> Option<f64> {
    let Runs::Precision { metric, .. } = &plan.runs else { return None };
    let at = plan.metrics.iter().position(|m| m == metric)?;
    let rows = wanted.range(cells_of(point)).filter_map(|c| done.get(c));
    Estimate::of(rows.map(|r| r.values.get(at).copied().flatten()), CONFIDENCE).relative_half_width()
}

fn result(
    plan: &Plan,
    engine: &dyn Engine,
    done: BTreeMap<Cell, Row>,
    wanted: &BTreeSet<Cell>,
    complete: bool,
) -> Sweep {
    let imprecise = match plan.runs {
        Runs::Precision { target, .. } if complete => (0..plan.grid.points.len())
            .filter(|&p| relative_half_width(plan, p, wanted, &done).is_none_or(|w| w > target))
            .collect(),
        _ => Vec::new(),
    };
    let rows = done.into_iter().filter(|(cell, _)| wanted.contains(cell)).map(|(_, row)| row).collect();
    Sweep {
        grid: plan.grid.clone(),
        metrics: plan.metrics.clone(),
        rows,
        complete,
        live: engine.is_live(),
        imprecise,
        file: None,
    }
}

#[cfg(test)]
mod tests;
