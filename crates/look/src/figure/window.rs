//! The congestion window over time: cwnd and ssthresh of each flow, and below them, one lane a kind, when packets were
//! lost and to what, when the timer went off, which losses were judged wrong, and, where detectors watch, when the sender
//! was in slow start and who said so. Where bandwidth was estimated, its panel comes below ([`super::estimates`]).
//!
//! Not for: means over runs, which [`super::Figure`] draws.

use super::draw::{self, Drawn, MARGIN, Page, SOLID, Type, WIDTH};
use super::estimates::Estimates;
use super::scale::Scale;
use super::steps::steps;
use super::style::{self, COLOURS, FAINT, GREY, INK};
use crate::Error;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use truckee_scenario::outcome::{FlowSeries, LossPoint, TRUE_PHASE};
use truckee_scenario::{Outcome, Scenario};

/// More flows than this are not drawn: the page would not end.
pub(super) const MOST_FLOWS: usize = 8;
pub(super) const LEFT: f64 = 112.0;
const PANEL: f64 = 230.0;
const LANE: f64 = 17.0;
const HEAD: f64 = 30.0;
const BELOW: f64 = 40.0;
pub(super) const LEGEND: f64 = 30.0;
const SSTHRESH_DASH: (i32, i32) = (6, 4);

/// The windows of a run that recorded its series, as SVG text.
///
/// # Errors
/// There are no series.
pub fn window(scenario: &Scenario, outcome: &Outcome) -> Result<String, Error> {
    let title = format!("{}: congestion window", outcome.scenario);
    let fail = |reason: String| Error::Figure { title: title.clone(), reason };
    let panels: Vec<Panel<'_>> =
        outcome.series.iter().filter_map(|s| Panel::new(scenario, outcome, s)).collect();
    if panels.is_empty() {
        return Err(fail("no flow has a window to draw".to_owned()));
    }
    let left_out = panels.len().saturating_sub(MOST_FLOWS);
    let shown = &panels[..panels.len() - left_out];
    let mut note = match outcome.digest.as_str() {
        "" => format!("Seed {}, engine {}.", outcome.seed, outcome.engine),
        digest => format!("Seed {}, digest {digest}.", outcome.seed),
    };
    if left_out > 0 {
        note.push_str(&format!(" {left_out} more flows are not drawn."));
    }
    let top = MARGIN + style::TITLE + 10.0 + LEGEND;
    let height = top + shown.iter().map(Panel::height).sum::<f64>() + 46.0;
    draw::page(height, &|page| {
        page.text(&title, (MARGIN, MARGIN), Type::bold(style::TITLE, INK), HPos::Left, VPos::Top)?;
        legend(page, MARGIN + style::TITLE + 10.0 + LEGEND / 2.0)?;
        let mut y = top;
        for panel in shown {
            panel.draw(page, y, outcome.simulated_s, panel.most())?;
            y += panel.height();
        }
        let middle = (MARGIN + LEFT + WIDTH - MARGIN) / 2.0;
        page.text("Time / s", (middle, y - 8.0), Type::plain(style::LABEL, INK), HPos::Center, VPos::Top)?;
        page.text(&note, (MARGIN, y + 16.0), Type::plain(style::NOTE, GREY), HPos::Left, VPos::Top)
    })
    .map_err(fail)
}

/// What the lines are.
pub(super) fn legend(page: &Page<'_, '_>, y: f64) -> Drawn {
    let mut x = MARGIN;
    for (name, colour, dash) in [("cwnd", COLOURS[0], SOLID), ("ssthresh", GREY, SSTHRESH_DASH)] {
        page.line(&[(x, y), (x + 34.0, y)], colour, 2, dash)?;
        page.text(name, (x + 42.0, y), Type::plain(style::LABEL, INK), HPos::Left, VPos::Center)?;
        x += 130.0;
    }
    Ok(())
}

/// One kind of event: its name, its colour, when it happened or from when to when it lasted (s).
struct Lane {
    name: String,
    colour: RGBColor,
    times: Vec<f64>,
    spans: Vec<(f64, f64)>,
}

impl Lane {
    fn events(name: &str, colour: RGBColor, times: impl Iterator<Item = f64>) -> Self {
        Self { name: name.to_owned(), colour, times: times.collect(), spans: Vec::new() }
    }
}

/// One flow.
pub(super) struct Panel<'a> {
    title: String,
    series: &'a FlowSeries,
    mss: f64,
    lanes: Vec<Lane>,
    estimates: Option<Estimates<'a>>,
}

impl<'a> Panel<'a> {
    /// `None` if the flow never had a window.
    pub(super) fn new(scenario: &Scenario, outcome: &Outcome, series: &'a FlowSeries) -> Option<Self> {
        let flow = scenario.flows.iter().find(|f| f.name == series.flow)?;
        let result = outcome.flows.iter().find(|f| f.name == series.flow)?;
        if series.window.is_empty() {
            return None;
        }
        let title = format!("{}: {}, {} ACKs", flow.name, result.sender, result.receiver);
        let mss = f64::from(flow.stack.mss);
        let estimates = Estimates::new(series, (MARGIN + LEFT, WIDTH - MARGIN));
        let mut lanes = lanes(series);
        lanes.extend(phases(series, outcome.simulated_s));
        Some(Self { title, series, mss, lanes, estimates })
    }

