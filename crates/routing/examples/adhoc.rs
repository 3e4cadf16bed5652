//! An ad hoc network over the medium of 802.11, without the rest of the simulator: how routers are driven by a medium's
//! reports, and what a protocol costs and delivers there.
//!
//! `cargo run --release -p truckee-routing --example adhoc -- protocol=aodv movement=FILE traffic=FILE [duration=300
//! rate=4 size=512 seed=1]`: movement in `setdest`'s format; traffic: lines of "from to start", each so many packets a
//! second of so many bytes of UDP payload. 802.11b at 2 Mbit/s over two-ray ground, received to 250 m and sensed to 550 m,
//! as ns-2 has it by default.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::time::Instant;
use truckee_routing::{
    Cause, Config, Hop, Interface, Message, NodeId, Output, Packet, PacketId, Return, Router, To, Verdict,
};
use truckee_routing::{Span, Time};
use truckee_wireless::mobility::{Trajectory, read_setdest};
use truckee_wireless::phy::{Dsss, Preamble, Rate, Standard};
use truckee_wireless::propagation::PathLoss;
use truckee_wireless::{
    Destination, Medium, MediumConfig, NodeId as Station, Packet as Frame, RateControl, Report, StationConfig,
};

const RADIO: Interface = Interface(0);
/// Packets that wait at a station for the medium, as in ns-2.
const QUEUE: usize = 50;
/// A node is put where it is each time it has gone so far, metres.
const STEP: f64 = 1.0;

#[derive(Clone)]
enum Content {
    Data(Packet),
    Message(Message),
}

/// What is under way, by its number: what it is, and to whom it goes.
struct Item {
    content: Content,
    to: To,
}

struct Source {
    from: NodeId,
    to: NodeId,
    next: Time,
}

#[derive(Default)]
struct Books {
    sent: u64,
    delivered: u64,
    hops: u64,
    dropped: BTreeMap<Cause, u64>,
    queue: u64,
}

struct Network {
    now: Time,
    medium: Medium,
    routers: Vec<Box<dyn Router>>,
    /// Of each station; what is routing's goes ahead.
    queues: Vec<VecDeque<u64>>,
    items: BTreeMap<u64, Item>,
    held: BTreeMap<(usize, PacketId), Packet>,
    ended: BTreeSet<PacketId>,
    books: Books,
    count: u64,
    bytes: u32,
}

impl Network {
    fn hop(node: NodeId) -> Hop {
        Hop { interface: RADIO, neighbour: node }
    }

    fn put(&mut self, at: usize, content: Content, to: To) {
        self.count += 1;
        let first = matches!(content, Content::Message(_));
        let queue = &mut self.queues[at];
        if queue.len() >= QUEUE {
            match content {
                Content::Data(packet) => return self.end(packet.id),
                Content::Message(_) => {
                    if let Some(Item { content: Content::Data(packet), .. }) =
                        queue.pop_back().and_then(|last| self.items.remove(&last))
                    {
                        self.end(packet.id);
                    }
                }
            }
        }
        let queue = &mut self.queues[at];
        self.items.insert(self.count, Item { content, to });
        if first {
            let ahead =
                queue.iter().take_while(|&id| matches!(self.items[id].content, Content::Message(_))).count();
            queue.insert(ahead, self.count);
        } else {
            queue.push_back(self.count);
        }
        self.feed(at);
    }

    /// The queue was full.
    fn end(&mut self, packet: PacketId) {
        self.books.queue += u64::from(self.ended.insert(packet));
    }

    fn feed(&mut self, at: usize) {
        let station = Station(at as u32);
        while self.medium.room(station) > 0 {
            let Some(id) = self.queues[at].pop_front() else { return };
            let item = &self.items[&id];
            let bytes = match &item.content {
                Content::Data(_) => self.bytes,
                Content::Message(message) => message.bytes(),
            };
            let to = match item.to {
                To::Everyone => Destination::Everyone,
                To::Neighbour(next) => Destination::Node(Station(next.0)),
            };
            if self.medium.offer(station, Frame { id, bytes, to }).is_err() {
                self.items.remove(&id);
            }
        }
    }

    fn obey(&mut self, at: usize, packet: Packet, verdict: Verdict) {
        match verdict {
            Verdict::Local => {
                if self.ended.insert(packet.id) {
                    self.books.delivered += 1;
                    self.books.hops += u64::from(64 - packet.ttl) + 1;
                }
            }
            Verdict::Forward(hop) => self.forward(at, packet, hop.neighbour),
            Verdict::Hold => {
                self.held.insert((at, packet.id), packet);
            }
            Verdict::Drop(cause) => self.give_up(packet.id, cause),
        }
        self.take(at);
    }

