//! Growth by the number of ACKs (RFC 2581): what ACK division exploits.
//!
//! Slow start: cwnd += MSS for every ACK of new data, however little it acknowledges. Congestion avoidance:
//! cwnd += MSS²/cwnd for every ACK. Source: RFC 2581, section 3.1; RFC 5681, equations 2 and 3 before byte counting.

use super::Growth;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// One step an ACK.
#[derive(Debug, Clone, Default)]
pub struct PerAck;

impl Member for PerAck {
    const INFO: Info = Info {
        name: "per-ack",
        summary: "opens by one segment per ACK in slow start, by one per window of ACKs after it",
        formula: "slow start: cwnd += MSS per ACK; congestion avoidance: cwnd += MSS²/cwnd per ACK",
        source: "RFC 2581, section 3.1",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl Growth for PerAck {
    #[inline(always)]
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        w.cwnd += if w.in_slow_start() { w.mss } else { w.mss * w.mss / w.cwnd };
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;

    #[test]
    fn two_acks_of_half_a_segment_count_twice() {
        let mut w = Window { mss: 1460.0, ..window(1.0, 100.0) };
        (0..2).for_each(|_| PerAck.on_ack(&ack(730), &mut w));
        assert_eq!(w.cwnd, 3920.0);
    }

    #[test]
    fn congestion_avoidance_adds_about_a_segment_a_window() {
        let mut w = window(10.0, 5.0);
        (0..10).for_each(|_| PerAck.on_ack(&ack(1000), &mut w));
        assert!((10_900.0..11_000.0).contains(&w.cwnd), "{}", w.cwnd);
    }
}
