//! The check again under other circumstances: of the rival, which must not pass it, and with the cause of a difference
//! taken away, which must.

use crate::study::selection::Where;
use serde::{Deserialize, Deserializer, Serialize, de};

/// Keys that stand in place of the check's own. Its tolerance, its bounds and its published value hold for both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// What is different, in a few words: `plain NewReno`.
    pub name: String,
    /// Of a rival: what it always measures, whatever is measured. Of `rises`, `falls` and `order`: all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Another sweep or drive. What the check's `where` and `average` say of axes that it does not have is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Another metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Other values of these axes; those of the others stay.
    #[serde(default, rename = "where", skip_serializing_if = "Where::is_empty")]
    pub cells: Where,
    /// Another cell to take the ratio to, in place of the check's `over` or `minus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<Where>,
    /// Another cell to take the difference to, in place of the check's `over` or `minus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minus: Option<Where>,
    /// `order`: another value that must be first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

impl Variation {
    /// What a variation of its own must have; what a check must have is asked of that which comes of it.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err("`name` says in a few words what is different".to_owned());
        }
        let keys = [self.of.is_some(), self.metric.is_some(), !self.cells.is_empty(), self.first.is_some()];
        let varies = keys.contains(&true) || self.over.is_some() || self.minus.is_some();
        match (self.value, varies) {
            (None, false) => {
                Err("nothing is different: it takes `where`, `over`, `minus`, `first`, `of`, `metric`, \
                                  or a rival's `value`"
                    .to_owned())
            }
            (Some(_), true) => {
                Err("`value` takes the place of all that is measured: no other key says anything beside it"
                    .to_owned())
            }
            (Some(value), false) if !value.is_finite() => Err(format!("`value` is a number, not {value}")),
            _ => Ok(()),
        }
    }
}

/// Why a check differs.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// Nobody knows.
    Unknown,
    /// The variation that removes the difference.
    Shown(Variation),
}

/// The word of [`Cause::Unknown`].
const UNKNOWN: &str = "unknown";

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::String(word) if word == UNKNOWN => Ok(Self::Unknown),
            table @ toml::Value::Table(_) => {
                Variation::deserialize(table).map(Self::Shown).map_err(de::Error::custom)
            }
            other => Err(de::Error::custom(format!(
                "`cause` is \"{UNKNOWN}\", or a table of `name` and what removes the difference, not {other}"
            ))),
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown => to.serialize_str(UNKNOWN),
            Self::Shown(variation) => variation.serialize(to),
        }
    }
}
