//! Appropriate byte counting (RFC 3465, RFC 5681): growth by what is acknowledged, not by how often.
//!
//! Slow start: cwnd += min(bytes newly acknowledged, L·MSS), with L = 1 after a timeout until ssthresh is reached
//! (RFC 3465, section 2.3). Congestion avoidance: one MSS for each cwnd of bytes acknowledged (section 2.1). `limit`:
//! L, 2 by default (RFC 3465; RFC 5681 allows 1).

use super::Growth;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Loss, LossKind, Window};

/// One step per bytes acknowledged.
#[derive(Debug, Clone)]
pub struct ByteCounting {
    limit: f64,
    acked: f64,
    after_timeout: bool,
}

impl Member for ByteCounting {
    const INFO: Info = Info {
        name: "byte-counting",
        summary: "opens by the bytes acknowledged, so that the number of ACKs does not matter",
        formula: "slow start: cwnd += min(acked, L·MSS) per ACK; congestion avoidance: cwnd += MSS per cwnd bytes acked",
        source: "RFC 3465; RFC 5681, section 3.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let limit = args.number("limit", 2.0, 1.0..=100.0)?;
        Ok(Self::with_limit(limit))
    }
}

impl ByteCounting {
    /// With L segments an ACK at most in slow start.
    pub(super) fn with_limit(limit: f64) -> Self {
        Self { limit, acked: 0.0, after_timeout: false }
    }
}

impl Growth for ByteCounting {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let bytes = ack.newly_acked as f64;
        if w.in_slow_start() {
            let limit = if self.after_timeout { 1.0 } else { self.limit };
            w.cwnd += bytes.min(limit * w.mss);
            return;
        }
        self.after_timeout = false;
        self.acked += bytes;
        if self.acked >= w.cwnd {
            self.acked = (self.acked - w.cwnd).min(w.cwnd);
            w.cwnd += w.mss;
        }
    }

    fn on_loss(&mut self, loss: &Loss, _: f64, _: &mut Window) {
        self.acked = 0.0;
        self.after_timeout = loss.kind == LossKind::Timeout;
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;
    use crate::{Seq, Time};

    fn rule() -> ByteCounting {
        ByteCounting::with_limit(2.0)
    }

    #[test]
    fn dividing_acks_changes_nothing() {
        for parts in [1, 2, 4, 10] {
            let mut w = window(10.0, 100.0);
            let mut growth = rule();
            (0..parts).for_each(|_| growth.on_ack(&ack(1000 / parts), &mut w));
            assert_eq!(w.cwnd, 11_000.0, "{parts} parts");
        }
    }

    #[test]
    fn a_stretch_ack_counts_at_most_l_segments_and_one_after_a_timeout() {
        let mut w = window(10.0, 100.0);
        let mut growth = rule();
        growth.on_ack(&ack(5000), &mut w);
        assert_eq!(w.cwnd, 12_000.0);
        growth.on_loss(&Loss { now: Time::ZERO, kind: LossKind::Timeout, seq: Seq::ZERO }, w.cwnd, &mut w);
        growth.on_ack(&ack(5000), &mut w);
        assert_eq!(w.cwnd, 13_000.0);
    }

    #[test]
    fn congestion_avoidance_adds_exactly_a_segment_a_window() {
        let mut w = window(10.0, 5.0);
        let mut growth = rule();
        (0..9).for_each(|_| growth.on_ack(&ack(1000), &mut w));
        assert_eq!(w.cwnd, 10_000.0);
        growth.on_ack(&ack(1000), &mut w);
        assert_eq!(w.cwnd, 11_000.0);
    }
}
