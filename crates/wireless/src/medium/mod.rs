//! The medium: stations, what is on the air between them, and who gets it.

mod air;
mod arrive;
mod deadlines;
mod field;
mod levels;
mod node;
mod radio;
mod receive;

use crate::config::{Destination, MediumConfig, NodeId, Packet, Role, StationConfig};
use crate::mac::{EVERYONE, Frame, Pending, RateControl, Rules, Station};
use crate::phy::{ErrorTables, Rate};
use crate::report::{Counters, Failure, Loss, Report};
use crate::{ConfigError, Position, Span, Time};
use air::{Air, Step};
use deadlines::Deadlines;
use field::Field;
use levels::Levels;
use node::Node;
use std::collections::VecDeque;

/// A packet cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// There is no such station.
    #[error("station {station}: there are {stations}, from 0 on")]
    NoStation {
        /// Which was named.
        station: u32,
        /// How many there are.
        stations: usize,
    },
    /// It is for its own sender.
    #[error("packet {packet}: station {station} sends it to itself")]
    ToItself {
        /// Which.
        packet: u64,
        /// Whose.
        station: u32,
    },
    /// It is longer than a frame may be.
    #[error("packet {packet}: {bytes} bytes are more than {MAX_PACKET}")]
    TooLong {
        /// Which.
        packet: u64,
        /// Its length.
        bytes: u32,
    },
}

/// The longest packet: an MSDU has 2,304 bytes at most (9.2.3), of which LLC and SNAP take 8.
pub const MAX_PACKET: u32 = 2_296;

/// A shared medium and its stations: a state machine without a clock.
///
/// It is asked when something happens next ([`Medium::next`]), let do what is due ([`Medium::advance`]), and asked what
/// there is to say of it ([`Medium::report`]); packets are offered to it in between ([`Medium::offer`]). Same
/// configuration, same calls, same seed: same reports, on any machine.
#[derive(Debug)]
pub struct Medium {
    rules: Rules,
    levels: Levels,
    tables: ErrorTables,
    /// By rate, once one has been sent at it: how far above all else a frame is never in error.
    clean: [Option<f64>; Rate::COUNT],
    delay: Span,
    tell_frames: bool,
    field: Field,
    nodes: Vec<Node>,
    deadlines: Deadlines,
    air: Air,
    reports: VecDeque<Report>,
    /// Packets that are being handed up; empty in between.
    ready: Vec<Pending>,
    now: Time,
    events: u64,
}

impl Medium {
    /// A medium with these stations, which are called by their place in the list.
    pub fn new(config: &MediumConfig, stations: &[StationConfig], seed: u64) -> Result<Self, ConfigError> {
        config.check()?;
        if stations.is_empty() || stations.len() >= EVERYONE as usize {
            return Err(ConfigError::new("stations", stations.len(), "1 or more"));
        }
        let rules = Rules::of(config);
        for (i, station) in stations.iter().enumerate() {
            station.check(i, stations)?;
            if let RateControl::Fixed(rate) = station.rate
                && !rules.rates.contains(&rate)
            {
                let expected = format!("a rate of {:?}", config.standard);
                return Err(ConfigError::new(format!("station {i}'s rate"), rate, expected));
            }
        }
        let places: Vec<_> = stations.iter().map(|s| (s.position, s.power)).collect();
        let stream = |what: &str, i: usize| truckee_channel::stream(seed, &format!("wireless {what} {i}"));
        let node = |(i, s): (usize, &StationConfig)| {
            let station = Station::new(i as u32, s.rate, s.queue, &rules, stream("access", i));
            Node::new(station, s.role, stream("reception", i))
        };
        Ok(Self {
            levels: Levels::new(config),
            tables: ErrorTables::new(rules.modulations()),
            clean: [None; Rate::COUNT],
            delay: config.delay,
            tell_frames: config.frames,
            field: Field::new(config.propagation, config.ignored, &places, seed),
            nodes: stations.iter().enumerate().map(node).collect(),
            deadlines: Deadlines::new(stations.len()),
            air: Air::default(),
            reports: VecDeque::new(),
            ready: Vec::new(),
            now: Time::ZERO,
            events: 0,
            rules,
        })
    }

