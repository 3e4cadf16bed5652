//! The receiver's side of the TCP ACK Rate Request option (TARR): the sender says how many segments an ACK is to cover.
//!
//! Delays ACKs as [`Delayed`] does, until a request comes: then an ACK for every R segments, R from 1 to 127, until the next
//! request. A request for an immediate ACK (R = 0 on the wire) is answered at once and leaves R as it is. What is urgent
//! is acknowledged at once whatever was requested, as is what leaves the advertised window no room for another segment,
//! and the timer still bounds every delay: no request puts an ACK off for longer than RFC 1122 allows. `most` bounds the R
//! that the receiver grants. Source: draft-ietf-tcpm-ack-rate-request
//! (Gomez and Crowcroft, work in progress, 2023–2025); the announcement in the SYN is not modelled.

use super::{AckPolicy, AckSink, Delayed, Learnt};
use crate::segment::IMMEDIATE_ACK;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Time};

/// Acknowledges as often as the sender asks it to.
#[derive(Debug, Clone)]
pub struct Requested {
    delayed: Delayed,
    /// The largest R granted.
    most: u64,
}

impl Member for Requested {
    const INFO: Info = Info {
        name: "requested",
        summary: "one ACK per so many segments as the sender asks for; delayed ACKs until it asks",
        formula: "ACK when R segments wait (R = count before any request), after timeout = 200 ms, or out of order",
        source: "draft-ietf-tcpm-ack-rate-request",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let delayed = Delayed::build(args)?;
        let most = args.count("most", 127, 1..=127)?;
        Ok(Self { delayed, most })
    }
}

impl AckPolicy for Requested {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        if (1..IMMEDIATE_ACK).contains(&segment.request) {
            self.delayed.set_count(u64::from(segment.request).min(self.most));
        }
        let urgent = segment.urgent || segment.request == IMMEDIATE_ACK || !segment.leaves_room();
        self.delayed.on_segment(&Arrival { urgent, ..*segment }, out);
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: u64, out: &mut AckSink) {
        self.delayed.on_timer(now, rcv_nxt, out);
    }

    fn deadline(&self) -> Option<Time> {
        self.delayed.deadline()
    }

    fn on_carried(&mut self, number: u64) {
        self.delayed.on_carried(number);
    }

    /// The sender does not ask again for what has been acknowledged: its last request goes on.
    fn take_over(&mut self, learnt: Learnt<'_>) {
        if let Learnt::Request(segments) = learnt {
            self.delayed.set_count(segments.min(self.most));
        }
    }

    fn learnt(&self) -> Learnt<'_> {
        Learnt::Request(self.delayed.count())
    }

    fn burst(&self) -> Option<u64> {
        Some(self.delayed.count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnyAckPolicy;
    use super::*;
    use crate::{Arg, Spec};

    /// How many ACKs leave for so many segments in order, the first of which carries a request.
    fn acks(policy: &mut AnyAckPolicy, request: u8, segments: u64) -> usize {
        let mut sink = AckSink::default();
        for k in 0..segments {
            let request = if k == 0 { request } else { 0 };
            policy.on_segment(&Arrival { request, ..Arrival::of_bytes(Time::ns(k), 1000) }, &mut sink);
        }
        std::iter::from_fn(|| sink.pop()).count()
    }

    fn build(spec: &Spec) -> AnyAckPolicy {
        AnyAckPolicy::build(spec).unwrap().0
    }

    #[test]
    fn the_last_request_holds_until_the_next() {
        let mut policy = build(&Spec::named("requested"));
        assert_eq!(acks(&mut policy, 0, 8), 4, "delayed ACKs before any request");
        assert_eq!(acks(&mut policy, 4, 8), 2);
        assert_eq!(acks(&mut policy, 0, 8), 2, "still one per four");
        assert_eq!(acks(&mut policy, 1, 8), 8);
        assert_eq!(policy.burst(), Some(1));
    }

    #[test]
    fn a_request_for_an_immediate_ack_leaves_the_rate_as_it_is() {
        let mut policy = build(&Spec::named("requested"));
        assert_eq!(acks(&mut policy, 4, 8), 2);
        assert_eq!(acks(&mut policy, IMMEDIATE_ACK, 1), 1);
        assert_eq!(acks(&mut policy, 0, 8), 2);
    }

    #[test]
    fn the_timer_and_what_is_urgent_go_before_any_request() {
        let mut policy = build(&Spec::named("requested"));
        assert_eq!(acks(&mut policy, 100, 2), 0);
        assert_eq!(policy.deadline(), Some(Time::ms(200)));
        let mut sink = AckSink::default();
        policy.on_segment(&Arrival { urgent: true, ..Arrival::of_bytes(Time::ns(9), 1000) }, &mut sink);
        assert_eq!((sink.pop(), policy.deadline()), (Some(1001), None));
    }

    #[test]
    fn the_receiver_grants_no_more_than_it_likes_also_when_it_takes_over() {
        let mut policy = build(&Spec::named("requested").with("most", Arg::Number(8.0)));
        assert_eq!(acks(&mut policy, 100, 16), 2);
        let mut other = build(&Spec::named("requested").with("most", Arg::Number(4.0)));
        other.take_over(policy.learnt());
        assert_eq!(acks(&mut other, 0, 16), 4);
    }
}
