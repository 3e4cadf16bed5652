//! Correlated loss as Linux's netem defines it (`tc-netem`, `loss random P% CORRELATION%`; `get_crandom` in
//! `net/sched/sch_netem.c`): x ← ρ·x + (1 − ρ)·u with u uniform in [0, 1), lost if x < per. It is here to compare with
//! measurements made on netem.
//!
//! The packet error rate is not `per`. The averaging keeps x's mean of ½ but shrinks its variance to (1 − ρ)/(1 + ρ)
//! of the uniform one, so x seldom comes near 0: with ρ = ½, a `per` of 10 % loses 0.11 % and a `per` of 1 % practically
//! nothing. Above ½ the distortion has the other sign. For a burst model that keeps its rate use Gilbert.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, uniform};
use crate::{Loss, Packet};

#[derive(Debug, Clone)]
pub(crate) struct Correlated {
    per: f64,
    correlation: f64,
    last: f64,
    rng: Xoshiro256PlusPlus,
}

impl Correlated {
    pub fn new(per: f64, correlation: f64, mut rng: Xoshiro256PlusPlus) -> Self {
        let last = uniform(&mut rng);
        Self { per, correlation, last, rng }
    }
}

impl Impairment for Correlated {
    #[inline]
    fn act(&mut self, _: &Packet, passage: &mut Passage) {
        let new = uniform(&mut self.rng);
        self.last = self.correlation * self.last + (1.0 - self.correlation) * new;
        // Rounding may bring x up to 1, which a rate of 1 must lose as well.
        if self.last < self.per || self.per >= 1.0 {
            passage.lose(Loss::Error);
        }
    }

    fn is_clean(&self) -> bool {
        self.per <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::interval::{assert_rate, lost};
    use crate::{Span, stream};

    /// P(x < p) in the stationary state, from x' = ρ·x + (1 − ρ)·u: F(p) is the mean of F over the interval
    /// [(p − (1 − ρ))/ρ, p/ρ]. Solved by iteration on a grid.
    fn stationary_rate(p: f64, rho: f64) -> f64 {
        const N: usize = 20_000;
        let mut f: Vec<f64> = (0..=N).map(|i| i as f64 / N as f64).collect();
        for _ in 0..60 {
            // integral[i]: of F from 0 to i/N, by trapezia.
            let mut integral = vec![0.0; N + 1];
            for i in 1..=N {
                integral[i] = integral[i - 1] + (f[i] + f[i - 1]) / 2.0 / N as f64;
            }
            let up_to = |x: f64| match x {
                x if x <= 0.0 => 0.0,
                x if x >= 1.0 => integral[N] + (x - 1.0),
                x => {
                    let i = (x * N as f64) as usize;
                    integral[i] + (x * N as f64 - i as f64) * (integral[i + 1] - integral[i])
                }
            };
            let width = (1.0 - rho) / rho;
            f = (0..=N)
                .map(|i| i as f64 / N as f64 / rho)
                .map(|x| (up_to(x) - up_to(x - width)) / width)
                .collect();
        }
        f[(p * N as f64).round() as usize]
    }

    /// Every `thin`-th outcome: with ρ ≤ 0.9, outcomes 50 apart are as good as independent.
    fn losses(per: f64, rho: f64, n: u64, thin: u64) -> u64 {
        let mut channel = Correlated::new(per, rho, stream(3, "test"));
        (0..n * thin).filter(|&i| lost(&mut channel, Span::ns(i)) && i % thin == 0).count() as u64
    }

    #[test]
    fn without_correlation_it_is_independent_loss() {
        assert_rate(losses(0.1, 0.0, 200_000, 1), 200_000, 0.1);
    }

    #[test]
    fn correlation_distorts_the_rate_as_predicted() {
        for (per, rho) in [(0.1, 0.5), (0.3, 0.5), (0.3, 0.25), (0.3, 0.9), (0.7, 0.5)] {
            let rate = stationary_rate(per, rho);
            assert!((rate < per) == (per < 0.5), "towards the nearer end: {rate} for {per}");
            assert_rate(losses(per, rho, 50_000, 50), 50_000, rate);
        }
    }

    #[test]
    fn the_documented_example_holds() {
        let rate = stationary_rate(0.1, 0.5);
        assert!((rate - 0.0011).abs() < 0.00005, "{rate}");
        assert!(stationary_rate(0.01, 0.5) < 1e-6);
    }

    #[test]
    fn draws_correlate_by_rho_at_lag_one_and_its_square_at_lag_two() {
        let rho = 0.6;
        let mut channel = Correlated::new(0.3, rho, stream(4, "test"));
        let x: Vec<f64> = (0..200_000)
            .map(|i| {
                lost(&mut channel, Span::ns(i));
                channel.last - 0.5
            })
            .collect();
        let moment = |lag: usize| x.iter().zip(&x[lag..]).map(|(a, b)| a * b).sum::<f64>();
        assert!((moment(1) / moment(0) - rho).abs() < 0.01);
        assert!((moment(2) / moment(0) - rho * rho).abs() < 0.01);
    }

    #[test]
    fn losses_come_in_clusters() {
        let mut channel = Correlated::new(0.3, 0.6, stream(5, "test"));
        let losses: Vec<bool> = (0..100_000).map(|i| lost(&mut channel, Span::ns(i))).collect();
        let count = losses.iter().filter(|&&l| l).count() as f64;
        let pairs = losses.windows(2).filter(|w| w[0] && w[1]).count() as f64;
        assert!(pairs / count > 3.0 * count / 100_000.0, "{} after a loss", pairs / count);
    }

    #[test]
    fn a_rate_of_one_loses_everything() {
        let mut channel = Correlated::new(1.0, 0.99, stream(1, "test"));
        assert!((0..10_000).all(|i| lost(&mut channel, Span::ns(i))));
    }
}
