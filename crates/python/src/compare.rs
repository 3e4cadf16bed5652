//! One scenario on several engines.

use crate::attend::{Wishes, attended};
use crate::error;
use crate::foreign::Classes;
use crate::run::{engines as engines_here, find};
use crate::scenario::Document;
use pyo3::prelude::*;
use truckee_engines::trace;
use truckee_lab::Engine;
use truckee_lab::compare::{Runs, Tolerance};
use truckee_look::figure;
use truckee_scenario::Outcome;

/// Holds engines side by side. Returns what is found as JSON, and drawn.
#[pyfunction]
#[pyo3(signature = (document, engines, count = 1, at_most = None, tolerances = Vec::new(), jobs = None, as_written = false, as_late = false, progress = None))]
#[allow(clippy::too_many_arguments)] // keywords, all of them
pub fn compare(
    py: Python<'_>,
    document: &Document,
    engines: Vec<String>,
    count: u64,
    at_most: Option<u64>,
    tolerances: Vec<String>,
    jobs: Option<usize>,
    as_written: bool,
    as_late: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    if engines.len() < 2 {
        return Err(error::question("engines: two or more are compared, such as sim and kernel"));
    }
    let tolerances = tolerances.iter().map(|text| Tolerance::parse(text)).collect::<Result<Vec<_>, _>>();
    let tolerances = tolerances.map_err(|e| error::lab(&e))?;
    let wishes = Wishes::default();
    let here = engines_here(&wishes, &Classes::default());
    let engines = engines.iter().map(|name| find(&here, name)).collect::<PyResult<Vec<_>>>()?;
    let scenario = document.to_run()?;
    let at_most = at_most.unwrap_or(count);
    let runs = Runs { count, at_most, jobs, series: true, as_written };
    let ask = |engines: &[&dyn Engine]| {
        attended(py, &wishes, progress.as_ref(), |teller| {
            truckee_lab::compare::compare(&scenario, engines, runs, &tolerances, teller, &wishes.stop)
        })
    };
    let compared =
        if as_late { trace::as_late(&engines, ask).map_err(|e| error::lab(&e))? } else { ask(&engines) };
    let compared = compared?.map_err(|e| error::lab(&e))?;
    let (sides, comparison) = compared.ok_or_else(|| error::question("stopped: nothing is compared"))?;
    let first: Vec<&Outcome> = sides.iter().filter_map(|side| side.first()).collect();
    let svg = figure::compare(&scenario, &first, &comparison).map_err(|e| error::look(&e))?;
    let told = serde_json::to_string(&comparison).map_err(error::internal)?;
    Ok((told, svg))
}
