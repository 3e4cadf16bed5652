//! How many segments an accumulated ACK may cover: more while the rate does not suffer, fewer when it does.
//!
//! The burst starts at 2 and never falls below it. Of `learn_after` = 20 rates the newer half counts: if all its
//! intervals passed in accumulated mode, and its mean is within the threshold of the largest rate ever seen, the burst
//! grows by one; either way sampling begins anew. A rate below that largest one by more than the threshold, after an
//! interval in accumulated mode, takes one off the burst and ends the learning, which begins anew `relearn` = 10 s
//! later. Source: Jeong, Kim and Lohwasser 2006, section 3.3.
//!
//! **Choices**, where the source is silent: an interval in delayed mode cannot have suffered from the burst and takes
//! nothing off it; nothing is taken off between the end of learning and its new beginning. "Ever" is taken at its word:
//! the largest rate does not age, so that what each step costs, if less than the threshold, does not add up; where a
//! path has become slower for good the burst shrinks by one with every new beginning until it is 2. With
//! `maximum = "sampling"` it is the largest since sampling began anew, and only what a single step costs counts.
//! Section 4.5 has a threshold of 10 % lose 15 % and still learn: the study accum-threshold says from which senders either
//! reading does.

use crate::{Span, Time};

/// The fewest segments that an ACK covers.
const LEAST: u64 = 2;

/// Learns the burst.
#[derive(Debug, Clone)]
pub struct Learner {
    threshold: f64,
    learn_after: u64,
    relearn: Span,
    /// Whether the largest rate is forgotten when sampling begins anew.
    forgets: bool,
    burst: u64,
    /// The largest rate seen, bytes per second.
    largest: f64,
    /// Rates sampled; of the newer half their sum, and whether all were of accumulated mode.
    samples: u64,
    sum: f64,
    accumulated: bool,
    /// Until when there is no learning.
    rest: Option<Time>,
}

impl Learner {
    /// With nothing learnt yet.
    pub fn new(threshold: f64, learn_after: u64, relearn: Span, forgets: bool) -> Self {
        let (samples, sum, accumulated) = (0, 0.0, true);
        let (burst, largest, rest) = (LEAST, 0.0, None);
        Self { threshold, learn_after, relearn, forgets, burst, largest, samples, sum, accumulated, rest }
    }

    /// Segments that an ACK may cover.
    pub fn burst(&self) -> u64 {
        self.burst
    }

    #[cfg(test)]
    pub(super) fn set_burst(&mut self, burst: u64) {
        self.burst = burst;
    }

    /// An interval has ended with this rate, bytes per second; `accumulated`: the mode in which it ended.
    pub fn on_rate(&mut self, now: Time, rate: f64, accumulated: bool) {
        self.largest = self.largest.max(rate);
        if self.rest.is_some_and(|until| now < until) {
            return;
        }
        self.rest = None;
        if accumulated && !self.within(rate) {
            self.burst = (self.burst - 1).max(LEAST);
            self.rest = Some(now.saturating_add(self.relearn));
            self.sample_anew();
            return;
        }
        self.samples += 1;
        if self.samples > self.learn_after / 2 {
            self.sum += rate;
            self.accumulated &= accumulated;
        }
        if self.samples == self.learn_after {
            let newer = self.learn_after - self.learn_after / 2;
            self.burst += u64::from(self.accumulated && self.within(self.sum / newer as f64));
            self.sample_anew();
        }
    }

    fn within(&self, rate: f64) -> bool {
        rate >= (1.0 - self.threshold) * self.largest
    }

    fn sample_anew(&mut self) {
        (self.samples, self.sum, self.accumulated) = (0, 0.0, true);
        if self.forgets {
            self.largest = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Learns from four rates, of which two are the newer half; within a quarter of the largest; again 100 later.
    fn learner() -> Learner {
        Learner::new(0.25, 4, Span::ns(100), false)
    }

    /// The bursts after these rates, one at each moment from 1 on; negative ones are of delayed mode.
    fn bursts(learner: &mut Learner, from: u64, rates: &[f64]) -> Vec<u64> {
        let hear = |(k, &rate): (usize, &f64)| {
            learner.on_rate(Time::ns(from + k as u64), rate.abs(), rate > 0.0);
            learner.burst()
        };
        rates.iter().enumerate().map(hear).collect()
    }

    #[test]
    fn a_steady_newer_half_adds_one() {
        let rates = [-10.0, -100.0, 100.0, 90.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        assert_eq!(bursts(&mut learner(), 1, &rates), [2, 2, 2, 3, 3, 3, 3, 4, 4]);
    }

    #[test]
    fn a_newer_half_that_was_delayed_in_part_or_is_too_low_adds_nothing_and_sampling_begins_anew() {
        let rates = [100.0, 100.0, -100.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        assert_eq!(bursts(&mut learner(), 1, &rates), [2, 2, 2, 2, 2, 2, 2, 3]);
        let rates = [-100.0, -100.0, -60.0, -60.0, -60.0, -60.0, 80.0, 80.0];
        assert_eq!(bursts(&mut learner(), 1, &rates), [2, 2, 2, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn a_rate_below_the_largest_by_more_than_the_threshold_takes_one_off_and_ends_the_learning_for_a_while() {
        let mut learner = learner();
        learner.set_burst(5);
        assert_eq!(bursts(&mut learner, 1, &[100.0, 75.0, 74.0]), [5, 5, 4]);
        assert_eq!(
            bursts(&mut learner, 4, &[100.0, 10.0, 100.0, 100.0, 100.0]),
            [4; 5],
            "it rests until 103"
        );
        assert_eq!(bursts(&mut learner, 102, &[70.0, 70.0]), [4, 3], "and then begins anew");
        assert_eq!(bursts(&mut learner, 203, &[100.0, 100.0, 100.0, 100.0]), [3, 3, 3, 4]);
    }

    #[test]
    fn what_falls_in_delayed_mode_takes_nothing_off() {
        let mut learner = learner();
        learner.set_burst(5);
        assert_eq!(bursts(&mut learner, 1, &[100.0, -50.0, -20.0]), [5, 5, 5]);
    }

    #[test]
    fn the_burst_is_two_at_least() {
        assert_eq!(bursts(&mut learner(), 1, &[100.0, 50.0]), [2, 2]);
    }

    #[test]
    fn the_largest_rate_may_be_forgotten_when_sampling_begins_anew() {
        let mut learner = Learner::new(0.25, 4, Span::ns(100), true);
        let rates = [100.0, 100.0, 100.0, 80.0, 64.0, 64.0, 64.0, 64.0, 60.0, 44.0];
        assert_eq!(bursts(&mut learner, 1, &rates), [2, 2, 2, 3, 3, 3, 3, 4, 4, 3], "44 is below 3/4 of 60");
    }

    #[test]
    fn the_largest_rate_does_not_age() {
        let mut learner = learner();
        learner.set_burst(9);
        learner.on_rate(Time::ns(1), 100.0, true);
        let later: Vec<u64> = (1..=8).flat_map(|k| bursts(&mut learner, k * 1000, &[70.0])).collect();
        assert_eq!(later, [8, 7, 6, 5, 4, 3, 2, 2]);
    }
}
