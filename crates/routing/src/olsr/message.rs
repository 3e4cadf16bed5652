//! OLSR's packets. Source: RFC 3626, sections 3.3, 6.1 and 9.1.

use crate::NodeId;
use crate::message::Kind;
use truckee_time::Span;

/// A packet: one or several messages (3.3). Its sequence number is of no use to who does not count losses by it, but has
/// its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
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
