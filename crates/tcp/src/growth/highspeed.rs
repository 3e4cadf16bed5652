//! HighSpeed TCP's growth: large windows open by more than one segment a round.
//!
//! Slow start as per ACK. Congestion avoidance: cwnd += a(w)·MSS²/cwnd per ACK, w = cwnd in segments; up to Low_Window
//! a(w) = 1, standard TCP. The curve and its parameters are in [`crate::highspeed`]; a(w) is computed anew when the
//! window has moved by a quarter of a segment, which is at most 0.6 % of a(w). Source: RFC 3649.

use super::{Growth, PerAck};
use crate::highspeed::Curve;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// How far the window may move before a(w) is computed anew, segments.
const STEP: f64 = 0.25;

/// Additive increase by a(w).
#[derive(Debug, Clone)]
pub struct HighSpeed {
    curve: Box<Curve>,
    /// A window, segments, and its a(w).
    last: (f64, f64),
}

impl Member for HighSpeed {
    const INFO: Info = Info {
        name: "highspeed",
        summary: "opens large windows by more than a segment a round, so that they do not need drop rates no path has",
        formula: "slow start: per ACK; then cwnd += a(w)·MSS²/cwnd per ACK, a(w) = w²·p(w)·2·b(w)/(2 − b(w)), a(w ≤ 38) = 1",
        source: "RFC 3649, section 5",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { curve: Box::new(Curve::build(args)?), last: (1.0, 1.0) })
    }
}

impl Growth for HighSpeed {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return PerAck.on_ack(ack, w);
        }
        let segments = w.cwnd / w.mss;
        if (segments - self.last.0).abs() > STEP {
            self.last = (segments, self.curve.increase(segments));
        }
        w.cwnd += self.last.1 * w.mss * w.mss / w.cwnd;
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;
    use crate::Spec;

    fn rule() -> HighSpeed {
        HighSpeed::build(&mut Args::new(&Spec::named("highspeed"))).unwrap()
    }

    fn after_a_round_of(segments: u64) -> f64 {
        let mut w = window(segments as f64, 2.0);
        let mut growth = rule();
        (0..segments).for_each(|_| growth.on_ack(&ack(1000), &mut w));
        w.cwnd / w.mss - segments as f64
    }

    #[test]
    fn a_small_window_opens_as_per_ack_to_the_last_bit() {
        let (mut w, mut standard) = (window(5.0, 2.0), window(5.0, 2.0));
        let mut growth = rule();
        for _ in 0..600 {
            growth.on_ack(&ack(1000), &mut w);
            PerAck.on_ack(&ack(1000), &mut standard);
            assert_eq!(w.cwnd, standard.cwnd);
        }
        assert!(w.cwnd < 38_000.0);
    }

    #[test]
    fn a_large_window_opens_by_the_curve_in_a_round() {
        for (segments, increase) in [(118, 2.0), (347, 4.0), (8130, 26.0), (83_000, 72.5)] {
            let opened = after_a_round_of(segments);
            assert!((opened / increase - 1.0).abs() < 0.03, "{segments}: {opened}");
        }
    }

    #[test]
    fn a_fall_of_the_window_is_noticed() {
        let mut growth = rule();
        growth.on_ack(&ack(1000), &mut window(84_035.0, 2.0));
        let mut w = window(10.0, 2.0);
        growth.on_ack(&ack(1000), &mut w);
        assert_eq!(w.cwnd, 10_100.0);
    }
}
