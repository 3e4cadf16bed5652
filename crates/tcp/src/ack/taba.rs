//! TCP Taba: ACK division by two while the sender is in slow start, as the receiver sees it.
//!
//! A [`Division`] whose detector is on. The ACK of the first data segment is whole, since a detector says slow start
//! from the second segment on; table 3.1 of the source has it so. Source: Cheskis 2006, sections 2.2 to 2.4.

use super::{AckPolicy, AckSink, Division, Learnt, Manner};
use crate::detect::Phase;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Time};

/// Divides ACKs in slow start.
#[derive(Debug, Clone)]
pub struct Taba(Division);

impl Member for Taba {
    const INFO: Info = Info {
        name: "taba",
        summary: "cuts each ACK into two while arrivals look like slow start",
        formula: "ACK una + k·(rcv_nxt − una)/n for k = 1…n, n = 2, while the detector says slow start",
        source: "Cheskis 2006 (TCP Taba), sections 2.2 to 2.4",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self(Division::in_slow_start(args, 2)?))
    }
}

impl AckPolicy for Taba {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        self.0.on_segment(segment, out);
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: u64, out: &mut AckSink) {
        self.0.on_timer(now, rcv_nxt, out);
    }

    fn deadline(&self) -> Option<Time> {
        self.0.deadline()
    }

    fn on_carried(&mut self, number: u64) {
        self.0.on_carried(number);
    }

    fn learnt(&self) -> Learnt<'_> {
        self.0.learnt()
    }

    fn take_over(&mut self, learnt: Learnt<'_>) {
        self.0.take_over(learnt);
    }

    fn phase(&self) -> Option<Phase> {
        self.0.phase()
    }

    fn manner(&self) -> Option<Manner> {
        self.0.manner()
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnyAckPolicy;
    use super::*;
    use crate::Spec;

    #[test]
    fn every_ack_but_that_of_the_first_segment_is_cut_in_two() {
        let mut policy = AnyAckPolicy::build(&Spec::named("taba")).unwrap().0;
        let mut sink = AckSink::default();
        for k in 0..4 {
            let rcv_nxt = 1001 + 1000 * k;
            policy.on_segment(&Arrival { rcv_nxt, ..Arrival::of_bytes(Time::ns(k), 1000) }, &mut sink);
        }
        let sent: Vec<_> = std::iter::from_fn(|| sink.pop()).collect();
        assert_eq!(sent, [1001, 1501, 2001, 2501, 3001, 3501, 4001]);
    }

    #[test]
    fn it_takes_over_what_a_division_has_seen_and_hands_it_on() {
        let mut taba = AnyAckPolicy::build(&Spec::named("taba")).unwrap().0;
        let mut sink = AckSink::default();
        for k in 0..2 {
            taba.on_segment(&Arrival::of_bytes(Time::ns(k), 1000), &mut sink);
        }
        let slow_start = Spec::named("division").with("while", crate::Arg::Name("slow-start".into()));
        let mut division = AnyAckPolicy::build(&slow_start).unwrap().0;
        division.take_over(taba.learnt());
        let mut again = AnyAckPolicy::build(&Spec::named("taba")).unwrap().0;
        again.take_over(division.learnt());
        assert_eq!(again.phase(), Some(Phase::SlowStart));
    }
}
