//! Figures as SVG, all in one visual language.
//!
//! Lines that end apart have their names at their ends, others a legend. Series are told apart three times over: by colour (M. Okabe & K. Ito's set, which readers with a colour vision
//! deficiency can tell apart), by marker and by line style, so that a figure survives a projector and a grey print.
//! Means carry their confidence intervals, published values stand beside ours as hollow markers, axes carry units,
//! the foot says where the published values are from and what was chosen.
//!
//! Not for: what is drawn; the study does ([`crate::study`]).

mod compare;
mod direct;
mod draw;
mod estimates;
mod layout;
mod legend;
mod map;
mod model;
mod panel;
mod replay;
mod scale;
mod sequence;
mod steps;
mod style;
mod window;

pub use compare::compare;
pub use map::{Map, MapCell, MapPanel};
pub use model::{Axis, Figure, Panel, Point, Series};
pub use replay::{connection, replay};
pub use window::window;

use crate::Error;
#[cfg(feature = "pages")]
use std::path::Path;
#[cfg(feature = "pages")]
use truckee_lab::disk;

impl Figure {
    /// The figure as SVG text. Errors: there is nothing to draw, or a number that its axis cannot hold.
    pub fn svg(&self) -> Result<String, Error> {
        let fail = |reason: &str| Error::Figure { title: self.title.clone(), reason: reason.to_owned() };
        let points = || self.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
        if points().next().is_none() {
            return Err(fail("there is nothing to draw"));
        }
        let finite = |p: &Point| p.x.is_finite() && p.y.is_finite() && p.half_width.is_finite();
        let held = |p: &Point| (!self.x.log || p.x > 0.0) && (!self.y.log || p.y > 0.0);
        if !points().all(|p| finite(p) && held(p)) {
            return Err(fail("a value is not finite, or not above 0 on a logarithmic axis"));
        }
        layout::svg(self).map_err(|e| fail(&e))
    }

    /// Writes the SVG to `path`.
    #[cfg(feature = "pages")]
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let svg = self.svg()?;
        Ok(disk::write(path, svg.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn example() -> Figure {
        let point = |x: f64, y: f64| Point { x, y, half_width: y / 20.0 };
        let series = |label: &str, k: f64| Series {
            label: label.into(),
            points: [0.5, 1.0, 1.5, 2.0].iter().map(|&x| point(x, k * (10.0 + 20.0 * x))).collect(),
            references: vec![(0.5, k * 21.0)],
        };
        let panel = |k: f64, title: &str| Panel {
            title: title.into(),
            series: vec![series("Tahoe", k), series("Reno", k * 1.1), series("NewReno & <co>", k * 0.8)],
        };
        Figure {
            title: "Download over a wireless hop".into(),
            source: "wstudy, fig. 3-5 … 3-8".into(),
            notes: vec!["Hop 5.5 Mbit/s, RTT 30 ms, an ACK for every segment. ".repeat(4)],
            x: Axis { label: "Packet error rate / %".into(), ..Axis::default() },
            y: Axis { label: "Completion time / s".into(), ..Axis::default() },
            reference: "published".into(),
            share_y: false,
            panels: vec![panel(0.05, "1 MB"), panel(0.1, "2 MB"), panel(0.25, "5 MB"), panel(1.0, "20 MB")],
        }
    }

    #[test]
    fn a_figure_says_everything_it_was_told() {
        let svg = example().svg().unwrap();
        for text in
            ["Tahoe", "NewReno &amp; &lt;co&gt;", "published", "20 MB", "Completion time / s", "fig. 3-5"]
        {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn the_same_figure_is_the_same_text() {
        assert_eq!(example().svg().unwrap(), example().svg().unwrap());
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let mut empty = example();
        empty.panels.clear();
        assert!(empty.svg().unwrap_err().to_string().contains("nothing to draw"));
        let mut negative = example();
        negative.y.log = true;
        negative.panels[0].series[0].points[0].y = -1.0;
        assert!(negative.svg().is_err());
        let mut infinite = example();
        infinite.panels[0].series[0].points[0].y = f64::INFINITY;
        assert!(infinite.svg().is_err());
    }

    #[test]
    fn one_point_bars_and_logarithms_are_drawn() {
        let mut figure = example();
        figure.panels.truncate(1);
        figure.panels[0].series.truncate(1);
        figure.panels[0].series[0].points.truncate(1);
        (figure.x.log, figure.y.log) = (true, true);
        assert!(figure.svg().is_ok());
        figure.x = Axis { label: "variant".into(), log: false, categories: vec!["a".into(), "b".into()] };
        figure.panels[0].series[0].points[0].x = 1.0;
        assert!(figure.svg().is_ok());
    }
}
