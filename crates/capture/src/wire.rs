//! The headers of a packet: from whatever its first bytes are to what TCP says in it.
//!
//! A packet may be cut short by the snap length, and may be one that the capturing machine's offloads have made longer
//! than any on the wire: its length is what the IP header says, or the capture where that says 0 (BIG TCP) or more than
//! the frame had room for. Header libraries refuse packets that are cut within a header, and end at the first TCP option
//! they do not know; so the few fields that matter are read here. Not for: checksums (captures at the sender have none
//! yet), reassembly of fragments, what is inside other tunnels than GRE.

mod gre;
mod ip;
mod link;
mod tcp;

pub use tcp::{Options, Sack, Tcp, flags};

use crate::file::LinkType;
use std::net::IpAddr;

/// A TCP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// What IP says.
    pub ip: Ip,
    /// What TCP says.
    pub tcp: Tcp,
}

/// What is read of an IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ip {
    /// Where it is from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// Identification of IPv4; none in IPv6.
    pub id: Option<u16>,
    /// Whether a router has marked it in place of dropping it (RFC 3168).
    pub congestion_experienced: bool,
}

/// Why a packet is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skip {
    /// Packets of this kind are not read.
    Link(LinkType),
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// Another protocol than TCP.
    NotTcp,
    /// A packet within a packet.
    Tunnel,
    /// Headers that are told as differences to those before.
    Compressed,
    /// A fragment.
    Fragment,
    /// Captured too little of to tell.
    CutShort,
    /// Headers that contradict themselves.
    Malformed,
}

impl Skip {
    /// In words.
    pub fn name(self) -> String {
        match self {
            Self::Link(link) => format!("link type {}", link.0),
            Self::NotIp => "not IP".to_owned(),
            Self::NotTcp => "not TCP".to_owned(),
            Self::Tunnel => "tunnel".to_owned(),
            Self::Compressed => "compressed headers".to_owned(),
            Self::Fragment => "fragment".to_owned(),
            Self::CutShort => "cut short".to_owned(),
            Self::Malformed => "malformed".to_owned(),
        }
    }
}

/// Reads a packet that was `wire_len` bytes long and of which `data` was captured.
pub fn read(link: LinkType, data: &[u8], wire_len: u32) -> Result<Packet, Skip> {
    let (packet, cut) = link::strip(link, data)?;
    let (ip, payload, payload_len) = ip::read(packet, (wire_len as usize).saturating_sub(cut))?;
    let tcp = tcp::read(payload, payload_len)?;
    Ok(Packet { ip, tcp })
}

/// Two bytes in network order.
fn number16(bytes: &[u8], at: usize) -> Result<u16, Skip> {
    match bytes.get(at..at + 2) {
        Some(two) => Ok(u16::from_be_bytes([two[0], two[1]])),
        None => Err(Skip::CutShort),
    }
}

/// Four bytes in network order.
fn number32(bytes: &[u8], at: usize) -> Result<u32, Skip> {
    match bytes.get(at..at + 4) {
        Some(four) => Ok(u32::from_be_bytes([four[0], four[1], four[2], four[3]])),
        None => Err(Skip::CutShort),
    }
}

#[cfg(test)]
mod tests;
