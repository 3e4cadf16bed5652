//! What travels between the endpoints: one TCP segment. The payload is a length, never bytes.

use crate::{Seq, Time, Transmission};

/// Flag bits of a [`Segment`].
pub mod flags {
    /// Opens a connection; occupies one sequence number.
    pub const SYN: u8 = 1;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 2;
    /// Closes a direction; occupies one sequence number.
    pub const FIN: u8 = 4;
    /// The end of what the sender had to say at once (RFC 9293, section 3.9.1.2); only a stack that makes bursts
    /// ([`crate::Stack::tso`]) tells.
    pub const PSH: u8 = 64;
    /// ECN echo (RFC 3168, section 6.1); with accurate ECN the last bit of a counter.
    pub const ECE: u8 = 8;
    /// Congestion window reduced (RFC 3168, section 6.1); with accurate ECN the counter's middle bit.
    pub const CWR: u8 = 16;
    /// The first bit of the counter of accurate ECN, ACE (RFC 9768, section 3.2).
    pub const AE: u8 = 32;
}

/// Bytes of an IPv4 and a TCP header without options: what every segment costs on a link beside its payload.
pub const HEADER_BYTES: u32 = 40;
/// Bytes that the timestamps option adds to a header, padding included (RFC 7323, appendix A).
pub const TIMESTAMP_BYTES: u32 = 12;
/// Bytes that the ACK rate request adds to a header, padding included (draft-ietf-tcpm-ack-rate-request: an experimental
/// option of 5 bytes).
pub const ACK_RATE_BYTES: u32 = 8;
/// In [`Segment::request`] of data: an ACK is wanted at once. On the wire that is a rate of 0; a rate has seven bits.
pub const IMMEDIATE_ACK: u8 = 128;

/// Up to four SACK blocks (RFC 2018), as offsets from the acknowledgement number so that they stay small. A block below that
/// number, or within the next block, reports what came twice (D-SACK, RFC 2883), and comes first.
#[derive(Debug, Clone, Copy, Default)]
pub struct SackBlocks {
    blocks: [(i32, i32); 4],
    len: u8,
}

/// Blocks that have been taken out do not count.
impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.blocks[..usize::from(self.len)] == other.blocks[..usize::from(other.len)]
    }
}

impl Eq for SackBlocks {}

impl SackBlocks {
    /// Adds the block `[from, to)` (absolute sequence numbers within 2³¹ of `ack`). A fifth block is dropped: there is no room
    /// for it in a header.
    pub fn push(&mut self, ack: Seq, from: Seq, to: Seq) {
        let offset = |seq: Seq| i32::try_from(seq.offset_from(ack));
        debug_assert!(to > from && offset(from).is_ok() && offset(to).is_ok());
        if let (Some(slot), Ok(from), Ok(to)) =
            (self.blocks.get_mut(usize::from(self.len)), offset(from), offset(to))
        {
            *slot = (from, to);
            self.len += 1;
        }
    }

    /// Takes all blocks out.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The blocks as `[from, to)` in absolute sequence numbers, in the order they were pushed.
    pub fn iter(&self, ack: Seq) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.blocks[..usize::from(self.len)]
            .iter()
            .map(move |&(a, b)| (ack.saturating_offset(a.into()), ack.saturating_offset(b.into())))
    }

    /// The same, the lowest first.
    pub fn sorted(&self, ack: Seq) -> impl Iterator<Item = (Seq, Seq)> {
        let mut sorted = *self;
        sorted.blocks[..usize::from(self.len)].sort_unstable();
        let blocks = sorted.blocks.into_iter().take(usize::from(self.len));
        blocks.map(move |(a, b)| (ack.saturating_offset(a.into()), ack.saturating_offset(b.into())))
    }

    /// What the first block says to have come twice (RFC 2883, section 4): it lies below `ack`, or within the second block.
    pub fn duplicate(&self, ack: Seq) -> Option<(Seq, Seq)> {
        let mut blocks = self.iter(ack);
        let first = blocks.next()?;
        let within = |second: (Seq, Seq)| second.0 <= first.0 && first.1 <= second.1;
        (first.1 <= ack || blocks.next().is_some_and(within)).then_some(first)
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes these blocks take in a header, padding included.
    pub fn header_bytes(&self) -> u32 {
        if self.len == 0 { 0 } else { 4 + 8 * u32::from(self.len) }
    }
}

