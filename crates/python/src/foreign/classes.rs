//! Classes as they are handed over, and the registry that builds objects of them by name.

use super::{Class, Foreign, Has, Raised};
use crate::error;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use truckee_tcp::ack::AckPolicy;
use truckee_tcp::controller::Controller;
use truckee_tcp::detect::SlowStartDetector;
use truckee_tcp::estimate::BandwidthEstimator;
use truckee_tcp::predict::LossPredictor;
use truckee_tcp::registry::{Family, Taken};
use truckee_tcp::response::LossResponse;
use truckee_tcp::spec::Args;
use truckee_tcp::{Info, Registry, Span, SpecError};

/// A class: its family, its name in scenarios, itself, its parameters (name, what kind, default), the methods it has of its
/// own, and digits of its source.
pub type Given = (String, String, Py<PyAny>, Vec<(String, String, f64)>, Vec<String>, String);

/// What a parameter is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Switch,
    Number,
    Time,
}

/// Classes that scenarios may name.
#[derive(Debug, Default)]
pub struct Classes {
    /// By their names.
    pub registry: Registry,
    /// What they are, for the name of a build; empty where there are none.
    pub of: String,
    /// What they raise.
    pub raised: Raised,
}

/// Longest time that a parameter may be.
const LONGEST: Span = Span::s(1_000_000);

impl Classes {
    /// Of these classes.
    pub fn new(given: Vec<Given>) -> PyResult<Self> {
        let mut all = Self::default();
        for (family, name, class, parameters, methods, source) in given {
            all.of += &format!("+{name}:{source}");
            let name = lasting(name);
            let parameters = parameters.into_iter().map(|(name, kind, default)| match kind.as_str() {
                "switch" => (name, Kind::Switch, default),
                "time" => (name, Kind::Time, default),
                _ => (name, Kind::Number, default),
            });
            let class = Class { name, class, has: Has::of(&methods), raised: all.raised.clone() };
            let made = (Arc::new(class), parameters.collect());
            let added = match family.as_str() {
                "estimator" => all.add::<dyn BandwidthEstimator>(made, |one| Box::new(one)),
                "predictor" => all.add::<dyn LossPredictor>(made, |one| Box::new(one)),
                "detector" => all.add::<dyn SlowStartDetector>(made, |one| Box::new(one)),
                "response" => all.add::<dyn LossResponse>(made, |one| Box::new(one)),
                "controller" => all.add::<dyn Controller>(made, |one| Box::new(one)),
                "policy" => all.add::<dyn AckPolicy>(made, |one| Box::new(one)),
                other => return Err(error::internal(format!("there is no family \"{other}\""))),
            };
            added.map_err(|taken| error::question(taken.to_string()))?;
        }
        Ok(all)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    fn add<T: Family + ?Sized>(
        &mut self,
        (class, parameters): (Arc<Class>, Vec<(String, Kind, f64)>),
        boxed: fn(Foreign) -> Box<T>,
    ) -> Result<(), Taken> {
        let info = Info {
            name: class.name,
            summary: "an algorithm written in Python",
            formula: "as its class has it",
            source: "the program that has asked for the run",
        };
        self.registry.add::<T>(info, move |args| build(&class, &parameters, args).map(boxed))
    }
}

/// An object of a class, made with the arguments that a scenario gives.
fn build(
    class: &Arc<Class>,
    parameters: &[(String, Kind, f64)],
    args: &mut Args<'_>,
) -> Result<Foreign, SpecError> {
    let mut values = Vec::new();
    for (name, kind, default) in parameters {
        let value = match kind {
            Kind::Switch => f64::from(u8::from(args.flag(name, *default != 0.0)?)),
            Kind::Number => args.number(name, *default, f64::MIN..=f64::MAX)?,
            Kind::Time => {
                args.time(name, Span::ns((default * 1e9).round() as u64), Span::ZERO..=LONGEST)?.seconds()
            }
        };
        values.push((name, kind, value));
    }
    let made = Python::attach(|py| {
        let words = PyDict::new(py);
        for (name, kind, value) in values {
            match kind {
                Kind::Switch => words.set_item(name, value != 0.0)?,
                Kind::Number | Kind::Time => words.set_item(name, value)?,
            }
        }
        Ok(class.class.bind(py).call((), Some(&words))?.unbind())
    });
    match made {
        Ok(object) => Ok(Foreign { of: Arc::clone(class), object }),
        Err(error) => {
            let said: PyErr = error;
            let wrong = args.bad("__init__", &format_args!("{said}"), "that it takes these arguments");
            Err(wrong)
        }
    }
}

/// A name for the rest of the process, made once however often it is asked for.
fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = name.leak();
    names.insert(name);
    name
}
