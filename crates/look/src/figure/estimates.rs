//! What bandwidth estimators said of a flow over time, beside the truth: a panel below its window.
//!
//! An estimate may be many times what the path carries. The panel is made for the truth: it ends at three times the most
//! that was available, and the legend says of an estimator that leaves it how far it went.

use super::draw::{Drawn, MARGIN, Page, SOLID, Type};
use super::scale::Scale;
use super::steps::steps;
use super::style::{self, COLOURS, FAINT, GREY, INK};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use truckee_scenario::outcome::{EstimatePoint, FlowSeries};

const PANEL: f64 = 150.0;
const HEAD: f64 = 14.0;
const LEGEND_LINE: f64 = 21.0;
const SWATCH: f64 = 30.0;
const SPACE: f64 = 22.0;
/// The panel ends at so many times the most that was available.
const MOST: f64 = 3.0;
/// The bandwidth used: lighter than the truth, darker than the grid.
const LIGHT: RGBColor = RGBColor(175, 175, 175);
const MEGA: f64 = 1e-6;

/// The panel of a flow.
pub(super) struct Estimates<'a> {
    /// Estimators in the order of their first reading, with their estimates (s, Mbit/s).
    estimators: Vec<(&'a str, Vec<(f64, f64)>)>,
    available: Vec<(f64, f64)>,
    used: Vec<(f64, f64)>,
    /// Upper end, Mbit/s.
    top: f64,
    legend: Vec<Entry>,
    legend_lines: usize,
    /// Left and right ends, pixels.
    sides: (f64, f64),
}

struct Entry {
    label: String,
    colour: RGBColor,
    width: u32,
    dash: (i32, i32),
    x: f64,
    line: usize,
}

impl<'a> Estimates<'a> {
    /// `None` if nobody estimated. `sides`: where the panel begins and ends, pixels.
    pub(super) fn new(series: &'a FlowSeries, sides: (f64, f64)) -> Option<Self> {
        let first = series.estimates.first()?;
        // What is true does not depend on who was asked: the readings of the first say it.
        let own = || series.estimates.iter().filter(|p| p.estimator == first.estimator);
        let mut estimators: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
        for point in &series.estimates {
            let at = estimators.iter().position(|(name, _)| *name == point.estimator).unwrap_or_else(|| {
                estimators.push((&point.estimator, Vec::new()));
                estimators.len() - 1
            });
            estimators[at].1.extend(point.estimate.map(|estimate| (point.t, estimate * MEGA)));
        }
        let truth = |of: fn(&EstimatePoint) -> f64| own().map(|p| (p.t, of(p) * MEGA)).collect::<Vec<_>>();
        let (available, used) = (truth(|p| p.available), truth(|p| p.used));
        let most = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(0.0, f64::max);
        let highest = estimators.iter().map(|(_, points)| most(points)).fold(most(&used), f64::max);
        let most_available = most(&available);
        let top = match most_available > 0.0 {
            true => highest.min(MOST * most_available).max(most_available),
            false => highest,
        };
        let mut panel = Self { estimators, available, used, top, legend: Vec::new(), legend_lines: 0, sides };
        panel.lay_out(most);
        Some(panel)
    }

    /// Entries from left to right, in as many lines as they need.
    fn lay_out(&mut self, most: impl Fn(&[(f64, f64)]) -> f64) {
        let (left, right) = self.sides;
        let truth = [("available", GREY, 3, &self.available), ("used", LIGHT, 1, &self.used)];
        // Over a capture nobody knows it.
        let truth = truth.into_iter().filter(|(.., points)| most(points) > 0.0);
        let truth = truth.map(|(l, c, w, _)| (l.to_owned(), c, w, SOLID)).collect::<Vec<_>>();
        let own = self.estimators.iter().enumerate().map(|(k, (name, points))| {
            let highest = most(points);
            let label = match highest > self.top {
                true => format!("{name} (up to {highest:.0} Mbit/s)"),
                false => (*name).to_owned(),
            };
            (label, COLOURS[k % COLOURS.len()], 2, style::look(k).dash)
        });
        let (mut x, mut line) = (left, 0);
        for (label, colour, width, dash) in truth.into_iter().chain(own) {
            let needed = SWATCH + 6.0 + label.chars().count() as f64 * style::TICK * style::CHARACTER;
            if x > left && x + needed > right {
                (x, line) = (left, line + 1);
            }
            self.legend.push(Entry { label, colour, width, dash, x, line });
            x += needed + SPACE;
        }
        self.legend_lines = line + 1;
    }

    pub(super) fn height(&self) -> f64 {
        HEAD + self.legend_lines as f64 * LEGEND_LINE + PANEL + 36.0
    }

