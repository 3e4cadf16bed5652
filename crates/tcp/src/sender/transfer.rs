//! What recoveries work on: window, segments in the air, and the one place where a loss event meets its response.

use super::doubt::Doubt;
use crate::controller::{AnyController, Controller, Interest};
use crate::delivery::Rates;
use crate::ecn::{self, Ecn};
use crate::outstanding::{Outstanding, Sent, marks};
use crate::rtt::Rtt;
use crate::stack::{ReduceFrom, Undo};
use crate::start::{AnyStart, Start};
use crate::wheel::Wheel;
use crate::{Cause, Loss, LossKind, Report, Seq, Span, Time, Transmission, Truth, Window};

/// No ACK reaches it.
pub(super) const NOTHING_TIMED: Seq = Seq::MAX;

/// The retransmission timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// Not armed.
    Off,
    /// It goes off then.
    At(Time),
    /// It goes off one timeout after this. Nearly every ACK arms it anew, and when it would go off is worked out where
    /// somebody asks: until the next round-trip time is taken, the timeout stays what it was then.
    Since(Time),
}

/// The window before a loss event; no window is of no bytes, which stands for none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Saved {
    cwnd: f64,
    ssthresh: f64,
}

impl Saved {
    fn is_none(self) -> bool {
        self.cwnd == 0.0
    }
}

/// The state that recoveries work on.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The window.
    pub window: Window,
    /// The segments in the air.
    pub out: Outstanding,
    pub(super) controller: AnyController,
    pub(super) interest: Interest,
    /// Whether an oracle is in charge.
    pub(super) wants_truth: bool,
    pub(super) start: AnyStart,
    /// Whether the start is still under way.
    pub(super) starting: bool,
    pub(super) rtt: Rtt,
    pub(super) timer: Timer,
    /// When data last left, or could first have.
    pub(super) last_sent: Time,
    /// End of the segment that is timed, where one at a time is, or [`NOTHING_TIMED`]; and when it was sent.
    pub(super) timed_end: Seq,
    pub(super) timed_at: Time,
    pub(super) reduce_from: ReduceFrom,
    pub(super) limited_transmit: bool,
    /// ECN as both ends have agreed on it.
    pub(super) ecn: Ecn,
    /// Marked packets that the receiver has told of, counted as it counts them, and how many of them just now.
    pub(super) marks: (u64, u64),
    /// No ECN echo reduces the window before more than this is acknowledged: what follows it carries CWR.
    pub(super) reduced_until: Seq,
    /// As `reduced_until`, where an echo was the reason.
    pub(super) echoed_until: Seq,
    /// CWR goes out with the next new data.
    pub(super) cwr_due: bool,
    /// What [`Self::undo`] brings back.
    saved: Saved,
    undo: Undo,
    /// Segments sent again, and come twice.
    pub(super) resent: u32,
    twice: u32,
    /// When the first was of those that have been sent again since none was under way.
    pub(super) resent_since: Option<Time>,
    /// The last loss event, as long as it may turn out to have been none.
    pub(super) doubt: Option<Box<Doubt>>,
    /// Where the controller wants to know the delivery rate.
    pub(super) rates: Option<Box<Rates>>,
}

impl Transfer {
    pub(super) fn new(
        stack: &crate::Stack,
        controller: AnyController,
        start: AnyStart,
        window: Window,
    ) -> Self {
        let interest = controller.interest();
        let rates = (interest.air && interest.rates).then(Box::default);
        Self {
            window,
            out: Outstanding::new(Seq::FIRST),
            interest,
            wants_truth: controller.wants_truth(),
            controller,
            start,
            starting: true,
            rtt: Rtt::new(stack),
            timer: Timer::Off,
            last_sent: Time::ZERO,
            timed_end: NOTHING_TIMED,
            timed_at: Time::ZERO,
            reduce_from: stack.reduce_from,
            limited_transmit: stack.limited_transmit,
            ecn: stack.ecn,
            marks: (ecn::FIRST, 0),
            reduced_until: Seq::ZERO,
            echoed_until: Seq::ZERO,
            cwr_due: false,
            saved: Saved::default(),
            undo: stack.undo,
            resent: 0,
            resent_since: None,
            twice: 0,
            doubt: None,
            rates,
        }
    }

    /// Reports a loss event: the controller sets the window, and the witness hears of it.
    ///
    /// A fast retransmit restarts the timer, as in BSD, Linux and ns-2. RFC 6298, section 5, would let it run on: where
    /// a full queue makes the round-trip time nearly as long as the timeout, every repair then ends in a needless one.
    pub fn lose(&mut self, now: Time, kind: LossKind, seq: Seq, report: &mut Report<'_>) {
        self.lose_and_keep_timer(now, kind, seq, report);
        if kind == LossKind::DupAcks {
            self.restart_timer(now);
        }
    }