    /// When something happens next; [`Time::MAX`] if nothing does unless a packet is offered.
    #[inline]
    pub fn next(&self) -> Time {
        self.deadlines.first().0.min(self.air.next())
    }

    /// Lets happen what is due until `now`, that included. Who wants to react to a report in time calls this with
    /// [`Medium::next`], and takes the reports each time.
    pub fn advance(&mut self, now: Time) {
        if self.next() <= now {
            self.advance_until_told(now, Time::ZERO);
        }
        self.now = self.now.max(now);
    }

    /// Lets happen what is due until `now`, and then, unless there is something to be told, what is due before `before`,
    /// until there is and all is done that is due at that time. Until when it was advanced.
    pub fn advance_until_told(&mut self, now: Time, before: Time) -> Time {
        // Nothing happens at the end of time.
        let certain = now.min(Time::MAX.earlier(Span::ns(1)));
        loop {
            let next = self.next();
            if next > certain && (next >= before || next > self.now && !self.reports.is_empty()) {
                self.now = self.now.max(now);
                return self.now;
            }
            self.step();
        }
    }

    /// Lets happen what is due first.
    #[inline]
    fn step(&mut self) {
        self.events += 1;
        let (due, node) = self.deadlines.first();
        // Stations go first: who begins in the slot in which another's frame begins to arrive does not know of it.
        if due <= self.air.next() {
            self.now = due;
            self.on_timer(node);
        } else if let Some((at, step, slot)) = self.air.pop() {
            self.now = at;
            match step {
                Step::Sent => {
                    self.on_sent(slot);
                    self.follow(Step::Arrived, slot);
                }
                Step::Arriving => self.on_arriving(slot),
                Step::Arrived => self.on_arrived(slot),
            }
        }
        self.deadlines.settle();
    }

    /// Has a frame's next step happen a delay later: without one now, if nothing else is due before it.
    #[inline(always)]
    fn follow(&mut self, step: Step, slot: u32) {
        self.deadlines.settle();
        if !self.delay.is_zero() || self.next() <= self.now {
            return self.air.plan(self.now + self.delay, step, slot);
        }
        self.events += 1;
        match step {
            Step::Arriving => self.on_arriving(slot),
            Step::Sent | Step::Arrived => self.on_arrived(slot),
        }
    }

    /// The next thing to be told, oldest first.
    #[inline]
    pub fn report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// Gives a station a packet to send, at the time until which the medium was advanced. What becomes of it is
    /// reported, also if the queue is full.
    pub fn offer(&mut self, node: NodeId, packet: Packet) -> Result<(), OfferError> {
        self.offer_and_tell(node, packet, true)
    }

    /// The same, and whether [`Report::Sent`] is to be given of it: who can do nothing with that is not stopped for it.
    pub fn offer_and_tell(
        &mut self,
        node: NodeId,
        packet: Packet,
        tells_sent: bool,
    ) -> Result<(), OfferError> {
        let stations = self.nodes.len();
        let check = |NodeId(station): NodeId| match (station as usize) < stations {
            true => Ok(station),
            false => Err(OfferError::NoStation { station, stations }),
        };
        let from = check(node)?;
        let dest = match packet.to {
            Destination::Everyone => EVERYONE,
            Destination::Node(to) => check(to)?,
        };
        if dest == from {
            return Err(OfferError::ToItself { packet: packet.id, station: from });
        }
        if packet.bytes > MAX_PACKET {
            return Err(OfferError::TooLong { packet: packet.id, bytes: packet.bytes });
        }
        let next = self.next_station(from, dest);
        let pending = Pending::new(packet.id, packet.bytes, from, dest, next);
        self.enqueue(from, Pending { tells_sent, ..pending });
        self.deadlines.settle();
        Ok(())
    }

