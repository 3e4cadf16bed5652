//! Duplicate ACKs as stand-ins for SACK blocks: a repair without SACK whose window comes down in proportion (RFC 9937, section 6.2).
//!
//! Each duplicate stands for a segment that has come, never for more than all but the one that is missing. An ACK that advances
//! covers the missing segment, and the rest of what it covers takes duplicates off. What is in the air is what is not
//! acknowledged less what they stand for and less the missing segment until it is sent again. A repair lasts until more is
//! acknowledged than had been sent when it began, so that what was sent again needlessly begins no second one (RFC 6582, section
//! 3.2, step 1). Source: Linux 6.18, `tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_limit_reno_sacked`,
//! `tcp_newreno_mark_lost`, `tcp_try_undo_recovery`.

use super::beyond::Beyond;
use crate::Ack;
use crate::sender::Transfer;

/// What duplicates stand for in a repair.
#[derive(Debug, Clone, Default)]
pub(super) struct StandIns {
    beyond: Beyond,
    /// Bytes.
    bytes: u64,
    /// Whether the first segment is missing and waits to be sent again.
    missing: bool,
    /// Whether nothing has been sent again yet: that does not wait for room.
    first: bool,
}

impl StandIns {
    /// With what brings the window down; `None`: nothing does.
    pub(super) fn of(beyond: Beyond) -> Option<Box<Self>> {
        beyond.hears_departures().then(|| Box::new(Self { beyond, ..Self::default() }))
    }

    /// Duplicates show the first segment to be missing; the response has set the window.
    pub(super) fn begin(&mut self, duplicates: u32, t: &mut Transfer) {
        let mss = t.window.mss as u64;
        self.bytes = (u64::from(duplicates) * mss).min(self.most(t));
        (self.missing, self.first) = (true, true);
        self.beyond.begin(0, t.out.flight(), t);
        self.bring(mss, false, t);
    }

    /// Another duplicate.
    pub(super) fn another(&mut self, t: &mut Transfer) {
        let before = self.bytes;
        self.bytes = (before + t.window.mss as u64).min(self.most(t));
        self.bring(self.bytes - before, false, t);
    }

    /// An ACK that covers the missing segment; whether the next one is `missing`, too.
    pub(super) fn advance(&mut self, ack: &Ack, missing: bool, t: &mut Transfer) {
        let mss = t.window.mss as u64;
        let news = ack.newly_acked.saturating_sub(self.bytes).max(mss.min(ack.newly_acked));
        self.bytes = self.bytes.saturating_sub(ack.newly_acked.saturating_sub(mss));
        self.missing = missing;
        self.bytes = if missing { self.bytes.min(self.most(t)) } else { 0 };
        self.bring(news, !missing, t);
    }

    fn bring(&mut self, bytes: u64, safe: bool, t: &mut Transfer) {
        let air = self.in_flight(t);
        self.beyond.bring(bytes, air, safe, t);
    }

    /// All that is unacknowledged but the missing segment.
    fn most(&self, t: &Transfer) -> u64 {
        t.out.flight().saturating_sub(t.window.mss as u64)
    }

    pub(super) fn in_flight(&self, t: &Transfer) -> u64 {
        let missing = if self.missing { t.window.mss as u64 } else { 0 };
        t.out.flight().saturating_sub(self.bytes + missing)
    }

    /// Whether the missing segment is to be sent again now.
    pub(super) fn resends(&mut self, t: &Transfer) -> bool {
        let room = self.in_flight(t) as f64 + t.window.mss <= t.window.cwnd;
        let now = self.missing && (self.first || room);
        if now {
            (self.missing, self.first) = (false, false);
        }
        now
    }

    /// So many bytes leave.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.beyond.on_sent(bytes);
    }

    /// The window that the repair is to end with.
    pub(super) fn target(&self, t: &Transfer) -> f64 {
        self.beyond.target(t)
    }

    /// The repair is over.
    pub(super) fn end(&mut self) {
        self.beyond.end();
        (self.bytes, self.missing, self.first) = (0, false, false);
    }
}
