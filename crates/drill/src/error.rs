//! What can be wrong with a script, or with the stack it is held against.

use thiserror::Error;

/// A fault that is not the stack's behaviour.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{name}: {source}")]
    Unreadable {
        /// The file.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// The script is none, or asks for what there is not.
    #[error("{name}:{line}: {why}")]
    Script {
        /// The script.
        name: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what is expected.
        why: String,
    },
    /// The settings of the simulated stack are wrong.
    #[error(transparent)]
    Settings(#[from] truckee_scenario::Errors),
    /// A part of the simulated stack cannot be built.
    #[error(transparent)]
    Part(#[from] truckee_tcp::SpecError),
    /// The kernel's stack cannot be had.
    #[error(transparent)]
    Host(#[from] truckee_host::Error),
}
