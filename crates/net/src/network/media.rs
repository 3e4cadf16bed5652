//! Packets over radio media, and nodes that move.
//!
//! A link promises a packet's arrival when it accepts the packet; a medium is asked when something happens next, let do
//! it, and asked what there is to say of it. Packets wait in the house's queues; a station takes them over when it can.

use super::{END, FUSED, Network, kind};
use crate::agenda::Key;
use crate::air::{hop_name, station};
use crate::link::OnHop;
use crate::packet::{Body, DropCause, PacketId, bits};
use crate::routers::EVERYONE;
use truckee_scenario::model::NodeId;
use truckee_scenario::route::Hop;
use truckee_tcp::{Span, Time};
use truckee_wireless::{Destination, Failure, Loss, NodeId as Number, Packet as Offer, Report};

/// A node that moves is put elsewhere when it has gone so far, metres: a wave of 2.4 GHz has 0.12 m, but what varies within
/// a few of them is fading's, and path loss changes little within a metre.
const STEP: f64 = 1.0;

/// What a medium calls a packet that goes to a station.
fn name_of(hop: OnHop, message: bool) -> u64 {
    // Of all stations only so many bits.
    let to = hop.to & (MESSAGE - 1);
    u64::from(if message { to | MESSAGE } else { to }) << 32 | u64::from(hop.id)
}

/// Marks, beside the next station, that it is a message between routers.
const MESSAGE: u32 = 1 << 31;

/// To whom a packet of a name goes, and whether it is a message between routers.
fn next_of(name: u64) -> (u32, bool) {
    let (to, message) = ((name >> 32) as u32 & (MESSAGE - 1), name >> 63 == 1);
    (if to == MESSAGE - 1 { EVERYONE } else { to }, message)
}

/// The packet of a name.
fn of_name(name: u64) -> PacketId {
    name as PacketId
}

