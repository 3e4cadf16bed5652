//! Optimized link state routing. Source: RFC 3626 (Clausen and Jacquet 2003).
//!
//! Everybody says whom he hears; of his neighbours everybody chooses relays through which he reaches all who are two hops
//! away; who was chosen tells the whole network by whom, through relays only. From that each computes routes with the
//! fewest hops.
//!
//! Not for: MID (section 5), since a node has one address on all of its interfaces; HNA (section 12), since there are no
//! other networks; TC redundancy beyond the relay's selectors (section 15) and MPR redundancy beyond 1 (section 16).

mod config;
mod flood;
mod forward;
mod hello;
mod links;
mod message;
mod quality;
mod relays;
mod routes;
mod tc;
mod topology;

pub use config::{Config, Hysteresis};
pub use message::{Body, LinkCode, LinkType, Message, NeighbourType, Packet};

use crate::outbox::Outbox;
use crate::{Cause, Counters, Hop, Interface, NodeId, Output, Return, Router, Time, Verdict};
use flood::Flood;
use links::Links;
use std::collections::{BTreeMap, BTreeSet};
use topology::Topology;
use truckee_channel::Span;
use truckee_channel::random::{Xoshiro256PlusPlus, up_to};

/// One node's router.
#[derive(Debug)]
pub(crate) struct Olsr {
    config: Config,
    node: NodeId,
    interfaces: u8,
    rng: Xoshiro256PlusPlus,
    links: Links,
    /// Those chosen as relays.
    mprs: BTreeSet<NodeId>,
    /// Those who have chosen this node, until when.
    selectors: BTreeMap<NodeId, Time>,
    topology: Topology,
    flood: Flood,
    hello: Time,
    tc: Time,
    /// Something of what is known ends not before this.
    ends: Time,
    /// Whether relays, or routes, have to be computed anew.
    stale: Stale,
    routes: BTreeMap<NodeId, (Hop, u32)>,
    out: Outbox,
}

/// What no longer follows from what is known.
#[derive(Debug, Default)]
struct Stale {
    mprs: bool,
    routes: bool,
}

impl Olsr {
    pub(crate) fn new(config: &Config, node: NodeId, interfaces: u8, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            config: config.clone(),
            node,
            interfaces,
            rng,
            links: Links::default(),
            mprs: BTreeSet::new(),
            selectors: BTreeMap::new(),
            topology: Topology::default(),
            flood: Flood::new(interfaces),
            hello: Time::MAX,
            tc: Time::MAX,
            ends: Time::MAX,
            stale: Stale::default(),
            routes: BTreeMap::new(),
            out: Outbox::default(),
        }
    }

    fn jitter(&mut self) -> Span {
        Span::ns(up_to(&mut self.rng, self.config.jitter.nanos()))
    }

    /// What is known until then has to be looked at again then.
    fn until(&mut self, end: Time) {
        self.ends = self.ends.min(end);
    }

    /// What has ended is no longer known.
    fn forget(&mut self, now: Time) {
        if self.ends > now {
            return;
        }
        if let Some(hysteresis) = self.config.hysteresis {
            self.rate_silent(now, hysteresis);
        }
        let (links, gone, changed) = self.links.forget(now);
        gone.into_iter().for_each(|neighbour| self.lost_neighbour(neighbour));
        self.stale.mprs |= changed;
        self.stale.routes |= changed;
        let selectors = self.selectors.len();
        self.selectors.retain(|_, until| *until > now);
        if self.selectors.len() != selectors {
            self.topology.selectors_changed();
        }
        let (topology, changed) = self.topology.forget(now);
        let flood = self.flood.forget(now);
        self.stale.routes |= changed;
        let selected = self.selectors.values().min().copied().unwrap_or(Time::MAX);
        self.ends = links.min(topology).min(flood).min(selected);
    }

    /// A neighbour is symmetric no longer (8.5).
    fn lost_neighbour(&mut self, neighbour: NodeId) {
        if self.selectors.remove(&neighbour).is_some() {
            self.topology.selectors_changed();
        }
        (self.stale.mprs, self.stale.routes) = (true, true);
    }

    /// Computes routes anew if they have to be; relays are only told of in hellos, and computed for them.
    fn settle(&mut self, now: Time) {
        if std::mem::take(&mut self.stale.routes) {
            self.compute_routes(now);
        }
    }
}

impl Router for Olsr {
    fn start(&mut self, now: Time) {
        self.hello = now + self.jitter();
        self.tc = now + self.jitter();
    }

    fn next(&self) -> Time {
        self.hello.min(self.tc).min(self.ends).min(self.flood.due)
    }

    fn advance(&mut self, now: Time) {
        self.forget(now);
        self.settle(now);
        let hello = self.hello <= now;
        if hello {
            if std::mem::take(&mut self.stale.mprs) {
                self.mprs = relays::choose(&self.links, self.interfaces, now);
            }
            self.hello = now + (self.config.hello_interval - self.jitter());
        }
        if self.tc <= now {
            self.tc = now + (self.config.tc_interval - self.jitter().min(self.config.tc_interval / 2));
            self.add_tc(now);
        }
        if hello || self.flood.due <= now {
            self.send(now, hello);
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.poll()
    }

    fn receive(&mut self, now: Time, from: NodeId, interface: Interface, message: &crate::Message) {
        let crate::Message::Olsr(packet) = message else { return };
        self.forget(now);
        let hop = Hop { interface, neighbour: from };
        if let Some(hysteresis) = self.config.hysteresis {
            self.rate(now, hop, packet.seq, hysteresis);
        }
        let node = self.node;
        for message in packet.messages.iter().filter(|message| message.from != node) {
            match &message.body {
                Body::Hello { interval, willingness, links } => {
                    self.on_hello(now, hop, message.validity, *interval, *willingness, links);
                }
                Body::Tc { ansn, neighbours } => {
                    if !self.links.is_symmetric(now, from) {
                        continue;
                    }
                    if !self.flood.knows(message) {
                        self.on_tc(now, message, *ansn, neighbours);
                    }
                    self.pass_on(now, hop, message);
                }
            }
        }
        self.settle(now);
    }

    fn route(&mut self, now: Time, packet: &crate::Packet) -> Verdict {
        if packet.to == self.node {
            return Verdict::Local;
        }
        if packet.previous.is_some() && packet.ttl <= 1 {
            return Verdict::Drop(Cause::Ttl);
        }
        self.forget(now);
        self.settle(now);
        self.routes.get(&packet.to).map_or(Verdict::Drop(Cause::NoRoute), |&(hop, _)| Verdict::Forward(hop))
    }

    fn failed(&mut self, now: Time, hop: Hop, _: &crate::Message) {
        self.lose(now, hop);
    }

    fn returned(&mut self, now: Time, hop: Hop, packet: &crate::Packet, why: Return) -> Verdict {
        if why == Return::Failed {
            self.lose(now, hop);
        }
        match self.routes.get(&packet.to) {
            Some(&(next, _)) if next != hop => Verdict::Forward(next),
            _ => Verdict::Drop(Cause::LinkBroken),
        }
    }

    fn delivered(&mut self, _: Time, _: Hop) {}

    fn hears_of_deliveries(&self) -> bool {
        false
    }

    fn next_hop(&self, _: Time, to: NodeId) -> Option<(Hop, u32)> {
        self.routes.get(&to).copied()
    }

    fn counters(&self) -> &Counters {
        &self.out.counters
    }

    /// It holds none: there is a route, or there is not.
    fn held(&self) -> usize {
        0
    }
}
