//! What recoveries without SACK make of duplicate ACKs: when they mean a loss, and what they let out while it is repaired.

use super::contract::DUP_THRESH;
use crate::sender::Transfer;
use crate::spec::{Args, SpecError};
use crate::{Ack, LossKind, Report, Seq, Span, Time};

/// How duplicate ACKs inflate the window while a loss is repaired: each by an MSS, for a segment that has left the
/// network. A receiver that lies can send more of them than segments are outstanding; `inflation` = "outstanding" counts
/// no more than that while one hole is repaired (RFC 5681, section 3.2, step 4, allows it and leaves it open). Since a
/// liar can also show holes faster than they are repaired, the count begins anew no sooner than after the smallest
/// round-trip time. What a liar gains is then a window that doubles in each round, as in slow start, and no more; an
/// honest receiver's duplicates all count.
#[derive(Debug, Clone, Default)]
pub(super) struct Inflation {
    limited: Option<Box<Limit>>,
}

/// How many duplicates count, where that is limited.
#[derive(Debug, Clone, Default)]
struct Limit {
    /// Those that may still count.
    left: u64,
    /// Since when that is counted.
    begun: Option<Time>,
}

impl Inflation {
    pub(super) fn build(args: &mut Args) -> Result<Self, SpecError> {
        let limited = args.choice("inflation", &["unlimited", "outstanding"])? == "outstanding";
        Ok(Self { limited: limited.then(Box::default) })
    }

    /// A hole is being repaired, after so many duplicates that count already.
    pub(super) fn begin(&mut self, now: Time, counted: u32, t: &Transfer) {
        let Some(limit) = &mut self.limited else { return };
        let round = t.window.rtt_min.unwrap_or(Span::ZERO);
        if limit.begun.is_none_or(|begun| now.saturating_sub(begun) >= round) {
            limit.begun = Some(now);
            limit.left = (t.out.len() as u64).saturating_sub(u64::from(counted));
        }
    }

    /// Another duplicate has come.
    pub(super) fn another(&mut self, t: &mut Transfer) {
        if let Some(limit) = &mut self.limited {
            match limit.left.checked_sub(1) {
                Some(left) => limit.left = left,
                None => return,
            }
        }
        t.window.cwnd += t.window.mss;
    }
}

/// Counts duplicate ACKs and says when they mean a new loss: at the third, unless they may come from segments that a
/// timeout or an earlier retransmission sent needlessly (RFC 6582, section 3.2, step 1).
#[derive(Debug, Clone, Default)]
pub(super) struct Duplicates {
    pub(super) count: u32,
    /// One after the highest sequence number sent when the last repair began.
    pub(super) recover: Seq,
}

impl Duplicates {
    /// Counts one; true if it is the one that means a loss.
    pub(super) fn another(&mut self, t: &Transfer) -> bool {
        self.count += 1;
        self.count == DUP_THRESH && t.out.una() > self.recover
    }

    /// Reports the loss of the first unacknowledged segment; the response sets the window.
    pub(super) fn lose_first(&mut self, ack: &Ack, t: &mut Transfer, report: &mut Report<'_>) {
        self.recover = t.out.max();
        t.lose(ack.now, LossKind::DupAcks, t.out.una(), report);
    }
}
