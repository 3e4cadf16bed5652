//! How long live runs will take: they cannot be hurried, so it is known beforehand.
//!
//! Not for: measuring how long anything took, or showing it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// What live runs are about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePlan {
    /// The engine's name.
    pub engine: String,
    /// How many runs.
    pub runs: usize,
    /// How many of them at once.
    pub at_once: usize,
    /// How long all take at most, setting up and clearing away not counted.
    pub at_most: Duration,
}

/// Runs of known lengths, some at once.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    at_most: Duration,
    all: Duration,
    finished: Duration,
    runs: usize,
    at_once: usize,
}

impl Schedule {
    /// Runs of these lengths, started in this order as soon as there is room.
    pub(crate) fn new(lengths: impl IntoIterator<Item = Duration>, at_once: usize) -> Self {
        let mut ends: BinaryHeap<Reverse<Duration>> = BinaryHeap::new();
        let (mut at_most, mut all, mut runs) = (Duration::ZERO, Duration::ZERO, 0);
        for length in lengths {
            let free = if ends.len() < at_once.max(1) { None } else { ends.pop() };
            let end = free.map_or(Duration::ZERO, |Reverse(end)| end) + length;
            ends.push(Reverse(end));
            at_most = at_most.max(end);
            all += length;
            runs += 1;
        }
        Self { at_most, all, finished: Duration::ZERO, runs, at_once: at_once.max(1).min(runs.max(1)) }
    }

    /// What is about to happen.
    pub(crate) fn plan(&self, engine: &str) -> LivePlan {
        LivePlan { engine: engine.to_owned(), runs: self.runs, at_once: self.at_once, at_most: self.at_most }
    }

    /// A run of this length is done. Returns how long the others take at most, judged by their share of the work.
    pub(crate) fn finish(&mut self, length: Duration) -> Duration {
        self.finished += length;
        let left = self.all.saturating_sub(self.finished);
        if self.all.is_zero() {
            Duration::ZERO
        } else {
            self.at_most.mul_f64(left.div_duration_f64(self.all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn runs_go_side_by_side_as_there_is_room() {
        assert_eq!(Schedule::new([s(10); 5], 2).plan("kernel").at_most, s(30));
        assert_eq!(Schedule::new([s(10); 5], 1).plan("kernel").at_most, s(50));
        assert_eq!(Schedule::new([s(1), s(5), s(1), s(1)], 2).plan("kernel").at_most, s(5));
        let few = Schedule::new([s(10); 2], 8).plan("kernel");
        assert_eq!((few.at_most, few.at_once, few.runs), (s(10), 2, 2));
        assert_eq!(Schedule::new([], 4).plan("kernel").at_most, s(0));
    }

    #[test]
    fn what_is_left_falls_with_the_work_done() {
        let mut schedule = Schedule::new([s(10); 4], 2);
        assert_eq!(schedule.finish(s(10)), s(15));
        assert_eq!(schedule.finish(s(10)), s(10));
        assert_eq!((schedule.finish(s(10)), schedule.finish(s(10))), (s(5), s(0)));
        assert_eq!(Schedule::new([], 4).finish(s(0)), s(0));
    }
}
