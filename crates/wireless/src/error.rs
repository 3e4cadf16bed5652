//! What is wrong with a configuration.

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {value} is not {expected}")]
pub struct ConfigError {
    /// Which setting, of which station.
    pub place: String,
    /// What was given.
    pub value: String,
    /// What may be given.
    pub expected: String,
}

impl ConfigError {
    pub(crate) fn new(
        place: impl Into<String>,
        value: impl std::fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), value: value.to_string(), expected: expected.into() }
    }
}

/// That a number lies between two others, both included.
pub(crate) fn between(place: &str, value: f64, least: f64, most: f64) -> Result<(), ConfigError> {
    // Not a number is not between.
    if value >= least && value <= most {
        return Ok(());
    }
    Err(ConfigError::new(place, value, format!("between {least} and {most}")))
}
