//! What an ACK tells RACK: what has come, what that shows of times and reordering, whether a probe or a timeout was answered. Not
//! for: what is lost by that, which `detect.rs` and `overdue.rs` judge.

use super::Rack;
use super::probe::Outcome;
use crate::outstanding::{Sent, marks};
use crate::recovery::Recovery;
use crate::sender::Transfer;
use crate::{Ack, Report, SackBlocks, Time};

impl Rack {
    /// What an ACK says, whether it advances or not. Bytes that were sent again in vain and count as delivered.
    pub(super) fn hear(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        t: &mut Transfer,
        report: &mut Report<'_>,
    ) -> u64 {
        let lost = t.out.lost_ever();
        let rtt_min = t.least_rtt();
        let echo = ack.echo.filter(|_| !self.linux); // where a report came of, Linux does not ask
        let covers = self.linux && std::mem::take(&mut self.covers);
        let Self { sacked, detector, reports, original, recover, advanced, linux, .. } = self;
        let rtt = detector.rtt().filter(|_| covers);
        let mut reported = None;
        let news = sacked.read_telling(ack.ack, sack, t, |sent, _| {
            *reports += 1;
            *original |= !sent.is_resent() && sent.end <= *recover;
            if detector.on_delivered(ack.now, sent, echo, rtt_min) {
                (*advanced, reported) = (true, linux.then(|| ack.now.saturating_sub(sent.sent)));
            }
        });
        self.detector.set_rtt(rtt.or(reported));
        self.look_at_timeout(ack, news, t, report);
        // A probe that comes twice tells nothing of reordering (`tcp_dsack_seen`, FLAG_DSACK_TLP).
        let probes = self.probe.as_ref().is_some_and(|probe| probe.has_come_twice(ack));
        self.hear_of_probe(ack, sack, t, report);
        let twice = self.count_twice(ack, t);
        match self.linux {
            true => self.detector.adapt_as_linux(twice > 0 && !probes, &t.out),
            false => self.detector.adapt(ack, &t.out),
        }
        let highest = self.sacked.ranges().as_slice().last().map_or(ack.ack, |range| range.1);
        self.detector.measure(highest, t.window.mss);
        self.paused = self.paused.filter(|_| !ack.duplicate);
        // What brings nothing shows nothing overdue: then the timer has to (`tcp_rack_mark_lost`).
        let looks = std::mem::take(&mut self.advanced) || !self.linux;
        if looks && self.paused.is_none_or(|paused| paused != ack.ack) {
            self.look(ack.now, t);
        }
        self.enter_if_lost(ack.now, ack.newly_delivered, t, report);
        (self.partial, self.kept) = (false, false);
        self.beyond.on_ack(ack.newly_acked > 0 && t.out.lost_ever() == lost, twice, t);
        self.arm_probe(ack.now, ack.newly_acked > 0);
        twice
    }

    /// Bytes that an ACK reports to have come twice, as far as they may be retransmissions: these are delivered, too, and only these
    /// say anything of reordering (Linux 6.18, `tcp_dsack_seen`).
    fn count_twice(&mut self, ack: &Ack, t: &Transfer) -> u64 {
        let Some((from, to)) = ack.dsack.filter(|_| self.linux) else { return 0 };
        self.twice += libm::ceil((to - from) as f64 / t.window.mss) as u64;
        if self.twice > self.resent {
            return 0;
        }
        // What had been reported, too, was overtaken by its repair (`tcp_sacktag_one`).
        let both = |sent: &Sent| sent.is_resent() && sent.is(marks::SACKED);
        if from >= t.out.una()
            && let Some(sent) = t.out.get(t.out.index_of(from)).filter(both)
        {
            self.detector.on_reordered(sent.seq);
        }
        to - from
    }

    fn hear_of_probe(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        let Some(probe) = &mut self.probe else { return };
        if probe.on_ack(ack, !sack.is_empty()) == Outcome::Repaired && !self.recovering() {
            t.lose_repaired(ack.now, report);
            self.beyond.round(t);
        }
    }

    /// A probe is due two round trips after the last sign of life, if nothing hints at a loss (section 7.2).
    pub(super) fn arm_probe(&mut self, now: Time, alive: bool) {
        let calm = !self.recovering() && self.reports == 0;
        let Some(probe) = &mut self.probe else { return };
        if !calm {
            probe.disarm();
        } else if alive {
            probe.arm(now);
        }
    }

    /// Whether the last timeout was spurious, and what follows from that.
    fn look_at_timeout(&mut self, ack: &Ack, news: bool, t: &mut Transfer, report: &mut Report<'_>) {
        let reported = self.sacked.ranges().as_slice().last().map_or(ack.ack, |range| range.1);
        let original = std::mem::take(&mut self.original);
        if self.beyond.was_spurious(ack, news, reported, original, t) {
            self.on_undo(t);
            t.end_back_off();
            t.undo(ack.now, report);
            self.on_undone(t);
        }
    }
}
