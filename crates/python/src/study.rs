//! Published results held against what is measured, and pages of what a folder holds.

use crate::attend::{Wishes, attended};
use crate::error;
use crate::foreign::Classes;
use crate::run::engines;
use pyo3::prelude::*;
use std::path::PathBuf;
use truckee_engines::drive::Algorithms;
use truckee_lab::study::{RunOptions, builtin, find, known, run};
use truckee_look::report as page;

/// The studies that come with the program: id, title, paper and place.
#[pyfunction]
pub fn studies() -> PyResult<Vec<(String, String, String, String)>> {
    let all = builtin(&Algorithms).map_err(|e| error::lab(&e))?;
    Ok(all.into_iter().map(|study| (study.id, study.title, study.source.paper, study.source.place)).collect())
}

/// Runs a study, by its id or the path of its file, with its runs and figures below `folder`. Returns its report as JSON,
/// in which `holds` says whether it holds.
#[pyfunction]
#[pyo3(signature = (id, folder, quick = false, jobs = None, progress = None))]
pub fn study(
    py: Python<'_>,
    id: &str,
    folder: PathBuf,
    quick: bool,
    jobs: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, bool)> {
    let wishes = Wishes::default();
    let here = engines(&wishes, &Classes::default());
    let study = find(id, &Algorithms).map_err(|e| error::lab(&e))?;
    known(&study, &here, quick).map_err(|e| error::lab(&e))?;
    let options = RunOptions { quick, jobs, dir: Some(folder.clone()), command: Vec::new() };
    let ran = attended(py, &wishes, progress.as_ref(), |teller| {
        let mut ran = run(&study, &here, &options, teller, &wishes.stop)?;
        if ran.report.complete {
            let dir = study.dir(&folder, quick);
            truckee_look::study::keep(&study, &mut ran, &dir)?;
            page::write(&[dir], None)?;
        }
        Ok(ran.report)
    })?;
    let report = ran.map_err(|e: truckee_look::Error| error::look(&e))?;
    Ok((serde_json::to_string(&report).map_err(error::internal)?, report.holds()))
}

/// Writes one page of what these folders hold. Returns it.
#[pyfunction]
#[pyo3(signature = (folders, to = None))]
pub fn report(py: Python<'_>, folders: Vec<PathBuf>, to: Option<PathBuf>) -> PyResult<PathBuf> {
    if folders.is_empty() {
        return Err(error::question("folders: expected one at least"));
    }
    py.detach(|| page::write(&folders, to.as_deref()).map_err(|e| error::look(&e)))
}