    fn forward(&mut self, at: usize, packet: Packet, next: NodeId) {
        let ttl = packet.ttl - u8::from(packet.previous.is_some());
        self.put(at, Content::Data(Packet { ttl, ..packet }), To::Neighbour(next));
    }

    fn give_up(&mut self, packet: PacketId, cause: Cause) {
        if self.ended.insert(packet) {
            *self.books.dropped.entry(cause).or_default() += 1;
        }
    }

    fn take(&mut self, at: usize) {
        while let Some(output) = self.routers[at].poll() {
            match output {
                Output::Send { to, message, .. } => self.put(at, Content::Message(message), to),
                Output::Release { packet, to } => {
                    if let Some(packet) = self.held.remove(&(at, packet)) {
                        self.forward(at, packet, to.neighbour);
                    }
                }
                Output::Drop { packet, cause } => {
                    self.held.remove(&(at, packet));
                    self.give_up(packet, cause);
                }
                Output::Withdraw(hop) => self.withdraw(at, hop),
                Output::Route { .. } => {}
            }
        }
    }

    /// Data that waits for a neighbour goes back to the router.
    fn withdraw(&mut self, at: usize, hop: Hop) {
        let waiting: BTreeSet<u64> =
            self.medium.withdraw(Station(at as u32), Station(hop.neighbour.0)).into_iter().collect();
        let items = &self.items;
        let is_for = |id: &u64| items[id].to == To::Neighbour(hop.neighbour);
        let (back, stay): (VecDeque<u64>, VecDeque<u64>) = self.queues[at].drain(..).partition(is_for);
        self.queues[at] = stay;
        for id in waiting.into_iter().chain(back) {
            if let Some(Item { content: Content::Data(packet), .. }) = self.items.remove(&id) {
                // As it was when it came to this node.
                let ttl = packet.ttl + u8::from(packet.previous.is_some());
                let packet = Packet { ttl, ..packet };
                let verdict = self.routers[at].returned(self.now, hop, &packet, Return::Withdrawn);
                self.obey(at, packet, verdict);
            }
        }
        self.feed(at);
    }

    fn tell(&mut self) {
        while let Some(report) = self.medium.report() {
            match report {
                Report::Delivered { packet, node, from, .. } => {
                    let Some(item) = self.items.get(&packet) else { continue };
                    let (at, from) = (node.0 as usize, NodeId(from.0));
                    match item.content.clone() {
                        Content::Data(packet) => {
                            let packet = Packet { previous: Some(Self::hop(from)), ..packet };
                            let verdict = self.routers[at].route(self.now, &packet);
                            self.obey(at, packet, verdict);
                        }
                        Content::Message(message) => {
                            self.routers[at].receive(self.now, from, RADIO, &message);
                            self.take(at);
                        }
                    }
                }
                Report::Sent { packet, node, .. } => {
                    if let Some(&Item { to: To::Neighbour(next), .. }) = self.items.get(&packet) {
                        self.routers[node.0 as usize].delivered(self.now, Self::hop(next));
                        self.take(node.0 as usize);
                    }
                }
                Report::Dropped { packet, node, arrived, .. } => {
                    let Some(Item { content, to: To::Neighbour(next) }) = self.items.remove(&packet) else {
                        continue;
                    };
                    let (at, hop) = (node.0 as usize, Self::hop(next));
                    match content {
                        Content::Data(_) if arrived => {}
                        Content::Data(packet) => {
                            let ttl = packet.ttl + u8::from(packet.previous.is_some());
                            let packet = Packet { ttl, ..packet };
                            let verdict = self.routers[at].returned(self.now, hop, &packet, Return::Failed);
                            self.obey(at, packet, verdict);
                        }
                        Content::Message(message) => {
                            self.routers[at].failed(self.now, hop, &message);
                            self.take(at);
                        }
                    }
                }
                Report::Room { node, .. } => self.feed(node.0 as usize),
                Report::Missed { .. } | Report::Frame(_) => {}
            }
        }
    }
}

