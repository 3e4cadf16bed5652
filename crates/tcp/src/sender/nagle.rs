//! Nagle's algorithm in Minshall's form: a small segment waits while another small one is in the air (RFC 9293, section 3.7.4;
//! Linux 6.18, `tcp_nagle_test`, `tcp_minshall_check`). Full segments, and the last data of all, never wait.

use super::Sender;
use crate::Seq;

/// What it keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nagle {
    /// The end of the last small segment.
    small: Seq,
}

impl Sender {
    /// Whether small segments wait. They do not at first, since most applications of a simulation write much at a time.
    pub fn set_nagle(&mut self, on: bool) {
        self.nagle = on.then(|| Box::new(Nagle { small: Seq::ZERO }));
        self.simple &= !on;
        self.look_about();
    }

    /// Whether a segment smaller than a full one is to wait.
    pub(super) fn small_ones_wait(&self) -> bool {
        self.nagle.as_ref().is_some_and(|nagle| nagle.small > self.t.out.una())
    }

    /// New data of so many bytes has just left.
    pub(super) fn note_small(&mut self, bytes: u64) {
        if let Some(nagle) = &mut self.nagle
            && bytes < self.segment_size
        {
            nagle.small = self.t.out.nxt();
        }
    }
}
