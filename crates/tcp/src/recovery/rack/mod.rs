//! RACK-TLP: losses by time (RFC 8985).
//!
//! Each segment's last transmission counts. It is lost once a transmission that left after it has come and a round trip and a
//! reordering window have passed since it left: min_RTT/4, wider by as much for each round that sees a duplicate SACK, SRTT at
//! the most; none while a loss is repaired or three segments are reported, unless reordering was ever seen. A timer looks where
//! no ACK comes. So a retransmission that is lost is found like any other, and small windows need no third duplicate. Where
//! nothing at all comes for two round trips, a probe goes out, new data or else the last segment again (`tlp`), and its ACK
//! tells. After a timeout only what is a round trip old is lost at once (section 6.3).
//!
//! What is in the air counts without what is reported or lost at any time, so that a report lets new data out while it is not
//! clear yet whether something is lost (Linux 6.18, `tcp_packets_in_flight`; limited transmit is its beginning). Lost
//! segments go first, oldest first. `slack`: how much later than that both timers go off (Linux 6.18, `TCP_TIMEOUT_MIN_US`, 2 ms), in
//! [`crate::wheel`] where the host's timers are. Where segments were seen to be overtaken by more than three, reports open the window as ACKs do
//! if `last_ack` "grows" (`tcp_may_raise_cwnd`). `reduction`, `bound`, `echo`, `frto`: as in [`super::Sack`]. `last_ack`: whether the ACK that
//! ends a repair only "repairs", or "grows" the window as any other (Linux 6.18, `tcp_cong_control`), or is "told" to a growth rule before
//! the repair is over, as to one that stands in a Linux in place of its own (`tcp_clean_rtx_queue`, `pkts_acked`): it opens nothing.

mod detect;
mod hearing;
mod overdue;
mod probe;

use super::beyond::Beyond;
use super::prr::FIN;
use super::scoreboard::Scoreboard;
use super::{Advance, DUP_THRESH, Recovery, Reported};
use crate::outstanding::{Sent, marks};
use crate::rtt::TIMESTAMP;
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, LossKind, Report, SackBlocks, Seq, Span, Time, Transmission};
use detect::{Circumstances, Detector, left_before};
use probe::Probe;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// As the others' `last_ack`, and what a rule hears that stands in a Linux in place of its own.
const RACK_LAST_ACK: &[&str] = &["repairs", "grows", "told"];

/// Recovery of RFC 8985.
#[derive(Debug, Clone, Default)]
pub struct Rack {
    sacked: Scoreboard,
    /// Segments reported and not yet acknowledged.
    reports: u32,
    detector: Detector,
    /// How much later its timers go off.
    slack: Span,
    /// When to look again for what is overdue.
    overdue: Option<Time>,
    /// Whether that was set by the ACK at hand: then no other timer takes its place (`tcp_rack_mark_lost`).
    set_anew: bool,
    /// Everything below that was sent once has been judged.
    judged: Seq,
    /// Segments sent again, and reported to have come twice, since the beginning.
    resent: u64,
    twice: u64,
    /// What was sent again, in the order in which it was: number, and the segment's end.
    again: VecDeque<(Transmission, Seq)>,
    probe: Option<Probe>,
    /// RecoveryPoint: one after the highest sequence number sent when the last repair began.
    recover: Seq,
    repairing: bool,
    /// After a timeout, until `recover` is acknowledged.
    after_timeout: bool,
    /// Linux' rules, by which the echo of a timestamp does not tell a retransmission from the original where reports tell
    /// of it, and the round-trip time is that of what an ACK tells of last, whenever it left (`tcp_rack_advance`).
    linux: bool,
    /// Whether the ACK that ends a repair opens the window, too.
    last_ack_grows: bool,
    /// Whether the ACK at hand has shown the repair to have been needless.
    undone: bool,
    /// Whether the ACK at hand covers what had not been reported: of that is Linux' round-trip time then.
    covers: bool,
    /// Whether anything has come since it was last looked what is overdue by that.
    advanced: bool,
    /// Whether the ACK at hand ends a repair.
    ended: bool,
    /// What was unacknowledged when the timer last went off.
    timed_out: Seq,
    /// The first retransmission of a repair does not wait for room.
    first: bool,
    /// Whether the ACK at hand delivers what was sent once, and before the timeout.
    original: bool,
    /// The ACK that showed what was taken to be lost to have been late, before it could be undone: it shows nothing else lost, and
    /// lets nothing else be sent again.
    paused: Option<Seq>,
    /// Whether a repair was lost just now: after a timeout Linux begins another repair then (`tcp_fastretrans_alert`, FLAG_LOST_RETRANS).
    lost_again: bool,
    /// Whether the ACK at hand, one amid a repair, shows what it covers to have been late: only that takes all back that counts as lost
    /// (`tcp_try_undo_partial`); after another undo a repair of what is left begins at once.
    partial: bool,
    kept: bool,
    /// Bytes that the duplicate at hand shows to have been sent again in vain.
    vain: u64,
    /// What is lost and waits to be sent again lies between.
    waiting: (Seq, Seq),
    beyond: Beyond,
}

