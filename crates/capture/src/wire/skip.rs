//! Why a packet is passed over, and the numbers of its headers, of which each may be cut off.

use crate::file::LinkType;

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

/// Two bytes in network order.
pub fn number16(bytes: &[u8], at: usize) -> Result<u16, Skip> {
    match bytes.get(at..at + 2) {
        Some(two) => Ok(u16::from_be_bytes([two[0], two[1]])),
        None => Err(Skip::CutShort),
    }
}

/// Four bytes in network order.
pub fn number32(bytes: &[u8], at: usize) -> Result<u32, Skip> {
    match bytes.get(at..at + 4) {
        Some(four) => Ok(u32::from_be_bytes([four[0], four[1], four[2], four[3]])),
        None => Err(Skip::CutShort),
    }
}
