//! HighSpeed TCP's response: the larger the window, the smaller the part that a loss takes.
//!
//! ssthresh = max((1 − b(w))·flight, 2 MSS), w = flight in segments; cwnd = ssthresh, or 1 MSS on a timeout. Up to
//! Low_Window this is [`super::Halve`]. The curve and its parameters are in [`crate::highspeed`]. The window is what is
//! in flight, as in RFC 5681, equation 4. Source: RFC 3649, section 5.

use super::LossResponse;
use crate::highspeed::Curve;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, LossKind, Window};

/// Multiplicative decrease by b(w).
#[derive(Debug, Clone)]
pub struct HighSpeed {
    curve: Box<Curve>,
}

impl Member for HighSpeed {
    const INFO: Info = Info {
        name: "highspeed",
        summary: "takes every loss for congestion, and a smaller part of a larger window",
        formula: "ssthresh = max((1 − b(w))·flight, 2·MSS); cwnd = ssthresh (timeout: 1 MSS); b falls from 0.5 at 38 to 0.1 at 83,000",
        source: "RFC 3649, section 5",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { curve: Box::new(Curve::build(args)?) })
    }
}

impl LossResponse for HighSpeed {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let flight = w.flight as f64;
        w.ssthresh = (flight * (1.0 - self.curve.decrease(flight / w.mss))).max(2.0 * w.mss);
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
    use super::super::{Halve, LossResponse};
    use super::*;
    use crate::Spec;

    fn rule() -> HighSpeed {
        HighSpeed::build(&mut Args::new(&Spec::named("highspeed"))).unwrap()
    }

    #[test]
    fn a_small_window_is_halved() {
        for kind in [LossKind::DupAcks, LossKind::Timeout] {
            for flight in [0, 1000, 9000, 38_000] {
                let (mut w, mut standard) = (window(flight), window(flight));
                rule().on_loss(&loss(kind), &mut w);
                Halve.on_loss(&loss(kind), &mut standard);
                assert_eq!(w, standard);
            }
        }
    }

    #[test]
    fn a_large_window_loses_the_part_that_the_curve_says() {
        let mut w = window(83_000_000);
        rule().on_loss(&loss(LossKind::DupAcks), &mut w);
        assert!((w.cwnd - 74_700_000.0).abs() < 1.0, "{}", w.cwnd);
        assert_eq!(w.ssthresh, w.cwnd);
        rule().on_loss(&loss(LossKind::Timeout), &mut w);
        assert!((w.ssthresh - 74_700_000.0).abs() < 1.0 && w.cwnd == 1000.0);
    }
}
