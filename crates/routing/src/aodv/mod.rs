//! Ad hoc on-demand distance vector routing. Source: RFC 3561 (Perkins, Belding-Royer and Das 2003).
//!
//! Whoever has a packet and no route asks everyone, in growing rings; the destination, or somebody who knows a route that is
//! as new, answers along the way that the question came. A link that breaks is told to those who used it, upstream, unless
//! the node that notices finds another way nearby.
//!
//! Not for: multicast, several prefixes, and what a node does after a reboot (6.13): nodes do not reboot.

mod broken;
mod config;
mod hello;
mod known;
mod message;
mod neighbours;
mod reply;
mod search;
mod sequence;
mod table;

pub use config::{Config, Hello, Repair};
pub use message::{Body, Message, Rrep, Rreq};
pub use sequence::SequenceNumber;

use crate::buffer::Buffer;
use crate::outbox::Outbox;
use crate::{Cause, Counters, Hop, Interface, NodeId, Output, Packet, Return, Router, Time, To, Verdict};
use known::{Known, Limit, Search};
use neighbours::Neighbours;
use std::collections::BTreeMap;
use table::{News, Table};
use truckee_channel::Span;
use truckee_channel::random::{Xoshiro256PlusPlus, up_to};

/// One node's router.
#[derive(Debug)]
pub(crate) struct Aodv {
    config: Config,
    node: NodeId,
    interfaces: u8,
    rng: Xoshiro256PlusPlus,
    seq: SequenceNumber,
    rreq_id: u32,
    table: Table,
    searches: BTreeMap<NodeId, Search>,
    known: Known,
    rreqs: Limit,
    rerrs: Limit,
    neighbours: Neighbours,
    buffer: Buffer,
    out: Outbox,
}

impl Aodv {
    pub(crate) fn new(config: &Config, node: NodeId, interfaces: u8, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            node,
            interfaces,
            rng,
            seq: config.sequence,
            rreq_id: 0,
            table: Table::new(config.delete_period),
            searches: BTreeMap::new(),
            known: Known::default(),
            rreqs: Limit::new(config.rreq_rate_limit),
            rerrs: Limit::new(config.rerr_rate_limit),
            neighbours: Neighbours::default(),
            buffer: Buffer::new(config.buffer),
            out: Outbox::default(),
            config: config.clone(),
        }
    }

    /// Sends to one neighbour.
    fn unicast(&mut self, hop: Hop, ttl: u8, body: Body) {
        let message = crate::Message::Aodv(Message { ttl, body });
        self.out.send(hop.interface, To::Neighbour(hop.neighbour), message);
    }

    /// Sends to everyone on an interface, after a jitter or at once.
    fn broadcast(&mut self, now: Time, interface: Interface, jitter: bool, ttl: u8, body: Body) {
        self.neighbours.broadcast(now);
        let message = crate::Message::Aodv(Message { ttl, body });
        if jitter && !self.config.jitter.is_zero() {
            let at = now + Span::ns(up_to(&mut self.rng, self.config.jitter.nanos()));
            self.out.send_at(at, interface, message);
        } else {
            self.out.send(interface, To::Everyone, message);
        }
    }

    /// After whatever may have changed the table: packets that wait for a route that is there now go.
    fn settle(&mut self, now: Time) {
        if !self.table.has_changed() {
            return;
        }
        for (to, next, hops) in self.table.changes() {
            self.out.route(to, next, hops);
            let Some(next) = next else { continue };
            let repaired = self.searches.remove(&to).and_then(|search| search.repairs);
            self.buffer.release(to, next, &mut self.out);
            if let Some(before) = repaired
                && hops > before
            {
                self.tell_detour(now, to);
            }
        }
    }

    /// The next hop of a packet, if there is a valid route, which lasts longer for it (6.2). Who sends packets by a route is
    /// told when it breaks; the RFC tells those whose reply went by here, and so nobody whose route to a node comes from
    /// that node's own search.
    fn by_route(&mut self, now: Time, packet: &Packet) -> Option<Hop> {
        let route = self.table.valid(now, packet.to)?;
        route.until = route.until.max(now + self.config.active_route_timeout);
        if let Some(previous) = packet.previous {
            route.used_by(previous);
        }
        Some(route.hop)
    }

    /// A packet goes by a route: those to its source and to both neighbours last longer as well (6.2).
    fn keep(&mut self, now: Time, packet: &Packet, next: Option<Hop>) {
        let until = now + self.config.active_route_timeout;
        self.neighbours.used(now);
        let previous = packet.previous.map(|hop| hop.neighbour).filter(|to| *to != packet.from);
        let next = next.map(|hop| hop.neighbour).filter(|to| *to != packet.to);
        for to in [Some(packet.from), previous, next].into_iter().flatten() {
            if to != self.node {
                self.table.prolong(now, to, until);
            }
        }
    }

    /// A packet that has no valid route.
    fn without_route(&mut self, now: Time, packet: &Packet) -> Verdict {
        let own = packet.from == self.node;
        if own || self.searches.contains_key(&packet.to) {
            self.buffer.add(now, packet, &mut self.out);
            if own {
                self.search(now, packet.to);
            }
            return Verdict::Hold;
        }
        Verdict::Drop(Cause::NoRoute)
    }
}

