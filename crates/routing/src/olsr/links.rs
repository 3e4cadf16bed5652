//! Links, neighbours, and neighbours' neighbours. Source: RFC 3626, sections 4, 6 to 8, 13 and 14.

use super::config::Hysteresis;
use super::message::LinkType;
use crate::address::{Hop, NodeId};
use std::collections::BTreeMap;
use truckee_channel::{Span, Time};

/// A link to a neighbour, by one interface.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// It works both ways until then.
    pub symmetric: Time,
    /// The neighbour is heard until then.
    pub heard: Time,
    /// It is remembered until then.
    pub until: Time,
    /// It counts as lost until then (13, 14).
    pub lost: Time,
    /// Hysteresis: its quality, whether it has not got good enough yet, the last packet's number, when the next
    /// hello is missing, and how many have been since that packet.
    pub quality: f64,
    pub pending: bool,
    pub packet: Option<u16>,
    pub missing: Time,
    pub missed: u16,
    pub interval: Span,
    /// Whether others were told that it is symmetric, at the last look.
    pub was: bool,
}

impl Link {
    pub fn is_symmetric(&self, now: Time) -> bool {
        self.symmetric > now && !self.pending && self.lost <= now
    }

    /// What a hello says of it; `None`: nothing (6.2, 14.1).
    pub fn kind(&self, now: Time) -> Option<LinkType> {
        if self.lost > now {
            Some(LinkType::Lost)
        } else if self.pending {
            None
        } else if self.symmetric > now {
            Some(LinkType::Symmetric)
        } else if self.heard > now {
            Some(LinkType::Asymmetric)
        } else {
            Some(LinkType::Lost)
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub of: BTreeMap<Hop, Link>,
    pub willingness: BTreeMap<NodeId, u8>,
    /// By neighbour and his neighbour: until when.
    pub two_hop: BTreeMap<(NodeId, NodeId), Time>,
}

impl Links {
    /// By which interface a symmetric neighbour is reached.
    pub fn to(&self, now: Time, neighbour: NodeId) -> Option<Hop> {
        self.of
            .iter()
            .find(|(hop, link)| hop.neighbour == neighbour && link.is_symmetric(now))
            .map(|(&hop, _)| hop)
    }

    pub fn is_symmetric(&self, now: Time, neighbour: NodeId) -> bool {
        self.to(now, neighbour).is_some()
    }

    /// Symmetric neighbours, those of one interface together.
    pub fn symmetric(&self, now: Time) -> impl Iterator<Item = Hop> {
        self.of.iter().filter(move |(_, link)| link.is_symmetric(now)).map(|(&hop, _)| hop)
    }

    /// Neighbours of neighbours.
    pub fn two_hop(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.two_hop.keys().copied()
    }

    /// Of one of them: his neighbours.
    pub fn two_hop_by(&self, neighbour: NodeId) -> impl Iterator<Item = NodeId> {
        self.two_hop.range((neighbour, NodeId(0))..=(neighbour, NodeId(u32::MAX))).map(|(&(_, far), _)| far)
    }

    /// What has ended is forgotten: when something ends next, which neighbours are symmetric no longer, and whether
    /// anything has changed of which routes are made.
    pub fn forget(&mut self, now: Time) -> (Time, Vec<NodeId>, bool) {
        let (mut gone, two_hop, mut changed) = (Vec::new(), self.two_hop.len(), false);
        for (hop, link) in &mut self.of {
            let is = link.is_symmetric(now);
            let was = std::mem::replace(&mut link.was, is);
            if was && !is {
                gone.push(hop.neighbour);
            }
            // Hysteresis may have made it count again.
            changed |= was != is;
        }
        self.of.retain(|_, link| link.until > now);
        gone.retain(|&neighbour| !self.is_symmetric(now, neighbour));
        self.two_hop.retain(|(neighbour, _), until| *until > now && !gone.contains(neighbour));
        changed |= self.two_hop.len() != two_hop;
        let ends = |link: &Link| {
            let ends = [link.symmetric, link.heard, link.until, link.lost, link.missing];
            ends.into_iter().filter(|&at| at > now).min()
        };
        let next = self.of.values().filter_map(ends).chain(self.two_hop.values().copied()).min();
        (next.unwrap_or(Time::MAX), gone, changed)
    }
}

impl Link {
    pub fn judge(&mut self, now: Time, hysteresis: Hysteresis, hold: Span) {
        if self.quality >= hysteresis.high {
            (self.pending, self.lost) = (false, now);
        } else if self.quality < hysteresis.low && !self.pending {
            self.pending = true;
            self.lost = now + hold;
            self.until = self.until.max(self.lost);
        }
    }
}