    /// Packets that a station would accept now.
    pub fn room(&self, node: NodeId) -> usize {
        self.nodes.get(node.0 as usize).map_or(0, |node| node.station.room())
    }

    /// Whether [`Report::Room`] is to be given of a station: at first it is. Who has nothing more for it need not be told.
    pub fn tell_room(&mut self, node: NodeId, wanted: bool) {
        if let Some(node) = self.nodes.get_mut(node.0 as usize) {
            node.station.tells_room = wanted;
        }
    }

    /// A station is somewhere else from now on. Where it is not finite, it stays.
    pub fn put(&mut self, node: NodeId, position: Position) {
        if (node.0 as usize) < self.nodes.len() && position.is_finite() {
            self.field.put(node.0, position);
        }
    }

    /// Where a station is.
    pub fn position(&self, node: NodeId) -> Option<Position> {
        ((node.0 as usize) < self.nodes.len()).then(|| self.field.place(node.0))
    }

    /// A station's radio is tuned to this medium from now on, or to another one: then it hears nothing that begins here, and
    /// nobody here hears what it begins to send, until it is back. What it has to send it tries all the same.
    pub fn tune(&mut self, node: NodeId, here: bool) {
        if (node.0 as usize) < self.nodes.len() {
            self.field.tune(node.0, here);
        }
    }

    /// Whether a station's radio is tuned to this medium.
    pub fn is_here(&self, node: NodeId) -> bool {
        self.field.is_here(node.0)
    }

    /// How strong one station arrives at another by path loss alone, dBm: what its beacons come to on average.
    pub fn signal(&self, from: NodeId, to: NodeId) -> f64 {
        let all = 0..self.nodes.len() as u32;
        if from == to || !all.contains(&from.0) || !all.contains(&to.0) {
            return f64::NEG_INFINITY;
        }
        10.0 * libm::log10(self.field.power(from.0, to.0))
    }

    /// A client belongs to another access point from now on. What waits in its queue goes there; what is on its way to
    /// the old one is tried to the end. Refused if the one is no client or the other no access point.
    pub fn associate(&mut self, client: NodeId, access_point: NodeId) -> Result<(), ConfigError> {
        let role = |node: NodeId| self.nodes.get(node.0 as usize).map(|node| node.role);
        if !matches!(role(client), Some(Role::Client(_))) {
            return Err(ConfigError::new("association", client.0, "a client"));
        }
        if role(access_point) != Some(Role::AccessPoint) {
            return Err(ConfigError::new("association", access_point.0, "an access point"));
        }
        self.nodes[client.0 as usize].role = Role::Client(access_point);
        self.nodes[client.0 as usize].station.redirect(access_point.0);
        Ok(())
    }

    /// Takes back the packets that wait at a station for another, oldest first; what is on its way already is tried to the
    /// end. A routing protocol does so when a link is broken, and sends them elsewhere or gives them up itself: they are
    /// not reported again.
    pub fn withdraw(&mut self, node: NodeId, next: NodeId) -> Vec<u64> {
        let mut packets = Vec::new();
        if let Some(Node { station, .. }) = self.nodes.get_mut(node.0 as usize) {
            station.withdraw(next.0, |id| packets.push(id));
            self.deadlines.set(node.0, station.deadline());
            self.deadlines.settle();
        }
        packets
    }

    /// What a station has done so far.
    pub fn counters(&self, node: NodeId) -> Counters {
        self.nodes.get(node.0 as usize).map_or_else(Counters::default, |node| node.station.counters)
    }

    /// For how long any station has been sending until `now`, to which there is nothing to do: channel busy time, to
    /// somebody who hears all.
    pub fn busy(&self, now: Time) -> Span {
        self.air.busy(now)
    }

