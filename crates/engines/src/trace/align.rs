//! Two traces of one flow against each other: how far the same was sent, how far in time, and where they part.
//!
//! What is held against each other are the segments of data in the order in which they left, by their numbers; times count from
//! the flow's first packet. They may differ by a jiffy of a kernel's clock, by what the live path was late at the most, and by
//! what each round trip over it took longer, as the handshake's shows: that adds up from round to round.
//!
//! Not for: why they part, as far as that can be said ([`super::cause`]).

use super::cause::{self, Cause};
use super::events::{Event, Passed, Trace, seconds};
use super::slack::Slack;
use serde::Serialize;
use truckee_tcp::Span;

/// Events that are shown before the place where two traces part, and after it.
const BEFORE: usize = 8;
const AFTER: usize = 4;

/// What is to be said of two traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The flow.
    pub flow: String,
    /// Who ran it: what is held against, and what is held against it.
    pub engines: [String; 2],
    /// Segments of data that each sent.
    pub sent: [usize; 2],
    /// Segments that both sent in the same order, from the first one on.
    pub prefix: usize,
    /// Whether that is all of them, on both sides.
    pub same: bool,
    /// Whether in this prefix each left at the same time on both sides, within what is allowed.
    pub in_time: bool,
    /// The largest difference of times in the prefix.
    #[serde(rename = "furthest_s", serialize_with = "seconds")]
    pub furthest: Span,
    /// What is allowed at its end.
    #[serde(rename = "allowed_s", serialize_with = "seconds")]
    pub allowed: Span,
    /// Where they part: in what is sent or else in time.
    pub first: Option<Difference>,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Which of the segments sent it is, from 1.
    pub segment: usize,
    /// Whether another segment is sent; else the same at another time.
    pub other: bool,
    /// What each sent; none: nothing any more.
    pub each: [Option<Event>; 2],
    /// Why, as far as can be said.
    #[serde(serialize_with = "cause::with_words")]
    pub cause: Cause,
    /// What passed around it.
    pub around: Vec<Row>,
}

/// What passed on both sides, beside each other where it was the same; the one where they part is marked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// One for each side.
    pub each: [Option<Event>; 2],
    /// Whether they part here.
    pub parts: bool,
}

impl Comparison {
    /// Of two traces of one flow; the first is what the second is held against.
    pub fn new(one: &Trace, other: &Trace) -> Self {
        let traces = [one, other];
        let sent = traces.map(|trace| trace.sent().collect::<Vec<_>>());
        let pairs = || sent[0].iter().zip(&sent[1]);
        let prefix = pairs().take_while(|((_, a), (_, b))| is_same(a, b)).count();
        let apart = |((_, a), (_, b)): &(&(usize, &Event), &(usize, &Event))| a.at.abs_diff(b.at);
        let slack = Slack::of(traces);
        let late = pairs().take(prefix).position(|pair| apart(&pair) > slack.at(pair.0.1.at));
        let same = prefix == sent[0].len() && prefix == sent[1].len();
        let (segment, is_other) = match late {
            Some(late) => (Some(late), false),
            None => ((!same).then_some(prefix), true),
        };
        let ends = pairs().take(prefix).next_back().map_or(Span::ZERO, |((_, a), _)| a.at);
        Self {
            flow: one.flow.clone(),
            engines: traces.map(|trace| trace.engine.clone()),
            sent: [sent[0].len(), sent[1].len()],
            prefix,
            same,
            in_time: late.is_none(),
            furthest: pairs().take(prefix).map(|pair| apart(&pair)).max().unwrap_or(Span::ZERO),
            allowed: slack.at(ends),
            first: segment.map(|segment| {
                let places = [0, 1].map(|side| sent[side].get(segment).map(|(place, _)| *place));
                difference(traces, (segment, is_other), places)
            }),
        }
    }

    /// Whether both did the same at the same times.
    pub fn agrees(&self) -> bool {
        self.same && self.in_time
    }
}

/// Whether both are the same segment.
fn is_same(a: &Event, b: &Event) -> bool {
    key(a) == key(b)
}

/// What tells events of a trace apart, times left out.
#[derive(PartialEq)]
enum Key<'a> {
    Sent(u32, (u64, u64)),
    Heard(u32, u64, &'a [(u64, u64)]),
}

fn key(event: &Event) -> Key<'_> {
    match &event.what {
        Passed::Sent { segment, .. } => Key::Sent(event.connection, *segment),
        Passed::Heard { ack, sack } => Key::Heard(event.connection, *ack, sack),
    }
}

fn difference(
    traces: [&Trace; 2],
    (segment, other): (usize, bool),
    places: [Option<usize>; 2],
) -> Difference {
    let event = |side: usize| places[side].map(|place| traces[side].events[place].clone());
    Difference {
        segment: segment + 1,
        other,
        each: [event(0), event(1)],
        cause: cause::of(traces, other, places),
        around: around(traces, places),
    }
}

/// What passed around those places, what is the same on both sides in one row.
fn around(traces: [&Trace; 2], places: [Option<usize>; 2]) -> Vec<Row> {
    let [left, right] = [0, 1].map(|side| {
        let events = &traces[side].events;
        let place = places[side].unwrap_or(events.len());
        let from = place.saturating_sub(BEFORE);
        let to = (place + AFTER).min(events.len());
        (from..to).map(|at| (&events[at], Some(at) == places[side])).collect::<Vec<_>>()
    });
    // The longest common subsequence, of a few events.
    let mut common = vec![vec![0_u32; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = match is_same(left[i].0, right[j].0) {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut rows) = (0, 0, Vec::new());
    while i < left.len() || j < right.len() {
        let both = left.get(i).zip(right.get(j)).is_some_and(|(a, b)| is_same(a.0, b.0));
        let (take_left, take_right) = match (i < left.len(), j < right.len()) {
            _ if both => (true, true),
            (true, true) if common[i + 1][j] >= common[i][j + 1] => (true, false),
            (has_left, has_right) => (has_left && !has_right, has_right),
        };
        let a = left.get(i).filter(|_| take_left);
        let b = right.get(j).filter(|_| take_right);
        rows.push(Row {
            each: [a, b].map(|side| side.map(|(event, _)| (*event).clone())),
            parts: a.is_some_and(|(_, parts)| *parts) || b.is_some_and(|(_, parts)| *parts),
        });
        i += usize::from(take_left);
        j += usize::from(take_right);
    }
    rows
}