fn medium_of(trajectories: &[Trajectory], seed: u64) -> Result<Medium, Box<dyn Error>> {
    let mut config = MediumConfig::of(Standard::B(Preamble::Long));
    config.propagation.frequency = 914e6;
    config.propagation.path_loss = PathLoss::TwoRay;
    (config.sensitivity, config.carrier_sense) = (-64.375, -78.07);
    config.basic_rates = vec![Rate::Dsss(Dsss::R1)];
    let station = |trajectory: &Trajectory| StationConfig {
        power: 24.5,
        queue: 1,
        ..StationConfig::at(
            trajectory.leg(Time::ZERO).at(Time::ZERO),
            RateControl::Fixed(Rate::Dsss(Dsss::R2)),
        )
    };
    let stations: Vec<_> = trajectories.iter().map(station).collect();
    Ok(Medium::new(&config, &stations, seed)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = BTreeMap::from(
        [
            ("protocol", "aodv"),
            ("duration", "300"),
            ("rate", "4"),
            ("size", "512"),
            ("seed", "1"),
            ("movement", ""),
            ("traffic", ""),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    for word in std::env::args().skip(1) {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("{word} is not key=value"))?;
        match words.get_mut(key) {
            Some(known) => *known = value.to_owned(),
            None => return Err(format!("{key} is none of {:?}", words.keys()).into()),
        }
    }
    let config = Config::named(&words["protocol"]).ok_or("protocol: none of aodv, olsr, dsdv")?;
    let (end, seed) = (Time::truncated(words["duration"].parse::<f64>()? * 1e9), words["seed"].parse()?);
    let period = Span::truncated(1e9 / words["rate"].parse::<f64>()?);
    let trajectories = read_setdest(&std::fs::read_to_string(&words["movement"])?, 1.5)?;
    let nodes = trajectories.len();
    let mut sources = Vec::new();
    for line in std::fs::read_to_string(&words["traffic"])?.lines() {
        let numbers: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [from, to, start] = numbers[..] else {
            return Err(format!("{line} is not from, to, start").into());
        };
        let (from, to) = (NodeId(from as u32), NodeId(to as u32));
        sources.push(Source { from, to, next: Time::truncated(start * 1e9) });
    }
    let router = |i: usize| config.router(NodeId(i as u32), 1, seed);
    let mut net = Network {
        now: Time::ZERO,
        medium: medium_of(&trajectories, seed)?,
        routers: (0..nodes).map(router).collect::<Result<_, _>>()?,
        queues: vec![VecDeque::new(); nodes],
        items: BTreeMap::new(),
        held: BTreeMap::new(),
        ended: BTreeSet::new(),
        books: Books::default(),
        count: 0,
        bytes: words["size"].parse::<u32>()? + 28,
    };
    let begun = Instant::now();
    let mut moves: Vec<Time> =
        trajectories.iter().map(|t| t.leg(Time::ZERO).after(Time::ZERO, STEP)).collect();
    for at in 0..nodes {
        net.routers[at].start(Time::ZERO);
        net.take(at);
    }
    loop {
        let routers = (0..nodes).map(|i| net.routers[i].next()).min().unwrap_or(Time::MAX);
        let moved = moves.iter().min().copied().unwrap_or(Time::MAX);
        let sent = sources.iter().map(|source| source.next).min().unwrap_or(Time::MAX);
        net.now = net.medium.next().min(routers).min(moved).min(sent);
        if net.now > end {
            break;
        }
        for (i, next) in moves.iter_mut().enumerate().filter(|(_, next)| **next <= net.now) {
            let leg = trajectories[i].leg(net.now);
            net.medium.put(Station(i as u32), leg.at(net.now));
            *next = leg.after(net.now, STEP);
        }
        net.medium.advance(net.now);
        net.tell();
        for at in 0..nodes {
            if net.routers[at].next() <= net.now {
                net.routers[at].advance(net.now);
                net.take(at);
            }
        }
        let now = net.now;
        for source in sources.iter_mut().filter(|source| source.next <= now) {
            net.books.sent += 1;
            let packet = Packet {
                id: PacketId(net.books.sent),
                from: source.from,
                to: source.to,
                previous: None,
                ttl: 64,
            };
            source.next = net.now + period;
            let at = source.from.0 as usize;
            let verdict = net.routers[at].route(net.now, &packet);
            net.obey(at, packet, verdict);
        }
        net.tell();
    }
    let sum =
        |of: fn(&truckee_routing::Counters) -> u64| net.routers.iter().map(|r| of(r.counters())).sum::<u64>();
    println!(
        "sent={} delivered={} forwarded={} routing={} bytes={}",
        net.books.sent,
        net.books.delivered,
        net.books.hops,
        sum(|c| c.packets),
        sum(|c| c.bytes)
    );
    eprintln!(
        "dropped: {:?}, by full queues {}; {:.2} s",
        net.books.dropped,
        net.books.queue,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
