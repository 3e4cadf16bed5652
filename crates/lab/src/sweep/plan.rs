//! What is swept, and which cells that makes: [`Plan::cells`] at first, [`Plan::next`] for a precision target, by what is
//! known then. Cells are data ([`Plan::task`]) that can be run anywhere.

use crate::cell::{Asked, Cell, Key, NoRecord, Record, Task, record};
use crate::{Engine, EngineName, Error, Grid, Metric};
use std::borrow::Cow;
use truckee_scenario::Scenario;

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
    /// Whether only what was asked for is kept in memory: a large sweep has its runs on disk.
    pub only_asked: bool,
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
        for metric in grid.observers().iter().cloned().chain(more).chain(target) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        Self { grid, runs, metrics, asked, only_asked: false, jobs: None, command: Vec::new() }
    }

    /// The metrics whose values are in memory, in [`Sweep::rows`].
    pub fn in_memory(&self) -> Vec<Metric> {
        let of_precision =
            |metric: &Metric| matches!(&self.runs, Runs::Precision { metric: of, .. } if of == metric);
        let is_asked = |metric: &&Metric| {
            !self.only_asked || of_precision(metric) || self.asked.iter().any(|name| name == metric.name())
        };
        self.metrics.iter().filter(is_asked).cloned().collect()
    }

    /// The scenario of a cell, its seed included.
    ///
    /// # Errors
    /// There is none; see [`Grid::scenario`].
    pub fn scenario(&self, cell: Cell) -> Result<Scenario, Error> {
        Ok(Scenario { seed: cell.seed, ..self.grid.scenario(cell.point)?.into_owned() })
    }

    /// What the scenarios of its points are called on this engine, in order.
    pub fn keys(&self, engine: &dyn Engine) -> Vec<Key> {
        let (name, build): (_, Cow<'_, str>) = (engine.name(), engine.build());
        self.grid.digests().iter().map(|digest| Key::parts(digest, name, &build)).collect()
    }

    /// Runs one of its cells here.
    ///
    /// # Errors
    /// There is no such scenario, or the engine fails.
    pub fn run(&self, engine: &dyn Engine, cell: Cell) -> Result<Record, NoRecord> {
        record(engine, &self.scenario(cell)?, &self.metrics)
    }

    /// Some of its cells as data, to be run elsewhere; `None` of a grid that was not made of a scenario file.
    pub fn task(&self, engine: &EngineName, build: &str, cells: &[Cell]) -> Option<Task> {
        let document = self.grid.document()?;
        let (file, scenario) = document.source();
        let asked = |cell: &Cell| Asked {
            address: Key::parts(&self.grid.digests()[cell.point], engine.as_str(), build).cell(cell.seed),
            set: self.grid.values(cell.point).flat_map(|value| &value.sets).cloned().collect(),
            seed: cell.seed,
        };
        Some(Task {
            file: file.to_owned(),
            scenario: scenario.to_owned(),
            set: document.overrides().to_vec(),
            engine: engine.clone(),
            metrics: self.metrics.iter().map(|m| m.name().to_owned()).collect(),
            cells: cells.iter().map(asked).collect(),
        })
    }
}
