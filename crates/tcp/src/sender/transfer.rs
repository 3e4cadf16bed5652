//! What recoveries work on: window, segments in the air, and the one place where a loss event meets its response.

use super::books::{Counts, LossRecord, Truth};
use super::observers::Observers;
use crate::growth::{AnyGrowth, Growth};
use crate::outstanding::Outstanding;
use crate::response::{AnyResponse, LossResponse};
use crate::rtt::Rtt;
use crate::stack::ReduceFrom;
use crate::start::{AnyStart, Start};
use crate::{Cause, Loss, LossKind, Nanos, Time, Window};

/// No ACK reaches it.
pub(super) const NOTHING_TIMED: u64 = u64::MAX;

/// The state that recoveries work on.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The window.
    pub window: Window,
    /// The segments in the air.
    pub out: Outstanding,
    pub(super) growth: AnyGrowth,
    pub(super) response: AnyResponse,
    /// Whether growth and response listen to ACKs and departures.
    pub(super) growth_listens: bool,
    pub(super) response_listens: bool,
    pub(super) start: AnyStart,
    /// Whether the start is still under way.
    pub(super) starting: bool,
    pub(super) observers: Option<Box<Observers>>,
    pub(super) rtt: Rtt,
    pub(super) deadline: Option<Time>,
    /// End of the segment that is timed, where one at a time is, or [`NOTHING_TIMED`]; and when it was sent.
    pub(super) timed_end: u64,
    pub(super) timed_at: Time,
    pub(super) reduce_from: ReduceFrom,
    pub(super) limited_transmit: bool,
    pub(super) ecn: bool,
    /// No ECN echo reduces the window before more than this is acknowledged: what follows it carries CWR.
    pub(super) reduced_until: u64,
    /// As `reduced_until`, where an echo was the reason.
    pub(super) echoed_until: u64,
    /// CWR goes out with the next new data.
    pub(super) cwr_due: bool,
    pub(super) truth: Truth,
    pub(super) counts: Counts,
    pub(super) last_loss: Option<LossRecord>,
}

impl Transfer {
    /// Reports a loss event: the response sets the window, growth is told, the books are kept.
    ///
    /// A fast retransmit restarts the timer, as in BSD, Linux and ns-2. RFC 6298, section 5, would let it run on: where
    /// a full queue makes the round-trip time nearly as long as the timeout, every repair then ends in a needless one.
    pub fn lose(&mut self, now: Time, kind: LossKind, seq: u64) {
        self.lose_of(self.out.flight(), self.window.cwnd, now, kind, seq);
        if kind == LossKind::DupAcks {
            self.restart_timer(now);
        }
    }

    /// As [`Self::lose`], out of `flight` bytes in a window of `cwnd` without inflation.
    pub(super) fn lose_of(&mut self, flight: u64, cwnd: f64, now: Time, kind: LossKind, seq: u64) {
        self.window.flight = self.reducible(flight, cwnd);
        self.timed_end = NOTHING_TIMED; // what is sent again can say nothing, nor can what waits for it
        let lost = self.out.get(self.out.index_of(seq));
        let truth = lost.and_then(|segment| self.truth.of(seq, segment.attempt));
        self.respond(Loss { now, kind, seq, truth });
    }

    /// What a response takes its share of.
    pub(super) fn reducible(&self, flight: u64, cwnd: f64) -> u64 {
        match self.reduce_from {
            ReduceFrom::Window => (cwnd as u64).min(self.window.rwnd),
            // RFC 5681, section 3.2, step 2: what limited transmit released does not count.
            ReduceFrom::Flight if self.limited_transmit => flight.min(self.window.cwnd as u64),
            ReduceFrom::Flight => flight,
        }
    }

    /// The response to a loss event, given `window.flight`.
    pub(super) fn respond(&mut self, loss: Loss) {
        let before = (self.window.cwnd, self.window.ssthresh);
        if let Some(observers) = &mut self.observers
            && loss.kind != LossKind::EcnEcho
        {
            observers.on_loss(&loss);
        }
        let verdict = self.response.on_loss(&loss, &mut self.window);
        self.window.round_ssthresh();
        if loss.kind == LossKind::DupAcks && self.out.una() < self.echoed_until {
            // The echo has reduced this window already, and once is enough (RFC 3168, section 6.1.2).
            (self.window.cwnd, self.window.ssthresh) = before;
        } else {
            if self.starting {
                self.starting = self.start.on_loss(&mut self.window);
            }
            self.growth.on_loss(&loss, before.0, &mut self.window);
            if verdict == Cause::Congestion && self.ecn {
                self.reduced_until = self.out.max();
                self.cwr_due = true; // whatever the reason of the reduction (RFC 3168, section 6.1.2)
            }
        }
        self.counts.loss(&loss, verdict);
        self.last_loss = Some(LossRecord { loss, verdict });
    }

    /// What the timeout would be without its lower bound and its doubling: SRTT + 4·RTTVAR, once known.
    pub fn fine_rto(&self) -> Option<Nanos> {
        self.rtt.fine_rto()
    }

    /// Doubles the timeout, although nothing has timed out.
    pub fn back_off(&mut self) {
        self.rtt.back_off();
    }

    /// Ends any doubling of the timeout.
    pub fn end_back_off(&mut self) {
        self.rtt.end_back_off();
    }

    /// Arms the retransmission timer anew.
    #[inline]
    pub fn restart_timer(&mut self, now: Time) {
        self.deadline = (!self.out.is_empty()).then(|| self.rtt.deadline(now, self.rtt.rto()));
    }
}
