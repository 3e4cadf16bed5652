//! A grid of scenarios under many seeds.

use crate::attend::{Wishes, attended};
use crate::crew::Hired;
use crate::error;
use crate::foreign::{Classes, Given};
use crate::run::{engines, find};
use crate::scenario::Document;
use crate::table::Table;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Instant;
use truckee_lab::grid::{self, Grid};
use truckee_lab::sweep::elsewhere;
use truckee_lab::{Engine, Metric, Plan, Runs, human, output, table};
use truckee_look::report;

/// Which replications: so many, these, or as many as a precision takes.
type Replications = (Option<u64>, Option<Vec<u64>>, Option<f64>);

/// A sweep that was made.
#[pyclass(frozen, module = "truckee._native")]
#[derive(Debug)]
pub struct Sweep {
    sweep: truckee_lab::Sweep,
    table: table::Table,
}

/// Sweeps. `vary` are axes as the command's `--vary` has them; `limit` is the most cells that may be asked for; `crew` are
/// those who run them, if not this process.
#[pyfunction]
#[pyo3(signature = (document, vary, metrics, replications, engine = "sim", jobs = None, folder = None, limit = None, progress = None, algorithms = Vec::new(), crew = None))]
#[allow(clippy::too_many_arguments)] // keywords, all of them
pub fn sweep(
    py: Python<'_>,
    document: &Document,
    vary: Vec<String>,
    metrics: Vec<String>,
    replications: Replications,
    engine: &str,
    jobs: Option<usize>,
    folder: Option<PathBuf>,
    limit: Option<u64>,
    progress: Option<Bound<'_, PyAny>>,
    algorithms: Vec<Given>,
    crew: Option<Py<PyAny>>,
) -> PyResult<Sweep> {
    let algorithms = Classes::new(algorithms)?;
    let wishes = Wishes::default();
    let engines = engines(&wishes, &algorithms);
    let engine = find(&engines, engine)?;
    let metrics = metrics.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>();
    let metrics = metrics.map_err(|e| error::lab(&e.into()))?;
    let document = document.among(&algorithms);
    let (axes, seeds) = grid::axes(&vary).map_err(|e| error::lab(&e))?;
    let runs = runs(replications, seeds, &metrics)?;
    let plan = attended(py, &wishes, None, |_| {
        let grid = Grid::new(&document.0, axes)?;
        metrics.iter().try_for_each(|metric| metric.check_observer(grid.observers()))?;
        let mut plan = Plan::new(grid, runs, metrics.clone());
        (plan.only_asked, plan.jobs) = (true, jobs);
        Ok(plan)
    })?
    .map_err(|e: truckee_lab::Error| error::lab(&e))?;
    if let Some(limit) = limit {
        within(py, &plan, engine, &wishes, limit)?;
    }
    let mut crew = crew.map(|crew| Hired::new(crew, wishes.abort.clone()));
    let excused = crew.as_ref().map(|crew| crew.excused.clone()).unwrap_or_default();
    let sweep = attended(py, &wishes, progress.as_ref(), |teller| {
        let folder_here = folder.as_deref();
        let sweep = match &mut crew {
            Some(crew) => elsewhere(&plan, engine, folder_here, crew, teller, &wishes.stop),
            None => truckee_lab::sweep(&plan, engine, folder_here, teller, &wishes.stop),
        }?;
        if let Some(folder) = folder.as_ref().filter(|_| sweep.complete && sweep.is_new) {
            report::write(std::slice::from_ref(folder), None)?;
        }
        Ok(sweep)
    })?
    .map_err(|e: truckee_look::Error| algorithms.raised.behind(py, excused.or(error::look(&e))))?;
    let table = table::Table::new(&sweep, &metrics);
    Ok(Sweep { sweep, table })
}

fn runs(
    (count, given, precision): Replications,
    varied: Option<Vec<u64>>,
    metrics: &[Metric],
) -> PyResult<Runs> {
    let one = |what: &str| {
        error::question(format!(
            "{what}: only one of runs=, seeds=, precision= and an axis seed says which runs are made"
        ))
    };
    match (count, given.or(varied), precision) {
        (Some(count), None, None) => Ok(Runs::Count(count)),
        (None, Some(seeds), None) => Ok(Runs::Seeds(seeds)),
        (None, None, Some(target)) if target > 0.0 && target < 1.0 => match metrics.first() {
            Some(metric) => Ok(Runs::Precision { target, metric: metric.clone() }),
            None => Err(error::question("precision= needs a metric")),
        },
        (None, None, Some(target)) => Err(error::question(format!(
            "precision={target}, expected a share between 0 and 1, such as 0.02"
        ))),
        (Some(count), _, _) => Err(one(&format!("runs={count}"))),
        (None, Some(_), Some(target)) => Err(one(&format!("precision={target}"))),
        (None, None, None) => Err(one("none of them is there")),
    }
}

/// Refuses a plan of more cells than were allowed, with what they would take here, by one that is run to see.
fn within(py: Python<'_>, plan: &Plan, engine: &dyn Engine, wishes: &Wishes, limit: u64) -> PyResult<()> {
    let points = plan.grid.size() as u64;
    let seeds = match &plan.runs {
        Runs::Count(n) => *n,
        Runs::Seeds(seeds) => seeds.len() as u64,
        Runs::Precision { .. } => truckee_lab::sweep::MIN_SEEDS,
    };
    let cells = points.saturating_mul(seeds);
    if cells <= limit {
        return Ok(());
    }
    let jobs = plan.jobs.unwrap_or_else(|| truckee_lab::engine::default_jobs(engine)).max(1);
    let seconds = attended(py, wishes, None, |_| {
        let scenario = plan.grid.scenario(0).ok()?;
        let began = Instant::now();
        let takes = engine.takes(&scenario).map(|at_most| at_most.as_secs_f64());
        takes.or_else(|| engine.run(&scenario, false).ok().map(|_| began.elapsed().as_secs_f64()))
    })?;
    let cost = seconds.map_or_else(
        || "how long one takes is not known".to_owned(),
        |one| {
            let all = one * cells as f64 / jobs as f64;
            format!(
                "one like the first takes {}, all about {}, {jobs} at once",
                human::quantity(one, "s"),
                human::quantity(all, "s")
            )
        },
    );
    Err(error::question(format!(
        "{points} points × {seeds} seeds are {cells} runs, more than limit={limit}: {cost}; limit=None allows it"
    )))
}

#[pymethods]
impl Sweep {
    /// One row for each point and metric, with means and intervals.
    fn summary(&self) -> PyResult<Table> {
        Table::of(output::summary(&self.table))
    }

    /// One row a run.
    fn runs(&self) -> PyResult<Table> {
        Table::of(output::runs(&self.sweep))
    }

    /// The summary as the command writes it.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.table).map_err(error::internal)
    }

    /// Whether all runs were made.
    #[getter]
    fn complete(&self) -> bool {
        self.sweep.complete
    }

    /// Points, in words, that did not reach the precision that was asked for.
    #[getter]
    fn imprecise(&self) -> Vec<String> {
        self.sweep.imprecise.iter().map(|&point| self.sweep.grid.label(point)).collect()
    }

    /// The table of all runs on disk.
    #[getter]
    fn file(&self) -> Option<PathBuf> {
        self.sweep.file.clone()
    }
}
