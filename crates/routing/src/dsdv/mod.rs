//! Destination-sequenced distance vector routing. Sources: Perkins and Bhagwat, Highly dynamic
//! destination-sequenced distance-vector routing (DSDV) for mobile computers, SIGCOMM 1994; and, where the paper leaves
//! it open, what ns-2 does.
//!
//! Everybody tells his neighbours his table, all of it now and then and what has changed in between. A route's number
//! comes from its destination and is even; who loses it makes it odd. A newer number wins, of equal ones the shorter
//! route. Since the better of two routes with the same number may come later, a route is used at once but told to others
//! only when it has had time to settle.

mod config;
mod message;
mod table;
mod update;

pub use config::Config;
pub use message::{Advertised, Update};

use crate::buffer::Buffer;
use crate::outbox::Outbox;
use crate::{
    Cause, Counters, Hop, Interface, Message, NodeId, Output, Packet, Return, Router, Time, Verdict,
};
use std::collections::BTreeMap;
use table::{Metric, Route};
use truckee_channel::Span;
use truckee_channel::random::{Xoshiro256PlusPlus, up_to};

/// One node's router.
#[derive(Debug)]
pub(crate) struct Dsdv {
    config: Config,
    node: NodeId,
    interfaces: u8,
    rng: Xoshiro256PlusPlus,
    seq: u32,
    routes: BTreeMap<NodeId, Route>,
    /// When each neighbour is lost, if nothing comes.
    neighbours: BTreeMap<Hop, Time>,
    /// When the next full update is due.
    periodic: Time,
    /// When the last update was sent.
    updated: Option<Time>,
    buffer: Buffer,
    out: Outbox,
}

impl Dsdv {
    pub(crate) fn new(config: &Config, node: NodeId, interfaces: u8, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            node,
            interfaces,
            rng,
            seq: config.sequence,
            routes: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            periodic: Time::MAX,
            updated: None,
            buffer: Buffer::new(config.buffer),
            out: Outbox::default(),
            config: config.clone(),
        }
    }

    /// Evenly distributed up to `most`.
    fn jitter(&mut self, most: Span) -> Span {
        Span::ns(up_to(&mut self.rng, most.nanos()))
    }

    fn broadcast(&mut self, now: Time, update: Update) {
        let at = now + self.jitter(self.config.jitter);
        for interface in (0..self.interfaces).map(Interface) {
            self.out.send_at(at, interface, Message::Dsdv(update.clone()));
        }
        self.out.advance(now);
    }

    fn valid(&self, to: NodeId) -> Option<(Hop, u32)> {
        let route = self.routes.get(&to)?;
        route.metric.hops().map(|hops| (route.hop, hops))
    }

    /// What the table says of a destination has changed.
    fn changed(&mut self, to: NodeId) {
        let (next, hops) = self.valid(to).map_or((None, 0), |(hop, hops)| (Some(hop), hops));
        self.out.route(to, next, hops);
        if let Some(next) = next {
            self.buffer.release(to, next, &mut self.out);
        }
    }

    /// A neighbour is no more: every route by him is broken, which others hear of at once.
    fn lose(&mut self, now: Time, hop: Hop) {
        self.neighbours.remove(&hop);
        let lost: Vec<_> = self
            .routes
            .iter_mut()
            .filter(|(_, route)| route.hop == hop && route.metric != Metric::BROKEN)
            .map(|(&to, route)| {
                route.break_off(now);
                to
            })
            .collect();
        if !lost.is_empty() {
            self.out.withdraw(hop);
        }
        lost.into_iter().for_each(|to| self.changed(to));
    }
}

impl Router for Dsdv {
    fn start(&mut self, now: Time) {
        self.periodic = now + self.jitter(self.config.startup);
    }

    fn next(&self) -> Time {
        let triggered = self.routes.values().filter_map(|route| route.trigger).min();
        let lost = self.neighbours.values().min().copied();
        let timers = [triggered, lost, Some(self.periodic), Some(self.out.next()), Some(self.buffer.next())];
        timers.into_iter().flatten().min().unwrap_or(Time::MAX)
    }

    fn advance(&mut self, now: Time) {
        self.out.advance(now);
        self.buffer.advance(now, &mut self.out);
        let lost: Vec<_> =
            self.neighbours.iter().filter(|&(_, &until)| until <= now).map(|(&hop, _)| hop).collect();
        lost.into_iter().for_each(|hop| self.lose(now, hop));
        self.on_timers(now);
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.poll()
    }

    fn receive(&mut self, now: Time, from: NodeId, interface: Interface, message: &Message) {
        if let Message::Dsdv(update) = message {
            self.on_update(now, Hop { interface, neighbour: from }, update);
        }
    }

    fn route(&mut self, now: Time, packet: &Packet) -> Verdict {
        if packet.to == self.node {
            return Verdict::Local;
        }
        if packet.previous.is_some() && packet.ttl <= 1 {
            return Verdict::Drop(Cause::Ttl);
        }
        if let Some((hop, _)) = self.valid(packet.to) {
            return Verdict::Forward(hop);
        }
        self.buffer.add(now, packet, &mut self.out);
        Verdict::Hold
    }

    fn failed(&mut self, now: Time, hop: Hop, _: &Message) {
        if self.config.link_layer {
            self.lose(now, hop);
        }
    }

    fn returned(&mut self, now: Time, hop: Hop, packet: &Packet, why: Return) -> Verdict {
        if why == Return::Failed && !self.config.link_layer {
            return Verdict::Drop(Cause::LinkBroken);
        }
        if why == Return::Failed {
            self.lose(now, hop);
        }
        // Its way up to here is behind it: it is not counted again.
        self.route(now, &Packet { previous: None, ..*packet })
    }

    fn delivered(&mut self, _: Time, _: Hop) {}

    fn hears_of_deliveries(&self) -> bool {
        false
    }

    fn next_hop(&self, _: Time, to: NodeId) -> Option<(Hop, u32)> {
        self.valid(to)
    }

    fn counters(&self) -> &Counters {
        &self.out.counters
    }

    fn held(&self) -> usize {
        self.buffer.len()
    }
}
