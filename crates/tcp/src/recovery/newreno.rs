//! NewReno: fast recovery that lasts until everything sent before it is acknowledged (RFC 6582).
//!
//! A partial ACK (new data, but not all of it) means the next hole: it is retransmitted, the window is deflated by what
//! was acknowledged and gets one MSS back. `variant`: "impatient" restarts the timer on the first partial ACK only, so
//! that many holes end in a timeout; "slow-but-steady" on each (RFC 6582, section 4). `exit`: the window after
//! recovery, "ssthresh" or "flight" = min(ssthresh, max(flight, MSS) + MSS) (RFC 6582, section 3.2, step 3), or "deflated":
//! what partial ACKs have left of it, who take from the window itself what they acknowledge beyond the inflation (ns-2,
//! `partial_window_deflation_`). `last_ack`: whether the ACK that ends a repair only "repairs", or "grows" the window, too, as
//! in ns-2 (`recv_newack_helper`).
//! `inflation`: "unlimited", or by no more duplicates than segments are "outstanding" when a hole shows, against
//! receivers that feign them. `entry`: by how many of the duplicates that began the repair the window is inflated at once
//! (RFC 6582, section 3.2, step 2: 3); with 0 only later ones let new segments out, one each. That matters to responses
//! that keep the window: cwnd = flight + 3·MSS is a burst. `reduction`: the response's window "at-once", inflated as above, or
//! "proportional" to what duplicates stand for (see [`super::stand_ins`]), within a `bound` and by a `count` as in
//! [`super::Sack`]; then nothing is inflated, and the window after the repair is the response's.

use super::beyond::Beyond;
use super::stand_ins::StandIns;
use super::{Advance, DUP_THRESH, Duplicates, Inflation, LAST_ACK, Recovery};
use crate::outstanding::Sent;
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Report, SackBlocks, Time};

/// The window after a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Ssthresh,
    Flight,
    Deflated,
}

/// Fast recovery of RFC 6582.
#[derive(Debug, Clone)]
pub struct NewReno {
    impatient: bool,
    exit: Exit,
    last_ack_grows: bool,
    duplicates: Duplicates,
    inflation: Inflation,
    entry: u32,
    /// The window to leave recovery with, while recovering.
    target: Option<f64>,
    first_partial: bool,
    retransmit: bool,
    /// Where the window comes down in proportion.
    stand_ins: Option<Box<StandIns>>,
}

impl Member for NewReno {
    const INFO: Info = Info {
        name: "newreno",
        summary: "fast recovery that repairs one hole a round until all data sent before it is acknowledged",
        formula: "partial ACK: retransmit the next hole, cwnd −= acked − MSS; full ACK: cwnd = ssthresh",
        source: "RFC 6582",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let impatient = args.choice("variant", &["impatient", "slow-but-steady"])? == "impatient";
        let exit = match args.choice("exit", &["ssthresh", "flight", "deflated"])? {
            "flight" => Exit::Flight,
            "deflated" => Exit::Deflated,
            _ => Exit::Ssthresh,
        };
        let last_ack_grows = args.choice("last_ack", LAST_ACK)? == "grows";
        let inflation = Inflation::build(args)?;
        let stand_ins = StandIns::of(Beyond::build_reduction(args)?);
        let entry = args.count("entry", u64::from(DUP_THRESH), 0..=u64::from(DUP_THRESH))?;
        Ok(Self {
            impatient,
            exit,
            last_ack_grows,
            duplicates: Duplicates::default(),
            inflation,
            entry: entry as u32,
            target: None,
            first_partial: false,
            retransmit: false,
            stand_ins,
        })
    }
}

impl NewReno {
    /// A duplicate ACK that shows a loss however few came before it.
    pub(super) fn lose_early(&mut self, ack: &Ack, t: &mut Transfer, report: &mut Report<'_>) {
        self.duplicates.count += 1;
        if t.out.una() > self.duplicates.recover {
            self.duplicates.lose_first(ack, t, report);
            self.repair(ack.now, t, self.duplicates.count);
        }
    }

    /// Begins to repair, now, from the window that the response has set, after so many duplicate ACKs.
    pub(super) fn repair(&mut self, now: Time, t: &mut Transfer, duplicates: u32) {
        self.duplicates.recover = t.out.max();
        self.target = Some(t.window.cwnd);
        if let Some(stand_ins) = &mut self.stand_ins {
            return stand_ins.begin(duplicates, t);
        }
        t.window.cwnd += f64::from(duplicates.min(self.entry)) * t.window.mss;
        self.inflation.begin(now, duplicates, t);
        self.first_partial = true;
        self.retransmit = true;
    }