    /// As [`Self::lose`], where the timer runs on.
    pub fn lose_and_keep_timer(&mut self, now: Time, kind: LossKind, seq: Seq, report: &mut Report<'_>) {
        self.lose_of(self.out.flight(), self.window.cwnd, Loss { now, kind, seq }, report);
    }

    /// As [`Self::lose`], out of `flight` bytes in a window of `cwnd` without inflation.
    pub(super) fn lose_of(&mut self, flight: u64, cwnd: f64, loss: Loss, report: &mut Report<'_>) {
        self.window.flight = self.reducible(flight, cwnd);
        self.timed_end = NOTHING_TIMED; // what is sent again can say nothing, nor can what waits for it
        let lost = self.out.get(self.out.index_of(loss.seq)).map(|segment| segment.number);
        self.respond(loss, lost, report);
    }

    /// A loss event of what a probe has repaired already, out of what was in the air before the ACK at hand: the window falls,
    /// and there is nothing left to repair, or to take back.
    pub fn lose_repaired(&mut self, now: Time, report: &mut Report<'_>) {
        self.window.flight = self.reducible(self.window.flight, self.window.cwnd);
        self.respond(Loss { now, kind: LossKind::DupAcks, seq: self.out.una() }, None, report);
        (self.doubt, self.saved) = (None, Saved::default());
    }

    /// The window before the last loss event or echo of congestion, bytes.
    pub fn window_before(&self) -> u64 {
        (if self.saved.is_none() { self.window.cwnd } else { self.saved.cwnd }) as u64
    }

    /// When data last left.
    pub fn last_sent(&self) -> Time {
        self.last_sent
    }

    /// When the retransmission timer goes off, or would if it were armed now.
    pub fn timeout(&self, now: Time) -> Time {
        self.deadline().unwrap_or_else(|| self.timeout_anew(now))
    }

    /// The timeout in force.
    pub fn rto(&self) -> Span {
        self.rtt.rto()
    }

    /// The wheel that the host's timers are in, if they are.
    pub fn wheel(&self) -> Option<Wheel> {
        self.rtt.wheel()
    }

