//! Packets from link to link.

use super::aside::Aside;
use super::{BY_TABLE, Dropped, END, FUSED, Lost, Network, kind};
use crate::ack_filter::Held;
use crate::air::hop_name;
use crate::connection::{DESTINATION, SOURCE};
use crate::lanes::UnderWay;
use crate::link::{self, Accepted, Detour, Offered};
use crate::packet::{Body, DropCause, InTransit, Packet, PacketId, bits};
use crate::record::of_cause;
use truckee_scenario::model::NodeId;
use truckee_scenario::outcome::{DropPoint, PacketContent, PacketPoint};
use truckee_scenario::route::Hop;
use truckee_tcp::{Cause, Segment, Time};

impl Network<'_> {
    /// A packet in a lane is at the far end of its link.
    #[inline(always)]
    pub(super) fn on_lane(&mut self, index: usize) {
        let lane = kind::lane(index);
        if lane == kind::NO_LANE {
            return self.on_link(kind::link(index));
        }
        let (arrived, next) = self.lanes.arrive(lane);
        match next {
            Some((time, link)) => self.agenda.replace_arrival(time, kind::arrival(link, lane)),
            None => self.agenda.pop_arrival(),
        }
        let Some(arrived) = arrived else { return };
        if arrived.is_last() {
            if self.looks_ahead {
                self.look_ahead(lane);
            } else if self.packets.are_many() {
                self.look_at_next(lane);
            }
            self.packets.remove(arrived.packet());
            self.on_arrival(arrived.packet());
        } else {
            self.go_further(arrived);
        }
    }

    /// A packet has crossed a link that is not its last.
    #[inline(always)]
    fn go_further(&mut self, arrived: UnderWay) {
        let id = arrived.packet();
        let Packet { at, wire, .. } = self.packets[id];
        if self.changing {
            self.on_hop(id, at, arrived.link as usize, None);
        } else {
            self.lead_on(id, at + 1, wire);
        }
    }

    /// A packet on a link without a lane may be at its far end.
    #[inline(never)]
    fn on_link(&mut self, index: usize) {
        let (arrived, next) = self.links.arrive(index, self.now);
        match next {
            Some(next) => self.agenda.replace_arrival(next, kind::arrival(index as u32, kind::NO_LANE)),
            None => self.agenda.pop_arrival(),
        }
        if let Some(packet) = arrived {
            self.on_hop(packet, self.packets[packet].at, index, None);
        }
    }

    /// A packet has crossed the link at a position, and routes may have changed; `node`: where it is, if that is not the
    /// link's far end.
    #[inline(never)]
    pub(super) fn on_hop(&mut self, id: PacketId, at: u32, from: usize, node: Option<NodeId>) {
        if at == BY_TABLE {
            return self.send_by_table(id, at, from, node);
        }
        let next = self.paths[at as usize + 1];
        if next == END {
            self.packets.remove(id);
            self.on_rare_arrival(id);
        } else if self.changing
            && (!self.links.is_up((next & !FUSED) as usize) || self.is_off_route(id, at + 1))
        {
            self.send_by_table(id, at + 1, from, node);
        } else {
            self.inject(id, at + 1, self.packets[id].wire, self.now);
        }
    }

    /// Sends a packet that goes by tables over a hop.
    #[inline(never)]
    pub(super) fn send_over(&mut self, id: PacketId, hop: Hop) {
        let link = match hop {
            Hop::Medium { medium, from, to } => {
                self.packets[id].at = BY_TABLE;
                return self.enter(id, medium, from, to as u32);
            }
            Hop::Link { .. } => self.number(hop),
        };
        self.send_into(id, link);
    }

    /// Sends a packet that goes by tables into a link.
    pub(super) fn send_into(&mut self, id: PacketId, link: u32) {
        let (time, wire) = (self.now, self.packets[id].wire);
        let crossed = match self.links.cross(link as usize, time, wire) {
            Ok(crossed) => Some(crossed),
            Err(detour) => self.is_not_crossed(detour, id, BY_TABLE, link as usize, time),
        };
        if let Some((arrival, convoy)) = crossed {
            self.packets[id].at = BY_TABLE;
            self.carry(convoy, UnderWay::new(arrival, link, id, false));
        }
    }

    /// When the link at this position will have sent all that waits for it now.
    pub(super) fn leaves_host_at(&self, at: u32) -> Time {
        self.now + self.links.backlog((self.paths[at as usize] & !FUSED) as usize, self.now)
    }

    /// Sends a packet of so many bytes into the link at this position, and on through links whose arrivals can be worked out.
    #[inline(never)]
    pub(super) fn inject(&mut self, id: PacketId, at: u32, wire: u32, time: Time) {
        self.send_on::<false>(id, at, wire, time);
    }

    /// The same now, in line, as the last thing that an event does.
    #[inline(always)]
    pub(super) fn lead_on(&mut self, id: PacketId, at: u32, wire: u32) {
        self.send_on::<true>(id, at, wire, self.now);
    }

    /// `LAST`: nothing else comes of the event, so that the next one may happen here. The packet itself, which may be far from
    /// the cache, is not read where the links do not ask for it.
    #[inline(always)]
    fn send_on<const LAST: bool>(&mut self, id: PacketId, mut at: u32, wire: u32, mut time: Time) {
        let mut link = self.paths[at as usize] & !FUSED;
        loop {
            let index = link as usize;
            let (arrival, convoy) = match self.links.cross(index, time, wire) {
                Ok(crossed) => crossed,
                Err(detour) => match self.is_not_crossed(detour, id, at, index, time) {
                    Some(crossed) => crossed,
                    None => return,
                },
            };
            let next = self.paths[at as usize + 1];
            if next & FUSED == 0 {
                let last = next == END;
                if last || !LAST || !self.leads_on(arrival) {
                    if !last {
                        self.packets[id].at = at;
                    }
                    return self.carry(convoy, UnderWay::new(arrival, link, id, last));
                }
                self.now = arrival;
                self.events += 1;
            } else if arrival > self.certain {
                if arrival > self.end {
                    return self.packets.remove(id);
                }
                self.links.note_books((next & !FUSED) as usize, self.now, arrival);
            }
            at += 1;
            link = next & !FUSED;
            time = arrival;
        }
    }

    /// Whether a packet's arrival at its next hop is the next event for certain. Where each host has a link of its own it nearly
    /// always is: then the packet goes on at once, and nothing need be kept of it meanwhile.
    #[inline(always)]
    fn leads_on(&self, arrival: Time) -> bool {
        self.straight && !self.aside.is_there && arrival <= self.until && self.agenda.is_before_all(arrival)
    }

    /// A packet finds no room at a link, or is asked for more. Returns arrival and convoy where it goes on from here.
    #[inline(never)]
    fn is_not_crossed(
        &mut self,
        detour: Detour,
        id: PacketId,
        at: u32,
        index: usize,
        time: Time,
    ) -> Option<(Time, u32)> {
        let (cause, when) = match detour {
            Detour::Special => return self.offer(id, at, index, time),
            Detour::Full => (DropCause::Queue, time),
            Detour::Noisy => {
                let packet = &self.packets[id];
                let flow = self.flow_of(packet);
                match self.links.pass_noise(index, time, packet.wire, flow, packet.len > 0) {
                    Ok(crossed) => return Some(crossed),
                    Err(lost) => lost,
                }
            }
        };
        self.packets.remove(id);
        self.on_drop(id, index, cause, when);
        None
    }

    /// The number of a packet's flow for a channel.
    #[inline]
    fn flow_of(&self, packet: &Packet) -> u32 {
        match packet.body() {
            Body::Datagram(_) | Body::Message(_) | Body::Control(_) => link::NO_FLOW,
            Body::Segment(index) => self.connections[index].flow() as u32,
        }
    }

    /// Offers a packet to a link that asks more of it. Returns arrival and convoy where it goes on from here.
    #[inline(never)]
    fn offer(&mut self, id: PacketId, at: u32, index: usize, time: Time) -> Option<(Time, u32)> {
        let flow = self.flow_of(&self.packets[id]);
        let packet = &mut self.packets[id];
        packet.at = at;
        match self.links.offer(index, time, id, packet, flow) {
            Offered::Accepted(Accepted { arrival, convoy: Some(convoy), .. }) => {
                return Some((arrival, convoy));
            }
            Offered::Waits => self.enqueue(id, index, time, flow),
            Offered::OnAir => self.go_on_air(id, index),
            other => self.go_on(id, index, other),
        }
        None
    }

    /// What becomes of a packet that a link has looked at, and that does not go in a lane.
    pub(super) fn go_on(&mut self, id: PacketId, index: usize, became: Offered) {
        let accepted = match became {
            Offered::Dropped(cause, when) => {
                self.packets.remove(id);
                return self.on_drop(id, index, cause, when);
            }
            Offered::Supersedes(held) => return self.supersede(id, held),
            Offered::Waits | Offered::OnAir => return,
            Offered::Accepted(accepted) => accepted,
        };
        let item = InTransit { arrival: accepted.arrival, departure: accepted.departure, packet: id };
        self.carry_apart(index, item);
        if let Some(arrival) = accepted.copy {
            let packet = self.packets.add_copy(id);
            let twin = self.packets[packet];
            self.links.note_copy(index, &twin, id, packet);
            self.carry_apart(index, InTransit { arrival, packet, ..item });
        }
    }

    /// An ACK takes the place of an older one, whatever packets stand for that.
    #[cold]
    #[inline(never)]
    fn supersede(&mut self, id: PacketId, held: Held) {
        let newer = self.packets[id];
        self.packets.remove(id);
        held.packets().for_each(|older| self.packets[older] = newer);
    }

    /// Puts a packet on its way in a lane; one that may well be the next event of all waits aside, where it costs no place
    /// in a lane and in the agenda.
    #[inline(always)]
    fn carry(&mut self, convoy: u32, packet: UnderWay) {
        if self.aside.is_there {
            self.join_lane();
        }
        if let Some(lane) = self.lanes.add(convoy, packet) {
            self.aside = Aside { is_there: true, lane, packet };
            if !self.agenda.would_be_next(packet.arrival, self.aside.key()) {
                self.join_lane();
            }
        }
    }

    /// Puts the packet that waits aside into its lane, and its arrival into the agenda.
    #[inline(never)]
    fn join_lane(&mut self) {
        self.aside.is_there = false;
        let Aside { lane, packet, .. } = self.aside;
        self.lanes.begin(lane, packet);
        self.agenda.push_arrival(packet.arrival, self.aside.key());
    }

    /// A packet waits aside: if it is the next event still, that happens.
    #[inline(never)]
    pub(super) fn on_aside(&mut self) {
        let packet = self.aside.packet;
        if packet.arrival > self.until || !self.agenda.would_be_next(packet.arrival, self.aside.key()) {
            return self.join_lane();
        }
        self.aside.is_there = false;
        self.now = packet.arrival;
        self.events += 1;
        if packet.is_last() {
            self.packets.remove(packet.packet());
            self.on_rare_arrival(packet.packet());
        } else {
            self.go_further(packet);
        }
    }

    /// Puts a packet on its way over a link that has a transit of its own.
    #[inline(never)]
    fn carry_apart(&mut self, index: usize, item: InTransit) {
        if let Some(next) = self.links.carry(index, item) {
            self.agenda.push_arrival(next, kind::arrival(index as u32, kind::NO_LANE));
        }
    }

    /// A packet, whose place is free already, was dropped by link `index`.
    #[inline(never)]
    pub(super) fn on_drop(&mut self, id: PacketId, index: usize, cause: DropCause, when: Time) {
        let Some(cause) = self.loss_of(id, index, cause) else { return };
        let packet = self.packets[id];
        let number = if packet.len > 0 { packet.seq } else { packet.ack }.number();
        self.digest
            .add(when.nanos() ^ (index as u64) << 48, number ^ u64::from(packet.owner) << 32 ^ cause as u64);
        let owner = match packet.body() {
            Body::Segment(connection) => connection,
            Body::Datagram(source) => {
                let of = Lost::Traffic(self.sources[source].traffic);
                return self.note_dropped(Dropped { when, link: index, of, cause });
            }
            Body::Message(message) => {
                return self.note_message_lost(message, index);
            }
            Body::Control(_) => {
                return self.note_dropped(Dropped { when, link: index, of: Lost::Other, cause });
            }
        };
        let connection = &mut self.connections[owner];
        let forward = packet.is(bits::FORWARD);
        if let Some(number) = packet.transmission().filter(|_| connection.generation == packet.generation) {
            let truth = if cause == DropCause::Queue { Cause::Congestion } else { Cause::Wireless };
            let from = if forward { SOURCE } else { DESTINATION };
            if let Some(way) = connection.ends.way_from(from) {
                way.books.note_drop(number, packet.end(), truth);
            }
        }
        let flow = connection.flow();
        let of = match (forward, packet.len) {
            (false, 0) => Lost::Ack(flow),
            (false, _) | (true, 0) => Lost::Other, // requests are not the flow's data
            (true, _) => Lost::Data(flow),
        };
        self.note_dropped(Dropped { when, link: index, of, cause });
        if !forward && packet.len > 0 {
            return; // a request
        }
        let connection = &self.connections[owner];
        let book = &mut self.flows[flow].book;
        if let Some(series) = &mut book.series {
            let name = hop_name(self.scenario, &self.media, index);
            if connection.tapped.is_some_and(|vantage| vantage.is_left(forward)) {
                let dropped = (cause.name(), name.clone());
                let segment = self.packets.segment(id);
                note_drop(&mut series.packets, connection.tap_number(), &packet, &segment, dropped);
            }
            series.drops.push(DropPoint {
                t: when.seconds(),
                seq: number,
                ack: !forward,
                cause: cause.name(),
                link: name,
            });
        }
    }

    /// Books a drop by its time: what comes before the measuring begins is not counted, and one that is yet to come is
    /// kept in mind, since the run may end before.
    fn note_dropped(&mut self, dropped: Dropped) {
        if dropped.when < Time::at(self.scenario.warmup) {
            return;
        }
        self.book_drop(&dropped, |n| *n += 1);
        if dropped.when > self.now {
            let ahead = &mut self.drops_ahead;
            if ahead.len() == ahead.capacity() {
                ahead.retain(|other| other.when > self.now);
                ahead.reserve(ahead.len().max(32));
            }
            ahead.push(dropped);
        }
    }

    /// Books a drop with its link and its owner, or takes it out.
    pub(super) fn book_drop(&mut self, dropped: &Dropped, book: fn(&mut u64)) {
        let cause = dropped.cause;
        book(of_cause(self.links.drops_mut(dropped.link), cause));
        match dropped.of {
            Lost::Data(flow) => book(of_cause(&mut self.flows[flow].book.drops, cause)),
            Lost::Ack(flow) => {
                let drops = self.flows[flow].book.ack_drops.get_or_insert_default();
                book(of_cause(drops, cause));
            }
            Lost::Traffic(traffic) => book(of_cause(&mut self.traffic[traffic].drops, cause)),
            Lost::Other => {}
        }
    }
}

/// Notes at the packet's departure what became of it: the latest one of that segment is meant.
fn note_drop(
    packets: &mut [PacketPoint],
    connection: u32,
    packet: &Packet,
    segment: &Segment,
    dropped: (&'static str, String),
) {
    let meant = |p: &&mut PacketPoint| {
        p.from_sender == packet.is(bits::FORWARD)
            && p.connection == connection
            && p.dropped.is_none()
            && p.transmission == packet.transmission()
            && matches!(&p.content, PacketContent::Segment(sent) if sent == segment)
    };
    if let Some(point) = packets.iter_mut().rev().find(meant) {
        point.dropped = Some(dropped);
    }
}
