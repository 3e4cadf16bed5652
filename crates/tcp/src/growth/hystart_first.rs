//! Byte counting whose first slow start is HyStart++'s, which ends before it fills the queue.
//!
//! Slow start: cwnd += min(bytes newly acknowledged, 8·MSS), a quarter of that once round-trip times have risen, until five
//! such rounds have passed, see `hystart.rs`; then ssthresh = cwnd. From then on, and after a loss, as [`ByteCounting`] with L = 1.
//! Source: RFC 9406, section 4; RFC 5681, section 3.1.

use super::hystart::{self, HyStart};
use super::{ByteCounting, Growth};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Loss, Window};

/// HyStart++, then congestion avoidance.
#[derive(Debug, Clone)]
pub struct HyStartFirst {
    /// Until it has ended slow start, or a loss has.
    start: Option<HyStart>,
    then: ByteCounting,
}

impl Member for HyStartFirst {
    const INFO: Info = Info {
        name: "hystart",
        summary: "opens by the bytes acknowledged, and leaves its first slow start when round-trip times rise",
        formula: "RTT ≥ last round's + RTT/8: a quarter of slow start's pace for 5 rounds, then MSS per cwnd bytes acked",
        source: "RFC 9406; RFC 5681, section 3.1",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { start: Some(HyStart::default()), then: ByteCounting::with_limit(1.0) })
    }
}

impl Growth for HyStartFirst {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        match self.start.as_mut().filter(|_| w.in_slow_start()).map(|start| start.on_ack(ack)) {
            Some(Some(divisor)) => {
                w.cwnd += (ack.newly_acked as f64).min(hystart::LIMIT * w.mss) / divisor;
            }
            Some(None) => {
                w.ssthresh = w.cwnd;
                self.start = None;
            }
            None => self.then.on_ack(ack, w),
        }
    }

    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.start = None;
        self.then.on_loss(loss, before, w);
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::spec::Spec;
    use crate::{LossKind, Seq, Span, Time};

    fn rule() -> HyStartFirst {
        HyStartFirst::build(&mut Args::new(&Spec::named("hystart"))).unwrap()
    }

    /// Rounds of so many ACKs of a segment each as the window has segments, with these RTTs in ms: the window after each.
    fn rounds(growth: &mut HyStartFirst, w: &mut Window, rtts: &[u64]) -> Vec<f64> {
        let (mut una, mut seen) = (Seq::FIRST, Vec::new());
        for &rtt in rtts {
            for _ in 0..(w.cwnd / w.mss) as u64 {
                una += 1000;
                let ack = Ack {
                    ack: una,
                    highest: una + w.cwnd as u64,
                    rtt: Some(Span::ms(rtt)),
                    ..Ack::of_bytes(Time::ZERO, 1000)
                };
                growth.on_ack(&ack, w);
            }
            seen.push(w.cwnd / w.mss);
        }
        seen
    }

    #[test]
    fn it_is_slow_start_as_long_as_round_trips_take_what_they_took() {
        let mut w = window(10.0, 1e6);
        assert_eq!(rounds(&mut rule(), &mut w, &[100; 3]), [20.0, 40.0, 80.0]);
    }

    #[test]
    fn once_they_rise_it_opens_at_a_quarter_of_the_pace_and_then_avoids_congestion() {
        let (mut growth, mut w) = (rule(), window(16.0, 1e6));
        let seen = rounds(&mut growth, &mut w, &[100, 130, 130, 130, 130, 130, 130, 130, 130]);
        assert_eq!(seen[0], 32.0);
        assert!(seen[1] < 64.0 && seen[2] <= 1.26 * seen[1], "{seen:?}");
        assert!(!w.in_slow_start(), "five rounds of that");
        let last = seen[seen.len() - 2..].to_vec();
        assert!(last[1] - last[0] <= 1.0, "a segment a round: {seen:?}");
    }

    #[test]
    fn a_loss_ends_it_for_good() {
        let (mut growth, mut w) = (rule(), window(10.0, 1e6));
        growth.on_loss(&Loss { now: Time::ZERO, kind: LossKind::Timeout, seq: Seq::FIRST }, w.cwnd, &mut w);
        let ack = Ack::of_bytes(Time::ZERO, 8000);
        growth.on_ack(&ack, &mut w);
        assert_eq!(w.cwnd, 11_000.0, "one segment an ACK after a timeout");
    }
}
