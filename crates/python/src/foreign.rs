//! Classes written in Python, at work in the simulator beside those that are built in.
//!
//! A class becomes a member of a family by its name; an object of it stands in each sender or receiver. What it raises ends
//! the run: the exception is kept for whoever asked for the run, and its text goes into the run's error with the algorithm's
//! name and the simulated time. Methods that a class has not of its own are not called.

mod classes;
mod families;

pub use classes::{Classes, Given};

use crate::events::Window;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use truckee_tcp::Cause;
use truckee_tcp::registry::Fault;

/// What a class was given as, and where what it raises is kept.
#[derive(Debug)]
pub struct Class {
    /// As scenarios name it.
    pub name: &'static str,
    class: Py<PyAny>,
    has: Has,
    raised: Raised,
}

/// The first exception of all algorithms of a call.
#[derive(Debug, Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// It, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// An error with it, if there is one, as its cause.
    pub fn behind(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let raised = self.take();
        if raised.is_some() {
            error.set_cause(py, raised);
        }
        error
    }
}

/// Which of the methods that need not be there are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Has {
    on_ack: bool,
    on_sent: bool,
    on_timeout: bool,
    advance: bool,
    hear: bool,
    after_ack: bool,
    on_undo: bool,
    pacing_rate: bool,
    on_timer: bool,
}

impl Has {
    fn of(methods: &[String]) -> Self {
        let has = |name: &str| methods.iter().any(|method| method == name);
        Self {
            on_ack: has("on_ack"),
            on_sent: has("on_sent"),
            on_timeout: has("on_timeout"),
            advance: has("advance"),
            hear: has("hear"),
            after_ack: has("after_ack"),
            on_undo: has("on_undo"),
            pacing_rate: has("pacing_rate"),
            on_timer: has("on_timer"),
        }
    }
}

/// An object of a class, at work.
#[derive(Debug)]
pub struct Foreign {
    of: Arc<Class>,
    object: Py<PyAny>,
}

impl Clone for Foreign {
    /// With a state of its own, by `copy.deepcopy`.
    fn clone(&self) -> Self {
        let copied = |py: Python<'_>| {
            let copy =
                py.import(intern!(py, "copy"))?.call_method1(intern!(py, "deepcopy"), (&self.object,))?;
            Ok(copy.unbind())
        };
        Self { of: Arc::clone(&self.of), object: self.ask("__deepcopy__", copied) }
    }
}

impl Foreign {
    /// Has Python do something for it; what that raises ends the run.
    fn ask<R>(&self, method: &str, f: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
        let said = Python::attach(|py| {
            f(py).map_err(|error| {
                let what = format!("{method} raised {error}");
                self.of.raised.keep(error);
                what
            })
        });
        said.unwrap_or_else(|what| resume_unwind(Box::new(Fault { member: self.of.name, what })))
    }

    /// The same with a window that the method may set.
    fn set(
        &self,
        method: &str,
        w: &mut truckee_tcp::Window,
        f: impl for<'py> FnOnce(
            Python<'py>,
            &Bound<'py, PyAny>,
            &Bound<'py, Window>,
        ) -> PyResult<Bound<'py, PyAny>>,
    ) -> Option<Cause> {
        let before = *w;
        let (after, cause) = self.ask(method, |py| {
            let window = Bound::new(py, Window(before))?;
            let said = f(py, self.object.bind(py), &window)?;
            let cause = if said.is_none() { None } else { Some(cause(method, &said)?) };
            let after = window.borrow().0;
            Ok((after, cause))
        });
        *w = after;
        cause
    }
}

/// What a loss is taken for, as Python says it.
fn cause(method: &str, said: &Bound<'_, PyAny>) -> PyResult<Cause> {
    let word = said.extract::<String>().unwrap_or_default();
    let found = [Cause::Congestion, Cause::Wireless].into_iter().find(|cause| cause.as_str() == word);
    found.ok_or_else(|| {
        PyValueError::new_err(format!("{method} answered {said}, expected \"congestion\" or \"wireless\""))
    })
}
