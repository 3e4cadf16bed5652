//! The network: no medium, only who hears whom.

use std::collections::BTreeMap;
use truckee_channel::random::{Xoshiro256PlusPlus, chance, stream, up_to};
use truckee_routing::{
    Cause, Config, Counters, Hop, Interface, Message, NodeId, Output, Packet, PacketId, Return, Router, Span,
    Time, To, Verdict,
};

pub const RADIO: Interface = Interface(0);

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Delivered { hops: u32 },
    Dropped(Cause),
}

#[derive(Debug, Clone)]
enum Event {
    Heard { at: usize, from: usize, message: Message },
    Failed { at: usize, to: usize, message: Message },
    Arrives { at: usize, from: usize, packet: Packet },
    Returns { at: usize, to: usize, packet: Packet },
    Offer { packet: Packet },
    Link { a: usize, b: usize, up: bool },
}

#[derive(Debug)]
pub struct Net {
    pub now: Time,
    pub routers: Vec<Box<dyn Router>>,
    pub ends: BTreeMap<PacketId, Vec<End>>,
    up: Vec<Vec<bool>>,
    events: BTreeMap<(Time, u64), Event>,
    /// Packets that routers hold, as they came.
    held: BTreeMap<(usize, PacketId), Packet>,
    /// How likely a message to everyone is not heard by one of those in reach.
    pub loss: f64,
    /// Whether there is link-layer feedback.
    pub feedback: bool,
    /// Whether next hops are followed after every event.
    pub watches: bool,
    rng: Xoshiro256PlusPlus,
    turns: u64,
    packets: u64,
}

impl Net {
    pub fn new(config: &Config, nodes: usize, seed: u64) -> Self {
        let router = |i| config.router(NodeId(i as u32), 1, seed).expect("settings that can be");
        let mut net = Self {
            now: Time::ZERO,
            routers: (0..nodes).map(router).collect(),
            ends: BTreeMap::new(),
            up: vec![vec![false; nodes]; nodes],
            events: BTreeMap::new(),
            held: BTreeMap::new(),
            loss: 0.0,
            feedback: true,
            watches: false,
            rng: stream(seed, "network"),
            turns: 0,
            packets: 0,
        };
        for i in 0..nodes {
            net.routers[i].start(Time::ZERO);
            net.take(i);
        }
        net
    }

    pub fn link(&mut self, a: usize, b: usize, up: bool) {
        (self.up[a][b], self.up[b][a]) = (up, up);
    }

    /// Nodes in a row.
    pub fn row(&mut self) {
        (1..self.routers.len()).for_each(|i| self.link(i - 1, i, true));
    }

    pub fn link_at(&mut self, at: Time, a: usize, b: usize, up: bool) {
        self.add(at, Event::Link { a, b, up });
    }

    pub fn offer_at(&mut self, at: Time, from: usize, to: usize) -> PacketId {
        self.packets += 1;
        let id = PacketId(self.packets);
        let (from, to) = (NodeId(from as u32), NodeId(to as u32));
        self.ends.insert(id, Vec::new());
        self.add(at, Event::Offer { packet: Packet { id, from, to, previous: None, ttl: 64 } });
        id
    }

    fn add(&mut self, at: Time, event: Event) {
        self.turns += 1;
        self.events.insert((at, self.turns), event);
    }

    pub fn run(&mut self, end: Time) {
        loop {
            let event = self.events.first_key_value().map_or(Time::MAX, |(&(at, _), _)| at);
            let (timer, who) =
                (0..self.routers.len()).map(|i| (self.routers[i].next(), i)).min().unwrap_or((Time::MAX, 0));
            if event.min(timer) > end {
                self.now = end;
                return;
            }
            assert!(event.min(timer) >= self.now, "a router wants to be called in the past");
            self.now = event.min(timer);
            if timer < event {
                self.routers[who].advance(timer);
                assert!(self.routers[who].next() > timer, "a timer that has run out runs out again");
                self.take(who);
            } else if let Some((_, event)) = self.events.pop_first() {
                self.on(event);
            }
            if self.watches {
                self.assert_no_loop();
            }
        }
    }

    fn on(&mut self, event: Event) {
        let hop = |node: usize| Hop { interface: RADIO, neighbour: NodeId(node as u32) };
        let now = self.now;
        match event {
            Event::Heard { at, from, message } => {
                self.routers[at].receive(now, NodeId(from as u32), RADIO, &message);
                self.take(at);
            }
            Event::Failed { at, to, message } => {
                self.routers[at].failed(now, hop(to), &message);
                self.take(at);
            }
            Event::Arrives { at, from, packet } => {
                let packet = Packet { previous: Some(hop(from)), ttl: packet.ttl - 1, ..packet };
                let verdict = self.routers[at].route(now, &packet);
                self.obey(at, packet, verdict);
            }
            Event::Returns { at, to, packet } => {
                let verdict = self.routers[at].returned(now, hop(to), &packet, Return::Failed);
                self.obey(at, packet, verdict);
            }
            Event::Offer { packet } => {
                let at = packet.from.0 as usize;
                let verdict = self.routers[at].route(now, &packet);
                self.obey(at, packet, verdict);
            }
            Event::Link { a, b, up } => self.link(a, b, up),
        }
    }

