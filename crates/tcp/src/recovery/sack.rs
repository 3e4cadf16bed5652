//! Loss recovery by selective acknowledgements (RFC 2018, RFC 6675).
//!
//! The scoreboard is in the marks of [`crate::outstanding`]. A segment is lost once three separate ranges, or more than
//! two MSS, above it are sacked (IsLost). Recovery sends while `pipe`, an estimate of what is in the air, leaves room
//! in the window: lost segments first, then new data, then, lacking both, the unsacked ones below the highest sacked
//! (NextSeg, rules 1 to 3) and one rescue retransmission of the last segment (rule 4). After a timeout everything not
//! sacked is lost, and sacked segments are not sent again (section 5.1).
//!
//! `reduction`: whether the window is the response's "at-once", so that nothing is sent until that much has left the network
//! (RFC 6675, section 5, step 4.2), or comes down to it "proportional" to what is delivered (RFC 9937, see [`super::prr`]),
//! within a `bound` where much was lost: "safe-ack", "conservative" or "slow-start"; `echo`: and whether it does for an echo of
//! congestion (ECN), until more is acknowledged than had been sent by then (Linux 6.18, `tcp_enter_cwr`). A controller that sets the window at each
//! ACK, as BBR does, has the last word.
//!
//! `frto`: whether a timeout is first looked at, if it was spurious (RFC 5682, see [`super::frto`]). Then the window is again
//! what it was before (RFC 4015), and nothing more is sent again.

use super::beyond::Beyond;
use super::scoreboard::Scoreboard;
use super::{Advance, DUP_THRESH, Recovery, Reported};
use crate::outstanding::{Sent, marks};
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, LossKind, Report, SackBlocks, Seq, Time};

/// Recovery of RFC 6675.
#[derive(Debug, Clone, Default)]
pub struct Sack {
    sacked: Scoreboard,
    duplicates: u32,
    /// Everything unsacked below has been marked lost.
    lost_below: Seq,
    /// RecoveryPoint: one after the highest sequence number sent when the last repair began.
    recover: Seq,
    repairing: bool,
    /// After a timeout, until `recover` is acknowledged.
    after_timeout: bool,
    /// HighRxt: one after the highest sequence number retransmitted in this repair.
    retransmitted: Seq,
    /// The first retransmission of a recovery does not wait for `pipe`.
    first: bool,
    rescued: bool,
    /// What it does beyond RFC 6675, which few ask for.
    beyond: Beyond,
}

impl Member for Sack {
    const INFO: Info = Info {
        name: "sack",
        summary: "repairs all holes that SACK blocks show, as fast as the window allows",
        formula: "send while pipe + MSS ≤ cwnd: lost segments, then new data, then a rescue",
        source: "RFC 6675; blocks by RFC 2018; proportional reduction by RFC 9937; F-RTO by RFC 5682",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { beyond: Beyond::build(args)?, ..Self::default() })
    }
}

impl Sack {
    /// What an ACK's blocks say, whether it advances or not: section 5 counts it as a duplicate "regardless of its status
    /// as a cumulative acknowledgment" where they bring news, and looks for a loss.
    fn hear(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        let lost = t.out.lost_ever();
        let news = self.sacked.read(ack.ack, sack, t);
        self.duplicates += u32::from(news);
        self.look_at_timeout(ack, news, t, report);
        let recovering = self.repairing || self.after_timeout;
        if news || recovering {
            self.mark_lost(t);
        }
        if news && !recovering && (self.duplicates >= DUP_THRESH || self.first_lost(t)) {
            self.enter(ack, t, report);
        }
        self.beyond.on_ack(ack.newly_acked > 0 && t.out.lost_ever() == lost, 0, t);
    }

    /// Whether the last timeout was spurious, and what follows from that.
    fn look_at_timeout(&mut self, ack: &Ack, news: bool, t: &mut Transfer, report: &mut Report<'_>) {
        let reported = self.sacked.ranges().as_slice().last().map_or(ack.ack, |range| range.1);
        if self.beyond.was_spurious(ack, news, reported, false, t) {
            self.on_undo(t);
            t.end_back_off();
            t.undo(ack.now, report);
        }
    }

    /// IsLost for all at once: below the point above which enough is sacked.
    fn mark_lost(&mut self, t: &mut Transfer) {
        let enough = (f64::from(DUP_THRESH - 1) * t.window.mss) as u64;
        let (mut ranges, mut bytes) = (0, 0);
        let frontier = self.sacked.ranges().as_slice().iter().rev().find_map(|&(from, to)| {
            ranges += 1;
            bytes += to - from;
            (ranges >= DUP_THRESH || bytes > enough).then_some(from)
        });
        let Some(frontier) = frontier else { return };
        let mut at = t.out.index_of(self.lost_below.max(t.out.una()));
        while t.out.get(at).is_some_and(|s| s.seq < frontier) {
            t.out.mark_lost(at);
            at += 1;
        }
        self.lost_below = self.lost_below.max(frontier);
    }

    fn first_lost(&self, t: &Transfer) -> bool {
        t.out.get(0).is_some_and(|s| s.is(marks::LOST))
    }

    fn enter(&mut self, ack: &Ack, t: &mut Transfer, report: &mut Report<'_>) {
        self.recover = t.out.max();
        let brought = ack.newly_acked + ack.newly_sacked;
        let flight = (t.out.flight() + brought).saturating_sub(t.out.sacked());
        t.lose(ack.now, LossKind::DupAcks, t.out.una(), report);
        t.out.mark_lost(0);
        self.beyond.begin(brought, flight, t);
        self.repairing = true;
        self.retransmitted = Seq::ZERO;
        self.first = true;
        self.rescued = false;
    }

