//! Which ACKs a receiver sends, and when.
//!
//! A policy hears of every arriving data segment and of its own timer, and puts acknowledgement numbers into an
//! [`AckSink`] in the order in which they are to leave. It must acknowledge everything sooner or later: after
//! [`AckPolicy::on_timer`] nothing may be left unacknowledged.

mod accumulated;
mod accumulated_full;
#[cfg(test)]
mod bench;
mod delayed;
mod division;
mod every;
mod held;
mod optimistic;
mod requested;
mod spoofing;
mod taba;

pub use accumulated::Accumulated;
pub use accumulated_full::AccumulatedFull;
pub use delayed::Delayed;
pub use division::Division;
pub use every::Every;
pub use optimistic::Optimistic;
pub use requested::Requested;
pub use spoofing::SpoofedDuplicates;
pub use taba::Taba;

use crate::detect::Phase;
use crate::spec::family;
use crate::{Arrival, Seq, Span, Time};

/// Where a policy puts its ACKs. Mostly there is one at a time, which needs no queue.
#[derive(Debug, Clone, Default)]
pub struct AckSink {
    first: Option<Seq>,
    more: std::collections::VecDeque<Seq>,
}

impl AckSink {
    /// An ACK with this number leaves after those before it.
    #[inline]
    pub fn ack(&mut self, number: Seq) {
        if self.first.is_none() {
            self.first = Some(number);
        } else {
            self.more.push_back(number);
        }
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Takes the ACK out that leaves first.
    #[inline]
    pub fn pop(&mut self) -> Option<Seq> {
        let first = self.first.take()?;
        if !self.more.is_empty() {
            self.first = self.more.pop_front();
        }
        Some(first)
    }
}

/// Whether what a policy's ACKs say is true. Those that lie are for testing a sender's defences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Honesty {
    /// Data that is acknowledged has come, and a duplicate ACK answers a segment out of order.
    Honest,
    /// Data that is acknowledged has come, but duplicate ACKs may answer nothing.
    FeignsLoss,
    /// What is acknowledged may never come: the receiver has given up that every byte does.
    FeignsArrival,
}

/// What a policy does at present, in numbers: for whoever carries it out where it cannot be asked at every segment, such
/// as on the way out of a kernel. It follows the policy exactly if it is asked for anew after each segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Segments that an ACK covers, at least 1.
    pub covers: u64,
    /// How long an ACK waits at most that would cover fewer; 0 where none waits.
    pub wait: Span,
    /// Parts into which an ACK that is due is cut, at least 1.
    pub parts: u64,
    /// How many of the ACKs that are due may be cut, counted from the connection's first; none: no limit.
    pub first: Option<u64>,
    /// Whether the ACK of a segment that fills a hole is cut too.
    pub cuts_holes: bool,
    /// Whether a window without room for another segment lets the ACK go.
    pub minds_window: bool,
}

impl Manner {
    /// An ACK per segment, whole: where every segment is acknowledged already, nothing is done.
    pub const EVERY: Self =
        Self { covers: 1, wait: Span::ZERO, parts: 1, first: None, cuts_holes: false, minds_window: false };
}

/// The contract of an ACK policy.
pub trait AckPolicy: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// A data segment has come.
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink);
    /// The time asked for by [`AckPolicy::deadline`] has come; `rcv_nxt` is the next sequence number expected.
    fn on_timer(&mut self, _now: Time, _rcv_nxt: Seq, _out: &mut AckSink) {}
    /// When to call [`AckPolicy::on_timer`].
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// Whether [`AckPolicy::deadline`] ever asks for anything.
    fn has_timer(&self) -> bool {
        true
    }
    /// Everything below `number` has been acknowledged by a segment of data: what waits for an ACK has got it.
    fn on_carried(&mut self, _number: Seq) {}
    /// It takes the place of `before` while the connection runs; what waited for an ACK has got it. What `before` has
    /// learnt may be kept.
    fn take_over(&mut self, _before: &AnyAckPolicy) {}
    /// The phase that it takes the sender to be in, if it goes by one.
    fn phase(&self) -> Option<Phase> {
        None
    }
    /// How many segments an ACK of it covers at most at present, if it learns that.
    fn burst(&self) -> Option<u64> {
        None
    }
    /// What it does at present, if numbers can say it; what is urgent is acknowledged at once in any case.
    fn manner(&self) -> Option<Manner> {
        None
    }
    /// Whether its ACKs are true.
    fn honesty(&self) -> Honesty {
        Honesty::Honest
    }
}

family! {
    /// Any ACK policy.
    pub enum AnyAckPolicy: AckPolicy, "ACK policy" { Every, Delayed, Division in Box, Taba in Box, Accumulated in Box, AccumulatedFull in Box, Requested, SpoofedDuplicates, Optimistic }
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink);
    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink);
    fn deadline(&self) -> Option<Time>;
    fn has_timer(&self) -> bool;
    fn on_carried(&mut self, number: Seq);
    fn take_over(&mut self, before: &AnyAckPolicy);
    fn phase(&self) -> Option<Phase>;
    fn burst(&self) -> Option<u64>;
    fn manner(&self) -> Option<Manner>;
    fn honesty(&self) -> Honesty;
}

impl AnyAckPolicy {
    /// Whether what it does changes with what comes, and not only with how much.
    pub fn adapts(&self) -> bool {
        self.phase().is_some() || self.burst().is_some()
    }
}

#[cfg(test)]
mod manner_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn every_member_acknowledges_everything_sooner_or_later() {
        for member in AnyAckPolicy::MEMBERS {
            for segments in 1..=5u64 {
                let (mut policy, _) = AnyAckPolicy::build(&Spec::named(member.name)).unwrap();
                if policy.honesty() == Honesty::FeignsArrival {
                    continue; // acknowledges more than everything
                }
                let mut sink = AckSink::default();
                let (mut last, mut nxt) = (Seq::FIRST, Seq::FIRST);
                for k in 0..segments {
                    nxt += 1000;
                    let arrival = Arrival {
                        now: Time::ns(k),
                        bytes: 1000,
                        rcv_nxt: nxt,
                        unacked: nxt - last,
                        end: nxt,
                        ..Arrival::of_bytes(Time::ns(k), 1000)
                    };
                    policy.on_segment(&arrival, &mut sink);
                    while let Some(ack) = sink.pop() {
                        assert!(ack >= last && ack <= nxt, "{}", member.name);
                        last = ack;
                    }
                }
                if let Some(deadline) = policy.deadline() {
                    policy.on_timer(deadline, nxt, &mut sink);
                }
                let last = std::iter::from_fn(|| sink.pop()).last().unwrap_or(last);
                assert_eq!(last, nxt, "{} after {segments} segments", member.name);
                assert_eq!(policy.deadline(), None, "{}", member.name);
            }
        }
    }
}
