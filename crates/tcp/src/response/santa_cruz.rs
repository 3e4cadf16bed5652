//! TCP Santa Cruz' response: a loss without a queue is noise.
//!
//! Duplicate ACKs, with N and its growth over the last rounds by [`crate::relative_delay`]: N > n + δ (the queue is
//! longer than the sender wants it) or a growth of more than δ → congestion, halve; otherwise → wireless, the window
//! stays. Where the peer sends no timestamps every loss is congestion. Timeouts and ECN echoes are as in
//! [`super::Halve`]. n = 1.5, δ = 0.5, as in growth. The second condition is the published one; the first keeps the
//! sender from taking a queue that is full, and therefore does not grow, for none. Source: Parsa and
//! Garcia-Luna-Aceves 1999.

use super::{Halve, LossResponse};
use crate::relative_delay::{Congested, RelativeDelay};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, LossKind, Window};

/// Response by the queue that relative delays show.
#[derive(Debug, Clone)]
pub struct SantaCruz {
    delays: Box<RelativeDelay>,
    /// n, segments.
    target: f64,
    /// δ, segments.
    margin: f64,
}

impl Member for SantaCruz {
    const INFO: Info = Info {
        name: "santa-cruz",
        summary: "keeps the window where relative delays show neither a queue nor the growth of one",
        formula: "dup ACKs: N > n + δ or growth of N > δ: as halve; else unchanged; timeout: as halve; n = 1.5, δ = 0.5",
        source: "Parsa and Garcia-Luna-Aceves 1999",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let target = args.number("n", 1.5, 0.0..=1e6)?;
        let margin = args.number("delta", 0.5, 0.0..=1e6)?;
        Ok(Self { delays: Box::default(), target, margin })
    }
}

impl SantaCruz {
    /// Which direction of the path is congested, once that can be told.
    pub fn congested(&self) -> Option<Congested> {
        self.delays.congested()
    }

    fn random(&self) -> bool {
        let queue = self.delays.queue().zip(self.delays.growth());
        queue.is_some_and(|(n, growth)| n <= self.target + self.margin && growth <= self.margin)
    }
}

impl LossResponse for SantaCruz {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        if loss.kind == LossKind::DupAcks && self.random() {
            return Cause::Wireless;
        }
        Halve.on_loss(loss, w)
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.delays.on_ack(ack, w.mss);
    }

    fn wants_timestamps(&self) -> bool {
        true
    }
}
