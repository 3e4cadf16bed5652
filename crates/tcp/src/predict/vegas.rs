//! The Vegas predictor: how many of the flow's own segments wait in queues?
//!
//! d = cwnd·(1 − RTTmin/RTT), in segments; d ≤ α → wireless, d ≥ β → congestion, between → the answer before.
//! α = 1, β = 3 are the paper's best. Source: lp, section 4.1.1, after Brakmo and Peterson 1995.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, Window};

/// Two thresholds on the backlog.
#[derive(Debug, Clone)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    answer: Cause,
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
        let (Some(rtt), Some(rtt_min)) = (ack.rtt, w.rtt_min) else { return };
        let backlog = w.cwnd / w.mss * (1.0 - rtt_min as f64 / rtt.max(1) as f64);
        if backlog >= self.beta {
            self.answer = Cause::Congestion;
        } else if backlog <= self.alpha {
            self.answer = Cause::Wireless;
        }
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.answer
    }
}
