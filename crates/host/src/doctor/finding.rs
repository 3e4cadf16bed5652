//! What comes of trying something, and trials that others bring. Not for: trying.

use super::capability::Capability;
use crate::Error;
use serde::Serialize;

/// A trial of something that stands on this crate, in a namespace of this name; it says what was seen.
pub type Trial = (Capability, fn(&str) -> Result<String, Error>);

/// Whether something can be done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It was done.
    Works,
    /// It was tried, and failed.
    Missing,
    /// It could not be tried, for want of something else.
    Untried,
}

/// What was seen of one thing.
pub(super) struct Finding {
    pub state: State,
    pub seen: String,
}

impl Finding {
    pub fn works(seen: impl Into<String>) -> Self {
        Self { state: State::Works, seen: seen.into() }
    }

    pub fn missing(seen: impl Into<String>) -> Self {
        Self { state: State::Missing, seen: seen.into() }
    }

    pub fn untried(seen: impl Into<String>) -> Self {
        Self { state: State::Untried, seen: seen.into() }
    }
}
