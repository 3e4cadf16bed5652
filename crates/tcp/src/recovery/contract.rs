//! The contract of a recovery, and what it is told and says. Its members have files of their own, and [`super`] lists
//! them.

use crate::outstanding::Sent;
use crate::sender::Transfer;
use crate::{Ack, Report, SackBlocks, Seq, Time};

/// Duplicate ACKs that mean a loss (RFC 5681, section 3.2).
pub const DUP_THRESH: u32 = 3;

/// What the ACK that ends a repair does besides: nothing (RFC 6582, section 3.2, step 3, sets the window), or it opens the
/// window as any other (ns-2).
pub(super) const LAST_ACK: &[&str] = &["repairs", "grows"];

/// What an ACK of new data allows besides sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// Growth may see it: the sender is not repairing a loss.
    pub grow: bool,
    /// The retransmission timer starts anew.
    pub restart_timer: bool,
    /// Bytes that were sent again in vain, and count as delivered, too.
    pub again: u64,
}

impl Advance {
    /// An ordinary ACK.
    pub const ORDINARY: Self = Self { grow: true, restart_timer: true, again: 0 };
    /// An ACK that belongs to the repair of a loss.
    pub const REPAIRING: Self = Self { grow: false, restart_timer: true, again: 0 };
}

/// What SACK blocks report for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reported {
    /// Bytes.
    pub bytes: u64,
    /// When the newest of the segments was last sent.
    pub newest: Option<Time>,
    /// When the first and the last left of those that were sent once.
    pub once: Option<(Time, Time)>,
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
    fn on_sent(&mut self, _sent: &Sent, _t: &mut Transfer) {}
    /// The cumulative acknowledgement that comes at `now` covers this segment, which is still in `t.out`; `echo`: the timestamp
    /// that comes with it. Then comes [`Recovery::on_advance`].
    fn on_delivered(&mut self, _now: Time, _sent: &Sent, _echo: Option<Time>, _t: &Transfer) {}
    /// An ACK of new data has come that found it [`Recovery::quiet`], and has no SACK blocks; `t.out` has advanced, and all else
    /// is done: in place of [`Recovery::on_delivered`] and [`Recovery::on_advance`], and it is to decide from then on as after
    /// these. Only told to one that hears departures.
    fn on_quiet_advance(&mut self, _now: Time, _t: &Transfer) {}
    /// Whether it wants to hear through [`Recovery::on_sent`] and [`Recovery::on_delivered`]. Asked once.
    fn hears_departures(&self) -> bool {
        false
    }
    /// When to call [`Recovery::on_timer`]; a time that has passed means at once.
    fn deadline(&self, _t: &Transfer) -> Option<Time> {
        None
    }
    /// A timer of its own has gone off, as of RACK or TLP: to be moved or stopped, or it goes off again at once.
    fn on_timer(&mut self, _now: Time, _t: &mut Transfer, _report: &mut Report<'_>) {}
    /// Whether it has a timer of its own. Asked once.
    fn has_timer(&self) -> bool {
        false
    }
    /// The response to an echo of congestion has set the window, after an ACK that brought so many bytes and before which
    /// `flight` were in the air: one that lets the window come down by and by begins to.
    fn on_echo(&mut self, _brought: u64, _flight: u64, _t: &mut Transfer) {}
    /// The timer went off, and the response to that has been applied: prepare to send again from the first
    /// unacknowledged segment.
    fn on_timeout(&mut self, now: Time, t: &mut Transfer);
    /// The last loss event was none ([`Transfer::undo`] sees to the window): the repair ends, and nothing is sent again
    /// that waits for it.
    fn on_undo(&mut self, t: &mut Transfer) {
        t.out.go_on();
    }
    /// The window is what it was before that loss event.
    fn on_undone(&mut self, _t: &mut Transfer) {}
    /// Until when a timer of its own stands in the retransmission timer's place, where a host has but one.
    fn displaces(&self, _t: &Transfer) -> Option<Time> {
        None
    }
    /// Whether an ACK of that number that shows what was taken to be lost to have been late undoes nothing yet.
    fn waits_to_undo(&self, _ack: Seq) -> bool {
        false
    }
    /// An ACK of that number shows that what was taken to be lost was late: then comes [`Recovery::on_undo`], unless that has to
    /// wait.
    fn on_late(&mut self, _ack: Seq, _t: &Transfer) {}
    /// Where a duplicate whose blocks report new data opens the window as an ACK of new data does: bytes that it shows to have come
    /// in vain besides, and that count as delivered.
    fn opens_by_reports(&self) -> Option<u64> {
        None
    }
    /// Index (in `t.out`) of a segment to retransmit now, out of turn. Asked until it says `None`.
    fn retransmission(&mut self, t: &Transfer) -> Option<usize>;
    /// Whether it surely has nothing to retransmit before the next ACK, departure or timer: then it is not asked.
    fn idle(&self) -> bool {
        false
    }
    /// Whether nothing is being repaired and no duplicate has been counted: then an ACK of new data without SACK blocks is
    /// [`Advance::ORDINARY`] and changes nothing here but what [`Recovery::on_quiet_advance`] changes, nothing is held back or
    /// sent again, what is in the air is the flight, departures are not told, and a deadline is no sooner than two smoothed
    /// round trips after the last ACK or departure. So does nearly every ACK find it, and need not ask it anything.
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
    /// Whether the next segment of new data may go out whatever the congestion window says: it is a probe.
    fn probes(&self) -> bool {
        false
    }
    /// Whether a probe that repeats a segment is in the air beside it. A Linux does not count it (6.18, `tcp_send_loss_probe`).
    fn counts_probes(&self) -> bool {
        true
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
    /// Whether a loss is being repaired, or the window comes down for an echo, so that it has been reduced for what is in the
    /// air.
    fn reducing(&self, _t: &Transfer) -> bool {
        self.repairing()
    }
    /// Whether it needs the receiver's SACK blocks.
    fn wants_sack(&self) -> bool {
        false
    }
    /// What these blocks report for the first time: asked before the ACK that brings them is dealt with.
    fn reported(&self, _ack: Seq, _sack: &SackBlocks, _t: &Transfer) -> Reported {
        Reported::default()
    }
}
