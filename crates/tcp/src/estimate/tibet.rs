//! TIBET, time intervals based bandwidth estimation technique: length and interval are averaged apart.
//!
//! len ← α·len + (1 − α)·L, gap ← α·gap + (1 − α)·T, α = 0.99; b = len/gap: a quotient of means has no bias, where a mean
//! of quotients has one (lp, equation 3.2). Then B ← (1 − e^(−T/T0))·b + e^(−T/T0)·B, T0 = 1 s (`smoother`, `t0`). Either
//! on the segments sent (`on = "sent"`, as for all of the paper's results; retransmissions count) or on the ACKs
//! (`on = "acks"`, as inside NCPLD). Source: Capone, Fratta and Martignon 2004; lp, section 3.3, algorithms 3.3.1 and
//! 3.3.2, equation 3.5.
//!
//! Choices: a gap is capped at nothing; the first sample starts both filters.

use super::BandwidthEstimator;
use super::csfq::Smoother;
use super::stream::{Sample, Stream};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Departure, Span, Time, Window};

/// Two filters and a quotient.
#[derive(Debug, Clone)]
pub struct Tibet {
    alpha: f64,
    on_sent: bool,
    smoother: Option<Smoother>,
    events: Stream,
    /// Mean bits and mean seconds of a sample.
    means: Option<Sample>,
}

impl Member for Tibet {
    const INFO: Info = Info {
        name: "tibet",
        summary: "divides the mean length by the mean interval of segments sent, or of ACKs",
        formula: "b = len/gap, len = α·len + (1−α)·L, gap = α·gap + (1−α)·T; B = (1 − e^(−T/T0))·b + e^(−T/T0)·B; α = 0.99, T0 = 1 s",
        source: "Capone, Fratta and Martignon 2004; Martignon, NewReno-LP, section 3.3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let alpha = args.number("alpha", 0.99, super::POLE)?;
        let on_sent = args.choice("on", &["sent", "acks"])? == "sent";
        let smooth = args.flag("smoother", true)?;
        let t0 = args.time("t0", Span::s(1), super::SPAN)?;
        let smoother = smooth.then(|| Smoother::new(t0));
        Ok(Self { alpha, on_sent, smoother, events: Stream::default(), means: None })
    }
}

impl Tibet {
    fn take(&mut self, now: Time, bytes: u64) {
        let Some(sample) = self.events.add(now, bytes) else { return };
        let mix = |mean: f64, new: f64| self.alpha * mean + (1.0 - self.alpha) * new;
        let means = self.means.map_or(sample, |m| Sample {
            bits: mix(m.bits, sample.bits),
            seconds: mix(m.seconds, sample.seconds),
        });
        self.means = Some(means);
        if let Some(smoother) = &mut self.smoother {
            smoother.take(means.rate(), sample.seconds);
        }
    }
}

impl BandwidthEstimator for Tibet {
    fn on_sent(&mut self, sent: &Departure) {
        if self.on_sent {
            self.take(sent.now, u64::from(sent.bytes));
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        if !self.on_sent {
            self.take(ack.now, ack.delivered);
        }
    }

    fn bits_per_second(&self) -> Option<f64> {
        match &self.smoother {
            Some(smoother) => smoother.value(),
            None => self.means.map(Sample::rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{alternating, feed};
    use crate::{Arg, Span, Time};

    fn plain(on: &str, alpha: f64) -> [(&'static str, Arg); 3] {
        let on = Arg::Name(on.to_owned());
        [("on", on), ("alpha", Arg::Number(alpha)), ("smoother", Arg::Flag(false))]
    }

    #[test]
    fn three_samples_by_hand_on_either_side() {
        // 8000 bit/10 ms, 8000 bit/20 ms, 4000 bit/5 ms with α = 0.9:
        // len 8000, 8000, 7600; gap 10, 11, 10.4 ms.
        let events = [(0, 1000), (10, 1000), (30, 1000), (35, 500)].map(|(ms, bytes)| (Time::ms(ms), bytes));
        for on in ["sent", "acks"] {
            let rates = feed("tibet", &plain(on, 0.9), &events);
            assert_eq!(rates[0], None);
            for (rate, expected) in rates[1..].iter().zip([800e3, 8000.0 / 0.011, 7600.0 / 0.0104]) {
                assert!((rate.unwrap() - expected).abs() < 1e-6, "{on}: {rates:?}");
            }
        }
    }

    #[test]
    fn the_smoother_follows_by_the_time_between_estimates() {
        // b = 800 kbit/s, then 8000/0.011 bit/s, 1 s of T0 = 1 s apart.
        let args = [("t0", Arg::Time(Span::ms(20))), ("alpha", Arg::Number(0.9))];
        let rates = feed("tibet", &args, &[(Time::ZERO, 1000), (Time::ms(10), 1000), (Time::ms(30), 1000)]);
        let past = (-1.0f64).exp();
        let expected = (1.0 - past) * 8000.0 / 0.011 + past * 800e3;
        assert!((rates[2].unwrap() - expected).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn alternating_gaps_leave_no_bias() {
        // 2L/3T, where a filter of rate samples finds 3L/4T: a bias of L/12T, of which the first term of its series
        // is 2L/27T (lp, figure 3.6).
        let (l, t) = (8000.0, 1e-3);
        let mean = alternating("tibet", &plain("acks", 0.9999));
        assert!((mean / (2.0 * l / (3.0 * t)) - 1.0).abs() < 1e-4, "{mean}");
        let biased = alternating("ewma", &[("weight", Arg::Number(0.9999))]);
        let bias = (biased - mean) / (l / t);
        assert!((bias - 1.0 / 12.0).abs() < 1e-3 && (bias - 2.0 / 27.0).abs() < 0.01, "{bias}");
    }

    #[test]
    fn it_hears_only_the_side_it_listens_to() {
        use super::super::tests::window;
        use crate::estimate::{AnyEstimator, BandwidthEstimator};
        use crate::{Ack, Departure, Spec};
        for (on, heard) in [("sent", [true, false]), ("acks", [false, true])] {
            let spec = Spec::named("tibet").with("on", Arg::Name(on.to_owned()));
            for (side, heard) in heard.into_iter().enumerate() {
                let (mut tibet, _) = AnyEstimator::build(&spec).unwrap();
                for now in [0, 1, 2].map(Time::ms) {
                    match side {
                        0 => tibet.on_sent(&Departure::of_bytes(now, 1000)),
                        _ => tibet.on_ack(&Ack::of_bytes(now, 1000), &window()),
                    }
                }
                assert_eq!(tibet.bits_per_second().is_some(), heard, "{on}");
            }
        }
    }
}
