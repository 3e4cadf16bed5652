//! What a sender counts, and what the laboratory has told it of drops. No decision depends on either but an oracle's.

use crate::{Cause, Loss, LossKind, Nanos, Segment};
use std::collections::BTreeMap;

/// The end of a transmission that the path did not carry.
#[derive(Debug, Clone, Copy)]
struct Dropped {
    /// One after the segment's last sequence number.
    end: u64,
    /// Which transmission of it.
    attempt: u8,
    cause: Cause,
}

/// What the laboratory has told of drops, by sequence number of the segment: of each the newest transmission dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    drops: BTreeMap<u64, Dropped>,
}

impl Truth {
    pub(super) fn note(&mut self, segment: &Segment, cause: Cause) {
        let dropped = Dropped { end: segment.end(), attempt: segment.attempt, cause };
        let known = self.drops.entry(segment.seq).or_insert(dropped);
        // One that has waited in a queue may be dropped after its own retransmission.
        if known.attempt <= dropped.attempt {
            *known = dropped;
        }
    }

    /// What became of this transmission of the segment at `seq`.
    pub(super) fn of(&self, seq: u64, attempt: u8) -> Option<Cause> {
        let (_, dropped) = self.drops.range(..=seq).next_back()?;
        (dropped.end > seq && dropped.attempt == attempt).then_some(dropped.cause)
    }

    #[inline]
    pub(super) fn forget_below(&mut self, seq: u64) {
        while let Some(first) = self.drops.first_entry()
            && first.get().end <= seq
        {
            first.remove();
        }
    }
}

/// What duplicate ACKs have counted as delivered before an advance covers it, bytes: an ACK that ends a gap, or a part
/// of it, counts only what they have not.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByDuplicates(u64);

impl ByDuplicates {
    /// A duplicate has come while `flight` bytes were unacknowledged: the bytes that it shows to be delivered.
    pub fn another(&mut self, mss: u64, flight: u64) -> u64 {
        let delivered = mss.min(flight.saturating_sub(self.0));
        self.0 += delivered;
        delivered
    }

    /// What they have counted and no advance has covered yet.
    pub fn waiting(self) -> u64 {
        self.0
    }

    /// An ACK of `covered` new bytes: those of them that are news.
    #[inline]
    pub fn advance(&mut self, covered: u64) -> u64 {
        let known = self.0.min(covered);
        self.0 -= known;
        covered - known
    }
}

/// A loss event with the verdict on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossRecord {
    /// The event, with its true cause where that is known.
    pub loss: Loss,
    /// What the response took it for.
    pub verdict: Cause,
}

/// Loss events by true cause, and how many of them were judged right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judged {
    /// Loss events whose segment a queue dropped.
    pub congestion: u64,
    /// Loss events whose segment noise or an outage destroyed.
    pub wireless: u64,
    /// Loss events whose segment was not dropped when it was last sent.
    pub spurious: u64,
    /// Of `congestion`, those judged so.
    pub congestion_right: u64,
    /// Of `wireless`, those judged so.
    pub wireless_right: u64,
}

impl Judged {
    pub(super) fn count(&mut self, loss: &Loss, verdict: Cause) {
        match loss.truth {
            None => self.spurious += 1,
            Some(Cause::Congestion) => {
                self.congestion += 1;
                self.congestion_right += u64::from(verdict == Cause::Congestion);
            }
            Some(Cause::Wireless) => {
                self.wireless += 1;
                self.wireless_right += u64::from(verdict == Cause::Wireless);
            }
        }
    }
}

impl std::ops::AddAssign for Judged {
    fn add_assign(&mut self, other: Self) {
        self.congestion += other.congestion;
        self.wireless += other.wireless;
        self.spurious += other.spurious;
        self.congestion_right += other.congestion_right;
        self.wireless_right += other.wireless_right;
    }
}

impl std::ops::SubAssign for Judged {
    fn sub_assign(&mut self, past: Self) {
        self.congestion -= past.congestion;
        self.wireless -= past.wireless;
        self.spurious -= past.spurious;
        self.congestion_right -= past.congestion_right;
        self.wireless_right -= past.wireless_right;
    }
}

/// What went in one round: see [`super::Sender::rounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Round {
    /// Data segments sent, again ones included.
    pub segments: u64,
    /// ACKs that came for them.
    pub acks: u64,
}

/// How many rounds are counted one by one.
const COUNTED_ROUNDS: usize = 24;

/// The first rounds: at the first ACK of each, all segments sent and all ACKs come before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    begun: Vec<Round>,
}

impl Rounds {
    /// The first ACK of a round has come; `so_far`: segments sent and ACKs come before it.
    #[inline]
    pub(super) fn begin(&mut self, so_far: Round) {
        if self.begun.len() <= COUNTED_ROUNDS {
            self.begun.push(so_far);
        }
    }

    /// The rounds that have been acknowledged; `so_far`: as now.
    pub(super) fn list(&self, so_far: Round) -> Vec<Round> {
        let ends = self.begun.iter().skip(1).chain([&so_far]);
        let mut sent = 0;
        let rounds = self.begun.iter().zip(ends).map(|(begin, end)| {
            let segments = begin.segments - sent;
            sent = begin.segments;
            Round { segments, acks: end.acks - begin.acks }
        });
        rounds.take(COUNTED_ROUNDS).collect()
    }
}

/// What a sender counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Payload sent, retransmissions included, bytes.
    pub bytes: u64,
    /// Data segments sent again.
    pub retransmitted_segments: u64,
    /// Payload sent again, bytes.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts (SYN's included).
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Reductions on an ECN echo.
    pub ecn_reductions: u64,
    /// Loss events by true cause and verdict.
    pub judged: Judged,
    /// RTT samples.
    pub rtt_samples: u64,
    /// Their sum, ns.
    pub rtt_sum: u128,
    /// ∫ cwnd dt, byte·ns, up to the last event.
    pub cwnd_time: f64,
    /// ACKs that came.
    pub acks: u64,
    /// Rounds acknowledged.
    pub rounds: u64,
    /// When slow start first ended, from the establishment on, and in which round (counted from 1).
    pub slow_start_end: Option<(Nanos, u64)>,
}

impl Counts {
    pub(super) fn loss(&mut self, loss: &Loss, verdict: Cause) {
        match loss.kind {
            LossKind::EcnEcho => {
                self.ecn_reductions += 1;
                return;
            }
            LossKind::DupAcks => self.fast_retransmits += 1,
            LossKind::Timeout => {} // counted where the timer goes off: not every timeout is a new loss event
        }
        self.judged.count(loss, verdict);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_duplicates_have_counted_is_not_counted_again_however_many_holes_there_are() {
        // Segments 1 and 4 of ten are lost: eight duplicates, then 1 comes and covers 3, then 4 and covers all.
        let mut counted = ByDuplicates::default();
        let duplicates: u64 = (0..8).map(|_| counted.another(1000, 10_000)).sum();
        let partial = counted.advance(3000);
        let rest = counted.advance(7000);
        assert_eq!((duplicates, partial, rest), (8000, 0, 2000));
    }

    #[test]
    fn duplicates_never_count_more_than_is_in_flight() {
        let mut counted = ByDuplicates::default();
        let all: u64 = (0..9).map(|_| counted.another(1000, 2500)).sum();
        assert_eq!(all, 2500);
    }
}
