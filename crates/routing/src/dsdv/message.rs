//! DSDV's updates. Source: Perkins and Bhagwat 1994, section 3.

use crate::address::NodeId;
use crate::kind::Kind;

/// What a node tells its neighbours of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Whether it is the whole table (a full dump) or what has changed in it.
    pub full: bool,
    /// Routes.
    pub routes: Vec<Advertised>,
}

/// A route as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advertised {
    /// Where to.
    pub to: NodeId,
    /// Hops from who sends this; `None`: no longer reachable.
    pub metric: Option<u32>,
    /// Even ones are the destination's own, odd ones of who lost the route to it.
    pub seq: u32,
}

impl Update {
    /// Its size without headers of IP and UDP, in bytes: 12 for each route (address, hops, number), as ns-2 and ns-3
    /// have it; the paper gives no format.
    pub fn bytes(&self) -> u32 {
        12 * self.routes.len() as u32
    }

    /// What it is for.
    pub fn kind(&self) -> Kind {
        if self.full { Kind::Full } else { Kind::Incremental }
    }
}
