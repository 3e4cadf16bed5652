//! The first filter of TCP Westwood: a fixed pole over rate samples.
//!
//! s = L/T; B ← β·B + (1 − β)/2·(s + s'), with s' the sample before and β = 19/21. The first sample starts B. Biased as
//! every filter of rate samples is (lp, equation 3.2). Source: Mascolo et al., UCLA technical report 200017, 2000; lp,
//! algorithm 3.2.1.

use super::BandwidthEstimator;
use super::stream::Stream;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// Fixed pole.
#[derive(Debug, Clone)]
pub struct Westwood1 {
    beta: f64,
    acks: Stream,
    before: f64,
    rate: Option<f64>,
}

impl Member for Westwood1 {
    const INFO: Info = Info {
        name: "westwood-1",
        summary: "filters the rate samples of ACKs with a fixed pole",
        formula: "B = β·B + (1−β)/2·(s + s'), s = L/T, s' the sample before, β = 19/21",
        source: "Mascolo et al. 2000; Martignon, NewReno-LP, algorithm 3.2.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let beta = args.number("beta", 19.0 / 21.0, super::POLE)?;
        Ok(Self { beta, acks: Stream::default(), before: 0.0, rate: None })
    }
}

impl BandwidthEstimator for Westwood1 {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        let Some(sample) = self.acks.add(ack.now, ack.delivered) else { return };
        let sample = sample.rate();
        self.rate = Some(
            self.rate
                .map_or(sample, |rate| self.beta * rate + (1.0 - self.beta) / 2.0 * (sample + self.before)),
        );
        self.before = sample;
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{alternating, feed};
    use crate::{Arg, Time};

    #[test]
    fn two_samples_by_hand() {
        // 8000 bit in 1 ms, then in 2 ms: s = 8 and 4 Mbit/s; B = 19/21·8 + 1/21·(4 + 8) Mbit/s.
        let rates = feed("westwood-1", &[], &[(Time::ZERO, 1000), (Time::ms(1), 1000), (Time::ms(3), 1000)]);
        assert_eq!(rates[..2], [None, Some(8e6)]);
        assert!((rates[2].unwrap() - 164e6 / 21.0).abs() < 1e-3, "{rates:?}");
    }

    #[test]
    fn alternating_gaps_show_the_bias_of_rate_samples() {
        let mean = alternating("westwood-1", &[("beta", Arg::Number(0.9999))]);
        assert!((mean / (3.0 * 8000.0 / 4e-3) - 1.0).abs() < 1e-3, "{mean}");
    }
}
