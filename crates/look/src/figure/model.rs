//! A figure as data: what is drawn, without a word of how.

use serde::{Deserialize, Serialize};

/// A figure: panels of the same kind side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Where the published values are from.
    pub source: String,
    /// What was chosen, and anything else a reader must know; wrapped.
    pub notes: Vec<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What the hollow markers are called in the legend.
    pub reference: String,
    /// Whether all panels have the same vertical scale.
    pub share_y: bool,
    /// Small multiples, row by row.
    pub panels: Vec<Panel>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Axis {
    /// Its name with its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Names of the positions 0, 1, …; empty for numbers. With names on the horizontal axis, series are bars.
    pub categories: Vec<String>,
}

/// One of the small multiples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Panel {
    /// What sets it apart; may be empty.
    pub title: String,
    /// Its series. Those with the same label look the same in every panel.
    pub series: Vec<Series>,
}

/// One line or one set of bars.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Means, in order of x.
    pub points: Vec<Point>,
    /// Published values: x and y.
    pub references: Vec<(f64, f64)>,
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The mean.
    pub y: f64,
    /// Half the interval's width; 0 draws none.
    pub half_width: f64,
}

impl Figure {
    /// The labels of all series, each once, in order of appearance: what gives them their style.
    pub(crate) fn labels(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|p| &p.series) {
            if !labels.contains(&series.label.as_str()) {
                labels.push(&series.label);
            }
        }
        labels
    }

    pub(super) fn has_references(&self) -> bool {
        self.panels.iter().flat_map(|p| &p.series).any(|s| !s.references.is_empty())
    }
}