    fn obey(&mut self, at: usize, packet: Packet, verdict: Verdict) {
        match verdict {
            Verdict::Local => self.end(packet.id, End::Delivered { hops: u32::from(64 - packet.ttl) }),
            Verdict::Forward(hop) => self.send(at, hop.neighbour, packet),
            Verdict::Hold => {
                self.held.insert((at, packet.id), packet);
            }
            Verdict::Drop(cause) => self.end(packet.id, End::Dropped(cause)),
        }
        self.take(at);
    }

    fn end(&mut self, packet: PacketId, end: End) {
        self.ends.entry(packet).or_default().push(end);
    }

    fn delay(&mut self) -> Span {
        Span::us(500) + Span::ns(up_to(&mut self.rng, 3_000_000))
    }

    fn send(&mut self, at: usize, to: NodeId, packet: Packet) {
        let to = to.0 as usize;
        let arrives = self.now + self.delay();
        if self.up[at][to] {
            self.add(arrives, Event::Arrives { at: to, from: at, packet });
        } else if self.feedback {
            self.add(arrives + Span::ms(5), Event::Returns { at, to, packet });
        } else {
            self.end(packet.id, End::Dropped(Cause::LinkBroken));
        }
    }

    fn take(&mut self, at: usize) {
        while let Some(output) = self.routers[at].poll() {
            match output {
                Output::Send { to: To::Everyone, message, .. } => {
                    for other in (0..self.up.len()).filter(|&other| self.up[at][other]).collect::<Vec<_>>() {
                        let delay = self.delay();
                        if !chance(&mut self.rng, self.loss) {
                            let message = message.clone();
                            self.add(self.now + delay, Event::Heard { at: other, from: at, message });
                        }
                    }
                }
                Output::Send { to: To::Neighbour(to), message, .. } => {
                    let (to, arrives) = (to.0 as usize, self.now + self.delay());
                    if self.up[at][to] {
                        self.add(arrives, Event::Heard { at: to, from: at, message });
                    } else if self.feedback {
                        self.add(arrives + Span::ms(5), Event::Failed { at, to, message });
                    }
                }
                Output::Release { packet, to } => {
                    let packet = self.held.remove(&(at, packet)).expect("what is released was held");
                    self.send(at, to.neighbour, packet);
                }
                Output::Drop { packet, cause } => {
                    self.held.remove(&(at, packet)).expect("what is dropped later was held");
                    self.end(packet, End::Dropped(cause));
                }
                // There is no queue: everything that was forwarded is in transmission.
                Output::Withdraw(_) | Output::Route { .. } => {}
            }
        }
        assert_eq!(
            self.routers[at].held(),
            self.held.range((at, PacketId(0))..=(at, PacketId(u64::MAX))).count()
        );
    }

    /// Follows next hops from everywhere to everywhere.
    fn assert_no_loop(&self) {
        for to in 0..self.routers.len() {
            for from in 0..self.routers.len() {
                let (mut at, mut way) = (from, vec![from]);
                while let Some((hop, _)) = self.routers[at].next_hop(self.now, NodeId(to as u32)) {
                    at = hop.neighbour.0 as usize;
                    assert!(!way.contains(&at), "at {:?} a loop to {to}: {way:?}, {at}", self.now);
                    way.push(at);
                    if at == to {
                        break;
                    }
                }
            }
        }
    }

    /// Hops of the shortest way, by the graph as it is.
    pub fn distance(&self, from: usize, to: usize) -> Option<u32> {
        let mut far = vec![None; self.up.len()];
        far[from] = Some(0);
        let mut ring = vec![from];
        while let Some(at) = ring.pop() {
            for next in (0..self.up.len()).filter(|&next| self.up[at][next]) {
                let hops = far[at].unwrap_or(0) + 1;
                if far[next].is_none_or(|known| known > hops) {
                    far[next] = Some(hops);
                    ring.push(next);
                }
            }
        }
        far[to]
    }

    pub fn counters(&self) -> Vec<Counters> {
        self.routers.iter().map(|router| router.counters().clone()).collect()
    }

    /// How a packet ended, which it has to have done once.
    pub fn ended(&self, packet: PacketId) -> End {
        let ends = &self.ends[&packet];
        assert_eq!(ends.len(), 1, "{packet:?} ended {ends:?}");
        ends[0]
    }
}
