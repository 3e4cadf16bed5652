//! Which cells a part of a study is about: its `where`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Axes and values: one value, or several.
pub type Where = BTreeMap<String, Choice>;

/// The values of an axis that a [`Where`] selects.
#[derive(Debug, Clone, PartialEq, serde::Serialize, Deserialize)]
#[serde(untagged)]
pub enum Choice {
    /// One.
    One(toml::Value),
    /// Several.
    Many(Vec<toml::Value>),
}

impl Choice {
    /// The values as written on an axis.
    pub fn labels(&self) -> Vec<String> {
        match self {
            Self::One(toml::Value::Array(values)) | Self::Many(values) => values.iter().map(plain).collect(),
            Self::One(value) => vec![plain(value)],
        }
    }
}

/// A TOML value as it would stand after `--set path=`.
pub fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