/// One segment. Sequence numbers are 64-bit: SYN is number 0, the first byte of data number 1.
///
/// What every endpoint reads comes first, and options last: a simulator that holds many segments then touches one cache
/// line of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first byte (or of SYN or FIN).
    pub seq: Seq,
    /// Next sequence number expected; counts if [`flags::ACK`] is set.
    pub ack: Seq,
    /// Advertised receive window, bytes from `ack` on, scaling already applied.
    pub window: u32,
    /// Payload, bytes.
    pub len: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// What an option asks for; 0: nothing. With SYN it is the Quick-Start option (RFC 4782, section 3.1): the rate asked
    /// for, or granted in a SYN-ACK, as 40 kbit/s · 2^k for k from 1 to 15. With data it is the ACK rate request
    /// (draft-ietf-tcpm-ack-rate-request): how many segments an ACK is to cover, from 1 to 127, or [`IMMEDIATE_ACK`].
    pub request: u8,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Timestamp option: the time at which this segment was sent. 0 where the option is off.
    pub ts_val: Time,
    /// Timestamp option: echo of the peer's `ts_val`. 0 where there is nothing to echo.
    pub ts_ecr: Time,
}

/// A segment as it leaves an endpoint, with what its network and the laboratory need to know beside what is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transmit {
    /// What travels.
    pub segment: Segment,
    /// Which transmission it is; none of a SYN or of what carries neither data nor FIN.
    pub number: Option<Transmission>,
    /// Whether its data was sent before.
    pub retransmission: bool,
    /// Where its data is sent for the second time: when it was for the first.
    pub first_sent: Option<Time>,
    /// Whether its packet is ECN-capable (RFC 3168, section 6.1: data sent for the first time).
    pub ecn_capable: bool,
    /// Whether the sender was in slow start when it sent this.
    pub slow_start: bool,
    /// Whether the endpoint surely has nothing else to send now, so that it need not be asked.
    pub last: bool,
}

impl Segment {
    /// Whether the flag bit is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Sequence numbers it occupies: payload plus one for SYN and one for FIN.
    pub fn seq_len(&self) -> u64 {
        u64::from(self.len) + u64::from(self.has(flags::SYN)) + u64::from(self.has(flags::FIN))
    }

    /// The sequence number after it.
    pub fn end(&self) -> Seq {
        self.seq + self.seq_len()
    }

    /// Bytes on an IPv4 link: headers, options, payload.
    #[inline]
    pub fn wire_bytes(&self) -> u32 {
        if self.ts_val == Time::ZERO && self.request == 0 && self.sack.is_empty() {
            return HEADER_BYTES + self.len; // as nearly always
        }
        let timestamps = if self.ts_val != Time::ZERO { TIMESTAMP_BYTES } else { 0 };
        let ack_rate = if self.request != 0 && !self.has(flags::SYN) { ACK_RATE_BYTES } else { 0 };
        HEADER_BYTES + timestamps + ack_rate + self.sack.header_bytes() + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_in_the_order_in_which_they_were_sent_where_that_matters() {
        let at = |number| Seq::at(number);
        let mut blocks = SackBlocks::default();
        for (from, to) in [(701, 801), (301, 401), (501, 601)] {
            blocks.push(at(101), at(from), at(to));
        }
        let sorted: Vec<_> = blocks.sorted(at(101)).map(|(from, _)| from.number()).collect();
        assert_eq!(sorted, [301, 501, 701]);
        assert_eq!(blocks.iter(at(101)).next(), Some((at(701), at(801))), "the order on the wire stays");
    }
}
