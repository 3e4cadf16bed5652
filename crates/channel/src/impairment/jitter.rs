//! Jitter: an extra delay drawn for each packet. Free jitter lets packets overtake one another, as paths through
//! parallel queues do; with `keep_order` a packet is held until those before it have arrived, as on a link whose rate or
//! whose ARQ varies. Delays that remember each other vary as a scheduler or a fading link has them vary: in time, and not
//! from packet to packet.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, nanos, normal, pareto, standard_normal, uniform, up_to};
use crate::{JitterDistribution, MAX_EXTRA, Packet, Span, Time};

#[derive(Debug, Clone)]
pub(crate) struct Jitter {
    distribution: JitterDistribution,
    /// 0: each delay is drawn anew.
    correlation_time: Span,
    /// The number behind the last delay, and when that was.
    last: Option<(Time, f64)>,
    keep_order: bool,
    /// When the latest packet so far arrives, the link's own delay aside.
    latest: Time,
    rng: Xoshiro256PlusPlus,
}

impl Jitter {
    pub fn new(
        distribution: JitterDistribution,
        correlation_time: Span,
        keep_order: bool,
        rng: Xoshiro256PlusPlus,
    ) -> Self {
        Self { distribution, correlation_time, last: None, keep_order, latest: Time::ZERO, rng }
    }

    /// A delay that knows nothing of those before it.
    fn draw(&mut self) -> Span {
        match self.distribution {
            JitterDistribution::Uniform { max } => Span::ns(up_to(&mut self.rng, max.nanos())),
            JitterDistribution::Normal { mean, sd } => normal(&mut self.rng, mean, sd),
            JitterDistribution::Pareto { scale, shape } => pareto(&mut self.rng, scale, shape),
            JitterDistribution::Table { ref table, mean, sd } => {
                nanos(mean.as_f64() + sd.as_f64() * table.quantile(uniform(&mut self.rng)))
            }
        }
    }

    /// The delay at `now`, by the one before.
    fn go_on(&mut self, now: Time) -> Span {
        let fresh = standard_normal(&mut self.rng);
        let normal = match self.last {
            None => fresh,
            Some((then, before)) => {
                let apart = now.saturating_sub(then).as_f64() / self.correlation_time.as_f64();
                let kept = libm::exp(-apart);
                kept * before + libm::sqrt(1.0 - kept * kept) * fresh
            }
        };
        self.last = Some((now, normal));
        // The share of a standard normal distribution above it.
        let above = 0.5 * libm::erfc(normal * std::f64::consts::FRAC_1_SQRT_2);
        match self.distribution {
            JitterDistribution::Uniform { max } => nanos((1.0 - above) * max.as_f64()),
            JitterDistribution::Normal { mean, sd } => nanos(mean.as_f64() + sd.as_f64() * normal),
            JitterDistribution::Pareto { scale, shape } => {
                nanos(libm::pow(above, -1.0 / shape) * scale.as_f64())
            }
            JitterDistribution::Table { ref table, mean, sd } => {
                nanos(mean.as_f64() + sd.as_f64() * table.quantile(1.0 - above))
            }
        }
    }
}

