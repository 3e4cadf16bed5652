//! What a queue is told of a packet, and what it says of it.

use crate::Time;

/// A queue's size. The packet in transmission does not count, and an empty queue takes one of any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    None,
    /// Packets waiting.
    Packets(u64),
    /// Bytes waiting.
    Bytes(u64),
}

impl Limit {
    /// Whether a packet of so many bytes may join so many packets that have so many bytes.
    #[inline]
    pub fn has_room(self, packets: u64, bytes: u64, next: u32) -> bool {
        match self {
            Self::None => true,
            Self::Packets(most) => packets < most,
            Self::Bytes(most) => bytes + u64::from(next) <= most,
        }
    }
}

/// What a queue sees of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Its size.
    pub bytes: u32,
    /// What its flow is known by: packets of one flow have the same.
    pub flow: u64,
    /// Whether it may be marked in place of dropped (ECT, RFC 3168).
    pub ecn: bool,
}

/// A packet that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served<T> {
    /// The caller's.
    pub packet: T,
    /// Its size.
    pub bytes: u32,
    /// Whether it carries the mark of congestion (CE) from here on.
    pub marked: bool,
    /// When it came.
    pub came: Time,
}
