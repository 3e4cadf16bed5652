//! Delayed ACKs: one per `count` segments, or after `timeout`; at once when out of order, filling a hole or FIN.
//!
//! Source: RFC 1122, section 4.2.3.2 (at most 500 ms, at least every second segment); RFC 5681, section 4.2. Defaults:
//! 2 segments, 200 ms.

use super::held::Held;
use super::{AckPolicy, AckSink, Manner};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Seq, Span, Time};

/// Waits for a second segment.
#[derive(Debug, Clone)]
pub struct Delayed {
    count: u64,
    timeout: Span,
    held: Held,
}

impl Member for Delayed {
    const INFO: Info = Info {
        name: "delayed",
        summary: "one ACK per two segments, or after 200 ms; at once when out of order",
        formula: "ACK when count = 2 segments wait, timeout = 200 ms after the first, or out of order",
        source: "RFC 1122, section 4.2.3.2; RFC 5681, section 4.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let count = args.count("count", 2, 1..=1000)?;
        let timeout = args.time("timeout", Span::ms(200), Span::ms(1)..=Span::ms(500))?;
        Ok(Self { count, timeout, held: Held::default() })
    }
}

impl Delayed {
    /// How many segments an ACK covers.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// From now on an ACK covers so many segments.
    pub(super) fn set_count(&mut self, count: u64) {
        self.count = count;
    }
}

impl AckPolicy for Delayed {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        self.held.another(segment, self.count, segment.urgent, || self.timeout, out);
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        self.held.on_timer(now, rcv_nxt, out);
    }

    fn deadline(&self) -> Option<Time> {
        self.held.deadline()
    }

    fn on_carried(&mut self, _: Seq) {
        self.held.settle();
    }

    fn manner(&self) -> Option<Manner> {
        Some(Manner { covers: self.count, wait: self.timeout, ..Manner::EVERY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(now: u64, rcv_nxt: u64, urgent: bool) -> Arrival {
        Arrival {
            rcv_nxt: Seq::at(rcv_nxt),
            in_order: !urgent,
            urgent,
            ..Arrival::of_bytes(Time::ns(now), 1000)
        }
    }

    #[test]
    fn the_second_segment_or_the_timer_releases_the_ack() {
        let mut policy = Delayed { count: 2, timeout: Span::ns(200), held: Held::default() };
        let mut sink = AckSink::default();
        policy.on_segment(&arrival(10, 1001, false), &mut sink);
        assert_eq!((sink.pop(), policy.deadline()), (None, Some(Time::ns(210))));
        policy.on_segment(&arrival(20, 2001, false), &mut sink);
        assert_eq!((sink.pop(), policy.deadline()), (Some(Seq::at(2001)), None));
        policy.on_segment(&arrival(30, 3001, false), &mut sink);
        policy.on_timer(Time::ns(229), Seq::at(3001), &mut sink);
        assert_eq!(sink.pop(), None, "too early");
        policy.on_timer(Time::ns(230), Seq::at(3001), &mut sink);
        assert_eq!(sink.pop(), Some(Seq::at(3001)));
    }

    #[test]
    fn out_of_order_segments_are_acknowledged_at_once() {
        let mut policy = Delayed { count: 2, timeout: Span::ns(200), held: Held::default() };
        let mut sink = AckSink::default();
        policy.on_segment(&arrival(10, 1001, true), &mut sink);
        assert_eq!((sink.pop(), policy.deadline()), (Some(Seq::at(1001)), None));
    }
}