    /// When it goes off if it is armed anew.
    pub fn timeout_anew(&self, now: Time) -> Time {
        self.rtt.deadline(now, self.rtt.rto())
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

    /// The response to a loss event, given `window.flight`; `lost`: the transmission taken to be lost.
    pub(super) fn respond(&mut self, loss: Loss, lost: Option<Transmission>, report: &mut Report<'_>) {
        let before = Saved { cwnd: self.window.cwnd, ssthresh: self.window.ssthresh };
        if self.wants_truth {
            let fate = lost.and_then(|number| report.witness().fate(number));
            self.controller.reveal(Truth::Fate(fate));
        }
        let verdict = self.controller.on_loss(&loss, &mut self.window);
        self.window.round_ssthresh();
        if loss.kind == LossKind::DupAcks && self.out.una() < self.echoed_until {
            // The echo has reduced this window already, and once is enough (RFC 3168, section 6.1.2).
            (self.window.cwnd, self.window.ssthresh) = (before.cwnd, before.ssthresh);
        } else {
            if self.starting {
                self.starting = self.start.on_loss(&mut self.window);
            }
            self.controller.after_loss(&loss, before.cwnd, &mut self.window);
            if verdict == Cause::Congestion && self.ecn.on() {
                self.reduced_until = self.out.max();
                self.cwr_due = self.ecn == Ecn::Classic; // whatever the reason of the reduction (RFC 3168, section 6.1.2)
            }
        }
        self.saved = before;
        self.doubt = None;
        if self.undo != Undo::Never && loss.kind != LossKind::EcnEcho {
            let end = self.out.get(self.out.index_of(loss.seq)).map_or(loss.seq, |segment| segment.end);
            let mut doubt = Doubt::of(self.undo, self.out.una(), end);
            self.carry_over(&loss, &mut doubt);
            self.doubt = Some(Box::new(doubt));
        }
        report.witness().on_loss(&loss, lost, verdict);
    }

    /// What is still under way from the repair before belongs to the next one: it goes by when that was sent (`tcp_enter_recovery`,
    /// `tcp_init_undo`). A timer has taken it all for lost.
    fn carry_over(&mut self, loss: &Loss, doubt: &mut Doubt) {
        let out = &self.out;
        let sent = |at: usize| out.get(at).filter(Sent::is_resent);
        let again: Vec<Sent> =
            (0..out.len()).filter_map(sent).filter(|sent| !sent.is(marks::SACKED)).collect();
        let since = self.resent_since.filter(|_| !again.is_empty());
        let under_way = |sent: &&Sent| loss.kind == LossKind::DupAcks && sent.is(marks::REPAIR);
        if let Some(since) = since {
            doubt.resent_before(since, again.iter().filter(under_way).map(|sent| (sent.seq, sent.end)));
        }
        self.resent_since = since;
    }

    /// A segment has been sent again to repair it. A probe that does not count as in the air is no repair, and an ACK that echoes it
    /// answers nothing that was (`tcp_send_loss_probe`, by `__tcp_retransmit_skb`).
    pub(super) fn on_repaired(&mut self, now: Time, sent: &Sent) {
        self.resent_since.get_or_insert(now);
        if let Some(doubt) = &mut self.doubt {
            doubt.on_resent(now, (sent.seq, sent.end), self.out.max());
        }
    }

    /// One more of what is in the air has been sent again and may be reported.
    pub fn expect_report(&mut self) {
        let all = (self.out.una(), self.out.max());
        if let Some(doubt) = &mut self.doubt {
            doubt.expect(all);
        }
    }

    /// The last loss event was none, as a duplicate SACK (RFC 2883, 3708), a timestamp (RFC 3522) or F-RTO (RFC 5682) may show:
    /// the window is at least what it was before, and so is ssthresh (RFC 4015, section 3.2, without its pacing). Whether there
    /// was anything to undo: each event is undone once. Ending the repair is the recovery's.
    pub fn undo(&mut self, now: Time, report: &mut Report<'_>) -> bool {
        self.doubt = None;
        let saved = std::mem::take(&mut self.saved);
        if saved.is_none() {
            return false;
        }
        self.window.cwnd = self.window.cwnd.max(saved.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(saved.ssthresh);
        self.controller.on_undo(now, &mut self.window);
        report.witness().on_undo(now, &self.window);
        true
    }

    /// Whether no ACK but one with a report can say anything of the last loss event.
    pub(super) fn is_settled(&self) -> bool {
        self.doubt.as_ref().is_none_or(|doubt| doubt.sleeps())
    }

    /// Whether a report of what has come twice tells of anything that was sent again: where Linux counts them, not if more has come twice.
    pub(super) fn tells(&mut self, (from, to): (Seq, Seq)) -> bool {
        if self.undo != Undo::Either {
            return true;
        }
        self.twice += libm::ceil((to - from) as f64 / self.window.mss) as u32;
        self.twice <= self.resent
    }

    /// What the timeout would be without its lower bound and its doubling: SRTT + 4·RTTVAR, once known.
    pub fn fine_rto(&self) -> Option<Span> {
        self.rtt.fine_rto()
    }

    /// The least round-trip time seen, the handshake's included.
    pub fn least_rtt(&self) -> Option<Span> {
        self.window.rtt_min.into_iter().chain(self.rtt.handshake()).min()
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
    pub fn restart_timer(&mut self, now: Time) {
        self.restart_timer_after_sample(now);
        self.pin_timer();
    }

    /// The same where the next round-trip time does not come before [`Self::pin_timer`] or this again.
    #[inline(always)]
    pub(super) fn restart_timer_after_sample(&mut self, now: Time) {
        self.timer = if self.out.is_empty() { Timer::Off } else { Timer::Since(now) };
    }

    /// Arms the retransmission timer as of when the first segment left last (Linux 6.18, `tcp_rearm_rto`).
    pub fn restart_timer_of_first(&mut self, now: Time) {
        let Some(first) = self.out.get(0) else { return };
        let left = (first.sent + self.rtt.rto()).saturating_sub(now).max(Span::ns(1));
        self.timer = Timer::At(self.rtt.deadline(now, left));
    }

    /// Works out when the timer goes off: the timeout may change now.
    pub(super) fn pin_timer(&mut self) {
        if let Some(at) = self.deadline() {
            self.timer = Timer::At(at);
        }
    }

    /// When the timer goes off.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Time> {
        match self.timer {
            Timer::Off => None,
            Timer::At(at) => Some(at),
            Timer::Since(start) => Some(self.rtt.deadline(start, self.rtt.rto())),
        }
    }

    /// Whether that is before a time; nearly always it is not, which takes little to see.
    #[inline(always)]
    pub(super) fn is_due_before(&self, time: Time) -> bool {
        match self.timer {
            Timer::Since(start) if time <= start + self.rtt.least_rto() => false,
            _ => self.is_deadline_before(time),
        }
    }

    /// Whether neither the timer nor what waits for two round trips of silence (a probe, RFC 8985, section 7.2) can be due before
    /// a time; `false` may also mean that it takes more to tell.
    #[inline(always)]
    pub(super) fn is_silence_until(&self, time: Time) -> bool {
        match (self.timer, self.window.srtt) {
            (Timer::Since(start), Some(srtt)) => time <= start + (2 * srtt).min(self.rtt.least_rto_now()),
            _ => false,
        }
    }

    #[inline(never)]
    fn is_deadline_before(&self, time: Time) -> bool {
        self.deadline().is_some_and(|at| at < time)
    }
}
