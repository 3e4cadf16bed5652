//! What truly happened to a connection's segments, for those who want to hold a sender's belief against it. Kept are the
//! drops and what was sent again: everything else has arrived.

use super::Cause;
use std::collections::BTreeMap;
use truckee_channel::Time;

/// A packet lost: when, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// Time of the run, ns.
    pub at: Time,
    /// What of.
    pub cause: Cause,
}

/// Transmissions that were lost, or were not the first ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    /// By first byte and time of sending: the byte behind, and the loss if it was lost.
    sent: BTreeMap<(u64, Time), (u64, Option<Dropped>)>,
    /// Bytes of the longest one.
    longest: u64,
}

impl Truth {
    /// Bytes `[from, to)` are sent again.
    pub fn again(&mut self, at: Time, from: u64, to: u64) {
        self.longest = self.longest.max(to - from);
        self.sent.entry((from, at)).or_insert((to, None));
    }

    /// The transmission of `[from, to)` at `sent` was lost.
    pub fn lost(&mut self, sent: Time, from: u64, to: u64, drop: Dropped) {
        self.longest = self.longest.max(to - from);
        self.sent.insert((from, sent), (to, Some(drop)));
    }

    /// What became of the latest transmission of byte `seq`, at `at` or before; `None`: it was not lost.
    pub fn of(&self, seq: u64, at: Time) -> Option<Dropped> {
        let near = (seq.saturating_sub(self.longest), Time::ZERO)..=(seq, at);
        let holds = self.sent.range(near).filter(|((_, sent), (end, _))| *end > seq && *sent <= at);
        holds.max_by_key(|((_, sent), (_, drop))| (*sent, drop.is_some())).and_then(|(_, (_, drop))| *drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_transmission_counts() {
        let mut truth = Truth::default();
        let queue = Dropped { at: Time::ns(15), cause: Cause::Queue };
        let noise = Dropped { at: Time::ns(25), cause: Cause::Channel };
        truth.lost(Time::ns(10), 1001, 2001, queue);
        truth.again(Time::ns(20), 1001, 2001);
        truth.lost(Time::ns(20), 1001, 2001, noise);
        truth.again(Time::ns(30), 1001, 1501); // the stack may cut it elsewhere
        assert_eq!(truth.of(1001, Time::ns(9)), None);
        assert_eq!(truth.of(1500, Time::ns(19)), Some(queue));
        assert_eq!(truth.of(2000, Time::ns(29)), Some(noise));
        assert_eq!(truth.of(1500, Time::ns(30)), None);
        assert_eq!(truth.of(1501, Time::ns(30)), Some(noise));
        assert_eq!(truth.of(2001, Time::ns(30)), None);
        assert_eq!(truth.of(1, Time::ns(30)), None);
    }
}
