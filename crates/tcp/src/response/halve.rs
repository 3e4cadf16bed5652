//! The standard response: half the flight.
//!
//! ssthresh = max(flight/2, 2 MSS); cwnd = ssthresh, or 1 MSS on a timeout. Source: RFC 5681, equation 4; RFC 3168,
//! section 6.1.2 for the ECN echo.

use super::LossResponse;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, LossKind, Window};

/// Every loss is congestion.
#[derive(Debug, Clone, Default)]
pub struct Halve;

impl Member for Halve {
    const INFO: Info = Info {
        name: "halve",
        summary: "takes every loss for congestion and halves",
        formula: "ssthresh = max(flight/2, 2·MSS); cwnd = ssthresh (timeout: 1 MSS)",
        source: "RFC 5681, section 3.1, equation 4",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl LossResponse for Halve {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        w.ssthresh = w.half_flight();
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.halved() };
        Cause::Congestion
    }

    fn listens(&self) -> bool {
        false
    }
}