    /// Draws it below `top`, on the time scale of the window above it.
    pub(super) fn draw(&self, page: &Page<'_, '_>, top: f64, end: f64, x: &Scale) -> Drawn {
        let (left, right) = self.sides;
        let legend_top = top + HEAD;
        let top = legend_top + self.legend_lines as f64 * LEGEND_LINE;
        let bottom = top + PANEL;
        let y = Scale::covering([0.0, self.top].into_iter(), false, true, (bottom, top));
        let tick = Type::plain(style::TICK, INK);
        for (value, label) in y.ticks(3) {
            page.line(&[(left, y.pixel(value)), (right, y.pixel(value))], FAINT, 1, SOLID)?;
            page.text(&label, (left - 8.0, y.pixel(value)), tick, HPos::Right, VPos::Center)?;
        }
        for (value, label) in x.ticks(10) {
            page.line(&[(x.pixel(value), top), (x.pixel(value), bottom)], FAINT, 1, SOLID)?;
            page.text(&label, (x.pixel(value), bottom + 6.0), tick, HPos::Center, VPos::Top)?;
        }
        page.line(&[(left, top), (left, bottom), (right, bottom)], GREY, 1, SOLID)?;
        let upright = Type::plain(style::LABEL, INK).upright();
        page.text("Rate / Mbit/s", (MARGIN, (top + bottom) / 2.0), upright, HPos::Center, VPos::Center)?;
        for entry in &self.legend {
            let middle = legend_top + (entry.line as f64 + 0.4) * LEGEND_LINE;
            page.line(
                &[(entry.x, middle), (entry.x + SWATCH, middle)],
                entry.colour,
                entry.width,
                entry.dash,
            )?;
            page.text(&entry.label, (entry.x + SWATCH + 6.0, middle), tick, HPos::Left, VPos::Center)?;
        }
        let looks: Vec<_> = self.legend.iter().map(|e| (e.colour, e.width, e.dash)).collect();
        let estimates = self.estimators.iter().map(|(_, points)| points);
        // The used bandwidth lies lowest: it is the noisiest.
        let truth = [&self.available, &self.used].into_iter().take(looks.len() - self.estimators.len());
        let mut curves: Vec<_> = truth.chain(estimates).zip(looks).collect();
        if curves.len() == self.estimators.len() + 2 {
            curves.swap(0, 1);
        }
        for (points, (colour, width, dash)) in curves {
            let cut = points.iter().map(|&(t, value)| (t, value.min(self.top)));
            let line = steps(cut, end, x, &y);
            if line.len() > 1 {
                page.line(&line, colour, width, dash)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(estimates: &[(f64, &str, Option<f64>)]) -> FlowSeries {
        let point = |&(t, name, estimate): &(f64, &str, Option<f64>)| EstimatePoint {
            t,
            estimator: name.into(),
            estimate,
            available: 2e6,
            used: 1e6,
        };
        FlowSeries { estimates: estimates.iter().map(point).collect(), ..FlowSeries::default() }
    }

    #[test]
    fn without_estimates_there_is_no_panel() {
        assert!(Estimates::new(&series(&[]), (0.0, 800.0)).is_none());
    }

    #[test]
    fn each_estimator_is_a_curve_and_the_truth_is_there_once() {
        let all = [(0.1, "a", None), (0.1, "b", Some(1e6)), (0.2, "a", Some(2.5e6)), (0.2, "b", Some(3e6))];
        let series = series(&all);
        let panel = Estimates::new(&series, (0.0, 800.0)).unwrap();
        assert_eq!(panel.estimators, [("a", vec![(0.2, 2.5)]), ("b", vec![(0.1, 1.0), (0.2, 3.0)])]);
        assert_eq!((panel.available.len(), panel.used.len(), panel.top), (2, 2, 3.0));
        let labels: Vec<_> = panel.legend.iter().map(|e| e.label.as_str()).collect();
        assert_eq!(labels, ["available", "used", "a", "b"]);
    }

    #[test]
    fn an_estimator_that_leaves_the_panel_says_how_far_it_went() {
        let series = series(&[(0.1, "wild", Some(2e8)), (0.2, "wild", Some(2e6))]);
        let panel = Estimates::new(&series, (0.0, 800.0)).unwrap();
        assert_eq!(panel.top, 6.0);
        assert_eq!(panel.legend[2].label, "wild (up to 200 Mbit/s)");
    }

    #[test]
    fn a_long_legend_takes_several_lines() {
        let names: Vec<String> = (0..12).map(|k| format!("estimator number {k}")).collect();
        let all: Vec<_> = names.iter().map(|name| (0.1, name.as_str(), Some(1e6))).collect();
        let series = series(&all);
        let panel = Estimates::new(&series, (136.0, 976.0)).unwrap();
        assert!(panel.legend_lines >= 2);
        let height = Estimates::new(&self::series(&all[..1]), (136.0, 976.0)).map(|p| p.height());
        assert!(height.is_some_and(|h| h < panel.height()));
    }
}
