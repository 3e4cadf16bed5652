//! Outages or handoffs at random: the link works for an exponential time of mean `every`, is away for `lasting`, works
//! again, and so on; at time 0 it works. In the long run it is away for lasting/(every + lasting) of the time.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, chance, exponential, up_to};
use crate::{Loss, Packet, Span, Time};

#[derive(Debug, Clone)]
pub(crate) struct PoissonOutages {
    every: Span,
    lasting: Span,
    /// Start of the outage that is going on or comes next.
    start: Time,
    /// Gaps beyond this are jumped.
    far: Span,
    rng: Xoshiro256PlusPlus,
}

impl PoissonOutages {
    pub fn new(every: Span, lasting: Span, mut rng: Xoshiro256PlusPlus) -> Self {
        let start = Time::at(exponential(&mut rng, every));
        Self { every, lasting, start, far: far(every, lasting), rng }
    }

    /// Share of the time that the link is away.
    fn share(&self) -> f64 {
        self.lasting.as_f64() / (self.every.as_f64() + self.lasting.as_f64())
    }

    fn advance(&mut self, at: Time) {
        // The end of time would never be passed.
        let at = at.min(Time::MAX - Span::ns(1));
        let end = self.start.saturating_add(self.lasting);
        if at.saturating_sub(end) > self.far {
            let share = self.share();
            self.start = if chance(&mut self.rng, share) {
                // An outage met at random has lasted for a uniform part of its length.
                at.earlier(Span::ns(up_to(&mut self.rng, (self.lasting - Span::ns(1)).nanos())))
            } else {
                // It works at `at`, so the next outage is yet to come.
                at.saturating_add(exponential(&mut self.rng, self.every).max(Span::ns(1)))
            };
        }
        while self.start.saturating_add(self.lasting) <= at {
            let works = exponential(&mut self.rng, self.every);
            self.start = self.start.saturating_add(self.lasting).saturating_add(works);
        }
    }
}

/// The gap after which the process has forgotten where it was, so that its stationary distribution can be drawn from.
///
/// Outages come with period P = every + lasting on average. What is left of the initial phase after n of them is at most
/// |φ(2π/P)|^n, with φ the characteristic function of the exponential part: (1 + (2π·every/P)²)^(−n/2). This is e^−40
/// at n = 80/ln(1 + (2π·every/P)²). Links that hardly ever work (every below P/1000 or so) stay nearly periodic for
/// longer; their phase is drawn anew after 2^20 outages all the same, so that no gap takes long.
fn far(every: Span, lasting: Span) -> Span {
    let period = every.as_f64() + lasting.as_f64();
    let angle = 2.0 * std::f64::consts::PI * every.as_f64() / period;
    let outages = (80.0 / libm::log1p(angle * angle)).clamp(4096.0, f64::from(1 << 20));
    Span::truncated(outages * period)
}

impl Impairment for PoissonOutages {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        if packet.at < self.start {
            return;
        }
        if packet.at - self.start >= self.lasting {
            self.advance(packet.at);
        }
        if self.start <= packet.at {
            passage.lose(Loss::Outage);
        }
    }

    fn is_clean(&self) -> bool {
        self.lasting == Span::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::interval::{assert_rate, fate, lost};
    use crate::{Fate, stream};

    const MS: Span = Span::ms(1);

    fn outages(every: Span, lasting: Span, seed: u64) -> PoissonOutages {
        PoissonOutages::new(every, lasting, stream(seed, "test"))
    }

    #[test]
    fn outages_last_as_told_and_working_times_are_exponential() {
        let (every, lasting, step) = (100 * MS, 20 * MS, MS / 10);
        let mut channel = outages(every, lasting, 1);
        let mut starts = Vec::new();
        let mut away = 0u64;
        let mut before = false;
        let n = 10_000_000;
        for i in 1..=n {
            let now = lost(&mut channel, i * step);
            away += u64::from(now);
            if now && !before {
                starts.push(i * step);
            }
            before = now;
        }
        // Two outages less than a step apart look like one: 0.1 %.
        let length = (away * step).as_f64() / starts.len() as f64;
        assert!((length / lasting.as_f64() - 1.0).abs() < 0.003, "{length}");
        let works: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0] - lasting).as_f64()).collect();
        let count = works.len() as f64;
        let mean = works.iter().sum::<f64>() / count;
        assert!((mean / every.as_f64() - 1.0).abs() < 3.29 / libm::sqrt(count) + 0.002, "{mean}");
        let long = works.iter().filter(|&&x| x > every.as_f64()).count() as u64;
        assert_rate(long, works.len() as u64, libm::exp(-1.0));
    }

    #[test]
    fn the_link_works_at_first_and_the_cause_is_an_outage() {
        let mut channel = outages(1000 * MS, 20 * MS, 1);
        assert!(!lost(&mut channel, Span::ZERO));
        let first = channel.start;
        assert_eq!(fate(&mut channel, first.since_start()), Fate::Lost(Loss::Outage));
    }

    #[test]
    fn idle_days_are_jumped_and_leave_the_stationary_share() {
        let day = 24 * 3_600_000 * MS;
        for (every, lasting) in [(MS, MS), (Span::us(1), Span::us(1)), (MS, 3 * MS)] {
            let n = 5_000;
            let away = (0..n).filter(|&seed| lost(&mut outages(every, lasting, seed), day)).count();
            assert_rate(away as u64, n, outages(every, lasting, 0).share());
        }
    }

    #[test]
    fn outages_without_a_break_lose_everything() {
        let mut channel = outages(Span::ZERO, MS, 1);
        assert!(
            [Span::ZERO, Span::ns(1), MS, 5 * MS, Span::MAX / 2].into_iter().all(|at| lost(&mut channel, at))
        );
    }
}