impl Member for Rack {
    const INFO: Info = Info {
        name: "rack",
        summary: "takes for lost what is overdue while something sent later has come, and probes a silent path",
        formula: "lost: sent + RTT + min(k·min_RTT/4, SRTT) has passed, and a later one has come; silent for 2·SRTT: probe",
        source: "RFC 8985; reductions by RFC 9937; F-RTO by RFC 5682",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let slack = args.time("slack", Span::ZERO, Span::ZERO..=Span::s(1))?;
        let probe = args.flag("tlp", true)?.then(|| Probe::with(slack));
        let last_ack = args.choice("last_ack", RACK_LAST_ACK)?;
        let (linux, last_ack_grows) = (last_ack != "repairs", last_ack == "grows");
        Ok(Self { probe, slack, linux, last_ack_grows, beyond: Beyond::build(args)?, ..Self::default() })
    }
}

impl Rack {
    fn recovering(&self) -> bool {
        self.repairing || self.after_timeout
    }

    fn circumstances(&self, t: &Transfer) -> Circumstances {
        let losing = self.recovering() || self.reports >= DUP_THRESH;
        let rtt_min = t.least_rtt();
        Circumstances { rtt_min, srtt: t.window.srtt, losing }
    }

    /// What was sent again and is not lost after all is in the air, in the order in which it was sent.
    fn watch_repairs(&mut self, t: &Transfer) {
        let resent = |sent: &Sent| sent.is_resent() && !sent.is(marks::SACKED);
        let mut again: Vec<Sent> = (0..t.out.len()).filter_map(|at| t.out.get(at)).filter(resent).collect();
        again.sort_by(|a, b| match left_before(a.number, b.number) {
            true => Ordering::Less,
            false => Ordering::Greater,
        });
        self.again = again.iter().map(|sent| (sent.number, sent.end)).collect();
    }

    /// The first segment that is lost and waits to be sent again.
    fn next_lost(&mut self, t: &Transfer) -> Option<usize> {
        let mut at = t.out.index_of(self.waiting.0.max(t.out.una()));
        loop {
            let Some(sent) = t.out.get(at).filter(|sent| sent.seq < self.waiting.1) else {
                self.waiting = (Seq::ZERO, Seq::ZERO);
                return None;
            };
            if sent.is(marks::LOST) && !sent.is(marks::REPAIR) {
                self.waiting.0 = sent.seq;
                return Some(at);
            }
            at = match self.sacked.ranges().containing(sent.seq) {
                Some((_, end)) => t.out.index_of(end),
                None => at + 1,
            };
        }
    }

