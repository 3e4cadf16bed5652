//! Optimistic acknowledging: what has not come is acknowledged as if it had.
//!
//! A simulator's receiver only, for testing a sender's defences. Each segment is answered twice: everything up to the
//! highest byte seen is acknowledged, so that holes never show, and then `ahead` segments (of the largest size seen)
//! beyond it. The sender, clocked by ACKs of data in flight, measures too short an RTT and never hears of a loss. What is
//! lost stays lost: the receiver gives up that every byte comes, and a stream that must be whole cannot be had this way.
//! ACKs of data that was never sent are worth nothing: a sender ignores them (RFC 9293, section 3.10.7.4), which is why
//! the first of the two is there. Source: Savage et al. 1999, section 3.3.

use super::{AckPolicy, AckSink, Honesty};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Seq};

/// Acknowledges ahead.
#[derive(Debug, Clone)]
pub struct Optimistic {
    ahead: u64,
    /// One after the highest byte seen.
    highest: Seq,
    /// Largest payload seen, bytes.
    segment: u64,
}

impl Member for Optimistic {
    const INFO: Info = Info {
        name: "optimistic",
        summary: "misbehaves, in the simulator only: acknowledges data that has not come, and conceals losses",
        formula: "ACK highest seen, then ACK highest seen + ahead segments, ahead = 2, on every segment",
        source: "Savage et al. 1999, section 3.3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let ahead = args.count("ahead", 2, 0..=1_000_000)?;
        Ok(Self { ahead, highest: Seq::ZERO, segment: 0 })
    }
}

impl AckPolicy for Optimistic {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        self.segment = self.segment.max(u64::from(segment.bytes));
        self.highest = self.highest.max(segment.end).max(segment.rcv_nxt);
        out.ack(self.highest);
        if self.ahead > 0 {
            out.ack(self.highest + self.ahead * self.segment);
        }
    }

    fn honesty(&self) -> Honesty {
        Honesty::FeignsArrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::AnyAckPolicy;
    use crate::{Spec, Time};

    #[test]
    fn it_acknowledges_the_highest_byte_seen_and_two_segments_beyond_whatever_is_missing() {
        let mut policy = AnyAckPolicy::build(&Spec::named("optimistic")).unwrap().0;
        let mut sink = AckSink::default();
        policy.on_segment(&Arrival::of_bytes(Time::ZERO, 1000), &mut sink);
        let beyond_a_hole = Arrival { end: Seq::at(5001), ..Arrival::of_bytes(Time::ns(1), 1000) };
        policy.on_segment(&Arrival { in_order: false, urgent: true, ..beyond_a_hole }, &mut sink);
        policy.on_segment(&Arrival { end: Seq::at(3001), ..beyond_a_hole }, &mut sink);
        let sent: Vec<_> = std::iter::from_fn(|| sink.pop()).map(|ack| ack.number()).collect();
        assert_eq!(sent, [1001, 3001, 5001, 7001, 5001, 7001]);
    }
}