impl Impairment for Jitter {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        let extra = if self.correlation_time.is_zero() { self.draw() } else { self.go_on(packet.at) };
        passage.delay(extra);
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
            JitterDistribution::Table { ref table, mean, sd } => {
                mean.as_f64() + sd.as_f64() * table.range().1 <= 0.0
            }
        }
    }

    fn keeps_order(&self) -> bool {
        let constant = match self.distribution {
            JitterDistribution::Normal { sd, .. } => sd.is_zero(),
            JitterDistribution::Uniform { max } => max.is_zero(),
            JitterDistribution::Pareto { scale, .. } => scale.is_zero() || scale >= MAX_EXTRA,
            JitterDistribution::Table { ref table, sd, .. } => {
                let (least, most) = table.range();
                sd.is_zero() || least == most
            }
        };
        self.keep_order || constant
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::Impairment;
    use crate::impairment::interval::{assert_rate, fate, member};
    use crate::{DelayTable, Effect, Fate, JitterDistribution, Span};
    use std::borrow::Borrow;
    use std::sync::Arc;

    const MS: Span = Span::ms(1);

    fn delays(
        distribution: impl Borrow<JitterDistribution>,
        keep_order: bool,
        spacing: Span,
        n: u64,
    ) -> Vec<Span> {
        correlated(distribution, Span::ZERO, keep_order, spacing, n)
    }

    fn correlated(
        distribution: impl Borrow<JitterDistribution>,
        correlation_time: Span,
        keep_order: bool,
        spacing: Span,
        n: u64,
    ) -> Vec<Span> {
        let distribution = distribution.borrow().clone();
        let mut jitter = member(&Effect::Jitter { distribution, correlation_time, keep_order }, 1);
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

    /// Delays of 10 ms and 5 ms more for each standard deviation above the table's mean.
    fn by_table(text: &str) -> JitterDistribution {
        let table = Arc::new(DelayTable::parse("t.dist", text).unwrap());
        JitterDistribution::Table { table, mean: 10 * MS, sd: 5 * MS }
    }

    #[test]
    fn a_table_s_numbers_are_each_as_likely_as_the_others_with_a_memory_and_without() {
        let table = by_table("-32768 -8192 0 8192");
        for memory in [Span::ZERO, 20 * MS] {
            let n = 200_000;
            let delays = correlated(&table, memory, false, 10 * MS, n);
            // The lowest, of four standard deviations below the mean, is cut off at 0.
            for value in [Span::ZERO, 5 * MS, 10 * MS, 15 * MS] {
                let share = delays.iter().filter(|&&x| x == value).count() as f64 / n as f64;
                assert!((share - 0.25).abs() < 0.01, "{value:?}: {share}");
            }
        }
        let keeps = |text: &str| {
            let (distribution, correlation_time) = (by_table(text), Span::ZERO);
            member(&Effect::Jitter { distribution, correlation_time, keep_order: false }, 1).keeps_order()
        };
        assert!(keeps("7 7") && !keeps("7 8"));
    }

    #[test]
    fn held_packets_arrive_in_order_and_wide_spacing_holds_none() {
        let uniform = JitterDistribution::Uniform { max: 10 * MS };
        let free = delays(&uniform, false, MS, 10_000);
        let held = delays(&uniform, true, MS, 10_000);
        let arrivals: Vec<Span> = held.iter().enumerate().map(|(i, &x)| i as u64 * MS + x).collect();
        assert!(arrivals.is_sorted());
        // The same draws: each is held exactly until the latest one before it.
        let mut latest = Span::ZERO;
        for (i, (&free, &arrival)) in free.iter().zip(&arrivals).enumerate() {
            latest = latest.max(i as u64 * MS + free);
            assert_eq!(arrival, latest);
        }
        assert_eq!(delays(&uniform, true, 11 * MS, 1000), delays(&uniform, false, 11 * MS, 1000));
    }

    #[test]
    fn a_constant_delay_keeps_order() {
        let constant = JitterDistribution::Normal { mean: MS, sd: Span::ZERO };
        assert!(
            member(
                &Effect::Jitter {
                    distribution: constant.clone(),
                    correlation_time: Span::ZERO,
                    keep_order: false
                },
                1
            )
            .keeps_order()
        );
        assert_eq!(delays(constant, false, MS, 3), [MS; 3]);
    }

    /// The correlation of delays `lag` packets apart.
    fn correlation(delays: &[Span], lag: usize) -> f64 {
        let (mean, sd) = mean_and_sd(delays);
        let pairs = delays.iter().zip(&delays[lag..]);
        let product = |(a, b): (&Span, &Span)| (a.as_f64() - mean) * (b.as_f64() - mean);
        pairs.map(product).sum::<f64>() / (delays.len() - lag) as f64 / (sd * sd)
    }

    #[test]
    fn correlated_jitter_forgets_by_the_clock_and_not_by_packets() {
        let normal = JitterDistribution::Normal { mean: 100 * MS, sd: 10 * MS };
        // Over at least 20,000 correlation times the estimate's own deviation is below 0.01.
        for (spacing, step) in [(5 * MS, 1), (MS, 5)] {
            let delays = correlated(&normal, 50 * MS, false, spacing, 1_000_000);
            for lag in [1, 2, 5, 10, 20, 40] {
                let measured = correlation(&delays, lag * step);
                let expected = (-0.1 * lag as f64).exp();
                assert!((measured - expected).abs() < 0.03, "{spacing:?}, lag {lag}: {measured}, {expected}");
            }
            let (mean, sd) = mean_and_sd(&delays);
            near(mean, 1e8, 0.003);
            near(sd, 1e7, 0.02);
        }
    }

    #[test]
    fn correlated_jitter_has_the_distribution_that_was_asked_for() {
        let (n, spacing, memory) = (1_000_000, 10 * MS, 20 * MS);
        let uniform = correlated(JitterDistribution::Uniform { max: 10 * MS }, memory, false, spacing, n);
        let below = |share: u64| uniform.iter().filter(|x| **x < share * MS).count() as f64 / n as f64;
        (1..10).for_each(|share| near(below(share), share as f64 / 10.0, 0.02));
        let (scale, shape) = (MS, 3.0);
        let pareto = correlated(JitterDistribution::Pareto { scale, shape }, memory, false, spacing, n);
        let above = |times: u64| pareto.iter().filter(|x| **x > times * MS).count() as f64 / n as f64;
        [2u64, 3, 4].into_iter().for_each(|times| near(above(times), (times as f64).powi(-3), 0.05));
    }

    #[test]
    fn correlated_jitter_that_keeps_order_does_and_holds_no_longer_than_it_must() {
        let (pareto, memory) = (JitterDistribution::Pareto { scale: MS, shape: 1.2 }, 30 * MS);
        let spacing = Span::us(100);
        let free = correlated(&pareto, memory, false, spacing, 100_000);
        let held = correlated(&pareto, memory, true, spacing, 100_000);
        let mut latest = Span::ZERO;
        for (i, (&free, &held)) in free.iter().zip(&held).enumerate() {
            let came = i as u64 * spacing;
            assert!(came + held >= latest, "{i} overtakes");
            latest = latest.max(came + free);
            assert_eq!(came + held, latest);
        }
        let keeps = |keep_order| Effect::Jitter {
            distribution: pareto.clone(),
            correlation_time: memory,
            keep_order,
        };
        assert!(member(&keeps(true), 1).keeps_order() && !member(&keeps(false), 1).keeps_order());
    }
}
