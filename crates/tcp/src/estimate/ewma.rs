//! Exponentially weighted moving average of rate samples: the plain estimator that NCPLD is compared with.
//!
//! B ← w·B + (1 − w)·L/T, with L the bits delivered by an ACK and T the time since the ACK before. `weight`: w, 0.9 (the
//! paper leaves it open). Biased upwards, since E\[L/T\] ≠ E\[L\]/E\[T\] (lp, equation 3.2). Source: lp, section 5.3.1.

use super::BandwidthEstimator;
use super::stream::Stream;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// Mean of rate samples.
#[derive(Debug, Clone)]
pub struct Ewma {
    weight: f64,
    acks: Stream,
    rate: Option<f64>,
}

impl Member for Ewma {
    const INFO: Info = Info {
        name: "ewma",
        summary: "exponentially weighted mean of the rate samples of ACKs",
        formula: "B = w·B + (1−w)·L/T, w = 0.9",
        source: "Martignon, NewReno-LP, section 5.3.1 (weight open)",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let weight = args.number("weight", 0.9, super::POLE)?;
        Ok(Self { weight, acks: Stream::default(), rate: None })
    }
}

impl BandwidthEstimator for Ewma {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        let Some(sample) = self.acks.add(ack.now, ack.delivered) else { return };
        let sample = sample.rate();
        self.rate = Some(self.rate.map_or(sample, |rate| self.weight * rate + (1.0 - self.weight) * sample));
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::alternating;
    use crate::Arg;

    #[test]
    fn alternating_gaps_show_the_bias_of_rate_samples() {
        // Gaps T and 2T with L bits each: the true mean is 2L/3T, the mean of the samples 3L/4T (lp, figure 3.6).
        let mean = alternating("ewma", &[("weight", Arg::Number(0.9999))]);
        let samples_mean = 3.0 * 8000.0 / (4.0 * 1e-3);
        assert!((mean / samples_mean - 1.0).abs() < 1e-3, "{mean}");
    }
}
