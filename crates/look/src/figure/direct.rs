//! Names at the ends of lines in place of a legend: where a figure has one panel, whose lines all end at its right and
//! far enough from each other for their names.

use super::draw::{Drawn, Marked, Page, Type};
use super::model::{Figure, Panel, Series};
use super::panel::{Place, scales};
use super::style::{self, INK};
use plotters::style::text_anchor::{HPos, VPos};

/// Lines with names at most.
const MOST: usize = 7;
/// From one name to the next at least, pixels.
const APART: f64 = 18.0;
/// A name may be so far from its line's end, pixels.
const FAR: f64 = 34.0;
/// Between the frame and the names.
const GAP: f64 = 24.0;
/// From the frame to a marker beside a name.
const KEY: f64 = 14.0;
/// Dashes of the threads.
const THREAD: (i32, i32) = (1, 3);
/// Names take no more than this, pixels.
const WIDEST: f64 = 220.0;

/// The name of one line.
struct Name {
    /// Number of the series in the panel.
    series: usize,
    /// Where the line ends and where its name stands, pixels from the frame's top.
    end: f64,
    at: f64,
}

/// The names of all lines.
pub(super) struct Names {
    names: Vec<Name>,
    /// What they take at the right, pixels.
    pub(super) width: f64,
}

impl Names {
    /// Of a figure whose only panel is so high; `None` where a legend serves better.
    pub(super) fn new(figure: &Figure, height: f64) -> Option<Self> {
        let [panel] = figure.panels.as_slice() else { return None };
        let fits = figure.x.categories.is_empty() && (2..=MOST).contains(&panel.series.len());
        if !fits || figure.has_references() {
            return None;
        }
        let frame = Place { left: 0.0, top: 0.0, width: 1.0, height };
        let mut names = ends(figure, panel, &frame)?;
        names.sort_by(|a, b| a.end.total_cmp(&b.end));
        spread(&mut names, height);
        if names.iter().any(|n| (n.at - n.end).abs() > FAR) {
            return None;
        }
        let longest = panel.series.iter().map(|s| s.label.chars().count()).max()?;
        let width = GAP + longest as f64 * style::LABEL * style::CHARACTER;
        (width <= WIDEST && panel.series.iter().all(|s| !s.label.is_empty())).then_some(Self { names, width })
    }

    /// Draws them beside the frame.
    pub(super) fn draw(&self, page: &Page<'_, '_>, figure: &Figure, place: &Place) -> Drawn {
        let [panel] = figure.panels.as_slice() else { return Ok(()) };
        let right = place.left + place.width;
        let from = scales(figure, panel, place).0.pixel(last_x(panel)) + 7.0;
        for name in &self.names {
            let label = panel.series[name.series].label.as_str();
            let k = figure.labels().iter().position(|l| *l == label).unwrap_or(0);
            let look = style::look(k);
            let (end, at) = (place.top + name.end, place.top + name.at);
            // A thread from the line to its marker beside its name.
            page.line(&[(from, end), (right + 6.0, at)], look.colour, 1, THREAD)?;
            page.marker((right + KEY, at), &look, Marked::Ours)?;
            page.text(label, (right + GAP, at), Type::plain(style::LABEL, INK), HPos::Left, VPos::Center)?;
        }
        Ok(())
    }
}

/// The last value across.
fn last_x(panel: &Panel) -> f64 {
    panel.series.iter().filter_map(|s| s.points.last()).map(|p| p.x).fold(f64::NEG_INFINITY, f64::max)
}

/// Where the lines end; `None` if one of them ends before the others.
fn ends(figure: &Figure, panel: &Panel, frame: &Place) -> Option<Vec<Name>> {
    let (_, y) = scales(figure, panel, frame);
    let last = last_x(panel);
    let end = |(series, s): (usize, &Series)| {
        let point = s.points.last().filter(|p| p.x == last)?;
        let end = y.pixel(point.y);
        Some(Name { series, end, at: end })
    };
    panel.series.iter().enumerate().map(end).collect()
}

/// Moves names apart, those in a crowd about its middle, none beyond the frame's ends.
fn spread(names: &mut [Name], height: f64) {
    for _ in 0..100 {
        let mut moved = false;
        for k in 1..names.len() {
            let lacking = APART - (names[k].at - names[k - 1].at);
            if lacking > 0.01 {
                names[k - 1].at -= lacking / 2.0;
                names[k].at += lacking / 2.0;
                moved = true;
            }
        }
        for name in names.iter_mut() {
            name.at = name.at.clamp(6.0, height - 2.0);
        }
        if !moved {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    fn one_panel() -> Figure {
        let mut figure = example();
        figure.panels.truncate(1);
        figure.panels[0].series.iter_mut().for_each(|s| s.references.clear());
        figure
    }

    #[test]
    fn lines_that_end_apart_have_their_names_and_no_legend() {
        let figure = one_panel();
        let names = Names::new(&figure, 480.0).unwrap();
        assert_eq!(names.names.len(), 3);
        assert!(names.names.windows(2).all(|w| w[1].at - w[0].at >= APART - 0.1));
        let svg = figure.svg().unwrap();
        assert_eq!(svg.matches(">\nTahoe\n").count(), 1, "{svg}");
    }

    #[test]
    fn published_values_crowds_and_panels_keep_the_legend() {
        assert!(Names::new(&example(), 480.0).is_none());
        let mut published = one_panel();
        published.panels[0].series[0].references.push((0.5, 1.0));
        assert!(Names::new(&published, 480.0).is_none());
        let mut crowd = one_panel();
        let one = crowd.panels[0].series[0].clone();
        crowd.panels[0].series = (0..7).map(|k| Series { label: format!("s{k}"), ..one.clone() }).collect();
        assert!(Names::new(&crowd, 480.0).is_none(), "seven names cannot stand at one place");
        let mut early = one_panel();
        early.panels[0].series[1].points.pop();
        assert!(Names::new(&early, 480.0).is_none());
    }
}
