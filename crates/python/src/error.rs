//! Errors as exceptions: the classes are the package's (`truckee/errors.py`), messages and places those of the crates.

use pyo3::import_exception;
use pyo3::prelude::*;
use truckee_lab::{Failure, Fault};

import_exception!(truckee.errors, InternalError);
import_exception!(truckee.errors, MachineError);
import_exception!(truckee.errors, QuestionError);
import_exception!(truckee.errors, RunError);
import_exception!(truckee.errors, ScenarioError);

/// What is wrong with something that was asked.
pub fn question(message: impl Into<String>) -> PyErr {
    QuestionError::new_err(message.into())
}

/// What is wrong with a scenario, all of it, with places.
pub fn scenario(errors: &truckee_scenario::Errors) -> PyErr {
    type Place = (String, Option<usize>, usize);
    type Problem = (String, Option<Place>, Option<String>, Option<String>);
    let problem = |error: &truckee_scenario::Error| -> Problem {
        let place = error.place.as_ref().map(|spot| (spot.origin.clone(), spot.line, spot.column));
        (error.message.clone(), place, error.expected.clone(), error.help.clone())
    };
    let problems: Vec<Problem> = errors.list.iter().map(problem).collect();
    ScenarioError::new_err((format!("{errors:#}"), problems))
}

/// What the laboratory says.
pub fn lab(error: &truckee_lab::Error) -> PyErr {
    let message = error.to_string();
    match error.fault() {
        Fault::Question => QuestionError::new_err(message),
        Fault::Machine => MachineError::new_err(message),
        Fault::Program => InternalError::new_err(message),
    }
}

/// What there is to be looked at, and is not.
pub fn look(error: &truckee_look::Error) -> PyErr {
    use truckee_look::Error;
    match error {
        Error::Lab(error) => lab(error),
        Error::NoReport { .. } => QuestionError::new_err(error.to_string()),
        Error::Read { .. } => MachineError::new_err(error.to_string()),
        Error::Figure { .. } | Error::Internal(_) => InternalError::new_err(error.to_string()),
    }
}

/// What is wrong with a capture.
pub fn capture(error: &truckee_capture::Error) -> PyErr {
    match error {
        truckee_capture::Error::Write(_) => MachineError::new_err(error.to_string()),
        _ => QuestionError::new_err(error.to_string()),
    }
}

/// A run without an outcome.
pub fn failure(failure: &Failure) -> PyErr {
    RunError::new_err((failure.reason.clone(), failure.once))
}

/// Something of ours that cannot be written as text or as a table.
pub fn internal(error: impl std::fmt::Display) -> PyErr {
    InternalError::new_err(error.to_string())
}
