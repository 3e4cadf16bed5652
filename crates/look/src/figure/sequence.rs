//! The time-sequence graph of a captured connection, as tcptrace draws it: segments, the line of what is acknowledged, and
//! in a colour of its own each kind of what was sent again.
//!
//! As fine as the page: of the segments that share a pixel column the first and the last byte stay, as one stroke.

use super::draw::{Drawn, MARGIN, Page, SOLID, Type, WIDTH};
use super::scale::Scale;
use super::steps::steps;
use super::style::{self, COLOURS, FAINT, GREY, INK};
use super::window::{LEFT, LEGEND};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use truckee_capture::flow::retransmissions::Kind;
use truckee_capture::trace::Trace;

const PANEL: f64 = 300.0;
const BELOW: f64 = 30.0;
const KILO: f64 = 1e-3;
/// Half the height of a stroke that stands for one segment, pixels.
const STROKE: f64 = 2.0;

/// What the strokes are, in the order in which they are drawn.
const WHY: [(Kind, &str, RGBColor); 4] = [
    (Kind::Fast, "fast retransmit", COLOURS[4]),
    (Kind::Timeout, "after a timeout", COLOURS[1]),
    (Kind::Probe, "probe of the tail", COLOURS[3]),
    (Kind::Unexplained, "unexplained", INK),
];

/// The graph of one direction.
pub(super) struct Sequence<'a> {
    trace: &'a Trace,
    sent: Vec<(f64, f64)>,
    acked: Vec<(f64, f64)>,
}

impl<'a> Sequence<'a> {
    pub(super) fn new(trace: &'a Trace) -> Self {
        let kilo = |points: Vec<(f64, f64)>| points.into_iter().map(|(t, seq)| (t, seq * KILO)).collect();
        Self { trace, sent: kilo(trace.sent.points()), acked: kilo(trace.acked.points()) }
    }

    pub(super) fn height(&self) -> f64 {
        LEGEND + PANEL + BELOW
    }

    /// Below `top`, up to `end` (s) across.
    pub(super) fn draw(&self, page: &Page<'_, '_>, top: f64, end: f64) -> Drawn {
        let (left, right) = (MARGIN + LEFT, WIDTH - MARGIN);
        self.legend(page, top + LEGEND / 2.0)?;
        let (top, bottom) = (top + LEGEND, top + LEGEND + PANEL);
        let x = Scale::covering([0.0, end].into_iter(), false, true, (left, right));
        let again = || self.trace.again.first.iter().map(|a| (a.kind, a.t, a.seq as f64 * KILO));
        let all = self.sent.iter().chain(&self.acked).map(|p| p.1).chain(again().map(|a| a.2));
        let y = Scale::covering(all, false, true, (bottom, top));
        let tick = Type::plain(style::TICK, INK);
        for (value, label) in y.ticks(4) {
            page.line(&[(left, y.pixel(value)), (right, y.pixel(value))], FAINT, 1, SOLID)?;
            page.text(&label, (left - 8.0, y.pixel(value)), tick, HPos::Right, VPos::Center)?;
        }
        for (value, label) in x.ticks(10) {
            page.line(&[(x.pixel(value), top), (x.pixel(value), bottom)], FAINT, 1, SOLID)?;
            page.text(&label, (x.pixel(value), bottom + 6.0), tick, HPos::Center, VPos::Top)?;
        }
        page.line(&[(left, top), (left, bottom), (right, bottom)], GREY, 1, SOLID)?;
        let upright = Type::plain(style::LABEL, INK).upright();
        page.text(
            "Sequence number / kB",
            (MARGIN, (top + bottom) / 2.0),
            upright,
            HPos::Center,
            VPos::Center,
        )?;
        let acked = steps(self.acked.iter().copied(), end, &x, &y);
        if acked.len() > 1 {
            page.line(&acked, COLOURS[2], 1, SOLID)?;
        }
        strokes(page, COLOURS[0], self.sent.iter().map(|&(t, seq)| (x.pixel(t), y.pixel(seq))))?;
        for (why, _, colour) in WHY {
            let of = again().filter(|(kind, ..)| *kind == why);
            strokes(page, colour, of.map(|(_, t, seq)| (x.pixel(t), y.pixel(seq))))?;
        }
        Ok(())
    }

    /// The lines, and those kinds of retransmission that there are.
    fn legend(&self, page: &Page<'_, '_>, y: f64) -> Drawn {
        let there = |kind: Kind| self.trace.again.first.iter().any(|a| a.kind == kind);
        let kinds = WHY.into_iter().filter(|(kind, ..)| there(*kind)).map(|(_, name, colour)| (name, colour));
        let mut x = MARGIN;
        for (name, colour) in [("sent", COLOURS[0]), ("acknowledged", COLOURS[2])].into_iter().chain(kinds) {
            page.line(&[(x, y), (x + 24.0, y)], colour, 3, SOLID)?;
            page.text(name, (x + 30.0, y), Type::plain(style::LABEL, INK), HPos::Left, VPos::Center)?;
            x += 54.0 + name.chars().count() as f64 * style::LABEL * style::CHARACTER;
        }
        Ok(())
    }
}

/// One stroke for all places that share a pixel column and touch.
fn strokes(page: &Page<'_, '_>, colour: RGBColor, places: impl Iterator<Item = (f64, f64)>) -> Drawn {
    let mut held: Option<(f64, f64, f64)> = None;
    let draw = |(x, low, high): (f64, f64, f64)| {
        page.line(&[(x, low + STROKE), (x, high - STROKE)], colour, 2, SOLID)
    };
    for (x, y) in places.map(|(x, y)| (x.round(), y)) {
        held = match held {
            // Pixels count downwards.
            Some((at, low, high)) if at == x && (high - 2.0 * STROKE..=low + 2.0 * STROKE).contains(&y) => {
                Some((at, low.max(y), high.min(y)))
            }
            before => {
                before.map_or(Ok(()), draw)?;
                Some((x, y, y))
            }
        };
    }
    held.map_or(Ok(()), draw)
}
