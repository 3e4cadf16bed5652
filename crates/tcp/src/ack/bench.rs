//! For the tests of the policies that hold ACKs back.

use super::{AckPolicy, AckSink, Arrival};
use crate::{Seq, Span, Time};

/// A receiver that keeps the books of what the policy gets and gives.
pub(super) struct Bench<P> {
    pub policy: P,
    pub now: Time,
    pub rcv_nxt: Seq,
    acked: Seq,
    pub window: u32,
    /// What each segment brings as its round-trip time.
    pub rtt: Option<Span>,
}

impl<P: AckPolicy> Bench<P> {
    pub fn new(policy: P) -> Self {
        Self { policy, now: Time::ZERO, rcv_nxt: Seq::FIRST, acked: Seq::FIRST, window: u32::MAX, rtt: None }
    }

    /// A segment of 1000 bytes comes so many nanoseconds later; the segments that the ACK covers which leaves, if one does.
    pub fn receive(&mut self, later: u64, urgent: bool) -> Option<u64> {
        self.now += Span::ns(later);
        self.rcv_nxt += 1000;
        let segment = Arrival {
            rcv_nxt: self.rcv_nxt,
            unacked: self.rcv_nxt - self.acked,
            urgent,
            window: self.window,
            rtt: self.rtt,
            ..Arrival::of_bytes(self.now, 1000)
        };
        let mut sink = AckSink::default();
        self.policy.on_segment(&segment, &mut sink);
        let covered = sink.pop().map(|ack| (ack - self.acked) / 1000);
        self.acked += covered.unwrap_or(0) * 1000;
        covered
    }
}
