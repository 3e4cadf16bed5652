//! The persist timer: where the peer has closed its window and nothing is in the air, nothing would come to open it again if
//! the ACK that does were lost. So a probe leaves when a timeout has passed, and again after twice as long each time (RFC 9293,
//! section 3.8.6.1). It has the number before the first that is unacknowledged, and no data, so that the peer answers with an
//! ACK and takes nothing (Linux 6.18, `tcp_xmit_probe_skb`; the RFC has a byte of data in it).
//!
//! It stands in the retransmission timer's place, which is not armed meanwhile.

use super::transfer::Timer;
use super::{Sender, State};
use crate::{Time, Transmit};

impl Sender {
    /// Arms the timer where the window is closed, disarms it where it is open again; whether a probe leaves.
    pub(super) fn persist(&mut self, now: Time, out: &mut Transmit) -> bool {
        let closed = self.state == State::Established
            && self.peer_window == 0
            && self.t.out.is_empty()
            && self.unsent() > 0;
        if !closed {
            return false;
        }
        if !self.persisting {
            self.persisting = true;
            self.t.timer = Timer::At(self.t.timeout_anew(now));
        }
        let due = std::mem::take(&mut self.probe_due);
        if due {
            *out = Transmit::default();
            self.segment(now, self.t.out.una().earlier(1), 0, 0, &mut out.segment);
        }
        due
    }

    /// The timer has gone off.
    pub(super) fn on_persist(&mut self, now: Time) {
        self.probe_due = true;
        self.t.rtt.back_off();
        self.t.timer = Timer::At(self.t.timeout_anew(now));
    }

    /// The window is open.
    pub(super) fn end_persisting(&mut self) {
        (self.persisting, self.probe_due) = (false, false);
        self.t.timer = Timer::Off;
        self.t.rtt.end_back_off();
    }
}
