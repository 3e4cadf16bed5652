//! Single algorithms fed one arrival after the other, with nothing around them: what the drives of studies and other
//! programs have in common.

use truckee_tcp::ack::{AckPolicy, AckSink, AnyAckPolicy};
use truckee_tcp::estimate::{AnyEstimator, BandwidthEstimator};
use truckee_tcp::{Ack, Arrival, Departure, Seq, Span, Time, Window};

/// Arrivals for an estimator: each is told as a segment sent and as an ACK of it, so that estimators of either kind hear the
/// same.
#[derive(Debug, Clone)]
pub struct Delivered {
    /// The sender's window meanwhile.
    pub window: Window,
    seq: Seq,
}

impl Delivered {
    /// None yet, to a sender of this window.
    pub fn new(window: Window) -> Self {
        Self { window, seq: Seq::FIRST }
    }

    /// So many bytes arrive, and the ACK has taken so long.
    pub fn arrive(&mut self, member: &mut AnyEstimator, now: Time, bytes: u32, rtt: Span) {
        let mut sent = Departure::of_bytes(now, bytes);
        sent.seq = self.seq;
        member.on_sent(&sent);
        self.seq += u64::from(bytes);
        let mut ack = Ack::of_bytes(now, u64::from(bytes));
        (ack.ack, ack.highest) = (self.seq, self.seq);
        (ack.rtt, ack.sent) = (Some(rtt), Some(now.earlier(rtt)));
        member.on_ack(&ack, &self.window);
    }
}

/// A receiver of segments in order, of which nothing is known but what an ACK policy wants to know.
#[derive(Debug)]
pub struct Receiving {
    policy: AnyAckPolicy,
    end: Seq,
    acked: Seq,
    sink: AckSink,
}

impl Receiving {
    /// Nothing has come yet.
    pub fn new(policy: AnyAckPolicy) -> Self {
        Self { policy, end: Seq::FIRST, acked: Seq::FIRST, sink: AckSink::default() }
    }

    /// The timers up to `until` go off, the latest of which may be none's; `acked` is told when each ACK leaves, and how many
    /// bytes have come in order up to there.
    pub fn wait(&mut self, until: Time, acked: &mut dyn FnMut(Time, u64)) {
        while let Some(at) = self.policy.deadline().filter(|&at| at <= until) {
            self.policy.on_timer(at, self.end, &mut self.sink);
            if !self.empty(at, acked) && self.policy.deadline() == Some(at) {
                return; // it would wait for that time for ever
            }
        }
    }

    /// So many bytes come at `now`, behind the others.
    pub fn arrive(&mut self, now: Time, bytes: u32, rtt: Option<Span>, acked: &mut dyn FnMut(Time, u64)) {
        self.end += u64::from(bytes);
        let mut segment = Arrival::of_bytes(now, bytes);
        (segment.end, segment.rcv_nxt, segment.rtt) = (self.end, self.end, rtt);
        segment.unacked = self.end - self.acked;
        self.policy.on_segment(&segment, &mut self.sink);
        self.empty(now, acked);
    }

    /// Whether any ACK has left.
    fn empty(&mut self, now: Time, acked: &mut dyn FnMut(Time, u64)) -> bool {
        let mut any = false;
        while let Some(number) = self.sink.pop() {
            self.acked = self.acked.max(number);
            acked(now, number.saturating_sub(Seq::FIRST));
            any = true;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_tcp::Spec;

    #[test]
    fn a_delayed_ack_covers_two_segments_or_waits_for_its_timer() {
        let (policy, _) = AnyAckPolicy::build(&Spec::named("delayed")).unwrap();
        let mut receiving = Receiving::new(policy);
        let mut acks = Vec::new();
        for at in [0, 1, 2] {
            receiving.arrive(Time::ms(at), 1000, None, &mut |now, bytes| acks.push((now, bytes)));
        }
        assert_eq!(acks, [(Time::ms(1), 2000)]);
        receiving.wait(Time::s(1), &mut |now, bytes| acks.push((now, bytes)));
        assert_eq!(acks.len(), 2);
        assert_eq!(acks[1].1, 3000);
        assert!(acks[1].0 > Time::ms(2), "its timer");
    }
}
