//! The Vegas predictor: how many of the flow's own segments wait in queues?
//!
//! d = cwnd·(1 − RTTmin/RTT), in segments; d ≤ α → wireless, d ≥ β → congestion, between → the answer before.
//! α = 1, β = 3 are the paper's best. Source: lp, section 4.1.1, after Brakmo and Peterson 1995.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, Span, Window};

/// Two thresholds on the backlog.
#[derive(Debug, Clone)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    answer: Cause,
}

/// Own segments that wait in queues, d; none where the ACK brings no round-trip time.
pub(super) fn backlog(ack: &Ack, w: &Window) -> Option<f64> {
    let (rtt, rtt_min) = (ack.rtt?, w.rtt_min?);
    Some(w.cwnd / w.mss * (1.0 - rtt_min.as_f64() / rtt.max(Span::ns(1)).as_f64()))
}

impl Member for Vegas {
    const INFO: Info = Info {
        name: "vegas",
        summary: "judges by the number of own segments that wait in queues",
        formula: "d = cwnd·(1 − RTTmin/RTT); d ≤ α: wireless; d ≥ β: congestion; between: as before; α = 1, β = 3",
        source: "Martignon, NewReno-LP, section 4.1.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let alpha = args.number("alpha", 1.0, 0.0..=1e6)?;
        let beta = args.number("beta", 3.0, 0.0..=1e6)?;
        if alpha > beta {
            return Err(args.bad("alpha", &alpha, &format!("at most beta, which is {beta}")));
        }
        Ok(Self { alpha, beta, answer: Cause::Congestion })
    }
}

impl LossPredictor for Vegas {
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        let Some(backlog) = backlog(ack, w) else { return };
        if backlog <= self.alpha {
            self.answer = Cause::Wireless;
        } else if backlog >= self.beta {
            self.answer = Cause::Congestion;
        }
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::judge;
    use crate::Arg;
    use crate::Cause::{Congestion, Wireless};

    #[test]
    fn between_the_thresholds_the_answer_before_stands() {
        // Ten segments, RTTmin 70 ms: d = 2.2 (as at first: congestion), 0, 2.2, 3, 2.2, 1.03, 0.98.
        let rtts = [90, 70, 90, 100, 90, 78, 77];
        let expected = [Congestion, Wireless, Wireless, Congestion, Congestion, Congestion, Wireless];
        assert_eq!(judge("vegas", &[], 70, &rtts), expected);
    }

    #[test]
    fn equal_thresholds_leave_nothing_between_and_wireless_has_the_border() {
        let args = [("alpha", Arg::Number(5.0)), ("beta", Arg::Number(5.0))];
        assert_eq!(judge("vegas", &args, 80, &[80, 161, 160]), [Wireless, Congestion, Wireless]);
    }
}
