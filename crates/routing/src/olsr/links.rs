//! Links, neighbours, and neighbours' neighbours. Source: RFC 3626, sections 4, 6 to 8, 13 and 14.

use super::message::told;
use super::{Body, Hysteresis, LinkCode, LinkType, NeighbourType, Olsr};
use crate::{Hop, Interface, NodeId, Time};
use std::collections::BTreeMap;
use truckee_channel::Span;

/// A link to a neighbour, by one interface.
#[derive(Debug, Clone)]
struct Link {
    /// It works both ways until then.
    symmetric: Time,
    /// The neighbour is heard until then.
    heard: Time,
    /// It is remembered until then.
    until: Time,
    /// It counts as lost until then (13, 14).
    lost: Time,
    /// Hysteresis: its quality, whether it has not got good enough yet, the last packet's number, when the next
    /// hello is missing, and how many have been since that packet.
    quality: f64,
    pending: bool,
    packet: Option<u16>,
    missing: Time,
    missed: u16,
    interval: Span,
    /// Whether others were told that it is symmetric, at the last look.
    was: bool,
}

impl Link {
    fn is_symmetric(&self, now: Time) -> bool {
        self.symmetric > now && !self.pending && self.lost <= now
    }

    /// What a hello says of it; `None`: nothing (6.2, 14.1).
    fn kind(&self, now: Time) -> Option<LinkType> {
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
    of: BTreeMap<Hop, Link>,
    pub willingness: BTreeMap<NodeId, u8>,
    /// By neighbour and his neighbour: until when.
    two_hop: BTreeMap<(NodeId, NodeId), Time>,
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

impl Olsr {
    /// A hello (7.1.1, 8.1, 8.2, 8.4).
    pub(super) fn on_hello(
        &mut self,
        now: Time,
        hop: Hop,
        validity: Span,
        interval: Span,
        willingness: u8,
        links: &[(LinkCode, Vec<NodeId>)],
    ) {
        let until = now + validity;
        let hold = self.config.neighbour_hold_time;
        let hysteresis = self.config.hysteresis;
        let link = self.links.of.entry(hop).or_insert_with(|| Link {
            symmetric: Time::ZERO,
            heard: Time::ZERO,
            until,
            lost: Time::ZERO,
            quality: hysteresis.map_or(1.0, |hysteresis| hysteresis.scaling),
            pending: hysteresis.is_some_and(|hysteresis| hysteresis.scaling < hysteresis.high),
            packet: None,
            missing: Time::MAX,
            missed: 0,
            interval,
            was: false,
        });
        link.heard = until;
        let me = links.iter().find(|(_, of)| of.contains(&self.node)).map(|&(code, _)| code);
        match me {
            Some((LinkType::Lost, _)) => link.symmetric = now,
            Some((LinkType::Symmetric | LinkType::Asymmetric, _)) => {
                link.symmetric = until;
                link.until = link.until.max(until + hold);
            }
            Some((LinkType::Unspecified, _)) | None => {}
        }
        link.until = link.until.max(link.heard);
        if hysteresis.is_some() {
            (link.interval, link.missing) = (interval, now + interval + interval / 2);
            self.ends = self.ends.min(link.missing);
        }
        let (was, is) = (link.was, link.is_symmetric(now));
        link.was = is;
        self.until(until);
        if was && !is && !self.links.is_symmetric(now, hop.neighbour) {
            self.links.two_hop.retain(|&(neighbour, _), _| neighbour != hop.neighbour);
            self.lost_neighbour(hop.neighbour);
        } else if was != is {
            (self.stale.mprs, self.stale.routes) = (true, true);
        }
        if self.links.willingness.insert(hop.neighbour, willingness) != Some(willingness) {
            (self.stale.mprs, self.stale.routes) = (true, true);
        }
        if is {
            self.learn_two_hop(hop.neighbour, until, links);
            let chosen = matches!(me, Some((_, NeighbourType::Mpr)));
            if chosen && self.selectors.insert(hop.neighbour, until).is_none() {
                self.topology.selectors_changed();
            }
        }
    }

    fn learn_two_hop(&mut self, neighbour: NodeId, until: Time, links: &[(LinkCode, Vec<NodeId>)]) {
        for ((_, kind), of) in links {
            for &other in of.iter().filter(|&&other| other != self.node) {
                let known = match kind {
                    NeighbourType::Symmetric | NeighbourType::Mpr => {
                        self.links.two_hop.insert((neighbour, other), until).is_some()
                    }
                    NeighbourType::Not => self.links.two_hop.remove(&(neighbour, other)).is_none(),
                };
                if !known {
                    (self.stale.mprs, self.stale.routes) = (true, true);
                }
            }
        }
    }

    /// What a hello on this interface says (6.2).
    pub(super) fn hello(&self, now: Time, interface: Interface) -> Body {
        let mut links: BTreeMap<LinkCode, Vec<NodeId>> = BTreeMap::new();
        let kind = |neighbour| {
            if self.mprs.contains(&neighbour) {
                NeighbourType::Mpr
            } else if self.links.is_symmetric(now, neighbour) {
                NeighbourType::Symmetric
            } else {
                NeighbourType::Not
            }
        };
        let mut said = Vec::new();
        for (hop, link) in self.links.of.iter().filter(|(hop, _)| hop.interface == interface) {
            if let Some(state) = link.kind(now) {
                links.entry((state, kind(hop.neighbour))).or_default().push(hop.neighbour);
                said.push(hop.neighbour);
            }
        }
        // Neighbours of other interfaces are neighbours, too.
        for hop in self.links.symmetric(now) {
            if !said.contains(&hop.neighbour) {
                said.push(hop.neighbour);
                links.entry((LinkType::Unspecified, kind(hop.neighbour))).or_default().push(hop.neighbour);
            }
        }
        Body::Hello {
            interval: told(self.config.hello_interval),
            willingness: self.config.willingness,
            links: links.into_iter().collect(),
        }
    }

    /// The link layer says that a neighbour does not answer (13): the link is lost until it is heard of anew.
    pub(super) fn lose(&mut self, now: Time, hop: Hop) {
        if !self.config.link_layer {
            return;
        }
        let Some(link) = self.links.of.get_mut(&hop).filter(|link| link.is_symmetric(now)) else { return };
        link.symmetric = now;
        link.lost = now + self.config.neighbour_hold_time;
        link.until = link.until.max(link.lost);
        self.out.withdraw(hop);
        self.ends = now;
        self.forget(now);
        self.settle(now);
    }

    /// A packet arrived: the link's quality rises, and has fallen for each that is missing (14.2, 14.3).
    pub(super) fn rate(&mut self, now: Time, hop: Hop, packet: u16, hysteresis: Hysteresis) {
        let hold = self.config.neighbour_hold_time;
        let Some(link) = self.links.of.get_mut(&hop) else { return };
        let lost = link.packet.map_or(0, |last| packet.wrapping_sub(last).saturating_sub(1));
        // Those whose hellos were missed count already. A number that has jumped is a neighbour who began anew.
        let losses = if lost < 100 { lost.saturating_sub(link.missed) } else { 0 };
        for _ in 0..losses {
            link.quality *= 1.0 - hysteresis.scaling;
        }
        link.missed = 0;
        link.quality = (1.0 - hysteresis.scaling) * link.quality + hysteresis.scaling;
        link.packet = Some(packet);
        link.judge(now, hysteresis, hold);
        self.ends = now;
        self.forget(now);
    }

    /// Hellos that have not come make links worse (14.3).
    pub(super) fn rate_silent(&mut self, now: Time, hysteresis: Hysteresis) {
        let hold = self.config.neighbour_hold_time;
        for link in self.links.of.values_mut().filter(|link| link.missing <= now) {
            link.quality *= 1.0 - hysteresis.scaling;
            link.missing = now + link.interval;
            link.missed = link.missed.saturating_add(1);
            link.judge(now, hysteresis, hold);
        }
    }
}

impl Link {
    fn judge(&mut self, now: Time, hysteresis: Hysteresis, hold: Span) {
        if self.quality >= hysteresis.high {
            (self.pending, self.lost) = (false, now);
        } else if self.quality < hysteresis.low && !self.pending {
            self.pending = true;
            self.lost = now + hold;
            self.until = self.until.max(self.lost);
        }
    }
}
