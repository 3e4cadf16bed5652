//! TCP Santa Cruz: the window holds the bottleneck's queue at an operating point.
//!
//! Once a round, with N the segments waiting by [`crate::relative_delay`]: N < n − δ → cwnd + 1 MSS, N > n + δ → cwnd −
//! 1 MSS, not below 2; n = 1.5, δ = 0.5. A round in which the window never limited the sender says nothing. Slow start
//! as per ACK until N > n + δ at the end of a round. Where the peer sends no timestamps N stays unknown, and the window
//! opens by one segment a round. Source: Parsa and Garcia-Luna-Aceves 1999.

use super::Growth;
use crate::relative_delay::{Congested, RelativeDelay};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Window};

/// Growth by the queue that relative delays show.
#[derive(Debug, Clone)]
pub struct SantaCruz {
    delays: Box<RelativeDelay>,
    /// n, segments.
    target: f64,
    /// δ, segments.
    margin: f64,
    /// Whether the window has limited the sender in this round.
    limited: bool,
}

impl Member for SantaCruz {
    const INFO: Info = Info {
        name: "santa-cruz",
        summary: "holds the bottleneck's queue, which relative delays show, at an operating point",
        formula: "once a round: N < n − δ: +1 MSS; N > n + δ: −1 MSS; slow start: per ACK until N > n + δ; N = Σ D/T, n = 1.5, δ = 0.5",
        source: "Parsa and Garcia-Luna-Aceves 1999",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let target = args.number("n", 1.5, 0.0..=1e6)?;
        let margin = args.number("delta", 0.5, 0.0..=1e6)?;
        Ok(Self { delays: Box::default(), target, margin, limited: false })
    }
}

impl SantaCruz {
    /// Which direction of the path is congested, once that can be told.
    pub fn congested(&self) -> Option<Congested> {
        self.delays.congested()
    }

    fn adjust(&self, w: &mut Window) {
        let queue = self.delays.queue().unwrap_or(0.0);
        if queue > self.target + self.margin {
            if !w.in_slow_start() {
                w.cwnd = (w.cwnd - w.mss).max(2.0 * w.mss).min(w.cwnd);
            }
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else if queue < self.target - self.margin && !w.in_slow_start() {
            w.cwnd += w.mss;
        }
    }
}

impl Growth for SantaCruz {
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        self.limited = true;
        if w.in_slow_start() {
            w.cwnd += w.mss;
        }
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        if self.delays.on_ack(ack, w.mss) && std::mem::take(&mut self.limited) && !air.repairing {
            self.adjust(w);
        }
    }

    fn wants_timestamps(&self) -> bool {
        true
    }
}
