//! Tahoe: a fast retransmit, then slow start from one segment. And its ancestor, which waits for the timer.
//!
//! On the third duplicate ACK: ssthresh by the response, cwnd = 1 MSS, and everything from the first unacknowledged
//! segment on is sent again as the window opens. Source: V. Jacobson, "Congestion avoidance and control", 1988; names
//! and values as in RFC 5681.

use super::{Advance, DUP_THRESH, Duplicates, Recovery};
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Report, SackBlocks, Time};

/// Fast retransmit without fast recovery.
#[derive(Debug, Clone, Default)]
pub struct Tahoe {
    duplicates: Duplicates,
}

impl Member for Tahoe {
    const INFO: Info = Info {
        name: "tahoe",
        summary: "fast retransmit on the third duplicate ACK, then slow start from one segment",
        formula: "3 dup ACKs: ssthresh by the response, cwnd = 1 MSS, go back to the first unacknowledged segment",
        source: "Jacobson 1988; RFC 5681, section 3.1",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl Recovery for Tahoe {
    fn on_advance(&mut self, _: &Ack, _: &SackBlocks, _: &mut Transfer, _: &mut Report<'_>) -> Advance {
        self.duplicates.count = 0;
        Advance::ORDINARY
    }

    fn on_duplicate(&mut self, ack: &Ack, _: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        if self.duplicates.another(t) {
            self.duplicates.lose_first(ack, t, report);
            t.window.cwnd = t.window.mss;
            t.out.go_back();
        }
    }

    fn on_timeout(&mut self, _: Time, t: &mut Transfer) {
        self.duplicates = Duplicates { count: 0, recover: t.out.max() };
        t.out.go_back();
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        self.duplicates.count = 0;
        t.out.go_on();
    }

    fn idle(&self) -> bool {
        true
    }

    fn quiet(&self) -> bool {
        self.duplicates.count == 0
    }

    fn retransmission(&mut self, _: &Transfer) -> Option<usize> {
        None
    }

    fn duplicates(&self) -> u32 {
        if self.duplicates.count < DUP_THRESH { self.duplicates.count } else { 0 }
    }

    fn repairing(&self) -> bool {
        false
    }
}

/// No fast retransmit at all.
#[derive(Debug, Clone, Default)]
pub struct TahoeNoFastRetransmit;

impl Member for TahoeNoFastRetransmit {
    const INFO: Info = Info {
        name: "tahoe-nofr",
        summary: "losses are noticed by the retransmission timer alone",
        formula: "timeout: ssthresh by the response, cwnd = 1 MSS, go back to the first unacknowledged segment",
        source: "RFC 5681, section 3.1, without section 3.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl Recovery for TahoeNoFastRetransmit {
    fn on_advance(&mut self, _: &Ack, _: &SackBlocks, _: &mut Transfer, _: &mut Report<'_>) -> Advance {
        Advance::ORDINARY
    }

    fn on_duplicate(&mut self, _: &Ack, _: &SackBlocks, _: &mut Transfer, _: &mut Report<'_>) {}

    fn on_timeout(&mut self, _: Time, t: &mut Transfer) {
        t.out.go_back();
    }

    fn idle(&self) -> bool {
        true
    }

    fn quiet(&self) -> bool {
        true
    }

    fn retransmission(&mut self, _: &Transfer) -> Option<usize> {
        None
    }

    fn duplicates(&self) -> u32 {
        0
    }

    fn repairing(&self) -> bool {
        false
    }
}
