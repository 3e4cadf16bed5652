//! OLSR's packets. Source: RFC 3626, sections 3.3, 6.1 and 9.1.

use crate::address::NodeId;
use crate::kind::Kind;
use truckee_channel::Span;

/// A packet: one or several messages (3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The count of the interface's packets, by which losses are noticed.
    pub seq: u16,
    /// What is in it.
    pub messages: Vec<Message>,
}

/// A message with its header (3.3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who made it.
    pub from: NodeId,
    /// The originator's count of its messages.
    pub seq: u16,
    /// How many hops more it may go.
    pub ttl: u8,
    /// How many it has gone.
    pub hops: u8,
    /// How long what it says is valid, as the field of 8 bits has it.
    pub validity: Span,
    /// What it says.
    pub body: Body,
}

/// What a message says. MID (section 5) would tell of addresses beyond the main one: nodes here have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Who the sender hears (6.1).
    Hello {
        /// When the next one is to be expected (Htime).
        interval: Span,
        /// How ready it is to relay, 0 to 7.
        willingness: u8,
        /// Neighbours by the state of their link and their own, one entry for each such state.
        links: Vec<(LinkCode, Vec<NodeId>)>,
    },
    /// Who chose the originator as a relay (9.1).
    Tc {
        /// The number of this set: a later one replaces an earlier one.
        ansn: u16,
        /// The set.
        neighbours: Vec<NodeId>,
    },
}

/// What a hello says of a link (6.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkType {
    /// Nothing (UNSPEC_LINK).
    Unspecified,
    /// It is heard in one direction.
    Asymmetric,
    /// It is known to work both ways.
    Symmetric,
    /// It is lost.
    Lost,
}

/// What a hello says of a neighbour (6.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NeighbourType {
    /// No symmetric neighbour.
    Not,
    /// A symmetric neighbour.
    Symmetric,
    /// The same, and chosen as a relay.
    Mpr,
}

/// Both.
pub type LinkCode = (LinkType, NeighbourType);

impl Packet {
    /// Its size without headers of IP and UDP, in bytes.
    pub fn bytes(&self) -> u32 {
        4 + self.messages.iter().map(Message::bytes).sum::<u32>()
    }
}

impl Message {
    /// Its size with its header, in bytes.
    pub fn bytes(&self) -> u32 {
        12 + match &self.body {
            Body::Hello { links, .. } => 4 + links.iter().map(|(_, of)| 4 + 4 * of.len() as u32).sum::<u32>(),
            Body::Tc { neighbours, .. } => 4 + 4 * neighbours.len() as u32,
        }
    }

    /// What it is for.
    pub fn kind(&self) -> Kind {
        match self.body {
            Body::Hello { .. } => Kind::Hello,
            Body::Tc { .. } => Kind::Tc,
        }
    }
}

/// A time as eight bits say it (18.3), the next longer one: (1 + a/16)·2^b sixteenths of a second, a and b from 0 to 15.
pub(super) fn told(time: Span) -> Span {
    const UNIT: u64 = 62_500_000;
    let fits = |b: u32| (0..16).map(move |a| (UNIT << b) / 16 * (16 + a)).find(|&n| n >= time.nanos());
    Span::ns((0..16).find_map(fits).unwrap_or((UNIT << 15) / 16 * 31))
}

/// Whether a sequence number of 16 bits is later than another (19).
pub(super) fn is_after(one: u16, other: u16) -> bool {
    (one.wrapping_sub(other) as i16) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_eight_bits() {
        // 18.3's own values are exact.
        for exact in [Span::s(2), Span::s(5), Span::s(6), Span::s(15), Span::s(30)] {
            assert_eq!(told(exact), exact);
        }
        assert_eq!(told(Span::ms(1)), Span::us(62_500));
        assert_eq!(told(Span::ms(2_050)), Span::ms(2_125));
        assert_eq!(told(Span::s(100_000)), Span::s(3_968));
    }

    #[test]
    fn numbers_wrap() {
        assert!(is_after(0, u16::MAX) && !is_after(u16::MAX, 0) && !is_after(3, 3));
    }
}
