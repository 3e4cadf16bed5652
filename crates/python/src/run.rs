//! One run.

use crate::attend::{Wishes, attended};
use crate::error;
use crate::foreign::{Classes, Given};
use crate::scenario::Document;
use crate::table::Table;
use pyo3::prelude::*;
use std::path::PathBuf;
use truckee_engines::{Kernel, OpenSimulator, Probe, tap};
use truckee_lab::{Engine, Engines, Error, Metric, Registry, output};
use truckee_look::{figure, report};
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// The engines there are, with runs that end early when these wishes come true; the simulator knows these algorithms.
pub fn engines(wishes: &Wishes, algorithms: &Classes) -> Registry {
    let cancel = || wishes.abort.clone();
    Registry::default()
        .with(OpenSimulator {
            cancel: cancel(),
            foreign: algorithms.registry.clone(),
            of: algorithms.of.clone(),
        })
        .with(Kernel { cancel: cancel() })
        .with(Probe { cancel: cancel() })
}

/// The engine of this name.
pub fn find<'e>(engines: &'e Registry, name: &str) -> PyResult<&'e dyn Engine> {
    engines.find(name).map_err(|missing| error::lab(&missing.into()))
}

/// Which end of a flow a capture is made at.
fn vantage(name: &str) -> PyResult<Vantage> {
    [Vantage::Sender, Vantage::Receiver].into_iter().find(|end| end.as_str() == name).ok_or_else(|| {
        error::question(format!("\"{name}\" is no end of a flow, expected \"sender\" or \"receiver\""))
    })
}

/// A run that has been made.
#[pyclass(frozen, module = "truckee._native")]
#[derive(Debug)]
pub struct Run {
    scenario: Scenario,
    outcome: Outcome,
    captured: Option<Vantage>,
}

/// Runs a scenario once; `capture`: the end of the flows at which each of their packets is kept.
#[pyfunction]
#[pyo3(signature = (document, engine = "sim", series = false, capture = None, algorithms = Vec::new()))]
pub fn run(
    py: Python<'_>,
    document: &Document,
    engine: &str,
    series: bool,
    capture: Option<&str>,
    algorithms: Vec<Given>,
) -> PyResult<Run> {
    let algorithms = Classes::new(algorithms)?;
    let captured = capture.map(vantage).transpose()?;
    let wishes = Wishes::at_once();
    let engines = engines(&wishes, &algorithms);
    let engine = find(&engines, engine)?;
    let scenario = document.among(&algorithms).to_run()?;
    if let Some(reason) = engine.refuses(&scenario) {
        return Err(error::lab(&Error::Scenario { point: String::new(), reason }));
    }
    let work = || match captured {
        Some(vantage) => engine.run_tapped(&scenario, vantage),
        None => engine.run(&scenario, series),
    };
    let outcome = attended(py, &wishes, None, |_| match algorithms.is_empty() {
        true => work(),
        // Each call of an algorithm finds what the interpreter knows of this thread, and need not make it anew.
        false => Python::attach(|py| py.detach(work)),
    })?;
    let outcome = outcome.map_err(|failure| algorithms.raised.behind(py, error::failure(&failure)))?;
    Ok(Run { scenario, outcome, captured })
}

impl Run {
    /// One that has been made elsewhere.
    pub fn made(scenario: Scenario, outcome: Outcome) -> Self {
        Self { scenario, outcome, captured: None }
    }
}

#[pymethods]
impl Run {
    /// The outcome, as the command writes it.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.outcome).map_err(error::internal)
    }

    /// Digest of the run's history; empty of a live one.
    #[getter]
    fn digest(&self) -> &str {
        &self.outcome.digest
    }

    /// Names of the flows, in order.
    #[getter]
    fn flow_names(&self) -> Vec<String> {
        self.outcome.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// Whether it was recorded what happened when.
    #[getter]
    fn has_series(&self) -> bool {
        !self.outcome.series.is_empty()
    }

    /// A metric of it; `None` where it has none.
    fn metric(&self, name: &str) -> PyResult<Option<f64>> {
        Metric::parse(name).and_then(|metric| metric.of(&self.outcome)).map_err(|e| error::lab(&e.into()))
    }

    /// One row a flow.
    fn flows(&self) -> PyResult<Table> {
        Table::of(output::flows(&self.outcome))
    }

    /// One row for each who watched a flow.
    fn observers(&self) -> PyResult<Table> {
        Table::of(output::observers(&self.outcome).map_err(|e| error::lab(&e))?)
    }

    /// What happened when, of a kind or all of it, of a flow or of all.
    #[pyo3(signature = (kind = None, flow = None))]
    fn events(&self, kind: Option<&str>, flow: Option<&str>) -> PyResult<Table> {
        if self.outcome.series.is_empty() {
            return Err(error::question("this run has recorded no series: run it with series=True"));
        }
        let find = |name: &str| output::KINDS.into_iter().find(|(known, _)| *known == name);
        let known = || output::KINDS.map(|(name, _)| name).join(", ");
        let kind = kind
            .map(|name| {
                find(name).ok_or_else(|| {
                    error::question(format!("there are no events \"{name}\", only {}", known()))
                })
            })
            .transpose()?;
        let Some(flow) = flow else { return Table::of(output::series(&self.outcome.series, kind)) };
        let at = self.outcome.series.iter().position(|series| series.flow == flow).ok_or_else(|| {
            error::question(format!("there is no flow \"{flow}\", only {}", self.flow_names().join(", ")))
        })?;
        Table::of(output::series(&self.outcome.series[at..=at], kind))
    }

    /// One row for each change of a queue's length.
    fn queues(&self) -> PyResult<Table> {
        Table::of(output::queues(&self.outcome.queues))
    }

    /// One row wherever a station of a radio medium begins, turns, sets off or ends.
    fn places(&self) -> PyResult<Table> {
        Table::of(output::places(&self.outcome.air))
    }

    /// One row for each frame on the air.
    fn frames(&self) -> PyResult<Table> {
        Table::of(output::frames(&self.outcome.air))
    }

    /// One row wherever a flow's data first comes to a radio medium, or goes on by another station than before.
    fn hops(&self) -> PyResult<Table> {
        Table::of(output::hops(&self.outcome.air, &self.outcome.flows))
    }

    /// Windows and losses over time, as SVG.
    fn figure(&self) -> PyResult<String> {
        if self.outcome.series.is_empty() {
            return Err(error::question("this run has recorded no series: run it with series=True"));
        }
        figure::window(&self.scenario, &self.outcome).map_err(|e| error::look(&e))
    }

    /// Writes what the command's `--out` writes. Returns the files.
    fn write(&self, py: Python<'_>, dir: PathBuf) -> PyResult<Vec<PathBuf>> {
        py.detach(|| {
            let mut files = output::write_run(&dir, &self.outcome).map_err(|e| error::lab(&e))?;
            files.push(report::write(&[dir], None).map_err(|e| error::look(&e))?);
            Ok(files)
        })
    }

    /// Writes the packets of the flows as pcapng.
    fn write_pcapng(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let vantage = self.captured.ok_or_else(|| {
            error::question("this run has kept no packets: run it with capture=\"sender\" or \"receiver\"")
        })?;
        py.detach(|| tap::write(&path, &self.scenario, &self.outcome, vantage).map_err(|e| error::lab(&e)))
    }
}
