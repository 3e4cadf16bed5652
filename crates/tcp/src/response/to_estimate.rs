//! ssthresh from an estimate of the bandwidth: the response of TCP Westwood and TIBET.
//!
//! ssthresh = B·RTTmin, at least 2 MSS; cwnd = min(cwnd, ssthresh), or 1 MSS on a timeout. The estimate is read at loss
//! events only; before there is one the response halves. Source: lp, section 3.3; Mascolo et al., "TCP Westwood", 2001.

use super::{Halve, LossResponse};
use crate::estimate::{AnyEstimator, BandwidthEstimator};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Departure, Loss, LossKind, Window};

/// Window to the estimated bandwidth–delay product.
#[derive(Debug, Clone)]
pub struct ToEstimate {
    estimator: Box<AnyEstimator>,
}

impl Member for ToEstimate {
    const INFO: Info = Info {
        name: "to-estimate",
        summary: "sets the window to the estimated bandwidth times the smallest round-trip time",
        formula: "ssthresh = max(B·RTTmin, 2·MSS); cwnd = min(cwnd, ssthresh) (timeout: 1 MSS)",
        source: "Mascolo et al. 2001; Capone, Fratta and Martignon 2004",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { estimator: Box::new(args.member("estimator", "ewma", AnyEstimator::build)?) })
    }
}

impl LossResponse for ToEstimate {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let (Some(rate), Some(rtt)) = (self.estimator.bits_per_second(), self.estimator.rtt_min().or(w.rtt_min)) else {
            return Halve.on_loss(loss, w);
        };
        w.ssthresh = (rate / 8.0 * rtt as f64 / 1e9).max(2.0 * w.mss);
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.cwnd.min(w.ssthresh) };
        Cause::Congestion
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.estimator.on_ack(ack, w);
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.estimator.on_sent(sent);
    }

    fn estimate(&self) -> Option<f64> {
        self.estimator.bits_per_second()
    }
}
