//! What ends a connection, and what is said to segments of one that there is not.

use crate::script::{Ecn, Packet, bits};
use truckee_tcp::acceptability;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The peer does not want it.
    Refused,
    /// The peer has reset it.
    Reset,
    /// Both have closed, or this end has reset it.
    Over,
}

/// RST of this number, which acknowledges that where it is told.
pub fn reset(seq: u32, ack: Option<u32>) -> Packet {
    let flags = bits::RST | if ack.is_some() { bits::ACK } else { 0 };
    Packet { ecn: Some(Ecn::Not), flags, seq, len: 0, ack, window: Some(0), options: Some(Vec::new()) }
}

/// The answer to a segment of a connection that there is not, if there is to be one.
pub fn refusal(packet: &Packet) -> Option<Packet> {
    let occupied = packet.len + u32::from(packet.has(bits::SYN)) + u32::from(packet.has(bits::FIN));
    let (seq, ack) = acceptability::refusal(packet.seq, occupied, packet.ack, packet.has(bits::RST))?;
    Some(reset(seq, ack))
}
