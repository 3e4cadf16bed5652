//! Packets over media whose stations have routers: what routers are told, and what is done at their word.

use super::{Network, kind};
use crate::agenda::Key;
use crate::packet::{Body, DropCause, Packet, PacketId};
use crate::routers::{EVERYONE, RADIO, Routers, TTL};
use truckee_routing::{Hop, NodeId, Output, Packet as Seen, PacketId as Name, Return, Router, To, Verdict};
use truckee_tcp::Time;

/// Bits of a timer's key for the station; the medium stands above them.
const STATION_BITS: u32 = 16;

fn hop(station: u32) -> Hop {
    Hop { interface: RADIO, neighbour: NodeId(station) }
}

impl Network<'_> {
    /// Has all routers begin.
    pub(super) fn start_routers(&mut self) {
        for medium in 0..self.media.len() {
            let stations = self.routers(medium).map_or(0, |routers| routers.of.len());
            for station in 0..stations {
                self.ask(medium, station, |router, now| router.start(now));
            }
        }
    }

    pub(super) fn routers(&mut self, medium: usize) -> Option<&mut Routers> {
        self.media[medium].routers.as_deref_mut()
    }

    /// Tells a router something, and does what it then wants.
    fn ask<A>(
        &mut self,
        medium: usize,
        station: usize,
        tell: impl FnOnce(&mut dyn Router, Time) -> A,
    ) -> Option<A> {
        let now = self.now;
        let answer = tell(self.routers(medium)?.of[station].as_mut(), now);
        self.take(medium, station);
        Some(answer)
    }

    /// A packet is at a station, and goes where the station's router says.
    pub(super) fn route(&mut self, id: PacketId, medium: usize, station: usize, previous: Option<usize>) {
        let journey = *self.travel.of(id);
        let seen = Seen {
            id: Name(id.into()),
            from: NodeId(journey.origin),
            to: NodeId(journey.exit),
            previous: previous.map(|station| hop(station as u32)),
            ttl: journey.ttl,
        };
        let now = self.now;
        let Some(routers) = self.routers(medium) else { return };
        let verdict = routers.of[station].route(now, &seen);
        if verdict == Verdict::Local {
            routers.books.crossed += 1;
            routers.books.hops += u64::from(TTL - journey.ttl) + 1;
            self.take(medium, station);
            let air = &self.media[medium];
            let (link, node) = (air.first + previous.unwrap_or(station), air.nodes[station]);
            return self.on_hop(id, self.packets[id].at, link, Some(node));
        }
        self.carry_out(id, medium, station, verdict);
        self.take(medium, station);
    }

    /// Carries out what a router says of a packet.
    fn carry_out(&mut self, id: PacketId, medium: usize, station: usize, verdict: Verdict) {
        match verdict {
            Verdict::Forward(next) => self.forward(id, medium, station, next.neighbour.0),
            Verdict::Drop(cause) => {
                if let Some(routers) = self.routers(medium) {
                    *routers.books.lost.entry(cause).or_default() += 1;
                }
                let link = self.media[medium].first + station;
                self.packets.remove(id);
                self.on_drop(id, link, DropCause::Route, self.now);
            }
            Verdict::Hold | Verdict::Local => {}
        }
    }

    /// A packet goes to another station.
    fn forward(&mut self, id: PacketId, medium: usize, station: usize, next: u32) {
        let journey = self.travel.of(id);
        journey.ttl -= u8::from(journey.origin != station as u32);
        if let Some(routers) = self.routers(medium) {
            routers.broken[station].remove(&next);
        }
        self.enter(id, medium, station, next);
    }

    /// A packet that was to go to another station is back; `lost`: why its transmission was given up, if it was.
    pub(super) fn come_back(
        &mut self,
        id: PacketId,
        medium: usize,
        (station, next): (usize, u32),
        lost: Option<DropCause>,
    ) {
        let journey = self.travel.of(id);
        journey.ttl += u8::from(journey.origin != station as u32);
        let (from, to) = (NodeId(journey.origin), NodeId(journey.exit));
        let seen = Seen { id: Name(id.into()), from, to, previous: None, ttl: journey.ttl };
        let why = if lost.is_some() { Return::Failed } else { Return::Withdrawn };
        let now = self.now;
        let Some(routers) = self.routers(medium) else { return };
        let verdict = routers.of[station].returned(now, hop(next), &seen, why);
        match (verdict, lost) {
            // What ended it was the medium.
            (Verdict::Drop(_), Some(cause)) => {
                let link = self.media[medium].first + station;
                self.packets.remove(id);
                self.on_drop(id, link, cause, now);
            }
            _ => self.carry_out(id, medium, station, verdict),
        }
        self.take(medium, station);
    }

    /// Whether a router wants a packet back that comes out of its queue.
    pub(super) fn is_withdrawn(&mut self, id: PacketId, medium: usize, station: usize, next: u32) -> bool {
        let broken = self.routers(medium).is_some_and(|routers| routers.broken[station].contains(&next));
        broken && !matches!(self.packets[id].body(), Body::Message(_))
    }

    /// A message has come to a station.
    pub(super) fn on_message(&mut self, number: usize, medium: usize, from: usize, to: usize) {
        let now = self.now;
        let Some(routers) = self.media[medium].routers.as_deref_mut() else { return };
        let Some(message) = self.travel.message(number) else { return };
        routers.of[to].receive(now, NodeId(from as u32), RADIO, message);
        self.take(medium, to);
    }

    /// A station is done with a packet; `message`: if it was one, whose place is free then.
    pub(super) fn on_sent(
        &mut self,
        id: PacketId,
        medium: usize,
        (station, next): (usize, u32),
        message: bool,
    ) {
        if next == EVERYONE {
            return self.travel.leave(self.now, id);
        }
        if message {
            self.drop_message(id);
        }
        let now = self.now;
        if let Some(routers) = self.routers(medium) {
            routers.of[station].delivered(now, hop(next));
        }
    }

    /// A message was given up by a station.
    pub(super) fn on_message_lost(
        &mut self,
        id: PacketId,
        medium: usize,
        (station, next): (usize, u32),
        (cause, arrived): (DropCause, bool),
    ) {
        let Body::Message(number) = self.packets[id].body() else { return };
        let now = self.now;
        if let (false, Some(routers), Some(message)) =
            (arrived, self.media[medium].routers.as_deref_mut(), self.travel.message(number))
        {
            routers.of[station].failed(now, hop(next), message);
        }
        if arrived {
            self.drop_message(id);
        } else {
            let link = self.media[medium].first + station;
            self.packets.remove(id);
            self.on_drop(id, link, cause, now);
        }
        self.take(medium, station);
    }

    /// A message was lost at a station: the protocol's books have it, and not those of what the station carries for others.
    pub(super) fn note_message_lost(&mut self, number: usize, link: usize) {
        self.travel.forget(number);
        let medium = self.station(link).map(|(medium, _)| medium);
        if let Some(routers) = medium.and_then(|medium| self.routers(medium)) {
            routers.books.packets_lost += 1;
        }
    }

    fn drop_message(&mut self, id: PacketId) {
        if let Body::Message(number) = self.packets[id].body() {
            self.travel.forget(number);
            self.packets.remove(id);
        }
    }

    /// Does what a router wants, and wakes it when it is time.
    fn take(&mut self, medium: usize, station: usize) {
        let Some(routers) = self.media[medium].routers.as_deref_mut() else { return };
        let router = &mut routers.of[station];
        if let Some(output) = router.poll() {
            self.obey_router(medium, station, output);
            return self.arm_router(medium, station);
        }
        let next = router.next();
        if next < routers.armed[station] {
            self.arm_router(medium, station);
        }
    }

    /// Does what a router wants, and all else that it wants.
    fn obey_router(&mut self, medium: usize, station: usize, first: Output) {
        let mut wanted = Some(first);
        while let Some(output) = wanted {
            match output {
                Output::Send { to, message, .. } => {
                    while let Some(gone) = self.travel.gone(self.now) {
                        self.drop_message(gone);
                    }
                    let bytes = message.bytes();
                    let number = self.travel.keep(message);
                    let id = self.packets.add(Packet::message(self.now, number, 0, bytes));
                    let to = match to {
                        To::Neighbour(next) => next.0,
                        To::Everyone => EVERYONE,
                    };
                    self.enter(id, medium, station, to);
                }
                Output::Release { packet, to } => {
                    self.forward(packet.0 as PacketId, medium, station, to.neighbour.0);
                }
                Output::Drop { packet, cause } => {
                    self.carry_out(packet.0 as PacketId, medium, station, Verdict::Drop(cause));
                }
                Output::Withdraw(from) => self.withdraw(medium, station, from.neighbour.0),
                Output::Route { .. } => {
                    if let Some(routers) = self.routers(medium) {
                        routers.books.route_changes += 1;
                    }
                }
            }
            wanted = self.routers(medium).and_then(|routers| routers.of[station].poll());
        }
    }

    /// What waits for another station comes back: what the station has taken over at once, what is in its queue as it comes
    /// out.
    fn withdraw(&mut self, medium: usize, station: usize, next: u32) {
        if let Some(routers) = self.routers(medium) {
            routers.broken[station].insert(next);
        }
        for id in self.take_back(medium, station, next) {
            match self.packets[id].body() {
                Body::Message(_) => self.drop_message(id),
                _ => self.come_back(id, medium, (station, next), None),
            }
        }
    }

    fn arm_router(&mut self, medium: usize, station: usize) {
        let Some(routers) = self.media[medium].routers.as_deref_mut() else { return };
        let next = routers.of[station].next();
        if next < routers.armed[station] && next <= self.end {
            routers.armed[station] = next;
            let index = (medium as Key) << STATION_BITS | station as Key;
            self.agenda.push(next, kind::ROUTER | index);
        }
    }

    /// A timer of a router may have run out.
    #[inline(never)]
    pub(super) fn on_router(&mut self, index: usize) {
        self.agenda.pop();
        let (medium, station) = (index >> STATION_BITS, index & ((1 << STATION_BITS) - 1));
        let now = self.now;
        let Some(routers) = self.routers(medium) else { return };
        if routers.armed[station] != now {
            return;
        }
        routers.armed[station] = Time::MAX;
        if routers.of[station].next() <= now {
            self.ask(medium, station, |router, now| router.advance(now));
        } else {
            self.arm_router(medium, station);
        }
    }
}
