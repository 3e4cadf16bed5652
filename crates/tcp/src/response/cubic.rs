//! The response of CUBIC: what is kept is β of the flight, 0.7 in place of a half.
//!
//! ssthresh = max(β·flight, 2 MSS); cwnd = ssthresh, or 1 MSS on a timeout. Source: RFC 9438, sections 4.6 and 4.8;
//! after an ECN echo alike (RFC 8511 has 0.85 for that, which CUBIC does not take over).

use super::LossResponse;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, LossKind, Window};

/// Every loss is congestion, and costs 1 − β.
#[derive(Debug, Clone)]
pub struct Cubic {
    beta: f64,
}

impl Member for Cubic {
    const INFO: Info = Info {
        name: "cubic",
        summary: "takes every loss for congestion and keeps seven tenths",
        formula: "ssthresh = max(β·flight, 2·MSS); cwnd = ssthresh (timeout: 1 MSS); β = 0.7",
        source: "RFC 9438, sections 4.6 and 4.8",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { beta: args.number("beta", 0.7, 0.1..=0.99)? })
    }
}

impl Cubic {
    /// What is kept.
    pub fn beta(&self) -> f64 {
        self.beta
    }
}

/// The reduction: `beta` of the flight is kept.
pub(crate) fn keep(beta: f64, loss: &Loss, w: &mut Window) -> Cause {
    w.ssthresh = (beta * w.flight as f64).max(2.0 * w.mss);
    w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.ssthresh };
    Cause::Congestion
}

impl LossResponse for Cubic {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        keep(self.beta, loss, w)
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::tests::window;
    use crate::{Seq, Time};

    #[test]
    fn seven_tenths_of_the_flight_are_kept_and_at_least_two_segments() {
        for (segments, kept) in [(100.0, 70_000.0), (2.0, 2000.0)] {
            let mut w = window(segments, 1e6);
            Cubic { beta: 0.7 }
                .on_loss(&Loss { now: Time::ZERO, kind: LossKind::DupAcks, seq: Seq::FIRST }, &mut w);
            assert_eq!((w.cwnd, w.ssthresh), (kept, kept));
        }
    }
}
