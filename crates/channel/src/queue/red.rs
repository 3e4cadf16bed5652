//! Random early detection: decides at a packet's arrival whether to drop or mark it, by the average queue.
//!
//! avg ← (1 − w)·avg + w·q at each arrival; after an idle time that could have sent m packets avg ← (1 − w)^m·avg.
//! p_b rises from 0 at `min` to `max_p` at `max` (with `gentle` on to 1 at 2·`max`); a packet is hit with p_b/(1 −
//! count·p_b). Source: Floyd and Jacobson 1993; Floyd, "Recommendation on using the gentle variant of RED", 2000.

use super::contract::Limit;
use crate::random::{Xoshiro256PlusPlus, stream, uniform};
use crate::{Span, Time};

/// Parameters of RED.
#[derive(Debug, Clone, PartialEq)]
pub struct RedConfig {
    /// Hard limit.
    pub limit: Limit,
    /// Average queue, packets, below which nothing is marked.
    pub min_threshold: f64,
    /// Average queue, packets, above which everything is (from twice it with `gentle`).
    pub max_threshold: f64,
    /// Marking probability at `max_threshold`.
    pub max_probability: f64,
    /// Weight of a new sample in the average.
    pub weight: f64,
    /// Whether the probability rises from `max_probability` to 1 between one and two `max_threshold`.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked in place of dropped.
    pub ecn: bool,
}

/// A RED queue's state.
#[derive(Debug)]
pub struct Red {
    config: RedConfig,
    average: f64,
    /// Packets since the last one hit; −1: the average was below `min`.
    count: i64,
    rng: Xoshiro256PlusPlus,
}

impl Red {
    /// With an empty queue, at the link of this name in a run of this seed.
    pub fn new(config: &RedConfig, seed: u64, link: &str) -> Self {
        let rng = stream(seed, &format!("{link}/red"));
        Self { config: config.clone(), average: 0.0, count: -1, rng }
    }

    /// A packet arrives at a queue of `waiting` packets, empty since `idle_since` if that is given; `per_packet` is the
    /// time to send a packet like it. Whether to drop or mark it.
    pub fn hits(&mut self, now: Time, waiting: u64, idle_since: Option<Time>, per_packet: Span) -> bool {
        let w = self.config.weight;
        match idle_since {
            Some(since) => {
                let could_send = now.saturating_sub(since).as_f64() / per_packet.max(Span::ns(1)).as_f64();
                self.average *= libm::pow(1.0 - w, could_send);
            }
            None => self.average += w * (waiting as f64 - self.average),
        }
        let p = self.probability();
        if p <= 0.0 {
            self.count = -1;
            return false;
        }
        self.count += 1;
        let spread = 1.0 - self.count as f64 * p;
        let hit = p >= 1.0 || spread <= 0.0 || uniform(&mut self.rng) < p / spread;
        if hit {
            self.count = 0;
        }
        hit
    }

    fn probability(&self) -> f64 {
        let c = &self.config;
        if self.average < c.min_threshold {
            0.0
        } else if self.average < c.max_threshold {
            c.max_probability * (self.average - c.min_threshold) / (c.max_threshold - c.min_threshold)
        } else if c.gentle && self.average < 2.0 * c.max_threshold {
            c.max_probability + (1.0 - c.max_probability) * (self.average / c.max_threshold - 1.0)
        } else {
            1.0
        }
    }

    /// Whether a hit on an ECN-capable packet marks it in place of dropping it. Past the region in which marking is
    /// meant to work, packets are dropped all the same (RFC 3168, section 7).
    pub fn marks(&self) -> bool {
        self.config.ecn
            && self.average < self.config.max_threshold * if self.config.gentle { 2.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red() -> Red {
        let config = RedConfig {
            limit: Limit::Packets(100),
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            weight: 0.5,
            gentle: true,
            ecn: true,
        };
        Red::new(&config, 1, "a-b")
    }

    #[test]
    fn a_short_queue_is_left_alone_and_a_long_one_always_hit() {
        let mut red = red();
        assert!((0..1000).all(|t| !red.hits(Time::ns(t), 4, None, Span::ns(1))));
        (0..20).for_each(|t| {
            red.hits(Time::ns(t), 60, None, Span::ns(1));
        });
        assert!((0..100).all(|t| red.hits(Time::ns(t), 60, None, Span::ns(1))));
    }

    #[test]
    fn between_the_thresholds_hits_are_as_frequent_as_asked() {
        let mut red = red();
        let hits = (0..100_000).filter(|&t| red.hits(Time::ns(t), 10, None, Span::ns(1))).count();
        // The count is 1 at the first packet after a hit, so the gap is uniform on 1 … 1/p_b − 1: at p_b = 0.05 a mean
        // of 10 packets.
        assert!((hits as f64 / (100_000.0 / 10.0) - 1.0).abs() < 0.02, "{hits}");
    }

    #[test]
    fn idle_time_ages_the_average() {
        let mut red = red();
        (0..50).for_each(|t| {
            red.hits(Time::ns(t), 60, None, Span::ns(1));
        });
        red.hits(Time::ms(1), 0, Some(Time::ns(50)), Span::ns(1));
        assert!(red.average < 1e-6);
    }
}
