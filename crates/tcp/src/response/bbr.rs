//! The response of BBR: a loss feeds its model of the path, and the model sets the window.
//!
//! Duplicate ACKs and ECN: nothing changes here; ssthresh = cwnd, so that recoveries end where they began. Timeout:
//! cwnd = 1 MSS. [`crate::growth::Bbr`] remembers the window and brings it back after the repair. With another growth
//! rule no loss but a timeout ever slows the sender down. Source: draft-ietf-ccwg-bbr-06, section 5.6.4.4, which, unlike
//! BBR's first version, conserves no packets in the first round of a repair.

use super::LossResponse;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, LossKind, Window};

/// Leaves the window to the model.
#[derive(Debug, Clone, Default)]
pub struct Bbr;

impl Member for Bbr {
    const INFO: Info = Info {
        name: "bbr",
        summary: "leaves the window to BBR's model of the path",
        formula: "ssthresh = cwnd = as they were; timeout: 1 MSS until repaired",
        source: "draft-ietf-ccwg-bbr-06, section 5.6.4.4",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl LossResponse for Bbr {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        w.ssthresh = w.cwnd.max(2.0 * w.mss);
        if loss.kind == LossKind::Timeout {
            w.cwnd = w.mss;
        }
        Cause::Congestion
    }

    fn listens(&self) -> bool {
        false
    }
}
