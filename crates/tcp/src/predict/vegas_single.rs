//! The Vegas predictor as first published: one threshold.
//!
//! d = cwnd·(1 − RTTmin/RTT), in segments; d ≤ 1 → wireless, d > 1 → congestion. Source: lp, section 4.1.1, after Fu
//! and Liew, "TCP Veno", 2003.

use super::LossPredictor;
use super::vegas::backlog;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, Window};

/// One threshold on the backlog.
#[derive(Debug, Clone)]
pub struct VegasSingle {
    threshold: f64,
    answer: Cause,
}

impl Member for VegasSingle {
    const INFO: Info = Info {
        name: "vegas-single",
        summary: "judges by the number of own segments that wait in queues, with one threshold",
        formula: "d = cwnd·(1 − RTTmin/RTT); d ≤ threshold: wireless; otherwise: congestion; threshold = 1",
        source: "Fu and Liew 2003; Martignon, NewReno-LP, section 4.1.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { threshold: args.number("threshold", 1.0, 0.0..=1e6)?, answer: Cause::Congestion })
    }
}

impl LossPredictor for VegasSingle {
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        if let Some(backlog) = backlog(ack, w) {
            self.answer = if backlog <= self.threshold { Cause::Wireless } else { Cause::Congestion };
        }
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::judge;
    use crate::Cause::{Congestion, Wireless};

    #[test]
    fn one_segment_in_queues_is_the_border() {
        // Ten segments, RTTmin 90 ms: at 100 ms one of them waits.
        assert_eq!(
            judge("vegas-single", &[], 90, &[100, 101, 90, 180]),
            [Wireless, Congestion, Wireless, Congestion]
        );
    }
}
