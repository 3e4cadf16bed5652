//! What estimators, predictors and detectors would have said over a connection of a capture: what was in the air, below
//! it one lane a kind the losses and what each predictor took them for, then when each detector saw slow start, then
//! throughput and estimates. With the connection's trace, its time-sequence graph stands above.
//!
//! Not for: runs of a scenario, which [`super::window`] draws in the same way.

use super::draw::{self, MARGIN, SOLID, Type, WIDTH};
use super::sequence::Sequence;
use super::style::{self, COLOURS, GREY, INK};
use super::window::{LEFT, LEGEND, Panel};
use crate::Error;
use plotters::style::text_anchor::{HPos, VPos};
use truckee_capture::flow::steps;
use truckee_capture::portrait::Portrait;
use truckee_capture::replay::Report;
use truckee_capture::report::Connection;
use truckee_scenario::outcome::{EstimatePoint, FlowSeries, LossPoint, PhasePoint, WindowPoint};

/// A replay as SVG text; `title` is of the connection, `lasted` in seconds, `segment_size` in bytes.
///
/// # Errors
/// Nothing was in the air, so that there is nothing to draw.
pub fn replay(
    title: &str,
    report: &Report,
    lasted: f64,
    segment_size: u32,
    throughput: Option<&steps::Report>,
) -> Result<String, Error> {
    drawn(title, report, lasted, segment_size, throughput, None)
}

/// A connection over time, the way that its replay heard of: the time-sequence graph, and the replay below it.
///
/// # Errors
/// No data was acknowledged, so that there is nothing to draw.
pub fn connection(c: &Connection, portrait: &Portrait) -> Result<String, Error> {
    let (report, main) = (portrait.replay.report(), c.direction(portrait.replay.way()));
    let title = format!("{} to {}", c.client, c.server);
    let sequence = Sequence::new(portrait.trace(portrait.replay.way()));
    drawn(&title, &report, c.lasted_s, main.segment_size, main.throughput.as_ref(), Some(&sequence))
}

fn drawn(
    title: &str,
    report: &Report,
    lasted: f64,
    segment_size: u32,
    throughput: Option<&steps::Report>,
    sequence: Option<&Sequence<'_>>,
) -> Result<String, Error> {
    let fail = |reason: String| Error::Figure { title: title.to_owned(), reason };
    let series = series(report, throughput);
    if series.window.is_empty() {
        return Err(fail("no data was acknowledged".to_owned()));
    }
    let last = series.window.last().map_or(lasted, |p| p.t.max(lasted));
    let mut panel = Panel::bare(title.to_owned(), &series, last, segment_size);
    for (k, verdicts) in report.predictors.iter().enumerate() {
        for (cause, colour) in [("congestion", COLOURS[1]), ("wireless", COLOURS[2])] {
            let times = report.losses.iter().filter(|l| l.verdicts.get(k) == Some(&cause)).map(|l| l.t_s);
            panel.add_lane(&format!("{}: {cause}", verdicts.name), colour, times);
        }
    }
    let above = sequence.map_or(0.0, Sequence::height);
    let head = MARGIN + style::TITLE + 10.0;
    let top = head + above + LEGEND;
    let height = top + panel.height() + 46.0;
    draw::page(height, &|page| {
        let way = report.way.replace('-', " ");
        let what = if sequence.is_some() { "Connection" } else { "Replay over connection" };
        let heading = format!("{what} {}, {way}", report.connection);
        page.text(&heading, (MARGIN, MARGIN), Type::bold(style::TITLE, INK), HPos::Left, VPos::Top)?;
        if let Some(sequence) = sequence {
            sequence.draw(page, head, last)?;
        }
        let y = head + above + LEGEND / 2.0;
        page.line(&[(MARGIN, y), (MARGIN + 34.0, y)], COLOURS[0], 2, SOLID)?;
        let beside = (MARGIN + 42.0, y);
        page.text("in the air", beside, Type::plain(style::LABEL, INK), HPos::Left, VPos::Center)?;
        panel.draw(page, top, last, panel.most())?;
        let below = top + panel.height();
        let middle = (MARGIN + LEFT + WIDTH - MARGIN) / 2.0;
        page.text(
            "Time / s",
            (middle, below - 8.0),
            Type::plain(style::LABEL, INK),
            HPos::Center,
            VPos::Top,
        )?;
        let note = match report.dropped {
            (0, 0) => "The capture does not say what became of lost packets.".to_owned(),
            (queue, noise) => format!("Dropped, as the capture says: {queue} by queues, {noise} by noise."),
        };
        page.text(&note, (MARGIN, below + 16.0), Type::plain(style::NOTE, GREY), HPos::Left, VPos::Top)
    })
    .map_err(fail)
}

