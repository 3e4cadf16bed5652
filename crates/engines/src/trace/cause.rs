//! Why two traces part, as far as what is seen of them can say: what comes first of what they had lost, heard, and had for a
//! window. It is what differs before, not proved to be the reason: that takes a run without it.

use super::events::{Event, Passed, Trace, seconds};
use super::slack::JIFFY;
use serde::Serialize;
use std::fmt;
use truckee_tcp::Span;

/// What differs before the first difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cause {
    /// The path lost a segment on one side only: which transmission, from 1, and on which side.
    Path {
        /// Which of the segments sent.
        segment: usize,
        /// Who ran the side that lost it.
        engine: String,
        /// By what.
        dropped: String,
    },
    /// The receiver, or the way back, did otherwise: the first ACK heard that is not the same; none: there was no other one.
    Heard {
        /// Which of the ACKs heard, from 1.
        number: usize,
        /// What each heard.
        each: [Option<Event>; 2],
    },
    /// After the same ACKs windows differ by a segment or more.
    Window {
        /// Congestion windows when they part, bytes.
        cwnd: [f64; 2],
        /// Slow-start thresholds, bytes.
        ssthresh: [f64; 2],
    },
    /// After the same ACKs one side waited longer than the other with what it sent: a timer, or the application.
    Wait {
        /// Since the last ACK heard; none: it sent nothing more.
        #[serde(rename = "waited_s", serialize_with = "both")]
        waited: [Option<Span>; 2],
    },
    /// What let them go came at another time: the last ACK heard.
    Late {
        /// When it came.
        #[serde(rename = "at_s", serialize_with = "both")]
        at: [Option<Span>; 2],
    },
    /// Nothing of what is seen differs before.
    Unknown,
}

/// As it is, and in words (`says`).
pub(super) fn with_words<S: serde::Serializer>(cause: &Cause, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Said<'a> {
        #[serde(flatten)]
        cause: &'a Cause,
        says: String,
    }
    Said { cause, says: cause.to_string() }.serialize(to)
}

fn both<S: serde::Serializer>(spans: &[Option<Span>; 2], to: S) -> Result<S::Ok, S::Error> {
    struct Seconds(Span);
    impl Serialize for Seconds {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            seconds(&self.0, to)
        }
    }
    spans.map(|span| span.map(Seconds)).serialize(to)
}

/// The cause where two traces part at these places, none where a side sends nothing more; `other`: whether another segment is
/// sent, or else the same at another time.
pub fn of(traces: [&Trace; 2], other: bool, places: [Option<usize>; 2]) -> Cause {
    let until = [0, 1].map(|side| places[side].unwrap_or(traces[side].events.len()));
    lost(traces, until)
        .or_else(|| heard(traces, places, until))
        .or_else(|| window(traces, other, until))
        .or_else(|| times(traces, places, until))
        .unwrap_or(Cause::Unknown)
}

/// A segment before that was lost on one side only.
fn lost(traces: [&Trace; 2], until: [usize; 2]) -> Option<Cause> {
    let fates = [0, 1].map(|side| {
        let before = traces[side].sent().take_while(move |(place, _)| *place < until[side]);
        before.map(|(_, event)| match &event.what {
            Passed::Sent { dropped, .. } => dropped.as_ref(),
            Passed::Heard { .. } => None,
        })
    });
    let [one, two] = fates;
    one.zip(two).enumerate().find_map(|(k, fates)| {
        let (side, dropped) = match fates {
            (Some(dropped), None) => (0, dropped),
            (None, Some(dropped)) => (1, dropped),
            _ => return None,
        };
        Some(Cause::Path { segment: k + 1, engine: traces[side].engine.clone(), dropped: dropped.clone() })
    })
}

