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
mod skip;
mod tcp;

pub use ip::Ip;
pub use skip::Skip;
pub use tcp::{Options, Sack, Tcp, flags};

use crate::file::LinkType;

/// A TCP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// What IP says.
    pub ip: Ip,
    /// What TCP says.
    pub tcp: Tcp,
}

/// Reads a packet that was `wire_len` bytes long and of which `data` was captured.
pub fn read(link: LinkType, data: &[u8], wire_len: u32) -> Result<Packet, Skip> {
    let (packet, cut) = link::strip(link, data)?;
    let (ip, payload, payload_len) = ip::read(packet, (wire_len as usize).saturating_sub(cut))?;
    let tcp = tcp::read(payload, payload_len)?;
    Ok(Packet { ip, tcp })
}

#[cfg(test)]
mod tests;
