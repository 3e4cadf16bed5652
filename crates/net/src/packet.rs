//! What travels over links: a segment and what the network needs to know of it.

use truckee_tcp::{Segment, Time};

/// Marks a packet of cross traffic in [`Packet::owner`].
pub const TRAFFIC: u32 = 1 << 31;

/// Bits of [`Packet::bits`].
pub mod bits {
    /// From the data sender to the receiver.
    pub const FORWARD: u8 = 1;
    /// ECN-capable transport (ECT, RFC 3168).
    pub const ECN_CAPABLE: u8 = 2;
    /// Congestion experienced (CE, RFC 3168).
    pub const CONGESTION_EXPERIENCED: u8 = 4;
}

/// One packet.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// The segment; of cross traffic only its birth counts.
    pub segment: Segment,
    /// Index of the connection, or [`TRAFFIC`] + index of the source.
    pub owner: u32,
    /// The connection's generation: a slot serves many connections in turn.
    pub generation: u32,
    /// Position in the table of paths: the link it is on.
    pub at: u32,
    /// Bytes on the wire.
    pub wire: u32,
    /// [`bits`].
    pub bits: u8,
}

impl Packet {
    /// Whether the bit is set.
    pub fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    /// Whether it belongs to cross traffic.
    pub fn is_traffic(&self) -> bool {
        self.owner & TRAFFIC != 0
    }
}

/// A packet on its way to the far end of a link.
#[derive(Debug, Clone, Copy)]
pub struct InTransit {
    /// When it arrives.
    pub arrival: Time,
    /// When its transmission ends or ended.
    pub departure: Time,
    /// The packet.
    pub packet: Packet,
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropCause {
    /// By a queue.
    Queue,
    /// By noise.
    Channel,
    /// By an outage, or a link that was down.
    Outage,
}

impl DropCause {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            DropCause::Queue => "queue",
            DropCause::Channel => "channel",
            DropCause::Outage => "outage",
        }
    }
}