    /// The first segment above HighRxt and below `limit` that is `wanted`.
    fn next_above(&self, t: &Transfer, limit: Seq, wanted: impl Fn(&Sent) -> bool) -> Option<usize> {
        let mut at = t.out.index_of(self.retransmitted);
        loop {
            let segment = t.out.get(at).filter(|s| s.seq < limit)?;
            if wanted(&segment) {
                return Some(at);
            }
            // What is sacked is passed in strides: this is asked for each ACK, and windows may hold 10⁵ segments.
            at = match self.sacked.ranges().containing(segment.seq) {
                Some((_, end)) => t.out.index_of(end),
                None => at + 1,
            };
        }
    }

    fn room(&self, t: &Transfer) -> bool {
        t.out.pipe() as f64 + t.window.mss <= t.window.cwnd
    }
}

impl Recovery for Sack {
    fn on_advance(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        t: &mut Transfer,
        report: &mut Report<'_>,
    ) -> Advance {
        self.sacked.trim_below(ack.ack);
        self.duplicates = 0;
        let repaired = self.repairing;
        if ack.ack >= self.recover {
            self.after_timeout = false;
            self.first &= !repaired;
            self.repairing = false;
            if !self.beyond.is_echoing() {
                t.window.cwnd = self.deflated(t);
                self.beyond.end();
            }
        }
        let echoing = self.beyond.advance_echo(ack.ack, t);
        self.hear(ack, sack, t, report);
        if repaired || self.repairing || echoing { Advance::REPAIRING } else { Advance::ORDINARY }
    }

    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        self.hear(ack, sack, t, report);
    }

    fn reported(&self, ack: Seq, sack: &SackBlocks, t: &Transfer) -> Reported {
        self.sacked.reported(ack, sack, t)
    }

    fn deflated(&self, t: &Transfer) -> f64 {
        self.beyond.target(t)
    }

    fn on_sent(&mut self, sent: &Sent, _: &mut Transfer) {
        self.beyond.on_sent(sent.span());
    }

    fn hears_departures(&self) -> bool {
        self.beyond.hears_departures()
    }

    fn on_echo(&mut self, brought: u64, flight: u64, t: &mut Transfer) {
        self.beyond.begin_for_echo(brought, flight, t);
    }

    fn on_timeout(&mut self, _: Time, t: &mut Transfer) {
        self.beyond.end();
        let again = self.after_timeout;
        if let Some(frto) = self.beyond.frto() {
            frto.on_timeout(t.out.max(), again);
        }
        t.out.lose_all();
        self.recover = t.out.max();
        self.lost_below = t.out.max();
        self.repairing = false;
        self.after_timeout = true;
        self.retransmitted = Seq::ZERO;
        self.first = true;
        self.rescued = false;
        self.duplicates = 0;
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        (self.repairing, self.after_timeout, self.first) = (false, false, false);
        self.duplicates = 0;
        self.lost_below = t.out.una();
        t.out.lose_none();
        self.beyond.end();
    }

    fn idle(&self) -> bool {
        !self.repairing && !self.after_timeout
    }

    fn quiet(&self) -> bool {
        let calm = self.idle() && self.duplicates == 0 && self.sacked.ranges().is_empty();
        calm && !self.beyond.is_echoing()
    }

    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        if !self.repairing && !self.after_timeout {
            return None;
        }
        // What an earlier recovery has sent again beyond its own end is in the air already.
        if std::mem::take(&mut self.first)
            && let Some(first) = t.out.get(0).filter(|first| !first.is(marks::REPAIR))
        {
            self.retransmitted = first.end;
            return Some(0);
        }
        if !self.room(t) || self.beyond.frto().is_some_and(|frto| frto.holds_back()) {
            return None;
        }
        // A timeout's repair ends where it began; a recovery repairs what is lost in its own course too (NextSeg, rule 1).
        let limit = if self.after_timeout { self.lost_below.min(self.recover) } else { self.lost_below };
        let at = self.next_above(t, limit, |s| s.is(marks::LOST) && !s.is(marks::REPAIR))?;
        self.retransmitted = t.out.get(at)?.end;
        Some(at)
    }

    fn last_resort(&mut self, t: &Transfer) -> Option<usize> {
        if self.beyond.frto().is_some_and(|frto| frto.give_up(t.out.max())) {
            return self.retransmission(t);
        }
        if !self.repairing || !self.room(t) {
            return None;
        }
        let highest = self.sacked.ranges().as_slice().last().map_or(Seq::ZERO, |r| r.1);
        if let Some(at) = self.next_above(t, highest, |s| !s.is(marks::SACKED | marks::REPAIR)) {
            self.retransmitted = t.out.get(at)?.end;
            return Some(at);
        }
        if std::mem::replace(&mut self.rescued, true) {
            return None;
        }
        // RFC 6675 would also rescue a segment whose retransmission is in the air, which cannot gain anything.
        (0..t.out.index_of(self.recover))
            .rev()
            .find(|at| t.out.get(*at).is_some_and(|s| !s.is(marks::SACKED | marks::REPAIR)))
    }

    fn counts_air(&self) -> bool {
        true
    }

    fn in_flight(&self, t: &Transfer) -> u64 {
        if self.repairing || self.after_timeout { t.out.pipe() } else { t.out.flight() }
    }

    fn duplicates(&self) -> u32 {
        if self.repairing || self.after_timeout { 0 } else { self.duplicates }
    }

    fn repairing(&self) -> bool {
        self.repairing
    }

    fn reducing(&self, _: &Transfer) -> bool {
        self.repairing || self.beyond.is_echoing()
    }

    fn wants_sack(&self) -> bool {
        true
    }
}