    fn enter_if_lost(&mut self, now: Time, brought: u64, t: &mut Transfer, report: &mut Report<'_>) {
        let lost_again = std::mem::take(&mut self.lost_again) && self.linux;
        if self.repairing || self.after_timeout && !lost_again {
            return;
        }
        let lost = self.next_lost(t).or_else(|| self.left_lost(t));
        let Some(lost) = lost.and_then(|at| t.out.get(at)) else { return };
        if let Some(frto) = self.beyond.frto() {
            frto.stop();
        }
        self.recover = t.out.max();
        let flight = (t.out.flight() + brought).saturating_sub(t.out.sacked());
        // The timer begins anew when the first segment goes again: see `on_sent`.
        if self.linux {
            t.lose_and_keep_timer(now, LossKind::DupAcks, lost.seq, report);
        } else {
            t.lose(now, LossKind::DupAcks, lost.seq, report);
        }
        self.beyond.round(t);
        self.beyond.begin(brought, flight, t);
        if brought == 0 {
            self.beyond.begin_by_timer(t);
        }
        (self.repairing, self.after_timeout, self.first) = (true, false, true);
        self.forget_probe(t);
    }

    /// A loss is being repaired. A probe that was sent again may be reported as come twice besides (`tcp_init_undo`).
    fn forget_probe(&mut self, t: &mut Transfer) {
        let Some(probe) = &mut self.probe else { return };
        if self.linux && probe.is_out_again() {
            t.expect_report();
        }
        probe.forget();
    }

    /// Where a repair has just ended, the first segment that was lost in it and sent again since: Linux begins the next repair at
    /// once then (6.18, `tcp_time_to_recover`, by lost_out).
    fn left_lost(&self, t: &Transfer) -> Option<usize> {
        let lost = |at: &usize| t.out.get(*at).is_some_and(|sent| sent.is(marks::LOST));
        if self.linux && (self.ended || self.kept) { (0..t.out.len()).find(lost) } else { None }
    }

    /// Whether a segment has room; FIN takes none, but what Linux counts are packets.
    fn room(&self, t: &Transfer) -> bool {
        let air = if self.linux { t.out.packets_in_air(t.window.mss) } else { t.out.pipe() };
        air as f64 + t.window.mss <= t.window.cwnd + FIN
    }

    fn is_probing(&self) -> bool {
        self.probe.as_ref().is_some_and(Probe::is_going)
    }
}