    /// The same where the window comes down in proportion; an ACK of all that had been sent ends nothing yet.
    fn on_part(&mut self, ack: &Ack, t: &mut Transfer) -> Option<Advance> {
        let missing = ack.ack < self.duplicates.recover;
        let stand_ins = self.stand_ins.as_mut()?;
        if ack.ack <= self.duplicates.recover {
            stand_ins.advance(ack, missing, t);
            return Some(Advance::REPAIRING);
        }
        t.window.cwnd = stand_ins.target(t);
        stand_ins.end();
        self.target = None;
        Some(Advance { grow: self.last_ack_grows, ..Advance::REPAIRING })
    }

    fn stop(&mut self) {
        (self.target, self.retransmit) = (None, false);
        self.stand_ins.iter_mut().for_each(|stand_ins| stand_ins.end());
    }

    fn on_partial(&mut self, ack: &Ack, t: &mut Transfer) -> Advance {
        let (mss, acked) = (t.window.mss, ack.newly_acked as f64);
        self.inflation.begin(ack.now, 0, t);
        let given_back = if acked >= mss { mss } else { 0.0 };
        t.window.cwnd = (t.window.cwnd - acked + given_back).max(mss);
        if let Some(target) = self.target.as_mut().filter(|_| self.exit == Exit::Deflated)
            && t.window.cwnd < *target + given_back
        {
            *target = (t.window.cwnd - given_back).max(mss);
            t.window.cwnd = *target + given_back;
        }
        self.retransmit = true;
        let restart_timer = self.first_partial || !self.impatient;
        self.first_partial = false;
        Advance { restart_timer, ..Advance::REPAIRING }
    }
}

impl Recovery for NewReno {
    fn on_advance(&mut self, ack: &Ack, _: &SackBlocks, t: &mut Transfer, _: &mut Report<'_>) -> Advance {
        self.duplicates.count = 0;
        let Some(target) = self.target else { return Advance::ORDINARY };
        if let Some(advance) = self.on_part(ack, t) {
            return advance;
        }
        if ack.ack < self.duplicates.recover {
            return self.on_partial(ack, t);
        }
        self.target = None;
        self.retransmit = false;
        let mss = t.window.mss;
        let flight = t.out.flight() as f64;
        t.window.cwnd = if self.exit == Exit::Flight { target.min(flight.max(mss) + mss) } else { target };
        Advance { grow: self.last_ack_grows, ..Advance::REPAIRING }
    }

    fn on_duplicate(&mut self, ack: &Ack, _: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        if let Some(stand_ins) = self.stand_ins.as_mut().filter(|_| self.target.is_some()) {
            stand_ins.another(t);
        } else if self.repairing() {
            self.inflation.another(t);
        } else if self.duplicates.another(t) {
            self.duplicates.lose_first(ack, t, report);
            self.repair(ack.now, t, DUP_THRESH);
        }
    }

    fn on_timeout(&mut self, _: Time, t: &mut Transfer) {
        self.duplicates = Duplicates { count: 0, recover: t.out.max() };
        self.stop();
        t.out.go_back();
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        self.duplicates.count = 0;
        self.stop();
        t.out.go_on();
    }

    fn deflated(&self, t: &Transfer) -> f64 {
        self.target.unwrap_or(t.window.cwnd)
    }

    fn on_sent(&mut self, sent: &Sent, _: &mut Transfer) {
        if let Some(stand_ins) = &mut self.stand_ins {
            stand_ins.on_sent(sent.span());
        }
    }

    fn hears_departures(&self) -> bool {
        self.stand_ins.is_some()
    }

    fn counts_air(&self) -> bool {
        self.stand_ins.is_some()
    }

    fn in_flight(&self, t: &Transfer) -> u64 {
        match &self.stand_ins {
            Some(stand_ins) if self.target.is_some() => stand_ins.in_flight(t),
            _ => t.out.flight(),
        }
    }

    fn idle(&self) -> bool {
        // Between two holes, too, unless stand-ins may let one be repaired again.
        !self.retransmit && (self.target.is_none() || self.stand_ins.is_none())
    }

    fn quiet(&self) -> bool {
        self.target.is_none() && !self.retransmit && self.duplicates.count == 0
    }

    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        let resends = match &mut self.stand_ins {
            Some(stand_ins) => stand_ins.resends(t),
            None => std::mem::take(&mut self.retransmit),
        };
        resends.then_some(0)
    }

    fn duplicates(&self) -> u32 {
        if self.repairing() { 0 } else { self.duplicates.count }
    }

    fn repairing(&self) -> bool {
        self.target.is_some()
    }
}
