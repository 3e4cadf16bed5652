//! AODV's messages. Source: RFC 3561, section 5.

use super::SequenceNumber;
use crate::address::NodeId;
use crate::kind::Kind;
use truckee_channel::Span;

/// A message, and how far it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The IP header's time to live: a search goes as many hops. What is sent to one neighbour has 1 or more.
    pub ttl: u8,
    /// What it says.
    pub body: Body,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Route request.
    Rreq(Rreq),
    /// Route reply, and hello: a reply of a node for itself, to everyone.
    Rrep(Rrep),
    /// Route error: destinations that cannot be reached any longer by the sender (5.3).
    Rerr {
        /// Do not delete the routes: a node upstream repairs them.
        no_delete: bool,
        /// Who, and the number from which on a route to it is news.
        unreachable: Vec<(NodeId, SequenceNumber)>,
    },
    /// Route reply acknowledgement (5.4).
    RrepAck,
}

/// Route request (5.1). The flags for multicast have no use here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rreq {
    /// G: an answer by somebody in between is also sent to the destination.
    pub gratuitous: bool,
    /// D: only the destination may answer.
    pub destination_only: bool,
    /// Hops from the originator to who sent this.
    pub hops: u8,
    /// Together with the originator, what search it is.
    pub id: u32,
    /// Who is searched for.
    pub to: NodeId,
    /// The last number of the destination's that the originator knows; `None`: flag U, unknown.
    pub to_seq: Option<SequenceNumber>,
    /// The originator.
    pub from: NodeId,
    /// Its current number.
    pub from_seq: SequenceNumber,
}

/// Route reply (5.2). The prefix is always a host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rrep {
    /// A: who receives it says so by a RREP-ACK.
    pub acknowledge: bool,
    /// Hops from who sent this to the destination.
    pub hops: u8,
    /// Who can be reached.
    pub to: NodeId,
    /// Its number.
    pub to_seq: SequenceNumber,
    /// Who searched; of a hello, who sends it.
    pub from: NodeId,
    /// How long the route is valid.
    pub lifetime: Span,
}

impl Rrep {
    /// Whether it is a hello: nobody searches for himself (6.9).
    pub fn is_hello(&self) -> bool {
        self.to == self.from
    }
}

impl Message {
    /// Its size without headers of IP and UDP, in bytes.
    pub fn bytes(&self) -> u32 {
        match &self.body {
            Body::Rreq(_) => 24,
            Body::Rrep(_) => 20,
            Body::Rerr { unreachable, .. } => 4 + 8 * unreachable.len() as u32,
            Body::RrepAck => 2,
        }
    }

    /// What it is for.
    pub fn kind(&self) -> Kind {
        match &self.body {
            Body::Rreq(_) => Kind::Rreq,
            Body::Rrep(rrep) if rrep.is_hello() => Kind::Hello,
            Body::Rrep(_) => Kind::Rrep,
            Body::Rerr { .. } => Kind::Rerr,
            Body::RrepAck => Kind::RrepAck,
        }
    }
}
