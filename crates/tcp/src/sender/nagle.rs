//! Nagle's algorithm in Minshall's form: a small segment waits while another small one is in the air (RFC 9293, section 3.7.4;
//! Linux 6.18, `tcp_nagle_test`, `tcp_minshall_check`). Full segments, and the last data of all, never wait.

use super::Sender;
use crate::Seq;

impl Sender {
    /// Whether small segments wait. They do not at first, since most applications of a simulation write much at a time.
    pub fn set_nagle(&mut self, on: bool) {
        self.last_small = on.then(|| Box::new(Seq::ZERO));
        self.simple &= !on;
        if let Some(offload) = &mut self.offload {
            offload.eager = !on;
        }
        self.look_about();
    }

    /// Whether a segment smaller than a full one is to wait.
    pub(super) fn small_ones_wait(&self) -> bool {
        self.last_small.as_ref().is_some_and(|last| **last > self.t.out.una())
    }

    /// New data of so many bytes has just left.
    pub(super) fn note_small(&mut self, bytes: u64) {
        if let Some(last) = &mut self.last_small
            && bytes < self.segment_size
        {
            **last = self.t.out.nxt();
        }
    }
}
