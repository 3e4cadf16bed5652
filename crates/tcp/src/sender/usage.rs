//! Whether the congestion window is used, judged by what leaves, as Linux judges it.
//!
//! A window is in use where no further segment fits when the sender has sent what it could; in slow start also where less
//! than twice the most that was unacknowledged fits. That holds for what is in the air then: until it is acknowledged, a
//! burst that filled the window counts, whatever is in the air when its ACKs come. A window that is not used does not open;
//! and where it has not been used for a timeout, nor would an ACK have opened it, while nothing is missing, it comes halfway down
//! to what has been used, or to the initial one, and ssthresh remembers three quarters of it (RFC 2861, section 3.2). Source: Linux 6.18,
//! `tcp_cwnd_validate`, `tcp_is_cwnd_limited`, `tcp_cwnd_application_limited`; which count segments, and not bytes.
//!
//! A burst that waits to become fuller counts as one that fills it, as there (`tcp_tso_should_defer`).
//!
//! Not for: a pause in which nothing is sent at all, which is [`crate::Stack::after_idle`]'s.

use super::{Sender, initial_window};
use crate::arithmetic::real;
use crate::controller::Controller;
use crate::recovery::Recovery;
use crate::stack::AfterIdle;
use crate::{Span, Time};

impl Sender {
    /// What could be sent has been: judges the window, if it is judged by that.
    #[inline(always)]
    pub(super) fn validate_window(&mut self, now: Time) {
        if self.usage.is_some() {
            self.judge_usage(now);
        }
    }

    #[inline(never)]
    fn judge_usage(&mut self, now: Time) {
        self.judge_usage_here(now);
    }

    /// The same within what nearly always does.
    #[inline(always)]
    pub(super) fn judge_usage_here(&mut self, now: Time) {
        let (w, out) = (&self.t.window, &self.t.out);
        let air = if self.plain { self.air::<true>() } else { self.air::<false>() };
        let limited = real(air) + w.mss > w.cwnd || self.is_deferred();
        let (una, nxt, flight) = (out.una(), out.nxt(), out.flight());
        let more = self.unsent() > 0;
        let Some(usage) = self.usage.as_deref_mut() else { return };
        let due = std::mem::take(&mut usage.due);
        if !due && (!limited || !more) {
            return;
        }
        if una >= usage.until || limited || !usage.limited && flight > usage.most {
            (usage.limited, usage.most, usage.until) = (limited, flight, nxt);
        }
        if usage.limits(w) {
            return usage.begin(now);
        }
        usage.used = usage.used.max(flight);
        let passed = now.saturating_sub(usage.since);
        if passed >= self.t.rtt.least_rto_now() {
            self.come_down_if_unused(now, passed);
        }
    }

    /// Has a window that was not used for so long, if that is a timeout, come down.
    #[inline(never)]
    fn come_down_if_unused(&mut self, now: Time, passed: Span) {
        if passed < self.t.rtt.rto() || self.stack.after_idle == AfterIdle::Keep {
            return;
        }
        let (goes_down, initial) = (self.is_unused() && self.is_calm(), initial_window(&self.stack));
        let Some(usage) = &mut self.usage else { return };
        let used = real(usage.used).max(initial);
        usage.since = now;
        if goes_down {
            usage.used = 0;
            let w = &mut self.t.window;
            if used < w.cwnd {
                w.ssthresh = w.ssthresh.max(w.three_quarters());
                w.cwnd = w.in_whole_segments((w.cwnd + used) / 2.0);
            }
        }
    }

    /// Whether it is the application or the peer that keeps the window from being used.
    fn is_unused(&self) -> bool {
        let buffered = self.stack.send_buffer.is_some() && self.unsent() > 0;
        !buffered && !self.t.controller.outlasts_idleness()
    }

    /// Whether nothing is known to be missing.
    fn is_calm(&self) -> bool {
        let repairs = self.recovery.repairing() || !self.recovery.idle();
        !repairs && self.recovery.duplicates() == 0 && self.t.out.sacked() == 0
    }
}
