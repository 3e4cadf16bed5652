//! Two-state Markov channel (Gilbert 1960, Elliott 1963) in continuous time: it is good or bad, stays so for an
//! exponential time, and loses packets with the state's probability. Because the states last in time and not in packets,
//! a sender that slows down sees the same bad times with fewer packets in them.
//!
//! The chain starts in its stationary state: bad with probability bad/(good + bad). The states are drawn from one stream
//! and the losses from another, so that different traffic meets the same bad times.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, chance, exponential};
use crate::{Loss, Packet, Span, Time};

/// The states are followed one by one over gaps of up to so many mean cycles of good and bad. Over a longer gap the
/// state's memory is e^(−gap·(1/good + 1/bad)) ≤ e^(−4·4096), nothing in double precision: the stationary distribution is
/// the exact transition probability and is drawn from at once.
const CYCLES_FOLLOWED: u64 = 4096;

#[derive(Debug, Clone)]
pub(crate) struct Gilbert {
    /// Mean holding times, good and bad.
    mean: [Span; 2],
    /// Packet error rates, good and bad.
    per: [f64; 2],
    bad: bool,
    /// When the present state ends.
    until: Time,
    /// Gaps beyond this are jumped.
    far: Span,
    states: Xoshiro256PlusPlus,
    losses: Xoshiro256PlusPlus,
}

impl Gilbert {
    /// `mean` holding times and packet error rates, each of the good and the bad state. A state of no length does not
    /// occur; if both have none, the channel is good.
    pub fn new(mean: [Span; 2], per: [f64; 2], states: Xoshiro256PlusPlus) -> Self {
        let mut losses = states.clone();
        losses.jump();
        let far = mean[0].saturating_add(mean[1]).saturating_mul(CYCLES_FOLLOWED);
        let mut gilbert = Self { mean, per, bad: false, until: Time::ZERO, far, states, losses };
        gilbert.draw_stationary(Time::ZERO);
        gilbert
    }

    fn draw_stationary(&mut self, at: Time) {
        let [good, bad] = self.mean.map(|t| t.as_f64());
        // Without any length this is 0/0, and a chance of NaN is none.
        self.bad = chance(&mut self.states, bad / (good + bad));
        self.until = at.saturating_add(self.holding_time());
    }

    fn holding_time(&mut self) -> Span {
        match self.mean {
            [Span::ZERO, Span::ZERO] => Span::MAX,
            mean => exponential(&mut self.states, mean[usize::from(self.bad)]),
        }
    }

    fn advance(&mut self, at: Time) {
        // The end of time would never be passed.
        let at = at.min(Time::MAX - Span::ns(1));
        if at.saturating_sub(self.until) > self.far {
            self.draw_stationary(at);
        }
        while self.until <= at {
            self.bad = !self.bad;
            self.until = self.until.saturating_add(self.holding_time());
        }
    }
}