    /// One that no scenario describes: its title, its series up to `end` (s), its segments' size.
    pub(super) fn bare(title: String, series: &'a FlowSeries, end: f64, mss: u32) -> Self {
        let estimates = Estimates::new(series, (MARGIN + LEFT, WIDTH - MARGIN));
        let mut lanes = lanes(series);
        lanes.extend(phases(series, end));
        Self { title, series, mss: f64::from(mss.max(1)), lanes, estimates }
    }

    /// The same with a word before its title.
    pub(super) fn of(mut self, whose: &str) -> Self {
        self.title = format!("{whose}: {}", self.title);
        self
    }

    /// One more lane of events, if there are any.
    pub(super) fn add_lane(&mut self, name: &str, colour: RGBColor, times: impl Iterator<Item = f64>) {
        let lane = Lane::events(name, colour, times);
        self.lanes.extend(Some(lane).filter(|lane| !lane.times.is_empty()));
    }

    /// The largest window, segments.
    pub(super) fn most(&self) -> f64 {
        self.series.window.iter().map(|p| p.cwnd / self.mss).fold(0.0, f64::max)
    }

    /// Without the estimates.
    fn window_height(&self) -> f64 {
        HEAD + PANEL + LANE * self.lanes.len() as f64 + BELOW
    }

    pub(super) fn height(&self) -> f64 {
        self.window_height() + self.estimates.as_ref().map_or(0.0, Estimates::height)
    }

    /// Up to `end` (s) across and `most` segments upwards.
    pub(super) fn draw(&self, page: &Page<'_, '_>, top: f64, end: f64, most: f64) -> Drawn {
        let (left, right) = (MARGIN + LEFT, WIDTH - MARGIN);
        let below = top + self.window_height();
        let (top, bottom) = (top + HEAD, top + HEAD + PANEL);
        let floor = bottom + LANE * self.lanes.len() as f64 + if self.lanes.is_empty() { 0.0 } else { 4.0 };
        let x = Scale::covering([0.0, end].into_iter(), false, true, (left, right));
        let cwnd = || self.series.window.iter().map(|p| (p.t, p.cwnd / self.mss));
        let y = Scale::covering([0.0, most].into_iter(), false, true, (bottom, top));
        let tick = Type::plain(style::TICK, INK);
        for (value, label) in y.ticks(4) {
            page.line(&[(left, y.pixel(value)), (right, y.pixel(value))], FAINT, 1, SOLID)?;
            page.text(&label, (left - 8.0, y.pixel(value)), tick, HPos::Right, VPos::Center)?;
        }
        for (value, label) in x.ticks(10) {
            page.line(&[(x.pixel(value), top), (x.pixel(value), floor)], FAINT, 1, SOLID)?;
            page.text(&label, (x.pixel(value), floor + 6.0), tick, HPos::Center, VPos::Top)?;
        }
        page.line(&[(left, top), (left, floor), (right, floor)], GREY, 1, SOLID)?;
        page.text(&self.title, (left, top - 7.0), Type::bold(style::LABEL, INK), HPos::Left, VPos::Bottom)?;
        let beside = (MARGIN, (top + bottom) / 2.0);
        let upright = Type::plain(style::LABEL, INK).upright();
        page.text("Window / segments", beside, upright, HPos::Center, VPos::Center)?;

        let ssthresh = self.series.window.iter().map(|p| (p.t, p.ssthresh / self.mss));
        // The initial threshold is usually far above any window: what does not fit is not drawn.
        for part in steps(ssthresh, end, &x, &y).split(|p| p.1 < top) {
            if part.len() > 1 {
                page.line(part, GREY, 1, SSTHRESH_DASH)?;
            }
        }
        page.line(&steps(cwnd(), end, &x, &y), COLOURS[0], 2, SOLID)?;
        for (k, lane) in self.lanes.iter().enumerate() {
            let middle = bottom + LANE * (k as f64 + 0.5) + 3.0;
            page.text(
                &lane.name,
                (left - 8.0, middle),
                Type::plain(style::NOTE, INK),
                HPos::Right,
                VPos::Center,
            )?;
            for at in columns(lane.times.iter().map(|&t| x.pixel(t))) {
                page.line(&[(at, middle - 5.0), (at, middle + 6.0)], lane.colour, 2, SOLID)?;
            }
            for (from, to) in merged(lane.spans.iter().map(|&(from, to)| (x.pixel(from), x.pixel(to)))) {
                page.line(&[(from, middle), (to, middle)], lane.colour, 8, SOLID)?;
            }
        }
        match &self.estimates {
            Some(estimates) => estimates.draw(page, below, end, &x),
            None => Ok(()),
        }
    }
}

