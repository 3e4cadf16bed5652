//! Which rate data goes at.

use crate::phy::{Phy, Rate};
use crate::{Nanos, Time};
use truckee_channel::random::{Xoshiro256PlusPlus, up_to};

/// How a station chooses the rate of its data, for each next station on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateControl {
    /// Always this one.
    Fixed(Rate),
    /// Automatic rate fallback (A. Kamerman, L. Monteban, "WaveLAN-II", Bell Labs Tech. J. 2 (3), 1997): a rate up after
    /// ten frames acknowledged in a row, or fifteen sent; a rate down after two in a row that were not, or one that was
    /// the first at a higher rate. Begins at the highest.
    Arf,
    /// After Linux' Minstrel (mac80211): each 100 ms the share of acknowledged frames at each rate enters a moving
    /// average with a quarter's weight; frames go twice at the rate of the best throughput, then twice at the second
    /// best, twice at the surest, and then at the lowest; one first attempt in ten goes at a rate drawn at random.
    /// Begins at the lowest.
    Minstrel,
}

/// The state of one rate control towards one station.
#[derive(Debug, Clone)]
pub(crate) enum Control {
    Fixed(Rate),
    Arf(Arf),
    Minstrel(Box<Minstrel>),
}

impl Control {
    pub fn new(kind: RateControl, rates: &[Rate], phy: &Phy) -> Self {
        match kind {
            RateControl::Fixed(rate) => Self::Fixed(rate),
            RateControl::Arf => Self::Arf(Arf { rate: rates.len() - 1, ..Arf::default() }),
            RateControl::Minstrel => Self::Minstrel(Box::new(Minstrel::new(rates, phy))),
        }
    }

    /// The rate of the next attempt; `failed` attempts of the same frame went before.
    pub fn choose(&mut self, now: Time, failed: u32, rates: &[Rate], rng: &mut Xoshiro256PlusPlus) -> Rate {
        match self {
            Self::Fixed(rate) => *rate,
            Self::Arf(arf) => rates[arf.rate],
            Self::Minstrel(minstrel) => rates[minstrel.choose(now, failed, rng)],
        }
    }

