//! How fast the path is for this flow: estimators of bandwidth from ACK arrivals or from departures.
//!
//! An estimator hears every segment sent and every ACK, in order of time; it may use either. It answers in bit/s once
//! it has heard enough, and its answer is always finite and not negative, whatever it was fed: zero intervals are
//! merged with the next sample, gaps may be hours long.

mod ewma;

pub use ewma::Ewma;

use crate::spec::family;
use crate::{Ack, Time};

/// The contract of a bandwidth estimator.
pub trait BandwidthEstimator {
    /// A segment with `bytes` of payload was sent, or sent again.
    fn on_sent(&mut self, _now: Time, _bytes: u32) {}
    /// An ACK has come; `ack.delivered` is what it shows to have been delivered.
    fn on_ack(&mut self, _ack: &Ack) {}
    /// The estimate, bit/s; `None` before there is one.
    fn bits_per_second(&self) -> Option<f64>;
}

family! {
    /// Any bandwidth estimator.
    pub enum AnyEstimator: BandwidthEstimator, "bandwidth estimator" { Ewma }
    fn on_sent(&mut self, now: Time, bytes: u32);
    fn on_ack(&mut self, ack: &Ack);
    fn bits_per_second(&self) -> Option<f64>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use proptest::prelude::*;

    fn ack(now: Time, delivered: u64) -> Ack {
        Ack { now, ack: 0, newly_acked: delivered, delivered, duplicate: false, rtt: None, sent: None }
    }

    #[test]
    fn every_member_finds_a_constant_rate() {
        for member in AnyEstimator::MEMBERS {
            let (mut estimator, _) = AnyEstimator::build(&Spec::named(member.name)).unwrap();
            assert_eq!(estimator.bits_per_second(), None);
            for k in 0..5000 {
                let now = k * 1_200_000; // 1500 B at 10 Mbit/s
                estimator.on_sent(now, 1500);
                estimator.on_ack(&ack(now, 1500));
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
                    estimator.on_ack(&ack(now, bytes));
                    estimator.on_ack(&ack(now, bytes)); // no time at all between two ACKs
                    let rate = estimator.bits_per_second().unwrap_or(0.0);
                    prop_assert!(rate.is_finite() && rate >= 0.0, "{}: {}", member.name, rate);
                }
            }
        }
    }
}
