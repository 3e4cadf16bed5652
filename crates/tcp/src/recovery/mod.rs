//! How a loss is noticed and repaired.
//!
//! A recovery watches ACKs, decides that a segment is lost, asks the [`Transfer`] once per loss event for the response
//! to it, inflates and deflates the window while it repairs (inflation belongs to recovery, whatever the response
//! set), and names the segments to send again. It does not decide how far the window falls (that is
//! [`crate::response`]) nor how it grows otherwise ([`crate::growth`]).

pub mod frto;
mod newreno;
pub mod prr;
mod reno;
mod sack;
mod sack1;
mod scoreboard;
mod tahoe;
mod vegas;
mod vegas_ns2;

pub use newreno::NewReno;
pub use reno::Reno;
pub use sack::Sack;
pub use sack1::Sack1;
pub use tahoe::{Tahoe, TahoeNoFastRetransmit};
pub use vegas::Vegas;
pub use vegas_ns2::VegasNs2;

use crate::outstanding::Sent;
use crate::sender::Transfer;
use crate::spec::{Args, SpecError, family};
use crate::{Ack, LossKind, Report, SackBlocks, Seq, Span, Time};

/// Duplicate ACKs that mean a loss (RFC 5681, section 3.2).
pub const DUP_THRESH: u32 = 3;

/// What the ACK that ends a repair does besides: nothing (RFC 6582, section 3.2, step 3, sets the window), or it opens the
/// window as any other (ns-2).
const LAST_ACK: &[&str] = &["repairs", "grows"];

/// What an ACK of new data allows besides sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// Growth may see it: the sender is not repairing a loss.
    pub grow: bool,
    /// The retransmission timer starts anew.
    pub restart_timer: bool,
}

impl Advance {
    /// An ordinary ACK.
    pub const ORDINARY: Self = Self { grow: true, restart_timer: true };
    /// An ACK that belongs to the repair of a loss.
    pub const REPAIRING: Self = Self { grow: false, restart_timer: true };
}

/// What SACK blocks report for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reported {
    /// Bytes.
    pub bytes: u64,
    /// When the newest of the segments was last sent.
    pub newest: Option<Time>,
}

/// The contract of a recovery. All windows and sequence numbers are in `t`, which every call may change.
pub trait Recovery: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// An ACK of new data has come; `t.out` has advanced already.
    fn on_advance(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        t: &mut Transfer,
        report: &mut Report<'_>,
    ) -> Advance;
    /// A duplicate ACK has come.
    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>);
    /// The window without what this recovery has inflated it by, bytes.
    fn deflated(&self, t: &Transfer) -> f64 {
        t.window.cwnd
    }
    /// A segment leaves, for the first time or again. In which order is told by [`Sent::number`].
    fn on_sent(&mut self, _sent: &Sent, _t: &Transfer) {}
    /// Whether it wants to hear through [`Recovery::on_sent`]. Asked once.
    fn hears_departures(&self) -> bool {
        false
    }
    /// When to call [`Recovery::on_timer`]; a time that has passed means at once.
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// A timer of its own has gone off, as of RACK or TLP: to be moved or stopped, or it goes off again at once.
    fn on_timer(&mut self, _now: Time, _t: &mut Transfer, _report: &mut Report<'_>) {}
    /// Whether it has a timer of its own. Asked once.
    fn has_timer(&self) -> bool {
        false
    }
    /// The timer went off, and the response to that has been applied: prepare to send again from the first
    /// unacknowledged segment.
    fn on_timeout(&mut self, now: Time, t: &mut Transfer);
    /// Index (in `t.out`) of a segment to retransmit now, out of turn. Asked until it says `None`.
    fn retransmission(&mut self, t: &Transfer) -> Option<usize>;
    /// Whether it surely has nothing to retransmit before the next ACK, departure or timer: then it is not asked.
    fn idle(&self) -> bool {
        false
    }
    /// Whether nothing is being repaired and no duplicate has been counted: then an ACK of new data without SACK blocks is
    /// [`Advance::ORDINARY`] and changes nothing here, nothing is held back or sent again, and what is in the air is the
    /// flight. So does nearly every ACK find it, and need not ask it anything.
    fn quiet(&self) -> bool {
        false
    }
    /// Index of a segment to retransmit where nothing else was there to send, or allowed. Not asked where it is
    /// [`Recovery::idle`].
    fn last_resort(&mut self, _t: &Transfer) -> Option<usize> {
        None
    }
    /// Whether nothing may go out but what this recovery retransmits out of turn.
    fn holds(&self, _t: &Transfer) -> bool {
        false
    }
    /// Whether [`Recovery::in_flight`] is other than the flight. Asked once.
    fn counts_air(&self) -> bool {
        false
    }
    /// Bytes that count against the congestion window.
    fn in_flight(&self, t: &Transfer) -> u64 {
        t.out.flight()
    }
    /// Consecutive duplicate ACKs while no loss is being repaired: what limited transmit (RFC 3042) may answer.
    fn duplicates(&self) -> u32;
    /// Whether a loss is being repaired.
    fn repairing(&self) -> bool;
    /// Whether it needs the receiver's SACK blocks.
    fn wants_sack(&self) -> bool {
        false
    }
    /// What these blocks report for the first time: asked before the ACK that brings them is dealt with.
    fn reported(&self, _ack: Seq, _sack: &SackBlocks, _t: &Transfer) -> Reported {
        Reported::default()
    }
}

