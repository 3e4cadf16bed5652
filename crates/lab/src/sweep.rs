//! A grid of scenarios × seeds over all cores, and over as many processes as work on the same store.
//!
//! Results do not depend on the number of threads or processes, on the order in which runs finish, or on whether the sweep
//! was interrupted in between: a cell (one point, one seed) is a pure function of both, and which seeds a precision
//! target asks for is decided from complete rounds of seeds only. Of a live engine the last holds, the rest only as far
//! as the machine has room: a cell that is done is never run again, since it would not come out the same. The one
//! exception are runs in which the machine was too late, which are replaced as [`crate::validity`] says, whatever they
//! showed.
//!
//! Cells run here ([`sweep`]) or wherever a [`Crew`] has them run ([`elsewhere`](fn@elsewhere)); [`Plan::cells`],
//! [`Plan::run`], [`Plan::task`] and [`Plan::next`] are what both are made of.
//!
//! Not for: rendering progress (see [`Progress`]), or what is on disk ([`crate::store`]).

mod elsewhere;
mod plan;
pub(crate) mod pool;
mod rounds;
mod whole;
mod work;

pub use crate::cell::Cell;
pub use elsewhere::{Crew, Returned};
pub use plan::{MAX_SEEDS, MIN_SEEDS, Plan, Runs};
pub use rounds::Round;
pub use whole::{elsewhere, sweep};
pub(crate) use work::replaced;

use crate::realtime::LivePlan;
use crate::rows::{Row, Rows};
use crate::validity::LiveRuns;
use crate::{Grid, Metric};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Who wants to know how far a sweep is. Called from one thread only.
pub trait Progress {
    /// Before anything runs, and again when a precision target asks for more: cells in all, and those done already.
    fn started(&mut self, _total: usize, _done: usize) {}
    /// After [`started`](Self::started), where the runs to come are live: what they will take.
    fn live(&mut self, _plan: LivePlan) {}
    /// After [`finished`](Self::finished), where runs are live: how long the others take at most.
    fn left(&mut self, _at_most: Duration) {}
    /// A cell has finished, here or in another process that works on the same store.
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
    pub rows: Rows,
    /// Whether all cells were done: false after an interruption.
    pub complete: bool,
    /// Whether the runs are of a live engine. Those in which the machine was too late, and which could not be replaced,
    /// are among the rows and say so.
    pub live: bool,
    /// Points that did not reach the precision target within [`MAX_SEEDS`].
    pub imprecise: Vec<usize>,
    /// `rows.parquet`, where there is a store and the sweep is complete.
    pub file: Option<PathBuf>,
    /// Whether anything on disk is new.
    pub is_new: bool,
}

impl Sweep {
    /// The rows of one point, by seed.
    pub fn rows_at(&self, point: usize) -> Vec<Row> {
        self.rows.at(point).collect()
    }

    /// The live runs; `None` of the simulator.
    pub fn live_runs(&self) -> Option<LiveRuns> {
        self.live.then(|| {
            LiveRuns::of(
                self.rows.iter().map(|row| row.lateness).collect::<Vec<_>>().iter().map(Option::as_ref),
            )
        })
    }

    /// The seeds of the invalid runs at one point; see [`Row::is_invalid`].
    pub fn invalid(&self, point: usize) -> BTreeSet<u64> {
        self.rows.at(point).filter(Row::is_invalid).map(|row| row.seed).collect()
    }

    /// The values of a metric at one point, by seed; empty for a metric that was not kept.
    pub fn values(&self, point: usize, metric: &str) -> Vec<(u64, Option<f64>)> {
        let Some(at) = self.metrics.iter().position(|m| m.name() == metric) else { return Vec::new() };
        self.rows.values(point, at).collect()
    }

    /// Values at two points, paired by common seeds.
    pub fn pairs(&self, a: (usize, &str), b: (usize, &str)) -> Vec<(Option<f64>, Option<f64>)> {
        let right: BTreeMap<u64, Option<f64>> = self.values(b.0, b.1).into_iter().collect();
        let left = self.values(a.0, a.1).into_iter();
        left.filter_map(|(seed, x)| Some((x, *right.get(&seed)?))).collect()
    }
}

#[cfg(test)]
mod tests;
