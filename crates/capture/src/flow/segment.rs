//! What passes, as a direction is told of it: a segment that occupies sequence numbers, and one that acknowledges.

use crate::wire::flags;
use truckee_tcp::{Seq, Time};

/// A segment that occupies sequence numbers: data, FIN, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// When it passed.
    pub now: Time,
    /// Its first sequence number.
    pub seq: Seq,
    /// The one after its last.
    pub end: Seq,
    /// Payload, bytes.
    pub len: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Its time stamp, and the one that it echoes.
    pub stamps: Option<(u32, u32)>,
    /// Identification of its IPv4 packet.
    pub id: Option<u16>,
    /// What the capture's writer says of its fate: it was dropped, by the network (a queue) or by noise.
    pub dropped: Option<truckee_tcp::Cause>,
}

/// A segment that acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// When it passed.
    pub now: Time,
    /// Next sequence number expected.
    pub ack: Seq,
    /// Window, bytes; scaled, where the scale is known.
    pub window: u64,
    /// Whether it does nothing else: no payload, neither SYN nor FIN nor RST.
    pub pure: bool,
    /// Its time stamp, and the one that it echoes.
    pub stamps: Option<(u32, u32)>,
    /// Selective acknowledgements above `ack`.
    pub sack: Blocks,
    /// A duplicate that has arrived (RFC 2883).
    pub duplicate: Option<(Seq, Seq)>,
    /// Identification of its IPv4 packet.
    pub id: Option<u16>,
}

/// Up to four blocks `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocks {
    blocks: [(Seq, Seq); 4],
    len: u8,
}

impl Blocks {
    /// Adds a block; a fifth is dropped.
    pub fn push(&mut self, from: Seq, to: Seq) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (from, to);
            self.len += 1;
        }
    }

    /// The blocks, in the order in which they came.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// Whether a segment closes its direction.
pub(super) fn closes(flag_bits: u8) -> bool {
    flag_bits & flags::FIN != 0
}
