//! The extension module of the Python package `truckee`.
//!
//! It is what the package (`python/truckee`) stands on, and no interface of its own: what is asked comes in as plain values,
//! what comes back are tables that Arrow and NumPy see without a copy, text, and a few objects. Names, defaults and
//! documentation are the package's.
//!
//! Not for: anything that can be said in Python as well, and anything that the command or another program wants, too.

mod arrays;
mod attend;
mod capture;
mod compare;
mod crew;
mod error;
mod events;
mod foreign;
mod run;
mod scenario;
mod steps;
mod study;
mod sweep;
mod table;

use pyo3::prelude::*;

/// What the package stands on.
#[pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use super::arrays::{acknowledge, detect, estimate, judge};
    #[pymodule_export]
    use super::capture::{read, replay};
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::crew::run_task;
    #[pymodule_export]
    use super::events::{Ack, Air, Arrival, Departure, Loss, Window};
    #[pymodule_export]
    use super::run::{Run, run};
    #[pymodule_export]
    use super::scenario::Document;
    #[pymodule_export]
    use super::steps::Steps;
    #[pymodule_export]
    use super::study::{report, studies, study};
    #[pymodule_export]
    use super::sweep::{Sweep, sweep};
    #[pymodule_export]
    use super::table::{Column, Table};
    #[pymodule_export]
    use super::{builds, command};
}

/// The version, and what decides the records of the simulator and of the live engines.
#[pyfunction]
fn builds() -> (&'static str, &'static str, &'static str) {
    (env!("CARGO_PKG_VERSION"), truckee_engines::SIMULATOR_BUILD, truckee_engines::KERNEL_BUILD)
}

/// Does what the command `truckee` does with these words, the program's name first, and returns the exit status. For a
/// process that is the command and nothing else.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| truckee_cli::main_of(words, &crew::Package))
}
