//! Limited slow start: a large window opens by half of max_ssthresh a round instead of doubling.
//!
//! Slow start: cwnd += MSS per ACK up to `max_ssthresh` segments (100 by default); beyond it MSS/K with K = ⌊cwnd /
//! (max_ssthresh/2)⌋. Congestion avoidance as per ACK. MSS/K is not rounded to whole bytes. By this rule a window of
//! 83,000 segments takes some 1,665 rounds; the 836 of the RFC's text are those of growth by max_ssthresh a round.
//! Source: RFC 3742, section 2.

use super::{Growth, PerAck};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// Slow start that does not double large windows.
#[derive(Debug, Clone)]
pub struct LimitedSlowStart {
    /// Segments.
    max_ssthresh: f64,
}

impl Member for LimitedSlowStart {
    const INFO: Info = Info {
        name: "limited-slow-start",
        summary: "opens a large window by half of max_ssthresh a round in slow start, instead of doubling it",
        formula: "cwnd ≤ max_ssthresh: as per ACK; above: cwnd += MSS/K per ACK, K = ⌊cwnd/(max_ssthresh/2)⌋; then as per ACK",
        source: "RFC 3742, section 2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { max_ssthresh: args.number("max_ssthresh", 100.0, 2.0..=1e9)? })
    }
}

impl Growth for LimitedSlowStart {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let segments = w.cwnd / w.mss;
        if w.in_slow_start() && segments > self.max_ssthresh {
            w.cwnd += w.mss / libm::floor(segments / (0.5 * self.max_ssthresh));
        } else {
            PerAck.on_ack(ack, w);
        }
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;

    fn rule() -> LimitedSlowStart {
        LimitedSlowStart { max_ssthresh: 100.0 }
    }

    /// Rounds from an initial window of `from` segments to a window of `to`.
    fn rounds(growth: &mut impl Growth, from: f64, to: f64) -> u32 {
        let mut w = window(from, 1e6);
        let mut rounds = 0;
        while w.cwnd < to * w.mss {
            let acks = (w.cwnd / w.mss) as u64;
            (0..acks).for_each(|_| growth.on_ack(&ack(1000), &mut w));
            rounds += 1;
        }
        rounds
    }

    #[test]
    fn opens_by_one_segment_per_ack_up_to_the_limit_and_by_a_part_of_it_beyond() {
        for (segments, opened) in [
            (1.0, 1000.0),
            (100.0, 1000.0),
            (101.0, 500.0),
            (150.0, 1000.0 / 3.0),
            (199.0, 1000.0 / 3.0),
            (1000.0, 50.0),
        ] {
            let mut w = window(segments, 1e6);
            rule().on_ack(&ack(1000), &mut w);
            assert!((w.cwnd - segments * 1000.0 - opened).abs() < 1e-6, "{segments}: {}", w.cwnd);
        }
    }

    #[test]
    fn congestion_avoidance_is_as_per_ack() {
        let mut w = window(200.0, 100.0);
        rule().on_ack(&ack(1000), &mut w);
        assert_eq!(w.cwnd, 200_005.0);
    }

    #[test]
    fn takes_half_of_max_ssthresh_a_round_to_a_large_window() {
        let limited = rounds(&mut rule(), 2.0, 83_000.0);
        assert!((1663..=1667).contains(&limited), "{limited}");
        assert_eq!([1.0, 2.0, 3.0].map(|from| rounds(&mut PerAck, from, 83_000.0)), [17, 16, 15]);
    }
}