/// The lanes that have events.
fn lanes(series: &FlowSeries) -> Vec<Lane> {
    let drops =
        |cause: &'static str| series.drops.iter().filter(move |d| d.cause == cause && !d.ack).map(|d| d.t);
    let losses = |which: fn(&LossPoint) -> bool| series.losses.iter().filter(move |l| which(l)).map(|l| l.t);
    let lanes = [
        Lane::events("lost: queue", COLOURS[1], drops("queue")),
        Lane::events("lost: noise", COLOURS[2], drops("channel")),
        Lane::events("lost: outage", COLOURS[5], drops("outage")),
        Lane::events("lost: collision", COLOURS[4], drops("collision")),
        Lane::events("lost: out of reach", COLOURS[6], drops("reach")),
        Lane::events("lost: no route", COLOURS[0], drops("route")),
        Lane::events("timeout", INK, losses(|l| l.kind == "timeout")),
        Lane::events("judged wrong", COLOURS[3], losses(|l| l.truth != "none" && l.truth != l.verdict)),
    ];
    lanes.into_iter().filter(|lane| !lane.times.is_empty()).collect()
}

/// When segments of slow start came, and when each detector took the sender to be in it.
fn phases(series: &FlowSeries, end: f64) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for point in &series.phases {
        let (name, colour) = match point.who.as_str() {
            TRUE_PHASE => ("in slow start", COLOURS[0]),
            who => (who, COLOURS[4]),
        };
        let k = lanes.iter().position(|lane| lane.name == name).unwrap_or_else(|| {
            lanes.push(Lane::events(name, colour, std::iter::empty()));
            lanes.len() - 1
        });
        let spans = &mut lanes[k].spans;
        if point.slow_start {
            spans.push((point.t, end));
        } else if let Some(last) = spans.last_mut() {
            last.1 = point.t;
        }
    }
    lanes
}

/// Stretches of pixels, a pixel long at least, those that touch made one.
fn merged(spans: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans.map(|(from, to)| (from.round(), to.round().max(from.round() + 1.0))) {
        match all.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

/// Pixel columns, each once.
fn columns(pixels: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut columns: Vec<f64> = pixels.map(f64::round).collect();
    columns.sort_by(f64::total_cmp);
    columns.dedup();
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_engines::Simulator;
    use truckee_lab::Engine;
    use truckee_lab::testing::NOISY;
    use truckee_scenario::Document;

    fn run(text: &str, series: bool) -> (Scenario, Outcome) {
        let scenario = Document::parse("noisy.toml", text).unwrap().scenario().unwrap();
        let outcome = Simulator.run(&scenario, series).unwrap();
        (scenario, outcome)
    }

    #[test]
    fn a_window_figure_names_the_flow_and_each_kind_of_loss() {
        let (scenario, outcome) = run(NOISY, true);
        let svg = window(&scenario, &outcome).unwrap();
        for text in ["noisy &lt;flow&gt;: newreno", "lost: queue", "lost: noise", "judged wrong", "cwnd"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("lost: outage"), "there was none");
        assert_eq!(svg, window(&scenario, &outcome).unwrap());
    }

    #[test]
    fn estimates_have_a_panel_of_their_own_below_the_window() {
        let observed = NOISY
            .replace("sender = \"newreno\"", "sender = \"newreno\"\nobserve = { estimators = [\"ewma\"] }");
        let (scenario, outcome) = run(&observed, true);
        let svg = window(&scenario, &outcome).unwrap();
        for text in ["ewma", "available", "used", "Mbit/s"] {
            assert!(svg.contains(text), "{text}");
        }
        let (scenario, outcome) = run(NOISY, true);
        assert!(!window(&scenario, &outcome).unwrap().contains("available"));
    }

    #[test]
    fn detectors_have_a_lane_each_below_the_true_phase() {
        let observed = NOISY.replace("sender = \"newreno\"", "sender = \"newreno\"\nreceiver = \"taba\"");
        let (scenario, outcome) = run(&observed, true);
        let svg = window(&scenario, &outcome).unwrap();
        assert!(svg.contains("in slow start") && svg.contains("receiver"), "{svg}");
        let phases = &outcome.series[0].phases;
        assert!(phases[0].slow_start && phases.iter().any(|p| !p.slow_start), "{phases:?}");
        let turns =
            |who: &str| phases.iter().filter(|p| p.who == who).map(|p| p.slow_start).collect::<Vec<_>>();
        assert!(turns("receiver").windows(2).all(|w| w[0] != w[1]), "only turns are noted");
        let (scenario, outcome) = run(NOISY, true);
        assert!(!window(&scenario, &outcome).unwrap().contains("in slow start"));
    }

    #[test]
    fn stretches_that_touch_are_one() {
        let spans = [(0.0, 10.2), (10.4, 12.0), (20.0, 20.1), (20.6, 21.0), (30.0, 30.0)];
        assert_eq!(merged(spans.into_iter()), [(0.0, 12.0), (20.0, 22.0), (30.0, 31.0)]);
    }

    #[test]
    fn without_series_there_is_nothing_to_draw() {
        let (scenario, outcome) = run(NOISY, false);
        assert!(window(&scenario, &outcome).unwrap_err().to_string().contains("no flow has a window"));
    }
}
