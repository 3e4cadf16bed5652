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
    /// The stack does not do what the script asks for.
    #[error("{name}:{line}: {why}")]
    Refused {
        /// The script.
        name: String,
        /// Line, from 1.
        line: usize,
        /// What it does not do, and what it does.
        why: String,
    },
    /// The stack has ended, or cannot be spoken with.
    #[error("{place}{why}")]
    Ended {
        /// Where in the script: its name and line, and a colon; empty before its first event.
        place: String,
        /// How.
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

impl Error {
    /// The stack has ended, at a place that is not known here.
    #[cfg(live)]
    pub(crate) fn ended(why: String) -> Self {
        Self::Ended { place: String::new(), why }
    }

    /// With the place, where it has none.
    pub(crate) fn at(self, name: &str, line: usize) -> Self {
        match self {
            Self::Ended { place, why } if place.is_empty() => {
                Self::Ended { place: format!("{name}:{line}: "), why }
            }
            other => other,
        }
    }
}
