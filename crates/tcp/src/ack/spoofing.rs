//! Duplicate-ACK spoofing: the ACK of each segment in order is followed by duplicates that no segment has caused.
//!
//! A simulator's receiver only, for testing a sender's defences. Every duplicate tells the sender that a segment has left
//! the network; after the third it halves its window, sends again what is not lost, and from then on opens its window by
//! a segment per duplicate (RFC 5681, section 3.2, step 4), as long as they come. The defence named there is
//! `inflation` = "outstanding" of the recoveries [`Reno`](crate::recovery::Reno) and
//! [`NewReno`](crate::recovery::NewReno). Source: Savage et al. 1999, section 3.2.

use super::{AckPolicy, AckSink, Honesty};
use crate::Arrival;
use crate::spec::{Args, Info, Member, SpecError};

/// Feigns duplicate ACKs.
#[derive(Debug, Clone)]
pub struct SpoofedDuplicates {
    count: u64,
}

impl Member for SpoofedDuplicates {
    const INFO: Info = Info {
        name: "spoofed-duplicates",
        summary: "misbehaves, in the simulator only: duplicate ACKs that no segment has caused",
        formula: "ACK rcv_nxt on every segment, and for one in order count = 3 times more",
        source: "Savage et al. 1999, section 3.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { count: args.count("count", 3, 1..=1000)? })
    }
}

impl AckPolicy for SpoofedDuplicates {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        out.ack(segment.rcv_nxt);
        if segment.in_order {
            (0..self.count).for_each(|_| out.ack(segment.rcv_nxt));
        }
    }

    fn honesty(&self) -> Honesty {
        Honesty::FeignsLoss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::AnyAckPolicy;
    use crate::{Spec, Time};

    #[test]
    fn only_segments_in_order_are_followed_by_duplicates() {
        let mut policy = AnyAckPolicy::build(&Spec::named("spoofed-duplicates")).unwrap().0;
        let mut sink = AckSink::default();
        policy.on_segment(&Arrival::of_bytes(Time::ZERO, 1000), &mut sink);
        let out_of_order =
            Arrival { in_order: false, urgent: true, unacked: 0, ..Arrival::of_bytes(Time::ns(1), 1000) };
        policy.on_segment(&out_of_order, &mut sink);
        let sent: Vec<_> = std::iter::from_fn(|| sink.pop()).map(|ack| ack.number()).collect();
        assert_eq!(sent, [1001; 5]);
    }
}
