//! The rate estimator of Core-Stateless Fair Queueing, at the sender.
//!
//! B ← (1 − e^(−T/K))·L/T + e^(−T/K)·B: the longer a sample lasted, the more it weighs, which takes most of the bias of
//! rate samples away. K = 0.5 s; the paper also shows 20 s. The first sample starts B (choice). Source: Stoica, Shenker
//! and Zhang 1998; lp, section 3.2.4, equation 3.3.

use super::BandwidthEstimator;
use super::stream::{Sample, Stream};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Span, Window};

/// Weights by duration.
#[derive(Debug, Clone)]
pub struct Csfq {
    smoother: Smoother,
    acks: Stream,
}

/// A low-pass filter of samples that come at any spacing: the past decays by e^(−T/K).
#[derive(Debug, Clone)]
pub(super) struct Smoother {
    /// K, in seconds.
    constant: f64,
    value: Option<f64>,
    /// The last spacing in seconds and its e^(−T/K): segments that leave a bottleneck are evenly spaced.
    last: (f64, f64),
}

impl Smoother {
    pub(super) fn new(constant: Span) -> Self {
        Self { constant: constant.seconds(), value: None, last: (0.0, 1.0) }
    }

    /// Takes `sample`, which lasted for `seconds`.
    pub(super) fn take(&mut self, sample: f64, seconds: f64) {
        if seconds != self.last.0 {
            self.last = (seconds, libm::exp(-seconds / self.constant));
        }
        let past = self.last.1;
        self.value = Some(self.value.map_or(sample, |value| (1.0 - past) * sample + past * value));
    }

    pub(super) fn value(&self) -> Option<f64> {
        self.value
    }
}

impl Member for Csfq {
    const INFO: Info = Info {
        name: "csfq",
        summary: "averages the rate samples of ACKs, each weighted by how long it lasted",
        formula: "B = (1 − e^(−T/K))·L/T + e^(−T/K)·B, K = 0.5 s",
        source: "Stoica, Shenker and Zhang 1998; Martignon, NewReno-LP, equation 3.3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let k = args.time("k", Span::ms(500), super::SPAN)?;
        Ok(Self { smoother: Smoother::new(k), acks: Stream::default() })
    }
}

impl BandwidthEstimator for Csfq {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        if let Some(sample @ Sample { seconds, .. }) = self.acks.add(ack.now, ack.delivered) {
            self.smoother.take(sample.rate(), seconds);
        }
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.smoother.value()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{alternating, feed};
    use crate::{Arg, Span, Time};

    #[test]
    fn a_sample_that_lasted_k_weighs_as_much_as_the_past_loses_to_e() {
        // 8000 bit in 1 s, then in 0.5 s = K: 8 and 16 kbit/s.
        let rates = feed("csfq", &[], &[(Time::ZERO, 1000), (Time::s(1), 1000), (Time::ms(1500), 1000)]);
        assert_eq!(rates[..2], [None, Some(8e3)]);
        let past = (-1.0f64).exp();
        assert!((rates[2].unwrap() - ((1.0 - past) * 16e3 + past * 8e3)).abs() < 1e-9, "{rates:?}");
    }

    #[test]
    fn with_a_long_constant_alternating_gaps_leave_no_bias() {
        let mean = alternating("csfq", &[("k", Arg::Time(Span::s(20)))]);
        assert!((mean / (2.0 * 8000.0 / 3e-3) - 1.0).abs() < 1e-3, "{mean}");
    }
}
