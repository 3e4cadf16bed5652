//! A Cellular IP network: base stations in a tree, a gateway at its head, and mobile hosts that move from one to another.
//! Source: Valkó, "Cellular IP: a new approach to Internet host mobility", 1999; Campbell, Gomez, Kim, Turányi, Wan and
//! Valkó, "Design, implementation, and evaluation of Cellular IP", 2000.

use super::place::NodeId;
use truckee_tcp::{Span, Time};

/// A Cellular IP network.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The head of the tree, where packets enter and leave.
    pub gateway: NodeId,
    /// The base stations. The links among them and the gateway are a tree.
    pub stations: Vec<NodeId>,
    /// What moves.
    pub hosts: Vec<MobileHost>,
    /// An active host that has sent nothing for so long sends a route-update packet.
    pub route_update: Span,
    /// For how long a mapping of a route cache is valid.
    pub route_timeout: Span,
    /// An idle host sends a paging-update packet each so often.
    pub paging_update: Span,
    /// For how long a mapping of a paging cache is valid.
    pub paging_timeout: Span,
    /// A host that has sent and heard nothing for so long is idle.
    pub active_timeout: Span,
    /// Whether a route-update packet takes the place of its host's other mappings where it comes by, in place of leaving them
    /// to their timeout.
    pub replace: bool,
    /// Bytes of a route-update or paging-update packet.
    pub update_bytes: u32,
}

/// A mobile host. It has a link to each base station it can be at, and hears one of them at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct MobileHost {
    /// Its node.
    pub node: NodeId,
    /// Where it is at first.
    pub at: NodeId,
    /// How it moves to another base station.
    pub handoff: Handoff,
    /// How long its radio hears neither the old nor the new one.
    pub gap: Span,
    /// When it moves, and where.
    pub moves: Moves,
}

/// How a host goes from one base station to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handoff {
    /// It tunes in to the new one and sends a route-update packet from there.
    Hard,
    /// It first sends a semisoft packet by the new one and goes on hearing the old one; from where the two ways meet packets go
    /// both ways.
    Semisoft {
        /// The time between that packet and the handoff.
        delay: Span,
        /// How long packets for the new way are held back meanwhile where the ways meet, so that they do not come before those
        /// of the old way; 0: not at all.
        hold: Span,
    },
}

/// A host's moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Moves {
    /// To these base stations at these times, in order.
    Given(Vec<(Time, NodeId)>),
    /// From each of these base stations to the next one, and from the last to the first.
    Round {
        /// The (mean) time between two moves.
        every: Span,
        /// The base stations.
        among: Vec<NodeId>,
        /// Whether they come as a Poisson process: the time from the end of one to the next is exponential.
        poisson: bool,
    },
}

impl Cells {
    /// Whether a node is the gateway or a base station.
    pub fn holds(&self, node: NodeId) -> bool {
        node == self.gateway || self.stations.contains(&node)
    }

    /// The host of that node.
    pub fn host(&self, node: NodeId) -> Option<usize> {
        self.hosts.iter().position(|host| host.node == node)
    }
}