impl Recovery for Rack {
    fn on_advance(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        t: &mut Transfer,
        report: &mut Report<'_>,
    ) -> Advance {
        self.set_anew = false;
        self.sacked.trim_below(ack.ack);
        let repairing = self.repairing;
        let echoed = self.beyond.is_echoing();
        self.ended = self.recovering() && ack.ack >= self.recover;
        if self.ended {
            self.detector.on_recovered();
            t.window.cwnd = self.deflated(t);
            self.beyond.end();
            (self.repairing, self.after_timeout, self.first) = (false, false, false);
        }
        let echoing = self.beyond.advance_echo(ack.ack, t);
        let again = self.hear(ack, sack, t, report);
        let repaired = std::mem::take(&mut self.undone) || repairing;
        let ends = (repaired || self.linux && echoed) && !self.last_ack_grows;
        let advance = if ends || self.repairing || echoing { Advance::REPAIRING } else { Advance::ORDINARY };
        let restart_timer = advance.restart_timer && !(self.linux && self.keeps_timer(ack.now, t));
        Advance { again, restart_timer, ..advance }
    }

    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        (self.ended, self.set_anew) = (false, false);
        self.vain = self.hear(ack, sack, t, report);
        self.undone = false; // the window opens with no duplicate
        // Of what was sent before the first segment was last sent (`tcp_clean_rtx_queue`).
        let earlier = |first: Sent| ack.rtt.is_some_and(|rtt| first.sent + rtt > ack.now);
        if self.linux && t.out.get(0).is_some_and(earlier) && !self.keeps_timer(ack.now, t) {
            t.restart_timer(ack.now);
        }
    }

    fn on_delivered(&mut self, now: Time, sent: &Sent, echo: Option<Time>, t: &Transfer) {
        if sent.is(marks::SACKED) {
            self.reports = self.reports.saturating_sub(1);
        } else {
            self.original |= !sent.is_resent() && sent.end <= self.recover;
            let echo = match self.linux {
                // `tcp_skb_spurious_retrans`: of timestamps that count milliseconds.
                true => echo.filter(|&echo| echo.ticks(TIMESTAMP) < sent.sent.ticks(TIMESTAMP)),
                false => echo,
            };
            if self.detector.on_delivered(now, sent, echo, t.least_rtt()) && self.linux {
                self.detector.set_rtt(Some(now.saturating_sub(sent.sent)));
                (self.advanced, self.covers) = (true, true);
            }
        }
    }

    fn reported(&self, ack: Seq, sack: &SackBlocks, t: &Transfer) -> Reported {
        self.sacked.reported(ack, sack, t)
    }

    fn deflated(&self, t: &Transfer) -> f64 {
        self.beyond.target(t)
    }

    fn on_sent(&mut self, sent: &Sent, t: &mut Transfer) {
        self.beyond.on_sent(sent.span());
        if sent.is_resent() {
            self.resent += 1;
            self.again.push_back((sent.number, sent.end));
            let repairs = self.linux && self.overdue.is_none() && self.recovering();
            if repairs && sent.seq == t.out.una() {
                t.restart_timer(sent.sent); // `tcp_xmit_retransmit_queue`
            }
        }
        if let Some(probe) = self.probe.as_mut().filter(|probe| probe.is_going()) {
            probe.on_sent(sent.is_resent(), t.out.nxt());
        } else if !sent.is_resent() {
            self.arm_probe(sent.sent, true);
            if let Some(probe) = self.probe.as_ref().filter(|probe| probe.is_out())
                && self.linux
                && !self.recovering()
                && self.reports == 0
            {
                // Its timer stands in the other's place, and then that goes by when the first segment left (`tcp_send_loss_probe`).
                t.restart_timer_of_first(probe.passes(sent.sent, t));
            }
        }
    }

    fn on_quiet_advance(&mut self, now: Time, t: &Transfer) {
        self.detector.on_next(now, &t.out);
        if let Some(probe) = &mut self.probe {
            probe.arm(now);
        }
    }

    fn hears_departures(&self) -> bool {
        true
    }

    fn deadline(&self, t: &Transfer) -> Option<Time> {
        let probe = self.probe.as_ref().and_then(|probe| probe.due(t));
        self.overdue.into_iter().chain(probe).min()
    }

    fn displaces(&self, t: &Transfer) -> Option<Time> {
        self.deadline(t).filter(|_| self.linux)
    }

    fn on_timer(&mut self, now: Time, t: &mut Transfer, report: &mut Report<'_>) {
        if self.overdue.is_some_and(|at| at <= now) {
            self.overdue = None;
            let in_flight = t.out.pipe();
            self.look_at_all(now, t);
            self.lost_again = t.out.pipe() != in_flight;
            self.enter_if_lost(now, 0, t, report);
            if self.linux {
                t.restart_timer_of_first(now); // `tcp_rack_reo_timeout`
            }
        }
        if let Some(probe) = self.probe.as_mut().filter(|probe| probe.due(t).is_some_and(|due| due <= now)) {
            probe.go();
            t.restart_timer(now);
        }
    }

    fn has_timer(&self) -> bool {
        true
    }

    fn on_echo(&mut self, brought: u64, flight: u64, t: &mut Transfer) {
        self.beyond.round(t);
        self.beyond.begin_for_echo(brought, flight, t);
    }

    fn on_timeout(&mut self, now: Time, t: &mut Transfer) {
        self.beyond.round(t);
        self.beyond.end();
        let again = self.recovering();
        if !again && self.reports >= self.detector.reordering() {
            self.detector.forget_reordering();
        }
        if let Some(frto) = self.beyond.frto() {
            // Linux looks anew where the same segment times out again (`tcp_enter_loss`).
            let same = self.linux && self.after_timeout && self.timed_out == t.out.una();
            frto.on_timeout(t.out.max(), again && !same);
        }
        self.timed_out = t.out.una();
        self.forget_probe(t);
        (self.repairing, self.after_timeout, self.first) = (false, true, true);
        self.recover = t.out.max();
        let circumstances = self.circumstances(t);
        self.detector.settle(&circumstances);
        for at in 0..t.out.len() {
            if let Some(sent) = t.out.get(at).filter(|sent| !sent.is(marks::SACKED))
                && (at == 0 || !self.detector.may_come(now, &sent))
            {
                self.lose(at, &sent, t);
            }
        }
        self.overdue = None;
        if self.linux {
            let mss = t.window.mss;
            let air = t.out.packets_in_air(mss) as f64;
            t.window.cwnd = (libm::ceil(air / mss) + 1.0) * mss; // `tcp_enter_loss`
        }
    }

    fn waits_to_undo(&self, ack: Seq) -> bool {
        let under_way = self.again.iter().any(|&(_, end)| end > ack);
        self.linux && self.repairing && ack < self.recover && under_way
    }

    fn on_late(&mut self, ack: Seq, t: &Transfer) {
        self.partial = self.repairing && ack < self.recover;
        if self.partial {
            self.detector.on_reordered(t.out.una()); // `tcp_try_undo_partial`
            self.paused = self.waits_to_undo(ack).then_some(ack);
        }
    }

    fn opens_by_reports(&self) -> Option<u64> {
        let opens = self.last_ack_grows && !self.recovering() && self.detector.reordering() > DUP_THRESH;
        opens.then_some(self.vain)
    }

    fn on_undone(&mut self, t: &mut Transfer) {
        let ssthresh = t.window.ssthresh; // it was whole, or none
        self.beyond.round(t);
        t.window.ssthresh = ssthresh;
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        // Where what opens the window hears of an ACK before that undoes anything, the window of before covers what it has added.
        self.undone = self.repairing || self.linux && !self.last_ack_grows;
        self.kept = self.linux && self.repairing && !self.partial;
        self.advanced |= self.linux; // `tcp_undo_cwnd_reduction`
        (self.repairing, self.after_timeout, self.first) = (false, false, false);
        self.beyond.end();
        if self.kept {
            return;
        }
        self.judged = t.out.una();
        self.waiting = (Seq::ZERO, Seq::ZERO);
        t.out.lose_none();
        self.watch_repairs(t);
    }

    fn idle(&self) -> bool {
        !self.recovering() && !self.is_probing()
    }

    fn quiet(&self) -> bool {
        let unreported = self.reports == 0 && self.sacked.ranges().is_empty() && !self.detector.is_told();
        let watched = self.overdue.is_some() || !self.again.is_empty();
        let probed = self.probe.as_ref().is_some_and(|probe| !probe.is_armed());
        unreported && !watched && !probed && !self.recovering() && self.beyond.is_idle()
    }

    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        if !self.recovering() {
            return None;
        }
        if std::mem::take(&mut self.first) {
            // A peer may have reported what it does not acknowledge: the timer has the last word (RFC 2018, section 8).
            let first = self.next_lost(t).or(self.after_timeout.then_some(0));
            if first.is_some() {
                return first;
            }
        }
        if self.paused == Some(t.out.una())
            || !self.room(t)
            || self.beyond.frto().is_some_and(|frto| frto.holds_back())
        {
            return None;
        }
        self.next_lost(t)
    }

    fn last_resort(&mut self, t: &Transfer) -> Option<usize> {
        if self.beyond.frto().is_some_and(|frto| frto.give_up(t.out.max())) {
            return self.retransmission(t);
        }
        if !self.is_probing() {
            return None;
        }
        let last = (0..t.out.len()).rev().find(|at| t.out.get(*at).is_some_and(|s| !s.is(marks::SACKED)));
        if last.is_none()
            && let Some(probe) = &mut self.probe
        {
            probe.disarm();
        }
        last
    }

    fn probes(&self) -> bool {
        self.is_probing()
    }

    fn counts_air(&self) -> bool {
        true
    }

    fn counts_probes(&self) -> bool {
        !self.linux
    }

    fn in_flight(&self, t: &Transfer) -> u64 {
        t.out.pipe()
    }

    fn duplicates(&self) -> u32 {
        0 // what they report is not in the air, and makes room by itself
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
