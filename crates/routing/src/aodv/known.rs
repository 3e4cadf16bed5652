//! What is known of searches: those under way, those seen, and how many there may be.

use crate::address::NodeId;
use std::collections::{BTreeSet, VecDeque};
use truckee_channel::{Span, Time};

/// A search that is under way.
#[derive(Debug)]
pub(super) struct Search {
    /// How far it goes.
    pub ttl: u8,
    /// How often the whole network has been searched.
    pub tries: u32,
    /// When it has been waited for for long enough, or may be sent.
    pub at: Time,
    /// Whether it waits until the limit of its rate lets it be sent.
    pub unsent: bool,
    /// Hops of the route that is being repaired, if it is for that.
    pub repairs: Option<u32>,
}

/// Searches that have been seen (6.5).
#[derive(Debug, Default)]
pub(super) struct Known {
    of: BTreeSet<(NodeId, u32)>,
    /// Until when each is remembered, oldest first.
    until: VecDeque<(Time, NodeId, u32)>,
}

impl Known {
    /// Whether it has been seen; it has been from now on.
    pub fn seen(&mut self, now: Time, from: NodeId, id: u32, keep: Span) -> bool {
        while let Some(&(until, node, old)) = self.until.front()
            && until <= now
        {
            self.of.remove(&(node, old));
            self.until.pop_front();
        }
        let new = self.of.insert((from, id));
        if new {
            self.until.push_back((now + keep, from, id));
        }
        !new
    }
}

/// So many in any second.
#[derive(Debug)]
pub(super) struct Limit {
    most: usize,
    sent: VecDeque<Time>,
}

impl Limit {
    pub fn new(most: u32) -> Self {
        Self { most: most as usize, sent: VecDeque::new() }
    }

    /// Takes one place, or says when the next one is free.
    pub fn take(&mut self, now: Time) -> Result<(), Time> {
        while self.sent.front().is_some_and(|&at| at + Span::s(1) <= now) {
            self.sent.pop_front();
        }
        match self.sent.front() {
            Some(&first) if self.sent.len() >= self.most => Err(first + Span::s(1)),
            _ => {
                self.sent.push_back(now);
                Ok(())
            }
        }
    }
}
