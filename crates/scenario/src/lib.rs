//! The question and the answer: the scenario file ([`model`]) and the outcome every engine returns ([`outcome`]).
//! This is the contract between a file and the engines; it knows no engine.

pub mod model;
pub mod outcome;

pub use model::Scenario;
pub use outcome::Outcome;
