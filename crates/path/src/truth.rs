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
    /// Stretches whose latest transmission was lost, and which are not acknowledged: by first byte, the byte behind and what
    /// of.
    missing: BTreeMap<u64, (u64, Cause)>,
}

impl Truth {
    /// Bytes `[from, to)` are sent again.
    pub fn again(&mut self, at: Time, from: u64, to: u64) {
        self.longest = self.longest.max(to - from);
        self.sent.entry((from, at)).or_insert((to, None));
        self.clear(from, to);
    }

    /// The transmission of `[from, to)` at `sent` was lost.
    pub fn lost(&mut self, sent: Time, from: u64, to: u64, drop: Dropped) {
        self.longest = self.longest.max(to - from);
        self.sent.insert((from, sent), (to, Some(drop)));
        // One that has waited in a queue may be lost after its own retransmission, which then says what became of the bytes.
        let near = (from.saturating_sub(self.longest), Time::ZERO)..(to, Time::ZERO);
        let later = self.sent.range(near).filter(|((_, at), (end, _))| *at > sent && *end > from);
        let mut pieces = Vec::new();
        let mut begin = from;
        for ((first, _), (end, _)) in later {
            if *first > begin {
                pieces.push((begin, *first));
            }
            begin = begin.max(*end);
        }
        if begin < to {
            pieces.push((begin, to));
        }
        for (from, to) in pieces {
            self.clear(from, to);
            self.missing.insert(from, (to, drop.cause));
        }
    }

    /// Everything below `una` is acknowledged.
    pub fn acknowledge(&mut self, una: u64) {
        while let Some(first) = self.missing.first_entry().filter(|first| first.get().0 <= una) {
            first.remove();
        }
    }

    /// What is missing, lowest first: first byte, the byte behind, and what its latest transmission died of.
    pub fn missing(&self) -> impl Iterator<Item = (u64, u64, Cause)> + '_ {
        self.missing.iter().map(|(&from, &(to, cause))| (from, to, cause))
    }

    /// `[from, to)` is not missing; what is on either side of it stays so.
    fn clear(&mut self, from: u64, to: u64) {
        let overlaps = |&(_, &(end, _)): &(&u64, &(u64, Cause))| end > from;
        while let Some((&first, &(end, cause))) = self.missing.range(..to).next_back().filter(overlaps) {
            self.missing.remove(&first);
            if end > to {
                self.missing.insert(to, (end, cause));
            }
            if first < from {
                self.missing.insert(first, (from, cause));
            }
        }
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

    /// What is missing, each stretch as its bounds and the first letter of its cause.
    fn missing(truth: &Truth) -> Vec<(u64, u64, char)> {
        truth.missing().map(|(from, to, cause)| (from, to, cause.name().chars().next().unwrap())).collect()
    }

    #[test]
    fn a_stretch_is_missing_until_it_is_sent_again_or_acknowledged() {
        let mut truth = Truth::default();
        let lost = |at, cause| Dropped { at: Time::ns(at), cause };
        truth.lost(Time::ns(10), 1, 1001, lost(15, Cause::Queue));
        truth.lost(Time::ns(11), 2001, 3001, lost(16, Cause::Channel));
        assert_eq!(missing(&truth), [(1, 1001, 'q'), (2001, 3001, 'c')]);
        truth.again(Time::ns(20), 1, 501);
        truth.again(Time::ns(21), 2501, 2601);
        assert_eq!(missing(&truth), [(501, 1001, 'q'), (2001, 2501, 'c'), (2601, 3001, 'c')]);
        truth.again(Time::ns(22), 501, 1001);
        truth.lost(Time::ns(22), 501, 1001, lost(27, Cause::Outage));
        assert_eq!(
            missing(&truth)[0],
            (501, 1001, 'o'),
            "the retransmission has died, too, and of something else"
        );
        truth.acknowledge(1001);
        assert_eq!(missing(&truth), [(2001, 2501, 'c'), (2601, 3001, 'c')]);
        truth.again(Time::ns(30), 1, 9001);
        assert_eq!(missing(&truth), []);
    }

    #[test]
    fn what_is_lost_after_its_own_retransmission_is_not_missing() {
        let mut truth = Truth::default();
        let late = Dropped { at: Time::ns(40), cause: Cause::Queue };
        truth.again(Time::ns(20), 1001, 1501);
        truth.lost(Time::ns(10), 501, 2001, late);
        assert_eq!(missing(&truth), [(501, 1001, 'q'), (1501, 2001, 'q')]);
    }
}
