//! What one direction of a connection did over time, in bounded memory: segments, what was sent again and why, ACKs, what
//! was in the air, round trips, windows. What a time-sequence graph is drawn of.
//!
//! Times are seconds after the connection's first packet; sequence numbers count from the first byte, which is 1. Curves
//! are thinned when they are full, events beyond [`MOST_EVENTS`] of a kind are only counted.

use crate::connection::{Connection, Step, Way};
use crate::flow::retransmissions::Kind;
use crate::flow::{Ack, Acked, Data, Flow, Sent};
use crate::replay::Line;
use crate::table::Watch;
use crate::wire::Packet;
use truckee_tcp::detect::{InterArrival, SlowStartDetector};
use truckee_tcp::{Arrival, Cause, Seq, Span, Time};

/// Events of a kind that are kept one by one.
pub const MOST_EVENTS: usize = 1 << 12;

/// A segment that was sent again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Again {
    /// When it passed, s.
    pub t: f64,
    /// Its first byte.
    pub seq: u64,
    /// What made the sender send it.
    pub kind: Kind,
    /// Whether all of it had been acknowledged.
    pub needless: bool,
}

/// A packet that the capture's writer notes as dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropped {
    /// When it passed here, s.
    pub t: f64,
    /// Its first byte.
    pub seq: u64,
    /// By a queue (congestion) or by noise (wireless).
    pub cause: Cause,
}

/// Events of which the first are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Events<T> {
    /// The first [`MOST_EVENTS`].
    pub first: Vec<T>,
    /// All.
    pub count: u64,
}

impl<T> Default for Events<T> {
    fn default() -> Self {
        Self { first: Vec::new(), count: 0 }
    }
}

impl<T> Events<T> {
    fn add(&mut self, event: T) {
        self.count += 1;
        if self.first.len() < MOST_EVENTS {
            self.first.push(event);
        }
    }
}

/// What TCP Taba's detector looks at, over time, s.
#[derive(Debug, Clone)]
pub struct Gaps {
    detector: InterArrival,
    /// Each gap.
    pub gap: Line,
    /// MinFloat.
    pub min: Line,
    /// MaxFloat.
    pub max: Line,
    /// The smoothed round-trip time.
    pub rtt: Line,
}

impl Gaps {
    fn new(points: usize) -> Self {
        let line = || Line::of(points);
        Self { detector: InterArrival::default(), gap: line(), min: line(), max: line(), rtt: line() }
    }

    fn on_data(&mut self, t: f64, flow: &Flow, data: &Data) {
        let first = self.detector.floats().is_none();
        let rtt = flow.rtt.at_receiver(data.stamps.is_some(), first);
        let mut arrival = Arrival::of_bytes(data.now, data.len);
        arrival.rtt = rtt;
        self.detector.on_segment(&arrival);
        let Some(floats) = self.detector.floats() else { return };
        self.gap.add(t, floats.gap.seconds());
        self.min.add(t, floats.min.seconds());
        self.max.add(t, floats.max.seconds());
        if let Some(rtt) = floats.rtt {
            self.rtt.add(t, rtt.seconds());
        }
    }
}

/// One direction over time; every curve is of times, s, and values.
#[derive(Debug, Clone)]
pub struct Trace {
    way: Way,
    /// First bytes of segments sent for the first time.
    pub sent: Line,
    /// Segments sent again.
    pub again: Events<Again>,
    /// Segments that others have overtaken: times and first bytes.
    pub overtaken: Events<(f64, u64)>,
    /// Packets noted as dropped.
    pub dropped: Events<Dropped>,
    /// Numbers acknowledged.
    pub acked: Line,
    /// Duplicate ACKs: times, and numbers they repeat.
    pub duplicates: Line,
    /// The highest byte that SACK reports above the number acknowledged.
    pub sacked: Line,
    /// The end of the window that the receiver offers, as a sequence number.
    pub edge: Line,
    /// Bytes in the air, beyond those that SACK reports.
    pub flight: Line,
    /// The window that the receiver offers, bytes.
    pub window: Line,
    /// Gaps between segments that have not been dropped, s, as a receiver's detector looks at them: each one, the smallest
    /// and the largest of its block of 20, and the receiver's smoothed round-trip time.
    pub gaps: Gaps,
    /// Whole round trips, s: by sequence numbers, from here to the receiver and back, and the sender's side.
    pub rtt: Line,
}

impl Trace {
    /// Of the data that goes `way`, with so many points a curve at most.
    pub fn new(way: Way, points: usize) -> Self {
        let line = || Line::of(points);
        Self {
            way,
            sent: line(),
            again: Events::default(),
            overtaken: Events::default(),
            dropped: Events::default(),
            acked: line(),
            duplicates: line(),
            sacked: line(),
            edge: line(),
            flight: line(),
            window: line(),
            gaps: Gaps::new(points),
            rtt: line(),
        }
    }

