//! What is known of neighbours: when they were heard, whose acknowledgements are waited for, who is blacklisted. Source:
//! RFC 3561, sections 6.8 to 6.10.

use crate::address::Hop;
use std::collections::BTreeMap;
use truckee_channel::Time;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// When the next hello is due; none: no hellos.
    pub hello: Option<Time>,
    /// When something was last heard of who has said hello.
    pub heard: BTreeMap<Hop, Time>,
    /// When the first of them may be lost.
    pub lost: Option<Time>,
    /// When something was last sent to everyone, and when a route was last used.
    pub broadcast: Option<Time>,
    pub used: Option<Time>,
    /// Whose acknowledgement is waited for until when.
    pub expected: BTreeMap<Hop, Time>,
    /// Whose searches are ignored until when.
    blacklist: BTreeMap<Hop, Time>,
}

impl Neighbours {
    pub fn broadcast(&mut self, now: Time) {
        self.broadcast = Some(now);
    }

    pub fn used(&mut self, now: Time) {
        self.used = Some(now);
    }

    pub fn heard(&mut self, now: Time, hop: Hop) {
        if let Some(last) = self.heard.get_mut(&hop) {
            *last = now;
        }
    }

    pub fn expect(&mut self, hop: Hop, until: Time) {
        self.expected.entry(hop).or_insert(until);
    }

    pub fn acknowledged(&mut self, hop: Hop) {
        self.expected.remove(&hop);
    }

    pub fn blacklist(&mut self, hop: Hop, until: Time) {
        self.blacklist.insert(hop, until);
    }

    pub fn is_blacklisted(&mut self, now: Time, hop: Hop) -> bool {
        self.blacklist.retain(|_, until| *until > now);
        self.blacklist.contains_key(&hop)
    }

    pub fn next(&self) -> Time {
        let quiet = self.hello.unwrap_or(Time::MAX).min(self.lost.unwrap_or(Time::MAX));
        if self.expected.is_empty() {
            return quiet;
        }
        self.expected.values().copied().fold(quiet, Time::min)
    }
}
