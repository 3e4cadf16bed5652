//! The response of Linux's CUBIC: 717/1024 of the window stay, in whole segments.
//!
//! ssthresh = max(⌊segments·717/1024⌋, 2); cwnd = ssthresh, or one segment on a timeout; after an ECN echo alike. The segments are
//! those that the stack's `reduce_from` has; Linux takes them of cwnd (`"window"`, as the profile `linux` has it). Source: Linux
//! 6.18, `cubictcp_recalc_ssthresh`.

use super::LossResponse;
use crate::growth::BETA;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, LossKind, Window};

/// Every loss is congestion, and costs 307/1024.
#[derive(Debug, Clone, Default)]
pub struct CubicLinux;

impl Member for CubicLinux {
    const INFO: Info = Info {
        name: "cubic-linux",
        summary: "takes every loss for congestion and keeps 717/1024, in whole segments",
        formula: "ssthresh = max(⌊segments·717/1024⌋, 2)·MSS; cwnd = ssthresh (timeout: 1 MSS)",
        source: "Linux 6.18, cubictcp_recalc_ssthresh",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl LossResponse for CubicLinux {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let segments = (w.flight as f64 / w.mss) as u64;
        w.ssthresh = (segments * BETA / 1024).max(2) as f64 * w.mss;
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.ssthresh };
        Cause::Congestion
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{loss, window};
    use super::*;

    #[test]
    fn whole_segments_are_kept_and_at_least_two() {
        // 100·717/1024 = 70.02, 99·717/1024 = 69.3.
        for (flight, kept) in [(100_000, 70_000.0), (99_900, 69_000.0), (1000, 2000.0)] {
            let mut w = window(flight);
            CubicLinux.on_loss(&loss(LossKind::DupAcks), &mut w);
            assert_eq!((w.cwnd, w.ssthresh), (kept, kept));
        }
    }
}
