//! Reno: fast retransmit and fast recovery, which ends with the first ACK of new data.
//!
//! On the third duplicate ACK: the response sets ssthresh and cwnd, cwnd is inflated by 3 MSS and by 1 MSS for each
//! further duplicate, and the first ACK of new data deflates it. A second loss in the same window needs three
//! duplicates of its own, or the timer. `second`: whether those three duplicates bring another "fast-retransmit", as RFC
//! 2581 has it, or are ignored until everything sent before the first loss is acknowledged, so that the second loss
//! waits for a "timeout", as in ns-2 (its `bugFix_`) and other simulators of the papers' time. `last_ack`: as in
//! [`super::NewReno`]. `inflation`: "unlimited", or
//! by no more duplicates than segments were "outstanding", against receivers that feign them. Source: RFC 2581 and RFC
//! 5681, section 3.2.

use super::{Advance, DUP_THRESH, Duplicates, Inflation, LAST_ACK, Recovery};
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, LossKind, Report, SackBlocks, Time};

/// Fast recovery of RFC 2581.
#[derive(Debug, Clone, Default)]
pub struct Reno {
    /// Whether a second loss in a window waits for the timer.
    once: bool,
    last_ack_grows: bool,
    duplicates: Duplicates,
    inflation: Inflation,
    /// The window without inflation, while recovering.
    deflated: Option<f64>,
    retransmit: bool,
}

impl Member for Reno {
    const INFO: Info = Info {
        name: "reno",
        summary: "fast retransmit and fast recovery that ends with the first ACK of new data",
        formula: "3 dup ACKs: window by the response, +3 MSS, +1 MSS per further dup ACK; first new ACK: deflate",
        source: "RFC 2581, section 3.2; RFC 5681, section 3.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let once = args.choice("second", &["fast-retransmit", "timeout"])? == "timeout";
        let last_ack_grows = args.choice("last_ack", LAST_ACK)? == "grows";
        let inflation = Inflation::build(args)?;
        Ok(Self { once, last_ack_grows, inflation, ..Self::default() })
    }
}

impl Recovery for Reno {
    fn on_advance(&mut self, _: &Ack, _: &SackBlocks, t: &mut Transfer, _: &mut Report<'_>) -> Advance {
        self.duplicates.count = 0;
        self.retransmit = false;
        match self.deflated.take() {
            None => Advance::ORDINARY,
            Some(cwnd) => {
                t.window.cwnd = cwnd;
                Advance { grow: self.last_ack_grows, ..Advance::REPAIRING }
            }
        }
    }

    fn on_duplicate(&mut self, ack: &Ack, _: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        if self.deflated.is_some() {
            self.inflation.another(t);
            return;
        }
        // After a timeout duplicates may come from what the go-back sent needlessly; after a fast retransmit RFC 2581
        // takes any three duplicates for a new loss.
        if self.duplicates.another(t) {
            if self.once {
                self.duplicates.recover = t.out.max();
            }
            t.lose(ack.now, LossKind::DupAcks, t.out.una(), report);
            self.deflated = Some(t.window.cwnd);
            t.window.cwnd += f64::from(DUP_THRESH) * t.window.mss;
            self.inflation.begin(ack.now, DUP_THRESH, t);
            self.retransmit = true;
        }
    }

    fn on_timeout(&mut self, _: Time, t: &mut Transfer) {
        let duplicates = Duplicates { count: 0, recover: t.out.max() };
        let inflation = std::mem::take(&mut self.inflation);
        let (once, last_ack_grows) = (self.once, self.last_ack_grows);
        *self = Self { once, last_ack_grows, duplicates, inflation, ..Self::default() };
        t.out.go_back();
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        self.duplicates.count = 0;
        (self.deflated, self.retransmit) = (None, false);
        t.out.go_on();
    }

    fn deflated(&self, t: &Transfer) -> f64 {
        self.deflated.unwrap_or(t.window.cwnd)
    }

    fn idle(&self) -> bool {
        self.deflated.is_none() && !self.retransmit
    }

    fn quiet(&self) -> bool {
        self.idle() && self.duplicates.count == 0
    }

    fn retransmission(&mut self, _: &Transfer) -> Option<usize> {
        std::mem::take(&mut self.retransmit).then_some(0)
    }

    fn duplicates(&self) -> u32 {
        if self.repairing() { 0 } else { self.duplicates.count }
    }

    fn repairing(&self) -> bool {
        self.deflated.is_some()
    }
}
