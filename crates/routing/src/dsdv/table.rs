//! A route of DSDV's, and when it is told to others.

use crate::{Hop, Time};
use truckee_channel::Span;

/// Hops to a destination, or that there is no way; less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Metric(u32);

impl Metric {
    /// No longer reachable.
    pub const BROKEN: Self = Self(u32::MAX);

    /// As an update has it, one hop on.
    pub fn one_on(told: Option<u32>) -> Self {
        Self(told.map_or(u32::MAX, |hops| hops.saturating_add(1)))
    }

    pub fn hops(self) -> Option<u32> {
        (self != Self::BROKEN).then_some(self.0)
    }
}

/// Whether a sequence number is later than another; they wrap.
pub(super) fn is_after(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) > 0
}

#[derive(Debug, Clone)]
pub(super) struct Route {
    pub hop: Hop,
    pub metric: Metric,
    /// `None`: it is not known, of a neighbour who has told only of others.
    pub seq: Option<u32>,
    /// The average time between the first route and the best one of a number.
    pub settling: Span,
    /// When the first route with this number was heard of, and when the one that is taken.
    pub numbered: Time,
    pub taken: Time,
    /// From when on it may be told to others.
    pub settled: Time,
    /// Whether others are to be told of its number, and of its metric.
    pub tells_seq: bool,
    pub tells_metric: bool,
    /// The metric that others were told last.
    pub told: Option<Metric>,
    /// When a triggered update is due for its sake.
    pub trigger: Option<Time>,
}

impl Route {
    /// Whether an update of what has changed has it in it.
    pub fn is_news(&self, now: Time) -> bool {
        (self.tells_seq || self.tells_metric) && self.is_settled(now)
    }

    pub fn is_settled(&self, now: Time) -> bool {
        self.seq.is_some() && self.settled <= now
    }

    /// Its neighbour is lost: the number becomes odd. When it was taken stays as it was, so that the average of settling
    /// times does not take a broken route for the best.
    pub fn break_off(&mut self, now: Time) {
        self.metric = Metric::BROKEN;
        if let Some(seq) = self.seq {
            self.seq = Some(seq.wrapping_add(1));
            (self.settled, self.trigger) = (now, Some(now));
            (self.tells_seq, self.tells_metric) = (true, true);
        }
    }
}
