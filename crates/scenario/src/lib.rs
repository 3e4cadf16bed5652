//! The question and the answer: the scenario file ([`Document`] → [`model`]) and the outcome every engine returns
//! ([`outcome`]). This is the contract between a file and the engines; it knows no engine.
//!
//! The format is described key by key in `FORMAT.md` beside this crate's manifest.

mod decode;
mod document;
mod error;
mod explain;
pub mod model;
mod nearest;
pub mod outcome;
pub mod route;
pub mod units;

pub use document::{Document, MAX_FILE_BYTES};
pub use error::{Error, Errors, Spot};
pub use explain::explain;
pub use model::Scenario;
pub use outcome::Outcome;
