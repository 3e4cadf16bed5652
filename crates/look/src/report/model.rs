//! What a page holds: sections of tables and figures, whatever they are of.
//!
//! Not for: how it looks; the template and the scripts under `page/` decide that.

use serde::Serialize;
use truckee_lab::human;

/// A page.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Page {
    /// What it is of.
    pub(super) title: String,
    /// One sentence under the title.
    pub(super) says: String,
    /// What is known at a glance: name and value.
    pub(super) facts: Vec<(String, String)>,
    /// From top to bottom.
    pub(super) sections: Vec<Section>,
}

/// A part of the page with a heading.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Section {
    pub(super) title: String,
    /// What a reader must know of it; may be empty.
    pub(super) says: String,
    /// The same, where it is a list.
    pub(super) notes: Vec<String>,
    pub(super) tables: Vec<Table>,
    pub(super) figures: Vec<Figure>,
    /// A figure whose axes the reader chooses.
    pub(super) grid: Option<Grid>,
    /// Stations on a map, over time.
    pub(super) map: Option<Map>,
}

/// A map that moves.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Map {
    pub(super) title: String,
    /// Until when, s.
    pub(super) end: f64,
    /// The figures whose time it follows; see [`Figure::link`].
    pub(super) link: String,
    pub(super) stations: Vec<MapStation>,
    /// What was sent in each of as many stretches of time, all equally long.
    pub(super) stretches: Vec<Vec<MapLink>>,
    pub(super) ways: Vec<MapWay>,
}

/// The way of a flow's data over a map: at some time, s, it goes on from a station to another one, until it goes on otherwise.
/// It begins where it first did.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct MapWay {
    pub(super) flow: String,
    /// Of the page's colours, which goes with the flow's name.
    pub(super) colour: usize,
    pub(super) t: Vec<f64>,
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
}

/// A station on a map: points in time, s, and places, m, between which it goes straight on.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct MapStation {
    pub(super) name: String,
    pub(super) t: Vec<f64>,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

/// Who sent to whom in a stretch of time.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct MapLink {
    /// Stations by their places in the list.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Attempts to get a packet across.
    pub(super) sent: f64,
    /// Those that others stood in the way of.
    pub(super) met: f64,
    /// Those that noise or distance has taken.
    pub(super) faded: f64,
}

/// A table that can be sorted by each column.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether it holds numbers: set to the right.
    pub(super) number: bool,
}

/// A cell.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: String,
    /// What it is sorted by; `None` for words, and for a number that is missing.
    pub(super) sort: Option<f64>,
    /// `pass`, `fail`, `differs`, `undecided`, `skipped`; empty for all else.
    pub(super) verdict: String,
    /// The page that it leads to; empty for none.
    pub(super) link: String,
}

/// A figure.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Figure {
    pub(super) title: String,
    /// What it shows, in a sentence or two.
    pub(super) says: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// Figures with the same word have the same horizontal axis at all times; may be empty.
    pub(super) link: String,
    /// From where to where that axis goes; `None`: over all points.
    pub(super) span: Option<(f64, f64)>,
    pub(super) series: Vec<Series>,
}

/// An axis.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Axis {
    /// Its name with its unit.
    pub(super) label: String,
    pub(super) log: bool,
    /// Names of the positions 0, 1, …; empty for numbers.
    pub(super) categories: Vec<String>,
    /// Whether 0 is always in sight.
    pub(super) from_zero: bool,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
