//! What a study draws, as its file says it: figures and maps. Not for: drawing them, which [`super::plot`] does.

use super::selection::Where;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A figure as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigurePart {
    /// Its file's name without `.svg`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The sweep or drive it shows; the first one by default.
    pub of: Option<String>,
    /// The cells; all by default.
    #[serde(default, rename = "where")]
    pub cells: Where,
    /// The horizontal axis. Numbers are drawn as lines, names as bars.
    pub x: String,
    /// The metrics: one, or several that become the series.
    pub y: Vec<String>,
    /// What the metrics are called in the legend, in their order; their own names by default.
    #[serde(default)]
    pub y_names: Vec<String>,
    /// The axis whose values are the series.
    pub series: Option<String>,
    /// The axis whose values are the panels.
    pub panels: Option<String>,
    /// What the horizontal axis says, with its unit.
    pub x_label: String,
    /// What the vertical axis says, with its unit.
    pub y_label: String,
    /// Multiplies x: 100 for per cent.
    #[serde(default = "one")]
    pub x_factor: f64,
    /// Multiplies y: 1e-6 for Mbit/s.
    #[serde(default = "one")]
    pub y_factor: f64,
    /// Logarithmic horizontally.
    #[serde(default)]
    pub x_log: bool,
    /// Logarithmic vertically.
    #[serde(default)]
    pub y_log: bool,
    /// Whether all panels have the same vertical scale.
    #[serde(default)]
    pub share_y: bool,
    /// What the hollow markers are; by default published values, or references, as the checks have them.
    pub reference: Option<String>,
    /// What was chosen, and what else must be known.
    #[serde(default)]
    pub note: String,
}

/// A map as written: a table of ratios, each of the means of a metric at a cell and at another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapPart {
    /// Its file's name without `.svg`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The sweep it shows; the first one by default.
    pub of: Option<String>,
    /// The cells; all by default.
    #[serde(default, rename = "where")]
    pub cells: Where,
    /// The axes whose values, each with each, are the columns; the first one changes most slowly.
    pub columns: Vec<String>,
    /// The axis whose values are the rows.
    pub rows: String,
    /// The axis whose values are the panels, one below the other.
    pub panels: Option<String>,
    /// The metric.
    pub metric: String,
    /// What sets the other cell apart, which the metric is divided by; paired by seed.
    pub over: Where,
    /// What a number is, in words.
    pub says: String,
    /// What was chosen, and what else must be known.
    #[serde(default)]
    pub note: String,
}

fn one() -> f64 {
    1.0
}

impl FigurePart {
    /// What the file's grammar cannot say; `names`: of sweeps and drives.
    pub(super) fn validate(&self, names: &BTreeSet<&str>) -> Result<(), String> {
        if !self.y_names.is_empty() && self.y_names.len() != self.y.len() {
            return Err("`y_names` has one name for each of `y`".to_owned());
        }
        is_known(self.of.as_ref(), names)
    }
}

impl MapPart {
    /// What the file's grammar cannot say; `names`: of sweeps and drives.
    pub(super) fn validate(&self, names: &BTreeSet<&str>) -> Result<(), String> {
        if self.columns.is_empty() || self.over.is_empty() {
            return Err("`columns` and `over` name one axis at least".to_owned());
        }
        is_known(self.of.as_ref(), names)
    }
}

fn is_known(of: Option<&String>, names: &BTreeSet<&str>) -> Result<(), String> {
    match of.filter(|of| !names.contains(of.as_str())) {
        Some(of) => Err(format!("there is no sweep or drive \"{of}\"")),
        None => Ok(()),
    }
}
