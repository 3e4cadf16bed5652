//! What the receiver offers, and when it offers nothing.

use super::segment::Ack;
use truckee_tcp::{Span, Time};

/// Windows of a direction's receiver.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    last: Option<u64>,
    /// The smallest offered after the handshake.
    pub min: Option<u64>,
    /// The largest offered.
    pub max: u64,
    /// How often it closed.
    pub closed: u64,
    /// How long it was closed in all, up to now.
    pub closed_for: Span,
    since: Time,
}

impl Windows {
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        let was_closed = self.is_closed();
        self.min = Some(self.min.map_or(ack.window, |min| min.min(ack.window)));
        self.max = self.max.max(ack.window);
        if was_closed {
            self.closed_for += ack.now.saturating_sub(self.since);
        } else if ack.window == 0 {
            self.closed += 1;
        }
        self.since = ack.now;
        self.last = Some(ack.window);
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.last == Some(0)
    }

    /// The present window, bytes.
    pub fn last(&self) -> Option<u64> {
        self.last
    }
}
