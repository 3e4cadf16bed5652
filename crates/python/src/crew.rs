//! A sweep's cells on a cluster: what `truckee.clusters` needs of the laboratory, and what the laboratory asks of it.

use crate::attend::Wishes;
use crate::error;
use crate::foreign::{Classes, Given};
use crate::run::engines;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use truckee_cli::{Host, Mirror};
use truckee_lab::sweep::Returned;
use truckee_lab::{Cancel, Crew, Error, Task};

/// The first exception that Python has raised where the laboratory has asked.
#[derive(Debug, Clone, Default)]
pub struct Excused(Arc<Mutex<Option<PyErr>>>);

impl Excused {
    /// What it says, for the laboratory; it is kept itself.
    fn keep(&self, error: PyErr) -> Error {
        let (said, is_question) = Python::attach(|py| {
            let said = error.value(py).str().map_or_else(|e| e.to_string(), |s| s.to_string());
            (said, error.is_instance_of::<error::QuestionError>(py))
        });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        match is_question {
            true => Error::Scenario { point: String::new(), reason: said },
            false => Error::Crew(said),
        }
    }

    /// It in place of what was made of it; or else this one.
    pub fn or(&self, error: PyErr) -> PyErr {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error)
    }
}

/// Runs the cells of a task, given as JSON, one after the other. Returns the answers as JSON, and what an algorithm has
/// raised.
#[pyfunction]
pub fn run_task(py: Python<'_>, task: &str, algorithms: Vec<Given>) -> PyResult<(String, Option<Py<PyAny>>)> {
    let task: Task = serde_json::from_str(task)
        .map_err(|e| error::question(format!("this is no task of this build's: {e}")))?;
    let algorithms = Classes::new(algorithms)?;
    let engines = engines(&Wishes::default(), &algorithms);
    let prepared = |document: truckee_scenario::Document| document.among(algorithms.registry.clone());
    let answers = py.detach(|| task.run_of(&engines, prepared)).map_err(|e| error::lab(&e))?;
    let raised = algorithms.raised.take().map(|error| error.into_value(py).into_any());
    Ok((serde_json::to_string(&answers).map_err(error::internal)?, raised))
}

/// A crew that is a Python object, as `truckee.clusters.Crew` is.
pub struct Hired {
    crew: Py<PyAny>,
    /// When this is wished, nobody waits any more for what is under way.
    abort: Cancel,
    /// What Python has raised.
    pub excused: Excused,
}

impl Hired {
    /// This one.
    pub fn new(crew: Py<PyAny>, abort: Cancel) -> Self {
        Self { crew, abort, excused: Excused::default() }
    }

    fn ask<R>(&self, f: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R, Error> {
        if self.abort.is_cancelled() {
            return Err(Error::Crew("it was ended while runs were under way".to_owned()));
        }
        Python::attach(|py| f(self.crew.bind(py)).map_err(|error| self.excused.keep(error)))
    }
}

impl Crew for Hired {
    fn room(&mut self) -> Result<usize, Error> {
        self.ask(|crew| crew.call_method0("room")?.extract())
    }

    fn send(&mut self, number: u64, task: &Task) -> Result<(), Error> {
        let text = serde_json::to_string(task).map_err(|e| Error::Internal(e.to_string()))?;
        self.ask(|crew| crew.call_method1("send", (number, PyString::new(crew.py(), &text))).map(drop))
    }

    fn returned(&mut self, patience: Duration) -> Result<Vec<Returned>, Error> {
        let came = |crew: &Bound<'_, PyAny>| {
            crew.call_method1("returned", (patience.as_secs_f64(),))?.extract::<Vec<(u64, String, f64)>>()
        };
        let read = |(number, answers, seconds): (u64, String, f64)| {
            let answers = serde_json::from_str(&answers)
                .map_err(|e| Error::Crew(format!("what a worker answers cannot be understood: {e}")))?;
            Ok(Returned { number, answers, seconds })
        };
        self.ask(came)?.into_iter().map(read).collect()
    }

    fn take_back(&mut self) -> Result<Vec<u64>, Error> {
        self.ask(|crew| crew.call_method0("take_back")?.extract())
    }

    fn said(&mut self) -> Vec<String> {
        self.ask(|crew| crew.call_method0("said")?.extract()).unwrap_or_default()
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        // Nobody can be told any more, and the cluster forgets what nobody waits for.
        Python::attach(|py| drop(self.crew.call_method0(py, "close")));
    }
}

/// The command's host: the package.
pub struct Package;

impl Package {
    /// What a function of one of its modules makes of a word.
    fn made(module: &str, function: &str, word: &str) -> Result<Py<PyAny>, Error> {
        Python::attach(|py| {
            let made = py.import(module).and_then(|module| module.call_method1(function, (word,)));
            made.map(Bound::unbind).map_err(|error| Excused::default().keep(error))
        })
    }
}

impl Host for Package {
    fn crew(&self, scheduler: &str) -> Result<Box<dyn Crew>, Error> {
        let crew = Self::made("truckee.clusters", "hired", scheduler)?;
        Ok(Box::new(Hired::new(crew, Cancel::new())))
    }

    fn mirror(&self, url: &str) -> Result<Box<dyn Mirror>, Error> {
        let mirror = Self::made("truckee.mirrors", "Mirror", url)?;
        let folder = Python::attach(|py| mirror.getattr(py, "folder")?.extract::<PathBuf>(py));
        let folder = folder.map_err(|error| Excused::default().keep(error))?;
        Ok(Box::new(Mirrored { mirror, folder }))
    }
}

/// A folder that is a Python object's, as `truckee.mirrors.Mirror` is.
struct Mirrored {
    mirror: Py<PyAny>,
    folder: PathBuf,
}

impl Mirror for Mirrored {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn close(&mut self) -> Result<(), Error> {
        Python::attach(|py| self.mirror.call_method0(py, "close"))
            .map(drop)
            .map_err(|e| Excused::default().keep(e))
    }
}
