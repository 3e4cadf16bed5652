//! The legend: one entry a series, and one for the hollow markers; in lines from left to right.

use super::draw::{Drawn, Marked, Page, SOLID, Type};
use super::model::Figure;
use super::style::{self, GREY, INK};
use plotters::style::text_anchor::{HPos, VPos};

const SWATCH: f64 = 46.0;
const SPACE: f64 = 26.0;
const LINE: f64 = 24.0;

/// Where each entry goes.
pub(super) struct Layout {
    /// Left end and line of each entry: the series in order, then the hollow markers.
    places: Vec<(f64, usize)>,
    /// Pixels it takes.
    pub(super) height: f64,
}

impl Layout {
    /// Without entries.
    pub(super) fn none() -> Self {
        Self { places: Vec::new(), height: 0.0 }
    }

    pub(super) fn new(figure: &Figure, left: f64, right: f64) -> Self {
        let mut labels = entries(figure);
        if figure.has_references() {
            labels.push(&figure.reference);
        }
        let (mut x, mut line) = (left, 0);
        let mut places = Vec::new();
        for label in &labels {
            let width = SWATCH + label.chars().count() as f64 * style::LABEL * style::CHARACTER;
            if x > left && x + width > right {
                (x, line) = (left, line + 1);
            }
            places.push((x, line));
            x += width + SPACE;
        }
        let height = if labels.is_empty() { 0.0 } else { (line + 1) as f64 * LINE };
        Self { places, height }
    }

    pub(super) fn draw(&self, page: &Page<'_, '_>, figure: &Figure, top: f64) -> Drawn {
        let labels = entries(figure);
        for (k, &(x, line)) in self.places.iter().enumerate() {
            let y = top + (line as f64 + 0.5) * LINE;
            let middle = x + SWATCH / 2.0 - 6.0;
            let label = match labels.get(k) {
                Some(label) => {
                    let look = style::look(k);
                    if figure.x.categories.is_empty() {
                        page.line(&[(x, y), (x + SWATCH - 12.0, y)], look.colour, 2, look.dash)?;
                        page.marker((middle, y), &look, Marked::Ours)?;
                    } else if figure.y.log {
                        page.marker((middle, y), &look, Marked::Ours)?;
                    } else {
                        page.bar((middle - 8.0, y - 7.0), (middle + 8.0, y + 7.0), look.colour)?;
                        if labels.len() > 1 {
                            page.marker((middle, y), &look.white(), Marked::Within)?;
                        }
                    }
                    label
                }
                None => {
                    let look = style::Look { colour: GREY, marker: style::Marker::Circle, dash: SOLID };
                    page.marker((middle, y), &look, Marked::Published)?;
                    figure.reference.as_str()
                }
            };
            page.text(
                label,
                (x + SWATCH - 4.0, y),
                Type::plain(style::LABEL, INK),
                HPos::Left,
                VPos::Center,
            )?;
        }
        Ok(())
    }
}

/// A single nameless series needs no entry.
fn entries(figure: &Figure) -> Vec<&str> {
    let labels = figure.labels();
    if labels == [""] { Vec::new() } else { labels }
}
