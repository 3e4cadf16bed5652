//! Exponentially weighted moving average of rate samples: the plain estimator that NCPLD is compared with.
//!
//! B ← w·B + (1 − w)·L/T, with L the bits delivered by an ACK and T the time since the ACK before. `weight`: w, 0.9 (the
//! paper leaves it open). Biased upwards, since E\[L/T\] ≠ E\[L\]/E\[T\] (lp, equation 3.2). Source: lp, section 4.1.

use super::BandwidthEstimator;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Time, Window};

/// Mean of rate samples.
#[derive(Debug, Clone)]
pub struct Ewma {
    weight: f64,
    last: Option<Time>,
    /// Bits not yet in a sample, because no time had passed.
    waiting: f64,
    rate: Option<f64>,
}

impl Member for Ewma {
    const INFO: Info = Info {
        name: "ewma",
        summary: "exponentially weighted mean of the rate samples of ACKs",
        formula: "B = w·B + (1−w)·L/T, w = 0.9",
        source: "Martignon, NewReno-LP, section 4.1 (weight open)",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            weight: args.number("weight", 0.9, 0.0..=0.999_999)?,
            last: None,
            waiting: 0.0,
            rate: None,
        })
    }
}

impl BandwidthEstimator for Ewma {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        let Some(last) = self.last else {
            self.last = Some(ack.now);
            return;
        };
        self.waiting += ack.delivered as f64 * 8.0;
        if ack.now == last {
            return;
        }
        let sample = self.waiting / ((ack.now - last) as f64 / 1e9);
        self.rate = Some(self.rate.map_or(sample, |rate| self.weight * rate + (1.0 - self.weight) * sample));
        self.last = Some(ack.now);
        self.waiting = 0.0;
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_gaps_show_the_bias_of_rate_samples() {
        // Gaps T and 2T with L bits each: the true mean is 2L/3T, the mean of the samples 3L/4T (lp, figure 3.6).
        let mut ewma = Ewma { weight: 0.9999, last: None, waiting: 0.0, rate: None };
        let mut now = 0;
        for k in 0..200_000 {
            now += if k % 2 == 0 { 1_000_000 } else { 2_000_000 };
            ewma.on_ack(&Ack::of_bytes(now, 1000), &super::super::tests::window());
        }
        let samples_mean = 3.0 * 8000.0 / (4.0 * 1e-3);
        assert!((ewma.rate.unwrap() / samples_mean - 1.0).abs() < 1e-3, "{:?}", ewma.rate);
    }
}