/// A replay as the series of a flow: what is in the air stands for the window, the throughput for one more estimate.
fn series(report: &Report, throughput: Option<&steps::Report>) -> FlowSeries {
    let window = |&(t, flight): &(f64, f64)| WindowPoint {
        t,
        cwnd: flight,
        ssthresh: f64::MAX,
        flight: flight as u64,
        rtt: None,
    };
    let losses = report.losses.iter().map(|loss| LossPoint {
        t: loss.t_s,
        seq: loss.seq,
        kind: loss.kind,
        truth: "none",
        verdict: "none",
    });
    let phases = report.detectors.iter().flat_map(|detector| {
        detector.turns.iter().map(|&(t, slow_start)| PhasePoint { t, who: detector.name.clone(), slow_start })
    });
    let estimate = |name: &str, (t, estimate)| EstimatePoint {
        t,
        estimator: name.to_owned(),
        estimate: Some(estimate),
        available: 0.0,
        used: 0.0,
    };
    let throughput = throughput.into_iter().flat_map(steps::Report::points);
    let throughput = throughput.map(|point| estimate("throughput", point));
    let estimates =
        report.estimators.iter().flat_map(|e| e.series.iter().map(|&point| estimate(&e.name, point)));
    FlowSeries {
        window: report.flight.iter().map(window).collect(),
        losses: losses.collect(),
        phases: phases.collect(),
        estimates: throughput.chain(estimates).collect(),
        ..FlowSeries::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_capture::replay::{Estimates, Loss, Phases, Verdicts};

    fn report() -> Report {
        let verdicts = |name: &str| Verdicts {
            name: name.into(),
            congestion: 1,
            wireless: 0,
            accuracy_congestion: None,
            accuracy_wireless: None,
            accuracy: None,
        };
        Report {
            connection: 3,
            way: "to-client",
            throughput_bps: Some(1e6),
            idle_share: Some(0.0),
            short_share: Some(0.0),
            application_limits: false,
            estimators: vec![Estimates {
                name: "tibet".into(),
                last_bps: Some(1e6),
                median_bps: Some(1e6),
                mean_bps: Some(1e6),
                series: vec![(0.1, 1e6), (0.9, 2e6)],
            }],
            predictors: vec![verdicts("vegas")],
            detectors: vec![Phases {
                name: "round-growth".into(),
                slow_start_share: 0.5,
                turns: vec![(0.0, true), (0.5, false)],
            }],
            losses: vec![Loss {
                t_s: 0.6,
                seq: 1,
                kind: "timeout",
                truth: None,
                verdicts: vec!["congestion"],
            }],
            flight: vec![(0.0, 1000.0), (1.0, 4000.0)],
            dropped: (0, 0),
        }
    }

    #[test]
    fn a_replay_names_everyone_who_spoke() {
        let throughput = steps::Report { start_s: 0.0, step_s: 0.5, bps: vec![1e6, 2e6] };
        let svg = super::replay("10.0.0.1:80 <a>", &report(), 1.0, 1000, Some(&throughput)).unwrap();
        for text in [
            "throughput",
            "tibet",
            "vegas: congestion",
            "round-growth",
            "timeout",
            "connection 3, to client",
            "&lt;a&gt;",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        for text in ["available", "vegas: wireless", "NaN", "inf"] {
            assert!(!svg.contains(text), "{text}");
        }
    }

    #[test]
    fn nothing_in_the_air_is_nothing_to_draw() {
        let empty = Report { flight: Vec::new(), ..report() };
        assert!(
            super::replay("a", &empty, 1.0, 1000, None).unwrap_err().to_string().contains("acknowledged")
        );
    }
}
