//! Vegas' decrease as ns-2 has it, in whole segments.
//!
//! Duplicate ACKs: W − ⌊W/4⌋ of a window of W segments (the congestion window with its inflation, or the receiver's), or ⌊W/2⌋
//! for a segment that has been sent again before, and 2 where W ≤ 3; ssthresh stays. A timeout leaves two segments and half
//! the window as ssthresh. When there is a second decrease for one window, [`crate::recovery::VegasNs2`] takes it back.
//! Source: ns-2, `VegasTcpAgent::recv`, `timeout`.

use super::{Halve, LossResponse};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Departure, Loss, LossKind, Seq, Window};

/// Decrease by a quarter, rounded down.
#[derive(Debug, Clone, Default)]
pub struct VegasNs2 {
    /// End of the last segment sent again: the first unacknowledged one was sent again if it lies below.
    resent: Seq,
}

impl Member for VegasNs2 {
    const INFO: Info = Info {
        name: "vegas-ns2",
        summary: "takes a quarter of the window in whole segments; two segments after a timeout",
        formula: "dup ACKs: W ≤ 3: 2; sent again before: ⌊W/2⌋; else W − ⌊W/4⌋; timeout: ssthresh as halve, cwnd = 2·MSS",
        source: "ns-2, VegasTcpAgent; Brakmo and Peterson 1995, section 3.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl LossResponse for VegasNs2 {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        if loss.kind != LossKind::DupAcks {
            Halve.on_loss(loss, w);
            if loss.kind == LossKind::Timeout {
                w.cwnd = 2.0 * w.mss;
            }
            return Cause::Congestion;
        }
        let segments = libm::floor(w.cwnd.min(w.rwnd as f64) / w.mss);
        let left = if segments <= 3.0 {
            2.0
        } else if loss.seq < self.resent {
            libm::floor(segments / 2.0)
        } else {
            segments - libm::floor(segments / 4.0)
        };
        w.cwnd = left * w.mss;
        Cause::Congestion
    }

    fn on_sent(&mut self, sent: &Departure) {
        if sent.retransmission {
            self.resent = self.resent.max(sent.seq + u64::from(sent.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{loss, window};
    use super::*;
    use crate::Time;

    #[test]
    fn quarters_and_halves_are_of_whole_segments() {
        for (segments, again, left) in
            [(2.0, false, 2.0), (3.9, false, 2.0), (7.9, false, 6.0), (8.0, false, 6.0), (9.0, true, 4.0)]
        {
            let (mut rule, mut w) = (VegasNs2::default(), window(0));
            w.cwnd = segments * w.mss;
            if again {
                rule.on_sent(&Departure { retransmission: true, ..Departure::of_bytes(Time::ZERO, 1000) });
            }
            rule.on_loss(&loss(LossKind::DupAcks), &mut w);
            assert_eq!(w.cwnd, left * w.mss, "{segments} {again}");
        }
    }

    #[test]
    fn a_timeout_leaves_two_segments() {
        let mut w = window(10_000);
        VegasNs2::default().on_loss(&loss(LossKind::Timeout), &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (2000.0, 5000.0));
    }
}
