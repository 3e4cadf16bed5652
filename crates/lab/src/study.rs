//! Studies: published results held against what the laboratory measures.
//!
//! A study is a TOML file: where the claim was published, the set-up (with what the paper leaves open and what was
//! chosen), a scenario, sweeps over it, direct drives of algorithms ([`Drives`]), checks with published values, figures (drawn by `truckee-look`). See
//! [`file`](mod@file) for the keys and [`check`] for what each kind of check says exactly.
//!
//! A verdict is `pass`, `fail`, `undecided`, or `differs`: what is published is not what is measured, the study says what is
//! seen instead and pins it, and names the variation that removes the difference, or that nobody knows one. In the quick
//! form checks whose cells are not run are `skipped`. A check names its rival, the simplest thing that is wrong, which must
//! not pass it.
//!
//! A study runs on the simulator, on the machine's own stack (`engine = "kernel"`), or on both
//! (`engines = ["sim", "kernel"]` of a sweep). Where the machine lacks the engine, or a recording that the study needs and
//! the program does not bring, the whole study is skipped, with the reason.

pub mod builtin;
pub mod check;
pub mod data;
pub mod drawings;
mod drive;
pub mod file;
pub mod quantity;
mod recordings;
mod report;
mod run;
mod selection;

pub use builtin::{builtin, find};
pub use data::Data;
pub use drive::{Drive, Drives};
pub use file::{Study, SweepPart};
pub use report::{Cause, CheckRow, Counts, StudyReport, Varied, Verdict};
pub use run::{Ran, RunOptions, asked, known, named, run};
