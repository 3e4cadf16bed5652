//! The visual language: colours, markers, line styles, sizes of type.

use plotters::style::RGBColor;

/// Okabe & Ito's colours ("Color Universal Design", 2008) without the yellow, which vanishes on white.
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
/// Secondary text.
pub(super) const GREY: RGBColor = RGBColor(95, 95, 95);
/// Grid lines.
pub(super) const FAINT: RGBColor = RGBColor(228, 228, 228);

/// Sizes of type, pixels of a figure 1000 wide.
pub(super) const TITLE: f64 = 23.0;
/// Labels of axes, legend, panel titles.
pub(super) const LABEL: f64 = 16.0;
/// Numbers at ticks.
pub(super) const TICK: f64 = 14.0;
/// Source and notes.
pub(super) const NOTE: f64 = 13.0;

/// Width of an average character, as a share of the type's size: there is no font to measure with.
pub(super) const CHARACTER: f64 = 0.54;

/// A marker's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Inverted,
}

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) colour: RGBColor,
    pub(super) marker: Marker,
    /// Length of dashes and of gaps, pixels; no gaps for a solid line.
    pub(super) dash: (i32, i32),
}

impl Look {
    /// The same in white: on a bar of its colour.
    pub(super) fn white(self) -> Self {
        Self { colour: plotters::style::WHITE, ..self }
    }
}

/// The look of the k-th series. Colours, markers and line styles have coprime periods, so that no two of the first
/// 140 look alike.
pub(super) fn look(k: usize) -> Look {
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Inverted];
    const DASHES: [(i32, i32); 4] = [(1, 0), (9, 5), (3, 4), (16, 5)];
    Look {
        colour: COLOURS[k % COLOURS.len()],
        marker: MARKERS[k % MARKERS.len()],
        dash: DASHES[k % DASHES.len()],
    }
}