    /// Of so many packets sent at a rate, so many were acknowledged.
    pub fn on_result(&mut self, rate: Rate, sent: u32, acked: u32, rates: &[Rate]) {
        match self {
            Self::Fixed(_) => {}
            // Of an aggregate half.
            Self::Arf(arf) => arf.on_result(2 * acked >= sent, rates.len() - 1),
            Self::Minstrel(minstrel) => {
                if let Some(stat) = rates.iter().position(|r| *r == rate).map(|i| &mut minstrel.stats[i]) {
                    stat.sent += sent;
                    stat.acked += acked;
                }
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Arf {
    /// Index of the rate.
    rate: usize,
    /// Acknowledged, and not, in a row.
    good: u32,
    bad: u32,
    /// Sent at this rate.
    sent: u32,
    /// The next frame is the first at a higher rate.
    probing: bool,
}

impl Arf {
    fn on_result(&mut self, good: bool, top: usize) {
        let probing = std::mem::take(&mut self.probing);
        self.sent += 1;
        if good {
            (self.good, self.bad) = (self.good + 1, 0);
        } else {
            (self.good, self.bad) = (0, self.bad + 1);
        }
        let down = self.bad >= 2 || probing && !good;
        let up = self.good >= 10 || self.sent >= 15;
        if down && self.rate > 0 {
            *self = Self { rate: self.rate - 1, ..Self::default() };
        } else if up && !down && self.rate < top {
            *self = Self { rate: self.rate + 1, probing: true, ..Self::default() };
        }
    }
}

/// Between two updates of Minstrel's statistics.
const INTERVAL: Nanos = 100_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Minstrel {
    stats: Vec<Stat>,
    /// Indices of the best throughput, the second best, and the surest.
    chain: [usize; 3],
    next_update: Time,
}

#[derive(Debug, Clone)]
struct Stat {
    sent: u32,
    acked: u32,
    /// Share acknowledged, once known.
    probability: Option<f64>,
    /// Of a frame of 1,200 bytes, by which rates are compared.
    airtime: Nanos,
}

impl Stat {
    /// Frames a nanosecond. Minstrel takes less than a tenth for nothing, and more than nine for certain.
    fn throughput(&self) -> f64 {
        let p = self.probability.unwrap_or(0.0);
        if p < 0.1 { 0.0 } else { p.min(0.9) / self.airtime as f64 }
    }
}

impl Minstrel {
    fn new(rates: &[Rate], phy: &Phy) -> Self {
        let stat =
            |rate: &Rate| Stat { sent: 0, acked: 0, probability: None, airtime: phy.airtime(*rate, 1200) };
        Self { stats: rates.iter().map(stat).collect(), chain: [0; 3], next_update: INTERVAL }
    }

    fn choose(&mut self, now: Time, failed: u32, rng: &mut Xoshiro256PlusPlus) -> usize {
        if now >= self.next_update {
            self.update();
            self.next_update = now + INTERVAL;
        }
        if failed == 0 && up_to(rng, 9) == 0 {
            return up_to(rng, self.stats.len() as u64 - 1) as usize;
        }
        self.chain.get(failed as usize / 2).copied().unwrap_or(0)
    }

    fn update(&mut self) {
        for stat in self.stats.iter_mut().filter(|s| s.sent > 0) {
            let share = f64::from(stat.acked) / f64::from(stat.sent);
            stat.probability = Some(stat.probability.map_or(share, |p| 0.75 * p + 0.25 * share));
            (stat.sent, stat.acked) = (0, 0);
        }
        // The faster one of two alike.
        let best = |value: &dyn Fn(usize) -> f64| {
            (0..self.stats.len()).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or(0)
        };
        let throughput = |i: usize| self.stats[i].throughput();
        let first = best(&throughput);
        if self.stats[first].throughput() <= 0.0 {
            self.chain = [0; 3];
            return;
        }
        let second = best(&|i| if i == first { -1.0 } else { throughput(i) });
        let surest = best(&|i| self.stats[i].probability.unwrap_or(0.0));
        self.chain = [first, second, surest];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Preamble, Standard};

    fn rates() -> Vec<Rate> {
        Standard::A.rates()
    }

    #[test]
    fn fallback_climbs_after_ten_and_falls_after_two() {
        let (top, mut arf) = (7, Arf { rate: 3, ..Arf::default() });
        (0..9).for_each(|_| arf.on_result(true, top));
        assert_eq!(arf.rate, 3);
        arf.on_result(true, top);
        assert_eq!(arf.rate, 4);
        arf.on_result(false, top);
        assert_eq!(arf.rate, 3, "the first at the higher rate failed");
        arf.on_result(false, top);
        assert_eq!(arf.rate, 3);
        arf.on_result(false, top);
        assert_eq!(arf.rate, 2, "two in a row");
        (0..7).for_each(|_| {
            arf.on_result(false, top);
            arf.on_result(true, top);
        });
        assert_eq!(arf.rate, 2);
        arf.on_result(true, top);
        assert_eq!(arf.rate, 3, "fifteen sent");
        (0..100).for_each(|_| arf.on_result(true, top));
        assert_eq!(arf.rate, top);
        (0..100).for_each(|_| arf.on_result(false, top));
        assert_eq!(arf.rate, 0);
    }

    #[test]
    fn minstrel_finds_the_rate_of_the_best_throughput() {
        let (rates, phy) = (rates(), Standard::A.phy());
        let mut control = Control::new(RateControl::Minstrel, &rates, &phy);
        let mut rng = truckee_channel::stream(1, "test");
        // Up to 24 Mbit/s all arrives, of 36 a half, beyond nothing.
        let share = |rate: Rate| match rate.mbit() {
            r if r <= 24.0 => 1.0,
            36.0 => 0.5,
            _ => 0.0,
        };
        let mut at_best = 0;
        for i in 0..5_000u64 {
            let now = i * 1_000_000;
            let rate = control.choose(now, 0, &rates, &mut rng);
            let acked = truckee_channel::random::chance(&mut rng, share(rate));
            control.on_result(rate, 1, u32::from(acked), &rates);
            at_best += u32::from(i >= 2_000 && rate.mbit() == 24.0);
        }
        // Of 3,000 nine in ten, and an eighth of the rest.
        assert!((2_600..2_800).contains(&at_best), "{at_best}");
        let chain: Vec<f64> =
            (1..9).map(|failed| control.choose(u64::MAX / 2, failed, &rates, &mut rng).mbit()).collect();
        assert_eq!(chain[0], 24.0);
        assert_eq!(chain[6..], [6.0, 6.0]);
    }

    #[test]
    fn minstrel_stays_low_where_nothing_arrives() {
        let standard = Standard::B(Preamble::Long);
        let (rates, phy) = (standard.rates(), standard.phy());
        let mut control = Control::new(RateControl::Minstrel, &rates, &phy);
        let mut rng = truckee_channel::stream(1, "test");
        for i in 0..1_000u64 {
            let rate = control.choose(i * 10_000_000, 1, &rates, &mut rng);
            assert_eq!(rate, rates[0]);
            control.on_result(rate, 1, 0, &rates);
        }
    }
}
