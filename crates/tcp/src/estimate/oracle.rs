//! The ideal estimator: told the truth by the laboratory. It exists only where the truth is known.
//!
//! B = (rate of the bottleneck − rate of its other traffic) / number of its TCP flows, and the exact round-trip time
//! without queueing, as of the last ACK. Source: lp, section 3.3.3, algorithm 3.3.5.

use super::BandwidthEstimator;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, PathTruth, Span, Truth, Window};

/// Knows.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    told: Option<PathTruth>,
    truth: Option<PathTruth>,
}

impl Member for Oracle {
    const INFO: Info = Info {
        name: "oracle",
        summary: "is told the available bandwidth and the exact round-trip time by the network: the upper bound",
        formula: "B = (bottleneck − other traffic) / TCP flows on it; RTTmin = RTT without queueing",
        source: "Martignon, NewReno-LP, algorithm 3.3.5",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl BandwidthEstimator for Oracle {
    fn on_ack(&mut self, _: &Ack, _: &Window) {
        self.truth = self.told;
    }

    fn reveal(&mut self, truth: Truth) {
        if let Truth::Path(path) = truth {
            self.told = Some(path);
        }
    }

    fn wants_truth(&self) -> bool {
        true
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.truth.map(|truth| truth.available).filter(|rate| rate.is_finite() && *rate >= 0.0)
    }

    fn rtt_min(&self) -> Option<Span> {
        self.truth.map(|truth| truth.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::Time;

    #[test]
    fn it_says_what_it_is_told_and_nothing_where_nobody_knows() {
        let mut oracle = Oracle::default();
        oracle.on_ack(&Ack::of_bytes(Time::ns(1), 1000), &window());
        assert_eq!((oracle.bits_per_second(), oracle.rtt_min()), (None, None));
        oracle.reveal(Truth::Path(PathTruth { available: 3e6, rtt: Span::ms(50) }));
        assert_eq!(oracle.bits_per_second(), None, "as of the last ACK");
        oracle.on_ack(&Ack::of_bytes(Time::ns(2), 1000), &window());
        assert_eq!((oracle.bits_per_second(), oracle.rtt_min()), (Some(3e6), Some(Span::ms(50))));
    }
}
