//! Which ACKs a receiver sends, and when.
//!
//! A policy hears of every arriving data segment and of its own timer, and puts acknowledgement numbers into an
//! [`AckSink`] in the order in which they are to leave. It must acknowledge everything sooner or later: after
//! [`AckPolicy::on_timer`] nothing may be left unacknowledged.

mod accumulated;
mod accumulated_full;
#[cfg(test)]
mod bench;
mod contract;
mod delayed;
mod division;
mod every;
mod held;
mod linux;
mod optimistic;
mod requested;
mod spoofing;
mod taba;

pub use accumulated::Accumulated;
pub use accumulated_full::AccumulatedFull;
pub use contract::{AckPolicy, AckSink, Honesty, Learnt, Manner};
pub use delayed::Delayed;
pub use division::Division;
pub use every::Every;
pub use linux::Linux;
pub use optimistic::Optimistic;
pub use requested::Requested;
pub use spoofing::SpoofedDuplicates;
pub use taba::Taba;

use crate::detect::Phase;
use crate::spec::family;
use crate::wheel::Wheel;
use crate::{Arrival, Seq, Time};

family! {
    /// Any ACK policy.
    pub enum AnyAckPolicy: AckPolicy, "ACK policy" { Every, Delayed, Division in Box, Taba in Box, Accumulated in Box, AccumulatedFull in Box, Requested, SpoofedDuplicates, Optimistic, Linux in Box }
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink);
    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink);
    fn on_block(&mut self, rcv_nxt: Seq, out: &mut AckSink);
    fn deadline(&self) -> Option<Time>;
    fn has_timer(&self) -> bool;
    fn on_pure_ack(&mut self, now: Time, number: Seq, out: &mut AckSink);
    fn on_data(&mut self, now: Time);
    fn on_carried(&mut self, number: Seq);
    fn on_opened(&mut self, number: Seq);
    fn on_refused(&mut self, number: Seq);
    fn learnt(&self) -> Learnt<'_>;
    fn take_over(&mut self, learnt: Learnt<'_>);
    fn phase(&self) -> Option<Phase>;
    fn burst(&self) -> Option<u64>;
    fn manner(&self) -> Option<Manner>;
    fn set_timers(&mut self, wheel: Option<Wheel>);
    fn follows_reading(&self) -> bool;
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