    /// Whether no data has passed.
    pub fn is_empty(&self) -> bool {
        self.sent.last().is_none() && self.again.count == 0
    }

    /// Whether points were left out of any curve, or events.
    pub fn is_thinned(&self) -> bool {
        let lines = [&self.sent, &self.acked, &self.duplicates, &self.sacked, &self.edge, &self.flight];
        let lines = lines.into_iter().chain([&self.window, &self.rtt]);
        let events = [self.again.count, self.overtaken.count, self.dropped.count];
        lines.into_iter().any(Line::is_thinned) || events.iter().any(|&n| n > MOST_EVENTS as u64)
    }

    fn on_data(&mut self, t: f64, flow: &Flow, data: &Data, sent: &Sent, kind: Option<Kind>) {
        let seq = data.seq.saturating_sub(flow.book.origin());
        if sent.copy {
            return;
        }
        if let Some(cause) = data.dropped {
            self.dropped.add(Dropped { t, seq, cause });
        }
        match kind {
            Some(kind) => self.again.add(Again { t, seq, kind, needless: sent.needless }),
            None if sent.late => self.overtaken.add((t, seq)),
            None => self.sent.add(t, seq as f64),
        }
        self.flight.add(t, flow.book.flight() as f64);
        if data.dropped.is_none() && !sent.earlier {
            self.gaps.on_data(t, flow, data);
        }
    }

    fn on_ack(&mut self, t: f64, flow: &Flow, ack: &Ack, acked: &Acked) {
        if acked.old {
            return;
        }
        let origin = flow.book.origin();
        let number = |seq: Seq| seq.saturating_sub(origin) as f64;
        self.acked.add(t, number(ack.ack));
        self.edge.add(t, number(ack.ack) + ack.window as f64);
        self.window.add(t, ack.window as f64);
        self.flight.add(t, flow.book.flight() as f64);
        if acked.repeats {
            self.duplicates.add(t, number(ack.ack));
        }
        if let Some(highest) = ack.sack.as_slice().iter().map(|&(_, to)| to).max() {
            self.sacked.add(t, number(highest));
        }
        if let Some(sample) = flow.rtt.last() {
            let side = flow.rtt.sender_side_now().unwrap_or(Span::ZERO);
            self.rtt.add(t, (sample + side).seconds());
        }
    }
}

impl Watch for Trace {
    fn wants(&mut self, _: &Connection) -> bool {
        true
    }

    fn on_step(&mut self, connection: &Connection, _packet: &Packet, step: &Step) {
        let flow = connection.flow(self.way);
        let since = |now: Time| now.saturating_sub(connection.began).seconds();
        let ours = step.way == Some(self.way);
        if let Some((ack, acked)) = step.ack.as_ref().filter(|_| !ours) {
            self.on_ack(since(ack.now), flow, ack, acked);
        }
        if let Some((data, sent)) = step.data.as_ref().filter(|(data, _)| ours && data.len > 0) {
            self.on_data(since(data.now), flow, data, sent, step.again.map(|again| again.kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::Script;

    /// What a sender of segments of 1000 bytes does that loses the second of eight and sends it again on duplicates.
    fn repaired(points: usize) -> Trace {
        let (mut s, mut trace) = (Script::new(), Trace::new(Way::ToServer, points));
        let mut send = |s: &mut Script, at: u64, seq: u64| {
            let data = s.made(at, seq, 1000, 0);
            let (sent, again) = s.flow.on_data(&data, 1000);
            trace.on_data(data.now.seconds(), &s.flow, &data, &sent, again.map(|again| again.kind));
        };
        (0..8).for_each(|k| send(&mut s, k, 1 + 1000 * k));
        s.ack(100, 1001);
        for at in 102..108 {
            s.ack(at, 1001);
        }
        send(&mut s, 108, 1001);
        trace
    }

    #[test]
    fn what_was_sent_again_is_apart_from_what_was_sent_and_says_why() {
        let trace = repaired(100);
        assert_eq!(trace.gaps.gap.points().len(), 8, "the retransmission counts, too");
        assert_eq!(trace.sent.points().len(), 8);
        let again = Again { t: 0.108, seq: 1001, kind: Kind::Fast, needless: false };
        assert_eq!((trace.again.first.as_slice(), trace.again.count), (&[again][..], 1));
        assert!(!trace.is_thinned() && !trace.is_empty());
        assert!(repaired(4).is_thinned(), "eight segments, and room for four");
    }

    #[test]
    fn events_beyond_what_is_kept_are_counted() {
        let mut events = Events::default();
        (0..MOST_EVENTS + 3).for_each(|k| events.add(k));
        assert_eq!((events.first.len(), events.count), (MOST_EVENTS, MOST_EVENTS as u64 + 3));
    }
}
