//! What is overdue, of segments sent once and of those sent again, and when to look for it again. Not for: by how much a segment may
//! be late, which is `detect.rs`'s, and what follows from a loss.

use super::Rack;
use crate::Time;
use crate::outstanding::{Sent, marks};
use crate::sender::Transfer;

impl Rack {
    /// Takes for lost what is overdue, and sets the timer for what will be (RACK_detect_loss, section 6.2, step 5).
    pub(super) fn look(&mut self, now: Time, t: &mut Transfer) {
        if !self.linux {
            self.overdue = None;
        }
        if self.sacked.ranges().is_empty() && !self.recovering() && self.again.is_empty() {
            return; // nothing left after what has not come
        }
        self.look_at_all(now, t);
    }

    /// The same, whatever has come: a repair that came may have left after what has not. Where nothing will be overdue Linux leaves its
    /// timer as it stands.
    pub(super) fn look_at_all(&mut self, now: Time, t: &mut Transfer) {
        let circumstances = self.circumstances(t);
        self.detector.settle(&circumstances);
        let later = self.look_at_originals(now, t).max(self.look_at_repairs(now, t));
        self.set_anew = later.is_some();
        if self.set_anew || !self.linux {
            self.overdue = later;
        }
    }

    /// The same for what was sent once: when a timer for the last of what is not overdue yet goes off.
    fn look_at_originals(&mut self, now: Time, t: &mut Transfer) -> Option<Time> {
        let mut later = None;
        let mut at = t.out.index_of(self.judged.max(t.out.una()));
        let mut all = true;
        while let Some(sent) = t.out.get(at) {
            if let Some((_, end)) = self.sacked.ranges().containing(sent.seq) {
                at = t.out.index_of(end);
                continue;
            }
            at += 1;
            if sent.is(marks::RESENT | marks::LOST | marks::SEEN) {
                continue;
            }
            match self.detector.lost_at(&sent) {
                None => break,
                Some(due) if due <= now => {
                    self.lose(at - 1, &sent, t);
                    if self.linux {
                        t.out.mark_seen(at - 1); // off its list, also if it is not lost after all (`tcp_rack_detect_loss`)
                    }
                }
                Some(due) => {
                    all = false;
                    later = later.max(Some(self.look_again(now, due, t)));
                }
            }
            if all {
                self.judged = sent.end;
            }
        }
        later
    }

    /// When a timer that is armed now goes off for what is overdue then.
    fn look_again(&self, now: Time, due: Time, t: &Transfer) -> Time {
        let wait = (due - now) + self.slack;
        t.wheel().map_or(now + wait, |wheel| wheel.goes_off(now, wait))
    }

    /// The same for what was sent again.
    fn look_at_repairs(&mut self, now: Time, t: &mut Transfer) -> Option<Time> {
        let (mut waiting, mut later) = (0, None);
        while let Some(&(number, end)) = self.again.get(waiting) {
            let at = t.out.index_of(end - 1);
            let current = |sent: &Sent| sent.number == number && !sent.is(marks::SACKED);
            let Some(sent) = t.out.get(at).filter(current) else {
                self.again.remove(waiting);
                continue;
            };
            match self.detector.lost_at(&sent) {
                None => break,
                Some(due) if due <= now => {
                    self.again.remove(waiting);
                    self.lost_again |= sent.is(marks::REPAIR);
                    self.lose(at, &sent, t);
                }
                Some(due) => {
                    waiting += 1;
                    later = later.max(Some(self.look_again(now, due, t)));
                }
            }
        }
        later
    }

    /// An ACK sets a timer. That of what will be overdue stays if the ACK has set it; else the retransmission timer takes its place
    /// again, as of when the first segment left (`tcp_set_xmit_timer`, `tcp_rearm_rto`). Whether it was one of these.
    pub(super) fn keeps_timer(&mut self, now: Time, t: &mut Transfer) -> bool {
        if !self.set_anew && self.overdue.take().is_some() {
            t.restart_timer_of_first(now);
            return true;
        }
        self.set_anew
    }

    pub(super) fn lose(&mut self, at: usize, sent: &Sent, t: &mut Transfer) {
        t.out.lose_latest(at);
        self.waiting = match self.waiting.0 < self.waiting.1 {
            true => (self.waiting.0.min(sent.seq), self.waiting.1.max(sent.end)),
            false => (sent.seq, sent.end),
        };
    }
}
