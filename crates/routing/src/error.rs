//! What is wrong with a configuration.

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
