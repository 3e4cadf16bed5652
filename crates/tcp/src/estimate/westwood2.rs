//! The second filter of TCP Westwood: rate samples, and a pole that follows the time between them.
//!
//! s = L/T, T the time since the ACK before; B ← p·B + (1 − p)/2·(s + s'), p = (2τ − Δ)/(2τ + Δ), τ = 0.5 s, Δ the time
//! since the filter's last sample. Where τ/2 passes without an ACK the filter takes a virtual sample of nothing. Source:
//! Mascolo et al., "TCP Westwood", 2001; Casetti et al. 2002; lp, algorithm 3.2.2.
//!
//! Choices: the first sample starts B. Virtual samples are made up for when the filter next hears of the time: at an
//! ACK, at a departure, at a loss event. After one, the next ACK's sample is still over all the time since the ACK
//! before, its weight over what the virtual ones left; so the pole is never below 0.6.

use super::BandwidthEstimator;
use super::stream::Stream;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Departure, Span, Time, Window};

/// Pole by interval.
#[derive(Debug, Clone)]
pub struct Westwood2 {
    tau: Span,
    acks: Stream,
    /// When the filter took its last sample.
    sampled: Time,
    before: f64,
    rate: Option<f64>,
}

impl Member for Westwood2 {
    const INFO: Info = Info {
        name: "westwood-2",
        summary: "filters the rate samples of ACKs with a pole that follows their spacing",
        formula: "B = p·B + (1−p)/2·(s + s'), s = L/T, p = (2τ−T)/(2τ+T), τ = 0.5 s; a sample of 0 after each τ/2 without ACK",
        source: "Mascolo et al. 2001; Martignon, NewReno-LP, algorithm 3.2.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let tau = args.time("tau", Span::ms(500), super::SPAN)?;
        Ok(Self { tau, acks: Stream::default(), sampled: Time::ZERO, before: 0.0, rate: None })
    }
}

impl Westwood2 {
    /// p for a sample `span` after the last one.
    fn pole(&self, span: Span) -> f64 {
        let (twice, span) = (2.0 * self.tau.as_f64(), span.as_f64());
        (twice - span) / (twice + span)
    }

    /// Takes `sample`, `span` after the last one.
    fn take(&mut self, sample: f64, span: Span) {
        let pole = self.pole(span);
        self.rate =
            Some(self.rate.map_or(sample, |rate| pole * rate + (1.0 - pole) / 2.0 * (sample + self.before)));
        self.before = sample;
    }
}

impl BandwidthEstimator for Westwood2 {
    fn on_sent(&mut self, sent: &Departure) {
        self.advance(sent.now);
    }

    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        self.advance(ack.now);
        let Some(sample) = self.acks.add(ack.now, ack.delivered) else { return };
        self.take(sample.rate(), ack.now.saturating_sub(self.sampled));
        self.sampled = ack.now;
    }

    fn advance(&mut self, now: Time) {
        if self.rate.is_none() {
            return;
        }
        let step = self.tau / 2;
        // Those that fell before `now`; an ACK at the very end of a step is still in time.
        let missed = now.saturating_sub(self.sampled).saturating_sub(Span::ns(1)).ticks(step);
        if missed > 0 {
            self.take(0.0, step);
            let rest = libm::pow(self.pole(step), (missed - 1) as f64);
            self.rate = self.rate.map(|rate| rate * rest);
            self.sampled += missed * step;
        }
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{feed, window};
    use super::*;
    use crate::Spec;
    use crate::estimate::AnyEstimator;

    #[test]
    fn two_samples_by_hand() {
        // 8000 bit in 100 ms, then in 200 ms: s = 80 and 40 kbit/s; the pole is (1 − 0.2)/(1 + 0.2) = 2/3.
        let rates =
            feed("westwood-2", &[], &[(Time::ZERO, 1000), (Time::ms(100), 1000), (Time::ms(300), 1000)]);
        assert_eq!(rates[..2], [None, Some(80e3)]);
        let expected = 2.0 / 3.0 * 80e3 + 1.0 / 6.0 * (40e3 + 80e3);
        assert!((rates[2].unwrap() - expected).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn silence_counts_as_samples_of_nothing_whoever_tells_the_time() {
        // 80 kbit/s, then nothing: at 250 ms of silence p = 0.6 and B = 0.6·80 + 0.2·80 = 64 kbit/s; from then on 0.6·B.
        for by_departures in [false, true] {
            let (mut westwood, _) = AnyEstimator::build(&Spec::named("westwood-2")).unwrap();
            westwood.on_ack(&Ack::of_bytes(Time::ZERO, 1000), &window());
            westwood.on_ack(&Ack::of_bytes(Time::ms(100), 1000), &window());
            let mut rate_at = |now| {
                if by_departures {
                    westwood.on_sent(&Departure::of_bytes(now, 1000));
                } else {
                    westwood.advance(now);
                }
                westwood.bits_per_second().unwrap()
            };
            assert_eq!(rate_at(Time::ms(350)), 80e3);
            assert!((rate_at(Time::ms(351)) - 64e3).abs() < 1e-6);
            assert!((rate_at(Time::ms(1101)) - 64e3 * 0.216).abs() < 1e-6);
        }
    }

    #[test]
    fn the_ack_that_ends_a_silence_counts_over_all_of_it() {
        // 8000 bit in 100 ms, 24,000 bit in 300 ms: the virtual sample at 250 ms takes B from 80 to 64 kbit/s; the ACK,
        // 50 ms on, is a sample of 80 kbit/s with p = 0.95/1.05.
        let rates =
            feed("westwood-2", &[], &[(Time::ZERO, 1000), (Time::ms(100), 1000), (Time::ms(400), 3000)]);
        let pole = 0.95 / 1.05;
        let expected = pole * 64e3 + (1.0 - pole) / 2.0 * 80e3;
        assert!((rates[2].unwrap() - expected).abs() < 1e-6, "{rates:?} {expected}");
    }
}
