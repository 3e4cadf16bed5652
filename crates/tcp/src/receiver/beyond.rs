//! What comes beyond a hole: it waits, and may hasten what waits to be told of others. Not for: what is kept of it (`waiting.rs`).

use super::Receiver;
use crate::Seq;
use crate::ack::AckPolicy;

/// Ranges that an ACK is expected to tell of, whatever becomes of those before it (Linux, `TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

impl Receiver {
    /// Takes in a segment beyond a hole.
    pub(super) fn set_aside(&mut self, seq: Seq, end: Seq) {
        let room = self.room_for_blocks();
        let waiting = self.waiting.get_or_insert_default();
        waiting.ranges.insert(seq, end);
        if !self.sack {
            return;
        }
        if waiting.recent.len() >= EXPECTED && waiting.place(seq) >= EXPECTED && self.sink.is_empty() {
            self.policy.on_block(self.rcv_nxt, &mut self.sink);
            if !self.sink.is_empty() {
                let twice = self.twice.as_mut().and_then(|twice| twice.take());
                waiting.before = Some(waiting.blocks(self.rcv_nxt, twice, room));
            }
        }
        waiting.report(seq);
    }
}
