//! What is wrong with a configuration.

use truckee_channel::Span;

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {value} is not {expected}")]
pub struct ConfigError {
    /// Which setting.
    pub place: &'static str,
    /// What was given.
    pub value: String,
    /// What may be given.
    pub expected: String,
}

/// That a span lies between two others, both included.
pub(crate) fn span(place: &'static str, value: Span, least: Span, most: Span) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError {
        place,
        value: format!("{} s", value.seconds()),
        expected: format!("between {} s and {} s", least.seconds(), most.seconds()),
    })
}

/// That a count lies between two others, both included.
pub(crate) fn count(place: &'static str, value: u32, least: u32, most: u32) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError { place, value: value.to_string(), expected: format!("between {least} and {most}") })
}

/// That a number lies between two others, both included.
pub(crate) fn number(place: &'static str, value: f64, least: f64, most: f64) -> Result<(), ConfigError> {
    // Not a number is not between.
    if value >= least && value <= most {
        return Ok(());
    }
    Err(ConfigError { place, value: value.to_string(), expected: format!("between {least} and {most}") })
}
