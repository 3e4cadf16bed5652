//! Jitter: an extra delay drawn for each packet. Free jitter lets packets overtake one another, as paths through
//! parallel queues do; with `keep_order` a packet is held until those before it have arrived, as on a link whose rate or
//! whose ARQ varies.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, normal, pareto, up_to};
use crate::{JitterDistribution, MAX_EXTRA, Packet, Span, Time};

#[derive(Debug, Clone)]
pub(crate) struct Jitter {
    distribution: JitterDistribution,
    keep_order: bool,
    /// When the latest packet so far arrives, the link's own delay aside.
    latest: Time,
    rng: Xoshiro256PlusPlus,
}

impl Jitter {
    pub fn new(distribution: JitterDistribution, keep_order: bool, rng: Xoshiro256PlusPlus) -> Self {
        Self { distribution, keep_order, latest: Time::ZERO, rng }
    }
}

impl Impairment for Jitter {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        passage.delay(match self.distribution {
            JitterDistribution::Uniform { max } => Span::ns(up_to(&mut self.rng, max.nanos())),
            JitterDistribution::Normal { mean, sd } => normal(&mut self.rng, mean, sd),
            JitterDistribution::Pareto { scale, shape } => pareto(&mut self.rng, scale, shape),
        });
        if self.keep_order {
            // A packet that noise has lost holds the later ones up like any other: it travels, and arrives broken.
            let arrives = packet.at.saturating_add(passage.extra());
            passage.delay(self.latest.saturating_sub(arrives));
            self.latest = self.latest.max(arrives);
        }
    }

    fn is_clean(&self) -> bool {
        match self.distribution {
            JitterDistribution::Uniform { max } => max.is_zero(),
            JitterDistribution::Normal { mean, sd } => mean.is_zero() && sd.is_zero(),
            JitterDistribution::Pareto { scale, .. } => scale.is_zero(),
        }
    }

    fn keeps_order(&self) -> bool {
        let constant = match self.distribution {
            JitterDistribution::Normal { sd, .. } => sd.is_zero(),
            JitterDistribution::Uniform { max } => max.is_zero(),
            JitterDistribution::Pareto { scale, .. } => scale.is_zero() || scale >= MAX_EXTRA,
        };
        self.keep_order || constant
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::Impairment;
    use crate::impairment::interval::{assert_rate, fate, member};
    use crate::{Effect, Fate, JitterDistribution, Span};

    const MS: Span = Span::ms(1);

    fn delays(distribution: JitterDistribution, keep_order: bool, spacing: Span, n: u64) -> Vec<Span> {
        let mut jitter = member(&Effect::Jitter { distribution, keep_order }, 1);
        let extra = |i| match fate(&mut jitter, i * spacing) {
            Fate::Arrives { extra, copy: None } => extra,
            other => panic!("jitter only delays: {other:?}"),
        };
        (0..n).map(extra).collect()
    }

    fn mean_and_sd(delays: &[Span]) -> (f64, f64) {
        let n = delays.len() as f64;
        let mean = delays.iter().map(|&x| x.as_f64()).sum::<f64>() / n;
        let variance = delays.iter().map(|&x| (x.as_f64() - mean) * (x.as_f64() - mean)).sum::<f64>() / n;
        (mean, variance.sqrt())
    }

    fn near(measured: f64, expected: f64, share: f64) {
        assert!((measured / expected - 1.0).abs() < share, "measured {measured}, expected {expected}");
    }

    #[test]
    fn uniform_jitter_has_its_moments_and_range() {
        let delays = delays(JitterDistribution::Uniform { max: 10 * MS }, false, MS, 200_000);
        let (mean, sd) = mean_and_sd(&delays);
        near(mean, 5e6, 0.01);
        near(sd, 1e7 / 12f64.sqrt(), 0.01);
        assert!(delays.iter().all(|&x| x <= 10 * MS));
    }

    #[test]
    fn normal_jitter_has_its_moments() {
        let normal = JitterDistribution::Normal { mean: 20 * MS, sd: 4 * MS };
        let (mean, sd) = mean_and_sd(&delays(normal, false, MS, 200_000));
        near(mean, 2e7, 0.005);
        near(sd, 4e6, 0.01);
    }

    #[test]
    fn pareto_jitter_has_its_mean_and_tail() {
        let (scale, shape) = (MS, 3.0);
        let delays = delays(JitterDistribution::Pareto { scale, shape }, false, MS, 200_000);
        near(mean_and_sd(&delays).0, 1.5e6, 0.01);
        let long = delays.iter().filter(|&&x| x > 4 * MS).count() as u64;
        assert_rate(long, 200_000, 1.0 / 64.0);
    }

    #[test]
    fn held_packets_arrive_in_order_and_wide_spacing_holds_none() {
        let uniform = JitterDistribution::Uniform { max: 10 * MS };
        let free = delays(uniform, false, MS, 10_000);
        let held = delays(uniform, true, MS, 10_000);
        let arrivals: Vec<Span> = held.iter().enumerate().map(|(i, &x)| i as u64 * MS + x).collect();
        assert!(arrivals.is_sorted());
        // The same draws: each is held exactly until the latest one before it.
        let mut latest = Span::ZERO;
        for (i, (&free, &arrival)) in free.iter().zip(&arrivals).enumerate() {
            latest = latest.max(i as u64 * MS + free);
            assert_eq!(arrival, latest);
        }
        assert_eq!(delays(uniform, true, 11 * MS, 1000), delays(uniform, false, 11 * MS, 1000));
    }

    #[test]
    fn a_constant_delay_keeps_order() {
        let constant = JitterDistribution::Normal { mean: MS, sd: Span::ZERO };
        assert!(member(&Effect::Jitter { distribution: constant, keep_order: false }, 1).keeps_order());
        assert_eq!(delays(constant, false, MS, 3), [MS; 3]);
    }
}