/// The first ACK heard that was not the same. One that only one side has heard counts where the other side's trace goes on to
/// where it could have.
fn heard(traces: [&Trace; 2], places: [Option<usize>; 2], until: [usize; 2]) -> Option<Cause> {
    let acks =
        [0, 1].map(|side| traces[side].heard_before(until[side]).map(|(_, event)| event).collect::<Vec<_>>());
    let number = (0..acks[0].len().max(acks[1].len())).find(|&k| match (acks[0].get(k), acks[1].get(k)) {
        (Some(a), Some(b)) => (a.connection, &a.what) != (b.connection, &b.what),
        _ => true,
    })?;
    let each = [0, 1].map(|side| {
        // What the shorter side heard after the place where they part.
        let late =
            || traces[side].events[until[side]..].iter().find(|e| matches!(e.what, Passed::Heard { .. }));
        acks[side].get(number).copied().or_else(late).cloned()
    });
    // Both heard the same, one of them after it had sent already: that is no ACK's doing.
    let same = |a: &Event, b: &Event| a.connection == b.connection && a.what == b.what;
    let only_later = each[0].as_ref().zip(each[1].as_ref()).is_some_and(|(a, b)| same(a, b));
    (!only_later || places.contains(&None)).then_some(Cause::Heard { number: number + 1, each })
}

/// Windows that differ by a segment or more when they part.
fn window(traces: [&Trace; 2], other: bool, until: [usize; 2]) -> Option<Cause> {
    if !other {
        return None;
    }
    let windows = [0, 1].map(|side| {
        let event = traces[side].events.get(until[side]).or(traces[side].events.last())?;
        traces[side].window_at(event.at)
    });
    let [Some(a), Some(b)] = windows else { return None };
    let segment = f64::from(traces[0].mss.max(traces[1].mss).max(1));
    ((a.cwnd - b.cwnd).abs() >= segment)
        .then_some(Cause::Window { cwnd: [a.cwnd, b.cwnd], ssthresh: [a.ssthresh, b.ssthresh] })
}

/// One side waited longer than the other, or what let them go came later.
fn times(traces: [&Trace; 2], places: [Option<usize>; 2], until: [usize; 2]) -> Option<Cause> {
    let last =
        [0, 1].map(|side| traces[side].heard_before(until[side]).next_back().map(|(_, event)| event.at));
    let waited = [0, 1].map(|side| {
        let left = traces[side].events[places[side]?].at;
        Some(left.saturating_sub(last[side].unwrap_or(Span::ZERO)))
    });
    let apart = |[a, b]: [Option<Span>; 2]| match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) > JIFFY,
        (None, None) => false,
        _ => true,
    };
    if apart(waited) {
        return Some(Cause::Wait { waited });
    }
    apart(last).then_some(Cause::Late { at: last })
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |span: &Option<Span>| match span {
            Some(span) => format!("{:.1} ms", 1e3 * span.seconds()),
            None => "never".to_owned(),
        };
        let said =
            |event: &Option<Event>| event.as_ref().map_or_else(|| "nothing".to_owned(), Event::to_string);
        match self {
            Self::Path { segment, engine, dropped } => {
                write!(f, "the path of {engine} alone lost segment number {segment} sent, {dropped}")
            }
            Self::Heard { number, each: [a, b] } => {
                write!(f, "the first ACK heard that differs is number {number}: {}; {}", said(a), said(b))
            }
            Self::Window { cwnd, ssthresh } => write!(
                f,
                "after the same ACKs the windows differ: {:.0} and {:.0} bytes (ssthresh {:.0} and {:.0})",
                cwnd[0], cwnd[1], ssthresh[0], ssthresh[1]
            ),
            Self::Wait { waited: [a, b] } => {
                write!(
                    f,
                    "after the same ACKs a timer or the application: sent {} and {} after the last",
                    ms(a),
                    ms(b)
                )
            }
            Self::Late { at: [a, b] } => write!(f, "the ACK that let it go came at {} and {}", ms(a), ms(b)),
            Self::Unknown => write!(f, "unknown: the same was lost and heard, with the same window"),
        }
    }
}
