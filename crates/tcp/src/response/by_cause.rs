//! The response of NewReno-LP: a predictor judges each loss, and only congestion shrinks the window.
//!
//! Duplicate ACKs: wireless → ssthresh = cwnd = flight; congestion → as the standard response (the paper's "min" is a
//! misprint for RFC 5681's max). Timeout: ssthresh likewise by cause, cwnd = 1 MSS in both cases. An ECN echo is
//! congestion by definition. Source: lp, section 4.2, algorithm 4.2.1.

use super::{Halve, LossResponse};
use crate::predict::{AnyPredictor, LossPredictor};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, LossKind, Window};

/// Asks a loss predictor first.
#[derive(Debug, Clone)]
pub struct ByCause {
    predictor: AnyPredictor,
}

impl Member for ByCause {
    const INFO: Info = Info {
        name: "by-cause",
        summary: "asks a loss predictor, and shrinks the window only for congestion",
        formula: "wireless: ssthresh = cwnd = flight; congestion: max(flight/2, 2·MSS); timeout: cwnd = 1 MSS",
        source: "Martignon, NewReno-LP, section 4.2, algorithm 4.2.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { predictor: args.member("predictor", "vegas", AnyPredictor::build)? })
    }
}

impl LossResponse for ByCause {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let verdict =
            if loss.kind == LossKind::EcnEcho { Cause::Congestion } else { self.predictor.verdict(loss) };
        if loss.kind == LossKind::Timeout {
            self.predictor.on_timeout(loss.now);
        }
        if verdict == Cause::Congestion {
            return Halve.on_loss(loss, w);
        }
        w.ssthresh = (w.flight as f64).max(2.0 * w.mss);
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.ssthresh };
        verdict
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.predictor.on_ack(ack, w);
    }
}
