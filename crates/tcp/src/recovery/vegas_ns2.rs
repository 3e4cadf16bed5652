//! Vegas' recovery as ns-2 has it: one retransmission at a time, and never NewReno's repair.
//!
//! On a duplicate ACK the first unacknowledged segment is sent again if it is the third, or if the segment was last sent longer
//! ago than the fine-grained timeout (17/16)·(SRTT + 2·RTTVAR); the fine-grained timeout then grows by an eighth, or doubles if
//! the segment had been sent again before, and the retransmission timeout doubles until something sent once is
//! timed. The response is asked only if the segment was sent after the last reduction; the window is then inflated by the
//! duplicates. Further ones inflate it, and ACKs of new data end that: a partial ACK is an ACK as any, but that the
//! first two after a retransmission are checked for a segment that is overdue. One that has never been sent, or that a timeout has
//! still to send again, is overdue, too: where such an ACK covers everything sent since, the next segment goes out twice. And a
//! window that was inflated after a timeout comes down to nothing, not to what it was: nothing goes out then until ACKs have opened it
//! by a segment, or the timer goes off. Source: ns-2, `VegasTcpAgent::recv`;
//! after Brakmo and Peterson 1995, section 3.1.

use super::{Advance, DUP_THRESH, Recovery};
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, LossKind, Report, SackBlocks, Seq, Span, Time};

/// ACKs of new data that are checked after a retransmission.
const CHECKED: u8 = 2;

/// Early retransmission without fast recovery.
#[derive(Debug, Clone, Default)]
pub struct VegasNs2 {
    duplicates: u32,
    /// One after the highest sequence number sent when the last repair or timeout began.
    recover: Seq,
    /// The last of those was a timeout.
    after_timeout: bool,
    /// The window that inflation started from, bytes.
    base: f64,
    /// ACKs of new data still to check.
    to_check: u8,
    /// When the window was last reduced.
    reduced: Time,
    fine: Fine,
    retransmit: bool,
    /// The window is a segment less than it says.
    empty: bool,
}

/// The fine-grained timeout.
#[derive(Debug, Clone, Default)]
struct Fine {
    /// SRTT, ns; 0: nothing known.
    smoothed: f64,
    /// RTTVAR, ns.
    variation: f64,
    /// The timeout in force, ns.
    timeout: f64,
}

impl Fine {
    fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_f64();
        if self.smoothed == 0.0 {
            // As after the SYN, which is a sample twice over: it sets both, and then counts.
            (self.smoothed, self.variation) = (rtt, 3.0 / 16.0 * rtt);
        }
        let off = rtt - self.smoothed;
        self.smoothed += off / 8.0;
        self.variation += (libm::fabs(off) - self.variation) / 4.0;
        self.timeout = (self.smoothed + 2.0 * self.variation) * 17.0 / 16.0;
    }
}

impl Member for VegasNs2 {
    const INFO: Info = Info {
        name: "vegas-ns2",
        summary: "Vegas' retransmissions as in ns-2: one at a time, each doubling the timeout",
        formula: "3rd dup ACK, or any dup ACK or 1st or 2nd new ACK after a retransmission with age ≥ 17/16·(SRTT + 2·RTTVAR): retransmit; dup ACK: RTO·2",
        source: "ns-2, VegasTcpAgent; Brakmo and Peterson 1995, section 3.1",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl VegasNs2 {
    /// A window that was empty and no longer is says what it is again.
    fn settle(&mut self, t: &mut Transfer) {
        if self.empty && !self.holds(t) {
            t.window.cwnd = (t.window.cwnd - t.window.mss).max(t.window.mss);
            self.empty = false;
        }
    }

    /// Whether the first unacknowledged segment is overdue.
    fn expired(&self, t: &Transfer, now: Time) -> bool {
        let age = t.out.get(0).map(|first| now.saturating_sub(first.sent));
        self.fine.timeout > 0.0 && age.is_some_and(|age| age.as_f64() >= self.fine.timeout)
    }

    fn retransmit(&mut self, ack: &Ack, t: &mut Transfer, report: &mut Report<'_>) {
        let Some(first) = t.out.get(0) else { return };
        self.recover = t.out.max();
        self.after_timeout = false;
        self.to_check = CHECKED;
        self.fine.timeout *= if first.is_resent() { 2.0 } else { 1.125 };
        let before = (t.window.cwnd, t.window.ssthresh);
        t.back_off();
        t.lose(ack.now, LossKind::DupAcks, t.out.una(), report);
        if self.reduced < first.sent {
            self.empty = false;
            self.base = t.window.cwnd;
            self.reduced = ack.now;
            t.window.cwnd += f64::from(self.duplicates) * t.window.mss;
        } else {
            (t.window.cwnd, t.window.ssthresh) = before;
        }
        self.retransmit = true;
        if !first.is_resent() {
            self.duplicates = DUP_THRESH;
        }
    }
}

impl Recovery for VegasNs2 {
    fn on_advance(&mut self, ack: &Ack, _: &SackBlocks, t: &mut Transfer, _: &mut Report<'_>) -> Advance {
        self.settle(t);
        if self.duplicates > DUP_THRESH && t.window.cwnd > self.base {
            self.empty = self.base == 0.0;
            t.window.cwnd = self.base.max(t.window.mss);
            t.window.ssthresh = 2.0 * t.window.mss; // which matters in slow start alone
        }
        self.duplicates = 0;
        if let Some(sent) = t.out.last_covered_once() {
            self.fine.sample(ack.now.saturating_sub(sent));
        }
        if self.to_check > 0 {
            self.to_check -= 1;
            if t.out.is_empty() || self.expired(t, ack.now) {
                self.duplicates = DUP_THRESH;
                self.retransmit = true;
            } else {
                self.to_check = 0;
            }
        }
        Advance::ORDINARY
    }

    fn on_duplicate(&mut self, ack: &Ack, _: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        self.settle(t);
        self.duplicates += 1;
        if self.duplicates == DUP_THRESH || self.expired(t, ack.now) {
            if !self.after_timeout || t.out.una() > self.recover {
                self.retransmit(ack, t, report);
            }
        } else if self.duplicates > DUP_THRESH {
            t.window.cwnd += t.window.mss;
        }
    }

    fn on_timeout(&mut self, now: Time, t: &mut Transfer) {
        (self.recover, self.after_timeout) = (t.out.max(), true);
        (self.duplicates, self.base, self.reduced) = (0, 0.0, now);
        (self.retransmit, self.empty) = (false, false);
        t.out.go_back();
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        (self.duplicates, self.to_check) = (0, 0);
        (self.retransmit, self.empty) = (false, false);
        t.out.go_on();
    }

    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        // What a go-back is about to send again goes out so first, unless nothing may.
        let ready = t.out.flight() > 0 || self.holds(t);
        (ready && std::mem::take(&mut self.retransmit)).then_some(0)
    }

    fn holds(&self, t: &Transfer) -> bool {
        // With nothing outstanding no timer runs that could end it.
        self.empty && t.window.cwnd < 2.0 * t.window.mss && !t.out.is_empty()
    }

    fn duplicates(&self) -> u32 {
        0 // limited transmit is none of its rules
    }

    fn repairing(&self) -> bool {
        self.duplicates >= DUP_THRESH
    }
}
