//! The Spike predictor: is the round-trip time high within its range?
//!
//! Bstart = RTTmin + α·(RTTmax − RTTmin), Bend = RTTmin + β·(RTTmax − RTTmin); RTT > Bstart → congestion, RTT < Bend →
//! wireless, between → the answer before. α = 0.5, β = 0.4. RTTmax is forgotten at the first timeout. Source: lp,
//! section 4.1.3, after Tobe et al. 2000.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, Span, Time, Window};

/// Two thresholds within the range of RTTs.
#[derive(Debug, Clone)]
pub struct Spike {
    alpha: f64,
    beta: f64,
    max: Option<Span>,
    timed_out: bool,
    answer: Cause,
}

impl Member for Spike {
    const INFO: Info = Info {
        name: "spike",
        summary: "judges by where the round-trip time lies between its extremes",
        formula: "RTT > RTTmin + α·(RTTmax − RTTmin): congestion; RTT < RTTmin + β·(RTTmax − RTTmin): wireless; between: as before; α = 0.5, β = 0.4",
        source: "Martignon, NewReno-LP, section 4.1.3; Tobe et al. 2000",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let alpha = args.number("alpha", 0.5, 0.0..=1.0)?;
        let beta = args.number("beta", 0.4, 0.0..=1.0)?;
        if beta > alpha {
            return Err(args.bad("beta", &beta, &format!("at most alpha, which is {alpha}")));
        }
        Ok(Self { alpha, beta, max: None, timed_out: false, answer: Cause::Congestion })
    }
}

impl LossPredictor for Spike {
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        let (Some(rtt), Some(min)) = (ack.rtt, w.rtt_min) else { return };
        let max = self.max.map_or(rtt, |max| max.max(rtt));
        self.max = Some(max);
        let range = max.saturating_sub(min).as_f64();
        let excess = rtt.saturating_sub(min).as_f64();
        if excess > self.alpha * range {
            self.answer = Cause::Congestion;
        } else if excess < self.beta * range {
            self.answer = Cause::Wireless;
        }
    }

    fn on_timeout(&mut self, _: Time) {
        if !self.timed_out {
            self.timed_out = true;
            self.max = None;
        }
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{judge, rtt};
    use super::*;
    use crate::Cause::{Congestion, Wireless};
    use crate::predict::AnyPredictor;
    use crate::{LossKind, Seq, Spec};

    #[test]
    fn the_thresholds_lie_within_the_range_of_round_trip_times() {
        // RTTmin 100 ms; RTTmax 100, 200, 200, ...: Bstart 150, Bend 140 ms.
        let rtts = [100, 200, 145, 139, 145, 150, 151, 140];
        let expected =
            [Congestion, Congestion, Congestion, Wireless, Wireless, Wireless, Congestion, Congestion];
        assert_eq!(judge("spike", &[], 100, &rtts), expected);
    }

    #[test]
    fn the_largest_rtt_is_forgotten_at_the_first_timeout_only() {
        let (mut spike, _) = AnyPredictor::build(&Spec::named("spike")).unwrap();
        let mut answer = |timeout: bool, ms| {
            if timeout {
                spike.on_timeout(Time::ZERO);
            }
            let (ack, w) = rtt(ms, 100);
            spike.on_ack(&ack, &w);
            spike.verdict(&Loss { now: Time::ZERO, kind: LossKind::DupAcks, seq: Seq::FIRST })
        };
        assert_eq!(answer(false, 900), Congestion);
        assert_eq!(answer(false, 200), Wireless, "200 ms is little against 900 ms");
        assert_eq!(answer(true, 200), Congestion, "and the most where 900 ms is forgotten");
        assert_eq!(answer(false, 120), Wireless);
        assert_eq!(answer(true, 120), Wireless, "the second timeout forgets nothing");
    }
}
