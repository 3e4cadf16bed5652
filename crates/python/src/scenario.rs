//! A scenario file, or a text that might be one, with its overrides.

use crate::error;
use crate::foreign::Classes;
use pyo3::prelude::*;
use std::path::PathBuf;
use truckee_scenario::{Scenario, explain};

/// A scenario as it is written: text, and what is set in it.
#[pyclass(frozen, module = "truckee._native")]
#[derive(Debug)]
pub struct Document(pub truckee_scenario::Document);

#[pymethods]
impl Document {
    /// Of a text; `name` stands for it in messages, and files that it names are relative to that name's folder.
    #[new]
    fn new(name: &str, text: &str) -> PyResult<Self> {
        truckee_scenario::Document::parse(name, text).map(Self).map_err(|e| error::scenario(&e))
    }

    /// Of a file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        truckee_scenario::Document::read(&path).map(Self).map_err(|e| error::scenario(&e))
    }

    /// The text of a table that is given as JSON.
    #[staticmethod]
    fn written(json: &str) -> PyResult<String> {
        let table: toml::Table = serde_json::from_str(json).map_err(|e| {
            error::question(format!(
                "this is no scenario: {e}; TOML has tables, arrays, text, numbers and switches"
            ))
        })?;
        toml::to_string(&table).map_err(error::internal)
    }

    /// A value that is given as JSON, as a scenario has it in a line.
    #[staticmethod]
    fn written_value(json: &str) -> PyResult<String> {
        let value: toml::Value = serde_json::from_str(json).map_err(|e| {
            error::question(format!(
                "{json} cannot be set: {e}; TOML has tables, arrays, text, numbers and switches"
            ))
        })?;
        Ok(value.to_string())
    }

    /// The same with these paths and values set, in order, as `--set` does.
    fn with_set(&self, set: Vec<(String, String)>) -> PyResult<Self> {
        let mut document = self.0.clone();
        set.iter()
            .try_for_each(|(path, value)| document.set(path, value))
            .map_err(|e| error::scenario(&e))?;
        Ok(Self(document))
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        self.0.source().0
    }

    /// The text, without what was set.
    #[getter]
    fn text(&self) -> &str {
        self.0.source().1
    }

    /// What was set, in order.
    #[getter]
    fn overrides(&self) -> Vec<(String, String)> {
        self.0.overrides().to_vec()
    }

    /// Refuses what is wrong with it, all at once.
    fn check(&self) -> PyResult<()> {
        self.resolved().map(drop)
    }

    /// All of it with every default filled in, as TOML.
    fn explain(&self) -> PyResult<String> {
        Ok(explain(&self.resolved()?))
    }
}

impl Document {
    /// The same where these algorithms may be named.
    pub fn among(&self, algorithms: &Classes) -> Self {
        Self(self.0.clone().among(algorithms.registry.clone()))
    }

    /// The scenario that it says.
    pub fn resolved(&self) -> PyResult<Scenario> {
        self.0.scenario().map_err(|e| error::scenario(&e))
    }

    /// The same, refused where nobody in it sends anything.
    pub fn to_run(&self) -> PyResult<Scenario> {
        let scenario = self.resolved()?;
        scenario.need_senders().map_err(|e| error::scenario(&e.into()))?;
        Ok(scenario)
    }
}
