//! How fast the path is for this flow: estimators of bandwidth from ACK arrivals or from departures.
//!
//! An estimator hears every segment sent and every ACK, in order of time; it may use either. It answers in bit/s once
//! it has heard enough, and its answer is always finite and not negative, whatever it was fed: zero intervals are
//! merged with the next sample, gaps may be hours long.

mod ewma;

pub use ewma::Ewma;

use crate::spec::family;
use crate::{Ack, Departure, Nanos, Window};

/// The contract of a bandwidth estimator.
pub trait BandwidthEstimator {
    /// A data segment was sent, or sent again.
    fn on_sent(&mut self, _sent: &Departure) {}
    /// An ACK has come; `ack.delivered` is what it shows to have been delivered, `w` the window before it changes.
    fn on_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// The estimate, bit/s; `None` before there is one.
    fn bits_per_second(&self) -> Option<f64>;
    /// The smallest round-trip time, where it knows better than the window.
    fn rtt_min(&self) -> Option<Nanos> {
        None
    }
}

family! {
    /// Any bandwidth estimator.
    pub enum AnyEstimator: BandwidthEstimator, "bandwidth estimator" { Ewma }
    fn on_sent(&mut self, sent: &Departure);
    fn on_ack(&mut self, ack: &Ack, w: &Window);
    fn bits_per_second(&self) -> Option<f64>;
    fn rtt_min(&self) -> Option<Nanos>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use proptest::prelude::*;

    /// What an estimator is told beside arrivals: a window of ten segments and a round-trip time of 100 ms.
    pub(super) fn window() -> Window {
        crate::growth::tests::window(10.0, 5.0)
    }

    #[test]
    fn every_member_finds_a_constant_rate() {
        for member in AnyEstimator::MEMBERS {
            let (mut estimator, _) = AnyEstimator::build(&Spec::named(member.name)).unwrap();
            assert_eq!(estimator.bits_per_second(), None);
            for k in 0..5000 {
                let now = k * 1_200_000; // 1500 B at 10 Mbit/s
                estimator.on_sent(&Departure::of_bytes(now, 1500));
                estimator.on_ack(&Ack::of_bytes(now, 1500), &window());
            }
            let rate = estimator.bits_per_second().unwrap();
            assert!((rate / 10e6 - 1.0).abs() < 0.01, "{}: {rate}", member.name);
        }
    }

    proptest! {
        #[test]
        fn every_member_stays_finite(gaps in prop::collection::vec((0u64..1 << 50, 0u64..1 << 40), 1..60)) {
            for member in AnyEstimator::MEMBERS {
                let (mut estimator, _) = AnyEstimator::build(&Spec::named(member.name)).unwrap();
                let mut now = 0;
                for &(gap, bytes) in &gaps {
                    now += gap;
                    estimator.on_ack(&Ack::of_bytes(now, bytes), &window());
                    estimator.on_ack(&Ack::of_bytes(now, bytes), &window()); // no time at all between two ACKs
                    let rate = estimator.bits_per_second().unwrap_or(0.0);
                    prop_assert!(rate.is_finite() && rate >= 0.0, "{}: {}", member.name, rate);
                }
            }
        }
    }
}
