//! Hellos: what they do to links, and what they say. Source: RFC 3626, sections 6 to 8.

use super::links::Link;
use super::message::told;
use super::{Body, LinkCode, LinkType, NeighbourType, Olsr};
use crate::{Hop, Interface, NodeId, Time};
use std::collections::BTreeMap;
use truckee_channel::Span;

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
}
