//! What a sender knows of the use of its window: the state of `usage.rs`, which has the rule and its source.

use crate::arithmetic::real;
use crate::{Seq, Time, Window};

/// What of the window was used.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    /// Whether what is in the air now filled it (`is_cwnd_limited`).
    pub(super) limited: bool,
    /// The most that was unacknowledged of late, bytes (`max_packets_out`).
    pub(super) most: u64,
    /// Up to where that counts (`cwnd_usage_seq`).
    pub(super) until: Seq,
    /// The most that was unacknowledged since the window was in use, bytes (`snd_cwnd_used`).
    pub(super) used: u64,
    /// When it was in use, or an ACK came that might have opened it, or it was set for a loss or after one (`snd_cwnd_stamp`).
    pub(super) since: Time,
    /// New data has left since it was judged.
    pub(super) due: bool,
}

impl Usage {
    /// Whether the window may open.
    pub(super) fn limits(&self, w: &Window) -> bool {
        self.limited || w.in_slow_start() && w.cwnd < 2.0 * real(self.most)
    }

    /// It is as new from now on.
    pub(super) fn begin(&mut self, now: Time) {
        (self.used, self.since) = (0, now);
    }
}
