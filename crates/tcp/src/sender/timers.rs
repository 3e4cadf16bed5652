//! A sender's timers: the retransmission timer, the recovery's, and when they have to be looked at.

use super::transfer::{NOTHING_TIMED, Timer};
use super::{Sender, State};
use crate::recovery::{AnyRecovery, Recovery};
use crate::{Loss, LossKind, Report, Seq, Time, Witness};

impl Sender {
    /// The time asked for by [`Self::deadline`] has come.
    pub fn on_timer(&mut self, now: Time, witness: &mut impl Witness) {
        self.on_due(now, witness);
        self.look_about();
    }

    fn on_due(&mut self, now: Time, witness: &mut impl Witness) {
        self.t.pin_timer();
        if self.timed && self.recovery.deadline(&self.t).is_some_and(|d| d <= now) {
            self.recovery.on_timer(now, &mut self.t, &mut Report::to(witness));
            if let AnyRecovery::Custom(custom) = &self.recovery {
                custom.must_wait(now, self.recovery.deadline(&self.t));
            }
        }
        if self.t.deadline().is_none_or(|d| now < d) {
            return;
        }
        if self.persisting {
            return self.on_persist(now);
        }
        // A host with one timer has set it to what comes first of a recovery's own: this one waits behind it.
        if self.timed
            && let Some(until) = self.recovery.displaces(&self.t)
        {
            return self.t.timer = Timer::At(until);
        }
        witness.on_timeout(now, &self.t.window, self.state != State::Finished);
        if self.state == State::Opening {
            self.syn_timeouts = self.syn_timeouts.saturating_add(1);
            self.control_due = true;
            self.t.timer = Timer::Off;
            if self.syn_timeouts > self.stack.linear_syn_timeouts {
                self.t.rtt.back_off();
            }
            return;
        }
        // RFC 5681, section 3.1: a segment that timed out again keeps ssthresh as its first timeout left it.
        let again = self.t.out.una() < self.timed_out && !self.stack.repeated_reduction;
        if again || !self.stack.reduce_in_repair && self.recovery.reducing(&self.t) {
            self.t.window.cwnd = self.t.window.mss;
            self.t.timed_end = NOTHING_TIMED;
            self.timed_out = self.t.out.get(0).map_or(self.timed_out, |first| first.end);
        } else {
            let mut flight = self.t.out.flight();
            if self.recovery.repairing() {
                // Each duplicate ACK has let a segment out because another had arrived. What recovery counts on to be
                // in the network is ssthresh, however far its inflated window has run ahead of the hole; half of the
                // flight is the most that RFC 5681, section 3.1, allows.
                flight = flight.min(self.t.window.ssthresh as u64);
            }
            let cwnd = self.recovery.deflated(&self.t);
            let loss = Loss { now, kind: LossKind::Timeout, seq: self.t.out.una() };
            self.t.lose_of(flight, cwnd, loss, &mut Report::to(witness));
            self.timed_out = self.t.out.get(0).map_or(Seq::ZERO, |first| first.end);
        }
        self.recovery.on_timeout(now, &mut self.t);
        self.usage.iter_mut().for_each(|usage| usage.since = now); // `tcp_enter_loss`
        self.t.rtt.back_off();
        self.t.restart_timer(now);
        self.round_end = Seq::ZERO;
        witness.on_settled(now, &self.t.window);
    }

    /// When to call [`Self::on_timer`].
    #[inline(always)]
    pub fn deadline(&self) -> Option<Time> {
        if self.timed {
            self.t.deadline().into_iter().chain(self.recovery.deadline(&self.t)).min()
        } else {
            self.t.deadline()
        }
    }

    /// Whether [`Self::deadline`] is before a time.
    #[inline(always)]
    pub fn is_due_before(&self, time: Time) -> bool {
        match self.timed {
            false => self.t.is_due_before(time),
            // Nearly always both lie later, which takes little to see.
            true if self.plain && self.t.is_silence_until(time) => false,
            true => self.deadline().is_some_and(|at| at < time),
        }
    }
}