impl Router for Aodv {
    fn start(&mut self, now: Time) {
        self.start_hellos(now);
    }

    fn next(&self) -> Time {
        let search = match self.searches.is_empty() {
            true => Time::MAX,
            false => self.searches.values().map(|search| search.at).min().unwrap_or(Time::MAX),
        };
        search.min(self.out.next()).min(self.buffer.next()).min(self.neighbours.next())
    }

    fn advance(&mut self, now: Time) {
        self.out.advance(now);
        self.buffer.advance(now, &mut self.out);
        self.on_neighbours(now);
        self.on_searches(now);
        self.settle(now);
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.poll()
    }

    fn receive(&mut self, now: Time, from: NodeId, interface: Interface, message: &crate::Message) {
        let crate::Message::Aodv(Message { ttl, body }) = message else { return };
        let hop = Hop { interface, neighbour: from };
        self.heard(now, hop);
        match body {
            Body::Rreq(rreq) => self.on_rreq(now, hop, *ttl, rreq),
            Body::Rrep(rrep) if rrep.is_hello() => self.on_hello(now, hop, rrep),
            Body::Rrep(rrep) => self.on_rrep(now, hop, *ttl, rrep),
            Body::Rerr { no_delete, unreachable } => self.on_rerr(now, hop, *no_delete, unreachable),
            Body::RrepAck => self.neighbours.acknowledged(hop),
        }
        self.settle(now);
    }

    fn route(&mut self, now: Time, packet: &Packet) -> Verdict {
        if let Some(previous) = packet.previous {
            self.heard(now, previous);
        }
        if packet.to == self.node {
            self.keep(now, packet, None);
            self.settle(now);
            return Verdict::Local;
        }
        if packet.previous.is_some() && packet.ttl <= 1 {
            return Verdict::Drop(Cause::Ttl);
        }
        let verdict = match self.by_route(now, packet) {
            Some(hop) => {
                self.keep(now, packet, Some(hop));
                Verdict::Forward(hop)
            }
            None => self.without_route(now, packet),
        };
        if verdict == Verdict::Drop(Cause::NoRoute)
            && let Some(previous) = packet.previous
        {
            self.tell_no_route(now, packet.to, previous);
        }
        self.settle(now);
        verdict
    }

    fn failed(&mut self, now: Time, hop: Hop, message: &crate::Message) {
        if !self.config.link_layer {
            return;
        }
        let crate::Message::Aodv(Message { body, .. }) = message else { return };
        if matches!(body, Body::Rrep(_)) {
            self.neighbours.blacklist(hop, now + self.config.blacklist_timeout());
        }
        self.lose(now, hop, None);
        self.settle(now);
    }

    fn returned(&mut self, now: Time, hop: Hop, packet: &Packet, why: Return) -> Verdict {
        if why == Return::Failed && self.config.link_layer {
            self.lose(now, hop, Some(packet));
            self.settle(now);
        }
        let next = self.table.valid(now, packet.to).map(|route| route.hop);
        let verdict = match next {
            // There is another way already.
            Some(next) if next != hop => Verdict::Forward(next),
            Some(_) => Verdict::Drop(Cause::LinkBroken),
            None if packet.from == self.node && !self.config.salvage => Verdict::Drop(Cause::LinkBroken),
            None => match self.without_route(now, packet) {
                Verdict::Drop(_) => Verdict::Drop(Cause::LinkBroken),
                other => other,
            },
        };
        self.settle(now);
        verdict
    }

    fn delivered(&mut self, now: Time, hop: Hop) {
        self.neighbours.heard(now, hop);
    }

    /// Who says no hello is not missed when he is quiet.
    fn hears_of_deliveries(&self) -> bool {
        self.config.hello.is_some()
    }

    fn next_hop(&self, now: Time, to: NodeId) -> Option<(Hop, u32)> {
        self.table.look(now, to).map(|route| (route.hop, route.hops))
    }

    fn counters(&self) -> &Counters {
        &self.out.counters
    }

    fn held(&self) -> usize {
        self.buffer.len()
    }
}