// A run has neither curves nor bars.
#[cfg_attr(not(feature = "pages"), expect(dead_code))]
pub(super) enum Kind {
    /// A line from point to point.
    #[default]
    Line,
    /// A line that keeps its height until the next point.
    Step,
    /// A marker at each point.
    Points,
    /// A line with a marker at each point, and the interval as a band.
    Curve,
    /// A bar from 0.
    Bars,
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Marker {
    #[default]
    Circle,
    Square,
    Triangle,
    Diamond,
    Inverted,
    Cross,
    Dot,
}

/// A series.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Series {
    pub(super) label: String,
    pub(super) kind: Kind,
    /// Position in the palette; 7 is the colour of text.
    pub(super) colour: usize,
    pub(super) marker: Marker,
    /// Whether markers are hollow.
    pub(super) hollow: bool,
    /// Position among the line styles; 0 is solid.
    pub(super) dash: usize,
    /// At names, the series in whose place it stands; `None`: its own.
    pub(super) beside: Option<String>,
    /// Whether it is switched off until the reader wants it.
    pub(super) off: bool,
    /// Points that must not be thinned out: there are few, and each one counts.
    #[serde(skip)]
    pub(super) whole: bool,
    #[serde(skip)]
    pub(super) x: Vec<f64>,
    #[serde(skip)]
    pub(super) y: Vec<f64>,
    /// Half the width of each point's interval; empty: none.
    #[serde(skip)]
    pub(super) half: Vec<f64>,
    /// A remark on each point; empty: none.
    pub(super) remarks: Vec<String>,
}

/// Means over a grid of parameters, for figures whose axes the reader chooses.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Grid {
    pub(super) axes: Vec<GridAxis>,
    pub(super) metrics: Vec<GridMetric>,
    /// The metric shown first in each of its figures.
    pub(super) first: Vec<usize>,
    /// Confidence of the intervals.
    pub(super) confidence: f64,
}

/// A swept parameter.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct GridAxis {
    pub(super) name: String,
    /// That of the numbers; empty for pure ones.
    pub(super) unit: String,
    pub(super) labels: Vec<String>,
    /// The values as numbers; empty where one is none.
    pub(super) numbers: Vec<f64>,
    /// Whether its numbers are evenly spread in their logarithms.
    pub(super) log: bool,
}

/// One metric at all points of the grid, the last axis varying fastest.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct GridMetric {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) summary: String,
    pub(super) mean: Vec<Option<f64>>,
    pub(super) half: Vec<Option<f64>>,
    /// Runs with a value.
    pub(super) n: Vec<usize>,
}

impl Column {
    pub(super) fn words(name: &str) -> Self {
        Self { name: name.to_owned(), number: false }
    }

    pub(super) fn number(name: &str) -> Self {
        Self { name: name.to_owned(), number: true }
    }
}

impl Cell {
    pub(super) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A quantity in an SI unit.
    pub(super) fn quantity(x: Option<f64>, unit: &str) -> Self {
        Self { text: human::optional(x, unit), sort: x, ..Self::default() }
    }

    /// A share, as a percentage.
    pub(super) fn share(x: Option<f64>) -> Self {
        Self { text: x.map_or_else(|| human::NONE.to_owned(), human::percent), sort: x, ..Self::default() }
    }

    /// A whole number.
    pub(super) fn count(n: Option<f64>) -> Self {
        let text = n.map_or_else(|| human::NONE.to_owned(), |n| human::count(n as u64));
        Self { text, sort: n, ..Self::default() }
    }

    /// A mean with its interval.
    #[cfg(feature = "pages")]
    pub(super) fn mean(mean: Option<f64>, half: Option<f64>, unit: &str) -> Self {
        let text = mean.map_or_else(|| human::NONE.to_owned(), |m| human::with_interval(m, half, unit));
        Self { text, sort: mean, ..Self::default() }
    }
}

impl Axis {
    pub(super) fn new(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }

    pub(super) fn from_zero(label: &str) -> Self {
        Self { from_zero: true, ..Self::new(label) }
    }
}

impl Series {
    /// A series of these points.
    pub(super) fn new(label: &str, kind: Kind, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (x, y) = points.into_iter().unzip();
        Self { label: label.to_owned(), kind, x, y, ..Self::default() }
    }

    pub(super) fn colour(mut self, colour: usize) -> Self {
        self.colour = colour;
        self
    }

    pub(super) fn marker(mut self, marker: Marker) -> Self {
        self.marker = marker;
        self
    }

    pub(super) fn hollow(mut self) -> Self {
        self.hollow = true;
        self
    }

    pub(super) fn dash(mut self, dash: usize) -> Self {
        self.dash = dash;
        self
    }

    pub(super) fn off(mut self) -> Self {
        self.off = true;
        self
    }

    /// Each point counts.
    pub(super) fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    pub(super) fn remarks(mut self, remarks: Vec<String>) -> Self {
        self.remarks = remarks;
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.x.is_empty()
    }
}