family! {
    /// Any recovery.
    pub enum AnyRecovery: Recovery, "recovery" { Tahoe, TahoeNoFastRetransmit, Reno, NewReno, Vegas in Box, VegasNs2 in Box, Sack, Sack1 in Box }
    fn on_advance(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) -> Advance;
    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>);
    fn on_sent(&mut self, sent: &Sent, t: &Transfer);
    fn hears_departures(&self) -> bool;
    fn deadline(&self) -> Option<Time>;
    fn on_timer(&mut self, now: Time, t: &mut Transfer, report: &mut Report<'_>);
    fn has_timer(&self) -> bool;
    fn on_timeout(&mut self, now: Time, t: &mut Transfer);
    fn deflated(&self, t: &Transfer) -> f64;
    fn retransmission(&mut self, t: &Transfer) -> Option<usize>;
    fn idle(&self) -> bool;
    fn quiet(&self) -> bool;
    fn last_resort(&mut self, t: &Transfer) -> Option<usize>;
    fn holds(&self, t: &Transfer) -> bool;
    fn counts_air(&self) -> bool;
    fn in_flight(&self, t: &Transfer) -> u64;
    fn duplicates(&self) -> u32;
    fn repairing(&self) -> bool;
    fn wants_sack(&self) -> bool;
    fn reported(&self, ack: Seq, sack: &SackBlocks, t: &Transfer) -> Reported;
}

/// How duplicate ACKs inflate the window while a loss is repaired: each by an MSS, for a segment that has left the
/// network. A receiver that lies can send more of them than segments are outstanding; `inflation` = "outstanding" counts
/// no more than that while one hole is repaired (RFC 5681, section 3.2, step 4, allows it and leaves it open). Since a
/// liar can also show holes faster than they are repaired, the count begins anew no sooner than after the smallest
/// round-trip time. What a liar gains is then a window that doubles in each round, as in slow start, and no more; an
/// honest receiver's duplicates all count.
#[derive(Debug, Clone, Default)]
struct Inflation {
    limited: bool,
    /// Duplicates that may still count, if that is limited.
    left: u64,
    /// Since when that is counted.
    begun: Option<Time>,
}

impl Inflation {
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let limited = args.choice("inflation", &["unlimited", "outstanding"])? == "outstanding";
        Ok(Self { limited, left: 0, begun: None })
    }

    /// A hole is being repaired, after so many duplicates that count already.
    fn begin(&mut self, now: Time, counted: u32, t: &Transfer) {
        let round = t.window.rtt_min.unwrap_or(Span::ZERO);
        if self.begun.is_none_or(|begun| now.saturating_sub(begun) >= round) {
            self.begun = Some(now);
            self.left = (t.out.len() as u64).saturating_sub(u64::from(counted));
        }
    }

    /// Another duplicate has come.
    fn another(&mut self, t: &mut Transfer) {
        if self.left > 0 || !self.limited {
            self.left = self.left.saturating_sub(1);
            t.window.cwnd += t.window.mss;
        }
    }
}

/// Counts duplicate ACKs and says when they mean a new loss: at the third, unless they may come from segments that a
/// timeout or an earlier retransmission sent needlessly (RFC 6582, section 3.2, step 1).
#[derive(Debug, Clone, Default)]
struct Duplicates {
    count: u32,
    /// One after the highest sequence number sent when the last repair began.
    recover: Seq,
}

impl Duplicates {
    /// Counts one; true if it is the one that means a loss.
    fn another(&mut self, t: &Transfer) -> bool {
        self.count += 1;
        self.count == DUP_THRESH && t.out.una() > self.recover
    }

    /// Reports the loss of the first unacknowledged segment; the response sets the window.
    fn lose_first(&mut self, ack: &Ack, t: &mut Transfer, report: &mut Report<'_>) {
        self.recover = t.out.max();
        t.lose(ack.now, LossKind::DupAcks, t.out.una(), report);
    }
}
