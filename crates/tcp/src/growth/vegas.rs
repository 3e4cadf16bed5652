//! Vegas: the window follows the number of own segments that wait in queues.
//!
//! Once a round, with RTT the mean of the round's samples, diff = cwnd·(1 − RTTmin/RTT) segments; diff < α → cwnd + 1
//! MSS, diff > β → cwnd − 1 MSS, not below 2. A round in which the window never limited the sender says nothing. Slow
//! start doubles the window every other round, the first one included; after each round in between, in which the window
//! stood still, diff > γ ends it: cwnd falls by an eighth. α = 1, β = 3, γ = 1. What is measured while a loss is
//! repaired counts for no round. Source: Brakmo and Peterson 1995, section 3; the mean, the eighth and the lower bound
//! as in ns-2, the step at the end of a round (ns-2 spreads it over the next one) as in Linux.

use super::Growth;
use crate::round::Round;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Loss, Window};

/// Growth by the backlog.
#[derive(Debug, Clone)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    round: Round,
    /// RTT samples of the round: their sum, ns, and number.
    sum: u64,
    samples: u32,
    /// Whether the window has limited the sender in this round.
    limited: bool,
    /// Whether slow start doubles the window in this round.
    doubling: bool,
}

impl Member for Vegas {
    const INFO: Info = Info {
        name: "vegas",
        summary: "keeps a few own segments waiting in queues: opens below α, closes above β",
        formula: "once a round: diff = cwnd·(1 − RTTmin/RTT); diff < α: +1 MSS; diff > β: −1 MSS; slow start doubles every other round until diff > γ",
        source: "Brakmo and Peterson 1995, section 3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let alpha = args.number("alpha", 1.0, 0.0..=1e6)?;
        let beta = args.number("beta", 3.0, 0.0..=1e6)?;
        if alpha > beta {
            return Err(args.bad("alpha", &alpha, &format!("at most beta, which is {beta}")));
        }
        let gamma = args.number("gamma", 1.0, 0.0..=1e6)?;
        let round = Round::default();
        Ok(Self { alpha, beta, gamma, round, sum: 0, samples: 0, limited: false, doubling: true })
    }
}

impl Vegas {
    /// Own segments in queues during the round that ends; none if no sample tells.
    fn backlog(&self, w: &Window) -> Option<f64> {
        let rtt_min = w.rtt_min.filter(|_| self.samples > 0 && self.sum > 0)?;
        let rtt = self.sum as f64 / f64::from(self.samples);
        Some(w.cwnd / w.mss * (1.0 - rtt_min as f64 / rtt))
    }

    fn begin(&mut self) {
        (self.sum, self.samples, self.limited) = (0, 0, false);
    }

    fn slow_start(&mut self, diff: f64, w: &mut Window) {
        if self.doubling {
            self.doubling = false; // and the next round is measured
        } else if diff > self.gamma {
            w.cwnd = (w.cwnd * 0.875).max(2.0 * w.mss);
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else {
            self.doubling = true;
        }
    }

    fn avoid_congestion(&mut self, diff: f64, w: &mut Window) {
        self.doubling = true;
        if diff < self.alpha {
            w.cwnd += w.mss;
        } else if diff > self.beta {
            w.cwnd = (w.cwnd - w.mss).max(2.0 * w.mss).min(w.cwnd);
            w.ssthresh = w.ssthresh.min(w.cwnd); // no slow start follows from a step down
        }
    }
}

impl Growth for Vegas {
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        self.limited = true;
        if w.in_slow_start() && self.doubling {
            w.cwnd += w.mss;
        }
    }

    fn on_loss(&mut self, _: &Loss, _: f64, _: &mut Window) {
        self.round = Round::default();
        self.doubling = true;
        self.begin();
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        if air.repairing {
            self.round = Round::default();
            return self.begin();
        }
        if let Some(rtt) = ack.rtt {
            self.sum = self.sum.saturating_add(rtt);
            self.samples += 1;
        }
        if !self.round.over(ack) {
            return;
        }
        if self.limited
            && let Some(diff) = self.backlog(w)
        {
            if w.in_slow_start() { self.slow_start(diff, w) } else { self.avoid_congestion(diff, w) }
        }
        self.begin();
    }
}
