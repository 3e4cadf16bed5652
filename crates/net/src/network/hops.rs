//! Packets from link to link.

use super::{Dropped, END, Lost, Network, kind, seconds};
use crate::ack_filter::Held;
use crate::agenda::Key;
use crate::connection::NEVER;
use crate::link::{self, Offered};
use crate::packet::{DropCause, InTransit, Packet, PacketId, TRAFFIC, bits};
use crate::record::of_cause;
use truckee_scenario::outcome::{DropPoint, PacketContent, PacketPoint};
use truckee_tcp::{Cause, Time};

impl Network<'_> {
    #[inline]
    pub(super) fn on_link(&mut self, index: usize) {
        let now = self.now;
        let link = &mut self.links[index];
        let (arrived, next) = link.arrive(now);
        // Only the live entry of a link moves on; one left over from before a change dies.
        let live = link.armed == now;
        match next {
            Some(next) if live => {
                link.armed = next;
                self.agenda.postpone(next);
            }
            _ => {
                link.armed = if live { NEVER } else { link.armed };
                self.agenda.pop();
            }
        }
        if let Some(packet) = arrived {
            self.on_hop(packet, index);
        }
    }

    /// A packet is at the far end of a link.
    #[inline]
    pub(super) fn on_hop(&mut self, id: PacketId, from: usize) {
        let at = self.packets[id].at + 1;
        let next = self.paths[at as usize];
        if next == END {
            self.packets.remove(id);
            self.on_arrival(id);
            return;
        }
        self.packets[id].at = at;
        if self.changing && (!self.links[next as usize].up || self.is_off_route(id)) {
            self.reroute(id, from);
            return;
        }
        self.inject(id, self.now);
    }

    /// Sends a packet into the link at its position, and on through links whose arrivals can be worked out.
    #[inline]
    pub(super) fn inject(&mut self, id: PacketId, mut at: Time) {
        let packet = &mut self.packets[id];
        let mut index = self.paths[packet.at as usize] as usize;
        loop {
            if at > self.end {
                self.packets.remove(id);
                return;
            }
            let connections = &self.connections;
            let owner = packet.owner;
            let flow =
                || if owner & TRAFFIC != 0 { link::NO_FLOW } else { connections[owner as usize].flow as u32 };
            match self.links[index].offer(at, id, packet, flow) {
                Offered::Dropped(cause, when) => {
                    self.packets.remove(id);
                    return self.on_drop(id, index, cause, when);
                }
                Offered::Supersedes(held) => return self.supersede(id, held),
                Offered::Accepted { departure, arrival, copy } => {
                    let next = self.paths[packet.at as usize + 1];
                    if next != END && self.links[next as usize].fused {
                        packet.at += 1;
                        index = next as usize;
                        at = arrival;
                        if self.may_stop {
                            self.links[index].note_books(self.now, at);
                        }
                        continue;
                    }
                    let item = InTransit { arrival, departure, packet: id };
                    if let Some(arrival) = copy {
                        let twin = *packet;
                        let packet = self.packets.add(twin);
                        self.links[index].note_copy(&twin, id, packet);
                        self.carry(index, item);
                        self.carry(index, InTransit { arrival, packet, ..item });
                    } else {
                        self.carry(index, item);
                    }
                    return;
                }
            }
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

    #[inline]
    pub(super) fn carry(&mut self, index: usize, item: InTransit) {
        let link = &mut self.links[index];
        if let Some(next) = link.carry(item)
            && next < link.armed
        {
            link.armed = next;
            self.agenda.push(next, kind::LINK | index as Key);
        }
    }

    /// A packet, whose place is free already, was dropped by link `index`.
    pub(super) fn on_drop(&mut self, id: PacketId, index: usize, cause: DropCause, when: Time) {
        let packet = self.packets[id];
        let segment = packet.segment;
        let number = if segment.len > 0 { segment.seq } else { segment.ack };
        self.digest.add(when ^ (index as u64) << 48, number ^ u64::from(packet.owner) << 32 ^ cause as u64);
        if packet.is_traffic() {
            let of = Lost::Traffic(self.sources[(packet.owner & !TRAFFIC) as usize].traffic);
            return self.note_dropped(Dropped { when, link: index, of, cause });
        }
        let connection = &mut self.connections[packet.owner as usize];
        let forward = packet.is(bits::FORWARD);
        if let Some(number) = packet.transmission().filter(|_| connection.generation == packet.generation) {
            let truth = if cause == DropCause::Queue { Cause::Congestion } else { Cause::Wireless };
            connection.ends.books.note_drop(number, segment.end(), truth);
        }
        let (flow, reverse) = (connection.flow, connection.reverse);
        let of = match (reverse, forward) {
            (true, _) => Lost::Other, // requests are not the flow's data
            (false, false) => Lost::Ack(flow),
            (false, true) if segment.len > 0 => Lost::Data(flow),
            (false, true) => Lost::Other,
        };
        self.note_dropped(Dropped { when, link: index, of, cause });
        if reverse {
            return;
        }
        let connection = &self.connections[packet.owner as usize];
        let book = &mut self.flows[flow].book;
        if let Some(series) = &mut book.series {
            if connection.tapped.is_some_and(|vantage| vantage.is_left(forward)) {
                let dropped = (cause.name(), self.links[index].name.clone());
                note_drop(&mut series.packets, connection.tap_number(), &packet, dropped);
            }
            series.drops.push(DropPoint {
                t: seconds(when),
                seq: number,
                ack: !forward,
                cause: cause.name(),
                link: self.links[index].name.clone(),
            });
        }
    }

    /// Books a drop by its time: what comes before the measuring begins is not counted, and one that is yet to come is
    /// kept in mind, since the run may end before.
    fn note_dropped(&mut self, dropped: Dropped) {
        if dropped.when < self.scenario.warmup {
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
        book(of_cause(&mut self.links[dropped.link].drops, cause));
        match dropped.of {
            Lost::Data(flow) => book(of_cause(&mut self.flows[flow].book.drops, cause)),
            Lost::Ack(flow) => book(of_cause(&mut self.flows[flow].book.ack_drops, cause)),
            Lost::Traffic(traffic) => book(of_cause(&mut self.traffic[traffic].drops, cause)),
            Lost::Other => {}
        }
    }
}

/// Notes at the packet's departure what became of it: the latest one of that segment is meant.
fn note_drop(packets: &mut [PacketPoint], connection: u32, packet: &Packet, dropped: (&'static str, String)) {
    let meant = |p: &&mut PacketPoint| {
        p.from_sender == packet.is(bits::FORWARD)
            && p.connection == connection
            && p.dropped.is_none()
            && p.transmission == packet.transmission()
            && matches!(&p.content, PacketContent::Segment(sent) if *sent == packet.segment)
    };
    if let Some(point) = packets.iter_mut().rev().find(meant) {
        point.dropped = Some(dropped);
    }
}