    /// For how long the medium has been busy where a station is: it sent, read a frame, or heard as much power as carrier
    /// sense asks for. What frames have reserved does not count.
    pub fn busy_at(&self, node: NodeId, now: Time) -> Span {
        self.nodes.get(node.0 as usize).map_or(Span::ZERO, |node| node.station.busy(now))
    }

    /// Packets that are somewhere in the medium: waiting, on the way, or held back at a receiver until those before them
    /// have come. A packet that has arrived and whose acknowledgement has not is counted once more.
    pub fn pending(&self) -> impl Iterator<Item = u64> {
        self.nodes.iter().flat_map(Node::pending).map(|p| p.id)
    }

    /// Events so far: what simulators are compared by.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Who is next on the way from a station to another.
    fn next_station(&self, from: u32, dest: u32) -> u32 {
        match self.nodes[from as usize].role {
            Role::Client(NodeId(access_point)) => access_point,
            Role::AdHoc | Role::AccessPoint => dest,
        }
    }

    fn enqueue(&mut self, node: u32, packet: Pending) {
        let station = &mut self.nodes[node as usize].station;
        if station.offer(self.now, packet, &self.rules) {
            self.deadlines.set(node, station.deadline());
            return;
        }
        let (at, loss) = (self.now, Loss::Queue);
        let lost = Report::Dropped { at, packet: packet.id, node: NodeId(node), loss, arrived: false };
        self.reports.push_back(lost);
    }

    #[inline(never)]
    fn on_timer(&mut self, number: u32) {
        let (now, node) = (self.now, &mut self.nodes[number as usize]);
        let reading = node.radio.lock.is_some();
        let frame = node.station.on_timer(now, reading, &self.rules, &mut self.reports);
        let slot = frame.map(|frame| self.send(&frame));
        self.arm(number);
        if let Some(slot) = slot {
            self.follow(Step::Arriving, slot);
        }
    }

    /// A frame goes on the air. Its place there.
    #[inline(never)]
    fn send(&mut self, frame: &Frame) -> u32 {
        let (now, clean) = (self.now, self.clean(frame.rate));
        let node = &mut self.nodes[frame.from as usize];
        if let Some(lock) = node.radio.lock.take() {
            self.air.miss(lock.slot, frame.from, Failure::Transmitting);
        }
        node.radio.sending = true;
        let (slot, transmission) = self.air.add(now, frame);
        transmission.clean = clean;
        transmission.header = self.rules.at(frame.rate).header;
        self.field.heard(frame.from, now, &mut transmission.heard);
        node.station.load(frame, &mut transmission.packets);
        node.station.counters.frames += 1;
        node.station.counters.airtime += frame.airtime;
        node.station.on_busy(now, &self.rules);
        slot
    }

    /// How far above all else a frame of a rate is never in error.
    #[inline(always)]
    fn clean(&mut self, rate: Rate) -> f64 {
        match self.clean[rate.number()] {
            Some(clean) => clean,
            None => self.find_clean(rate),
        }
    }

    #[cold]
    fn find_clean(&mut self, rate: Rate) -> f64 {
        let header = self.rules.phy.header_bits(rate).1.modulation();
        let clean = self.tables.clean_from(header).max(self.tables.clean_from(rate.modulation()));
        *self.clean[rate.number()].insert(clean)
    }

    #[inline(never)]
    fn on_sent(&mut self, slot: u32) {
        let now = self.now;
        self.air.sent(now);
        let Some(frame) = self.air.frame(slot) else { return };
        let node = &mut self.nodes[frame.from as usize];
        node.radio.sending = false;
        node.station.on_sent(now, frame, &self.rules, &mut self.reports);
        node.sense(now, self.levels.carrier_sense, &self.rules);
        self.deadlines.set(frame.from, node.station.deadline());
    }

    /// A station's deadline may have changed.
    #[inline(always)]
    fn arm(&mut self, number: u32) {
        self.deadlines.set(number, self.nodes[number as usize].station.deadline());
    }
}