impl Impairment for Gilbert {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        if packet.at >= self.until {
            self.advance(packet.at);
        }
        if chance(&mut self.losses, self.per[usize::from(self.bad)]) {
            passage.lose(Loss::Error);
        }
    }

    fn is_clean(&self) -> bool {
        self.per.iter().all(|&per| per <= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::interval::{assert_correlated_rate, assert_rate, lost};

    const MS: Span = Span::ms(1);

    fn gilbert(good: Span, bad: Span, per_good: f64, per_bad: f64, seed: u64) -> Gilbert {
        Gilbert::new([good, bad], [per_good, per_bad], crate::stream(seed, "test"))
    }

    /// P(bad at t + dt | bad or good at t) of the two-state chain.
    fn p_bad(good: Span, bad: Span, was_bad: bool, dt: Span) -> f64 {
        let (good, bad) = (good.as_f64(), bad.as_f64());
        let share = bad / (good + bad);
        share + (f64::from(u8::from(was_bad)) - share) * libm::exp(-(1.0 / good + 1.0 / bad) * dt.as_f64())
    }

    #[test]
    fn the_loss_rate_is_the_stationary_one() {
        let (good, bad, step) = (1000 * MS, 50 * MS, 20 * MS);
        let mut channel = gilbert(good, bad, 0.001, 0.3, 1);
        let share = 50.0 / 1050.0;
        let p = share * 0.3 + (1.0 - share) * 0.001;
        let n = 500_000;
        let count = (1..=n).filter(|&i| lost(&mut channel, i * step)).count() as u64;
        // The losses' correlation is at most the states'.
        let memory = libm::exp(-(1.0 / good.as_f64() + 1.0 / bad.as_f64()) * step.as_f64());
        assert_correlated_rate(count, n, p, memory);
    }

    #[test]
    fn transitions_follow_the_closed_form_at_any_spacing() {
        let (good, bad) = (9 * MS, 3 * MS);
        for (seed, step) in [MS / 10, MS, 5 * MS, 100 * MS, 100_000 * MS].into_iter().enumerate() {
            let mut channel = gilbert(good, bad, 0.0, 1.0, seed as u64);
            let n = 20_000;
            let states: Vec<bool> = (1..=n).map(|i| lost(&mut channel, i * step)).collect();
            for was_bad in [false, true] {
                let next: Vec<bool> = states.windows(2).filter(|w| w[0] == was_bad).map(|w| w[1]).collect();
                let count = next.iter().filter(|&&bad| bad).count() as u64;
                assert_rate(count, next.len() as u64, p_bad(good, bad, was_bad, step));
            }
        }
    }

    #[test]
    fn holding_times_are_exponential_with_the_means_given() {
        let (good, bad, step) = (200 * MS, 50 * MS, MS / 2);
        let mut channel = gilbert(good, bad, 0.0, 1.0, 5);
        let mut runs = [Vec::new(), Vec::new()];
        let (mut state, mut length) = (false, 0u64);
        for i in 1..8_000_000 {
            let now = lost(&mut channel, i * step);
            if now == state {
                length += 1;
            } else {
                runs[usize::from(state)].push((length * step).as_f64());
                (state, length) = (now, 1);
            }
        }
        for (runs, mean) in runs.iter_mut().zip([good, bad]) {
            runs.remove(0);
            let n = runs.len() as f64;
            let measured = runs.iter().sum::<f64>() / n;
            // A run seen at each step ends one step late at most, and visits shorter than a step are missed: 1 %.
            let margin = 3.29 / libm::sqrt(n) + 0.02;
            assert!((measured / mean.as_f64() - 1.0).abs() < margin, "{measured} for {mean:?}, {n} runs");
            // P(X > 2·mean) = e^−2 for an exponential time.
            let long = runs.iter().filter(|&&x| x > 2.0 * measured).count() as f64 / n;
            assert!((long - libm::exp(-2.0)).abs() < 3.29 * libm::sqrt(0.117 / n) + 0.005, "{long}");
        }
    }

    #[test]
    fn losses_are_drawn_independently_of_the_states() {
        let n = 20_000;
        let lost_first =
            (0..n).filter(|&seed| lost(&mut gilbert(MS, MS, 0.0, 0.5, seed), Span::ZERO)).count();
        assert_rate(lost_first as u64, n, 0.5 * 0.5);
    }

    #[test]
    fn bad_times_do_not_depend_on_the_traffic() {
        let bad_at = |step: Span| {
            let mut channel = gilbert(20 * MS, 20 * MS, 0.0, 1.0, 9);
            (1..(20_000 * MS).ticks(step))
                .map(|i| (i * step, lost(&mut channel, i * step)))
                .filter(|&(at, _)| (at % (10 * MS)).is_zero())
                .collect::<Vec<_>>()
        };
        assert_eq!(bad_at(MS), bad_at(10 * MS));
    }

    #[test]
    fn idle_years_are_jumped_and_leave_the_stationary_state() {
        let year = 365 * 24 * 3_600_000 * MS;
        let mut lost_after = 0;
        let n = 20_000;
        for seed in 0..n {
            let mut channel = gilbert(3 * MS, MS, 0.0, 1.0, seed);
            lost(&mut channel, Span::ZERO);
            lost_after += u64::from(lost(&mut channel, year));
        }
        assert_rate(lost_after, n, 0.25);
    }

    #[test]
    fn a_state_of_no_length_does_not_occur() {
        let count = |good, bad| {
            let mut channel = gilbert(good, bad, 0.0, 1.0, 1);
            (1..1000).filter(|&i| lost(&mut channel, i * MS + Span::ns(1))).count()
        };
        assert_eq!(count(MS, Span::ZERO), 0);
        assert_eq!(count(Span::ZERO, MS), 999);
        assert_eq!(count(Span::ZERO, Span::ZERO), 0);
    }
}
