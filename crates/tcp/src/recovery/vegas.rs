//! Vegas' recovery: NewReno that need not wait for the third duplicate.
//!
//! On the first or second duplicate ACK the first unacknowledged segment is taken to be lost if it was last sent longer
//! ago than the fine-grained timeout SRTT + 4·RTTVAR, which has no floor. After a retransmission the first two ACKs of
//! new data are checked alike: a segment that old is sent again at once, without a new loss event; the first that finds
//! none ends the checks. All else is [`super::NewReno`]. Source: Brakmo and Peterson 1995, section 3.1.

use super::{Advance, NewReno, Recovery};
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Report, SackBlocks, Time};

/// ACKs of new data that are checked after a retransmission.
const CHECKED: u8 = 2;

/// NewReno with early retransmission.
#[derive(Debug, Clone)]
pub struct Vegas {
    newreno: NewReno,
    /// ACKs of new data still to check.
    to_check: u8,
}

impl Member for Vegas {
    const INFO: Info = Info {
        name: "vegas",
        summary: "NewReno that retransmits on the first duplicate ACK where the segment is older than a fine-grained timeout",
        formula: "1st or 2nd dup ACK, or 1st or 2nd new ACK after a retransmission: age > SRTT + 4·RTTVAR: retransmit; else as newreno",
        source: "Brakmo and Peterson 1995, section 3.1; RFC 6582",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { newreno: NewReno::build(args)?, to_check: 0 })
    }
}

/// Whether the first unacknowledged segment has been in the air for longer than the fine-grained timeout.
fn expired(t: &Transfer, now: Time) -> bool {
    let age = t.out.get(0).map(|first| now.saturating_sub(first.sent));
    age.zip(t.fine_rto()).is_some_and(|(age, rto)| age > rto)
}

impl Recovery for Vegas {
    fn on_advance(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        t: &mut Transfer,
        report: &mut Report<'_>,
    ) -> Advance {
        let mut advance = self.newreno.on_advance(ack, sack, t, report);
        if self.to_check > 0 && !self.newreno.repairing() {
            if expired(t, ack.now) {
                self.to_check -= 1;
                self.newreno.repair(ack.now, t, 0);
                advance.grow = false;
            } else {
                self.to_check = 0;
            }
        }
        advance
    }

    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        let before = self.newreno.repairing();
        if !before && expired(t, ack.now) {
            self.newreno.lose_early(ack, t, report);
        } else {
            self.newreno.on_duplicate(ack, sack, t, report);
        }
        if !before && self.newreno.repairing() {
            self.to_check = CHECKED;
        }
    }

    fn on_timeout(&mut self, now: Time, t: &mut Transfer) {
        self.to_check = 0;
        self.newreno.on_timeout(now, t);
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        self.to_check = 0;
        self.newreno.on_undo(t);
    }

    fn deflated(&self, t: &Transfer) -> f64 {
        self.newreno.deflated(t)
    }

    fn idle(&self) -> bool {
        self.newreno.idle()
    }

    fn quiet(&self) -> bool {
        self.newreno.quiet() && self.to_check == 0
    }

    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        self.newreno.retransmission(t)
    }

    fn duplicates(&self) -> u32 {
        self.newreno.duplicates()
    }

    fn repairing(&self) -> bool {
        self.newreno.repairing()
    }
}