impl Network<'_> {
    /// The number of the first host that takes its time: they stand behind links and stations.
    pub fn first_host(&self) -> usize {
        let stations: usize = self.media.iter().map(|air| air.nodes.len()).sum();
        2 * self.scenario.links.len() + stations
    }

    /// The number of a hop among all links.
    pub(super) fn number(&self, hop: Hop) -> u32 {
        match hop {
            Hop::Link { link, forward } => 2 * link as u32 + u32::from(!forward),
            Hop::Medium { medium, from, .. } => (self.media[medium].first + from) as u32,
        }
    }

    /// The same of a way.
    pub(super) fn numbers(&self, way: &[Hop]) -> Vec<u32> {
        way.iter().map(|hop| self.number(*hop)).collect()
    }

    /// What results call a hop.
    pub fn hop_name(&self, link: usize) -> String {
        hop_name(self.scenario, &self.media, link)
    }

    /// Medium and station of a way out, if that is what a link is.
    pub(super) fn station(&self, link: usize) -> Option<(usize, usize)> {
        station(&self.media, link)
    }

    /// A packet comes to the way out of a station, where it stands on its way.
    #[inline(never)]
    pub(super) fn go_on_air(&mut self, id: PacketId, link: usize) {
        let Some((medium, station)) = self.station(link) else { return };
        let to = self.exit(id, medium);
        if self.media[medium].routers.is_some() {
            self.travel.begin(id, station as u32, to as u32);
            return self.route(id, medium, station, None);
        }
        self.enter(id, medium, station, to as u32);
    }

    /// The station at which a packet leaves a medium.
    pub(super) fn exit(&self, id: PacketId, medium: usize) -> usize {
        let next = self.paths[self.packets[id].at as usize + 1];
        let node = if next == END { self.destination(id) } else { self.near_end((next & !FUSED) as usize) };
        // Every way is made of hops that lead from node to node.
        self.media[medium].nodes.iter().position(|other| *other == node).unwrap_or_default()
    }

    /// The node that a packet goes to in the end.
    fn destination(&self, id: PacketId) -> NodeId {
        let packet = &self.packets[id];
        match packet.body() {
            Body::Datagram(source) => self.scenario.traffic[self.sources[source].traffic].to,
            Body::Segment(index) => {
                let flow = &self.scenario.flows[self.connections[index].flow()];
                if packet.is(bits::FORWARD) { flow.to } else { flow.from }
            }
            // Routers tell the medium itself.
            Body::Message(_) => 0,
            Body::Control(_) => self.gateway(),
        }
    }

    /// The node from which a link leads, or the way out of a station.
    fn near_end(&self, link: usize) -> NodeId {
        match self.station(link) {
            Some((medium, station)) => self.media[medium].nodes[station],
            None => self.scenario.far_end(link ^ 1),
        }
    }

    /// A packet comes to the queue of a station, to go to another one.
    pub(super) fn enter(&mut self, id: PacketId, medium: usize, station: usize, to: u32) {
        let (now, flow) = (self.now, self.flow_key(id));
        if self.media[medium].is_recorded()
            && let Body::Segment(index) = self.packets[id].body()
            && self.packets[id].is(bits::FORWARD)
        {
            let flow = self.connections[index].flow() as u32;
            self.media[medium].note_hop(now, flow, (station as u32, to));
        }
        let air = &mut self.media[medium];
        air.radio.advance(now);
        let room = air.radio.room(Number(station as u32));
        let ready = air.taken_over.saturating_sub(room);
        let (link, hop) = (air.first + station, OnHop { id, to });
        let mut lost = std::mem::take(&mut self.lost);
        self.links.hand_over((link, now), hop, &mut self.packets[id], (ready, flow), &mut lost);
        self.lose(lost, link, now);
        if room > 0 {
            self.feed(medium, station);
        } else {
            let waits = self.links.has_waiting(link);
            self.media[medium].radio.tell_room(Number(station as u32), waits);
        }
        if !self.media[medium].telling {
            self.tell(medium);
            self.arm_medium(medium);
        }
    }

    /// A station takes over what it has room for.
    fn feed(&mut self, medium: usize, station: usize) {
        let (now, number) = (self.now, Number(station as u32));
        let link = self.media[medium].first + station;
        let mut lost = std::mem::take(&mut self.lost);
        while self.media[medium].radio.room(number) > 0 {
            let Some(hop) = self.links.take_over((link, now), &mut self.packets, &mut lost) else { break };
            if self.is_withdrawn(hop.id, medium, station, hop.to) {
                self.come_back(hop.id, medium, (station, hop.to), None);
                continue;
            }
            let to =
                if hop.to == EVERYONE { Destination::Everyone } else { Destination::Node(Number(hop.to)) };
            let message = matches!(self.packets[hop.id].body(), Body::Message(_));
            let offer = Offer { id: name_of(hop, message), bytes: self.packets[hop.id].wire, to };
            // A message has a place, which is free then.
            let routers = self.media[medium].routers.as_deref();
            let tells_sent = message || routers.is_some_and(|all| all.of[station].hears_of_deliveries());
            if self.media[medium].radio.offer_and_tell(number, offer, tells_sent).is_err() {
                // No frame holds it, or it goes nowhere: there is no way for it here.
                lost.push((hop.id, DropCause::Outage));
            }
        }
        self.media[medium].radio.tell_room(number, self.links.has_waiting(link));
        self.lose(lost, link, now);
    }

    /// A medium has something to do, or a node is elsewhere.
    #[inline(never)]
    pub(super) fn on_air(&mut self, index: usize) {
        self.agenda.pop();
        if index as Key & kind::ROAM != 0 {
            return self.on_roam(index as Key & !kind::ROAM);
        }
        if index as Key & kind::MOVE != 0 {
            return self.on_move((index as Key & !kind::MOVE) as usize);
        }
        // What happens in it, a medium counts itself.
        self.events -= 1;
        if self.media[index].armed != self.now {
            return;
        }
        self.media[index].armed = Time::MAX;
        // As long as nobody else has anything to do, neither they nor the agenda need to be asked.
        loop {
            let before = self.agenda.first().min(self.until + Span::ns(1));
            self.now = self.media[index].radio.advance_until_told(self.now, before);
            let told = self.tell(index);
            let next = self.media[index].radio.next();
            let alone = !self.aside.is_there && self.agenda.would_be_next(next, kind::AIR | index as Key);
            if !alone || next > self.until || told && self.has_to_stop(next) {
                return self.arm_medium(index);
            }
            self.now = next;
        }
    }

    fn arm_medium(&mut self, medium: usize) {
        let air = &mut self.media[medium];
        let next = air.radio.next();
        if next < air.armed {
            air.armed = next;
            self.agenda.push(next, kind::AIR | medium as Key);
        }
    }

    /// Tells what there is to say of a medium; whether that was anything to react to.
    fn tell(&mut self, medium: usize) -> bool {
        let mut told = false;
        self.media[medium].telling = true;
        while let Some(report) = self.media[medium].radio.report() {
            match report {
                Report::Delivered { packet, node, from, .. } => {
                    self.on_delivered(medium, packet, from.0 as usize, node.0 as usize);
                }
                Report::Dropped { packet, node, loss, arrived, .. } => {
                    self.on_given_up(medium, packet, node.0 as usize, (loss, arrived));
                }
                Report::Room { node, .. } => self.feed(medium, node.0 as usize),
                Report::Frame(frame) => {
                    self.media[medium].note_frame(&frame);
                    continue;
                }
                Report::Sent { packet, node, .. } if self.media[medium].routers.is_some() => {
                    let (next, message) = next_of(packet);
                    self.on_sent(of_name(packet), medium, (node.0 as usize, next), message);
                }
                Report::Sent { .. } | Report::Missed { .. } => continue,
            }
            told = true;
        }
        self.media[medium].telling = false;
        told
    }

    /// A packet has crossed a medium.
    fn on_delivered(&mut self, medium: usize, name: u64, from: usize, to: usize) {
        let id = of_name(name);
        if let (_, true) = next_of(name) {
            if let Body::Message(number) = self.packets[id].body() {
                self.on_message(number, medium, from, to);
            }
            return;
        }
        let air = &self.media[medium];
        if air.routers.is_some() {
            return self.route(id, medium, to, Some(from));
        }
        let (link, node) = (air.first + from, air.nodes[to]);
        self.on_hop(id, self.packets[id].at, link, Some(node));
    }

    /// A station has given a packet up; `arrived`: which has arrived all the same.
    fn on_given_up(&mut self, medium: usize, name: u64, from: usize, (loss, arrived): (Loss, bool)) {
        let (id, mut cause) = (of_name(name), cause_of(loss));
        let (next, message) = next_of(name);
        let is_here = |station: u32| self.media[medium].radio.is_here(Number(station));
        if cause == DropCause::Reach && !(is_here(from as u32) && is_here(next)) {
            cause = DropCause::Handoff;
        }
        if message {
            return self.on_message_lost(id, medium, (from, next), (cause, arrived));
        }
        if arrived {
            return;
        }
        if self.media[medium].routers.is_some() {
            return self.come_back(id, medium, (from, next), Some(cause));
        }
        let link = self.media[medium].first + from;
        self.packets.remove(id);
        self.on_drop(id, link, cause, self.now);
    }

    /// What a station has taken over for another one and not begun to send.
    pub(super) fn take_back(&mut self, medium: usize, station: usize, next: u32) -> Vec<PacketId> {
        let names = self.media[medium].radio.withdraw(Number(station as u32), Number(next));
        names.into_iter().map(of_name).collect()
    }

    /// Has nodes move that do.
    pub(super) fn arm_movers(&mut self) {
        (0..self.movers.len()).for_each(|mover| self.on_move(mover));
    }

    /// A node is elsewhere.
    fn on_move(&mut self, mover: usize) {
        let now = self.now;
        let node = &mut self.movers[mover];
        let leg = node.mobility.leg(now);
        let turns = node.noted.replace(leg.from) != Some(leg.from);
        for (medium, station) in &node.stations {
            let (air, place) = (&mut self.media[*medium], leg.at(now));
            air.radio.put(*station, place);
            if turns {
                air.note_place(now, station.0, &place);
            }
        }
        let (next, place) = (leg.after(now, STEP), node.node);
        if next <= self.end {
            self.agenda.push(next, kind::AIR | kind::MOVE | mover as Key);
        }
        if !self.roamers.is_empty() {
            self.compare_signals(place);
        }
    }
}

/// The cause of a loss over a medium: what ended the last attempt.
fn cause_of(loss: Loss) -> DropCause {
    match loss {
        Loss::Queue => DropCause::Queue,
        Loss::RetryLimit(Failure::Noise) => DropCause::Channel,
        Loss::RetryLimit(Failure::Weak) => DropCause::Reach,
        Loss::RetryLimit(Failure::Collision | Failure::Transmitting | Failure::Reserved) => {
            DropCause::Collision
        }
    }
}
