//! What is known of the network beyond neighbours. Source: RFC 3626, section 9.

use crate::address::NodeId;
use std::collections::BTreeMap;
use truckee_channel::Time;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Topology {
    /// By who told of it and whom he reaches: his number, and until when.
    pub of: BTreeMap<(NodeId, NodeId), (u16, Time)>,
    /// The number of the own set of selectors.
    pub ansn: u16,
    /// Until when others believe what was told of it last.
    pub told: Option<Time>,
}

impl Topology {
    /// The own set has changed (9.3).
    pub fn selectors_changed(&mut self) {
        self.ansn = self.ansn.wrapping_add(1);
    }

    /// Before whom a node is the last.
    pub fn after(&self, last: NodeId) -> impl Iterator<Item = NodeId> {
        self.of.range((last, NodeId(0))..=(last, NodeId(u32::MAX))).map(|(&(_, to), _)| to)
    }

    /// What has ended is forgotten: when something ends next, and whether something did.
    pub fn forget(&mut self, now: Time) -> (Time, bool) {
        let before = self.of.len();
        self.of.retain(|_, (_, until)| *until > now);
        let next = self.of.values().map(|&(_, until)| until).min().unwrap_or(Time::MAX);
        (next, self.of.len() != before)
    }
}
