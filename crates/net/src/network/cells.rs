//! A Cellular IP network's part of the run: packets by way of the stations' caches, handoffs, and what is lost in them.
//! What stations know is [`crate::cells`]'.

use super::{END, Network, kind};
use crate::Error;
use crate::agenda::Key;
use crate::cells::{Control, NONE, Phase};
use crate::connection::Path;
use crate::link::BITS_NS;
use crate::packet::{Body, DropCause, InTransit, Packet, PacketId, bits};
use truckee_scenario::model::{Handoff, MobileHost, Moves, NodeId};
use truckee_scenario::route::Routes;
use truckee_tcp::{Span, Time};

/// What happens to a host, in the lower bits of the event's index.
const MOVE: usize = 0;
const RADIO: usize = 1;
const UPDATE: usize = 2;
const HELD: usize = 3;

fn event(host: usize, what: usize) -> Key {
    kind::CELL | (host as Key) << 2 | what as Key
}

/// The ends of a packet that goes by the stations.
#[derive(Clone, Copy)]
struct Ends {
    from: NodeId,
    to: NodeId,
}

impl Network<'_> {
    /// No way leads through a mobile host: radio links are none of a router's.
    pub(super) fn hide_radio(&self, routes: &mut Routes<'_>) {
        for link in
            self.cells.iter().flat_map(|cells| (0..self.links.len()).filter(|l| cells.radio_of(*l).is_some()))
        {
            routes.change(link / 2, link.is_multiple_of(2), None, Some(false));
        }
    }

    /// The first links of both ways between two nodes, one of which is a mobile host; beyond them packets go by tables.
    /// `None`: neither is one.
    pub(super) fn mobile_ways(
        &mut self,
        routes: &mut Routes<'_>,
        flow: Option<usize>,
        name: &str,
        (from, to): (NodeId, NodeId),
    ) -> Result<Option<(Path, Path)>, Error> {
        let Some(cells) = &self.cells else { return Ok(None) };
        if !cells.concern(from, to) {
            return Ok(None);
        }
        let mut ways = [Path { start: 0, len: 0 }; 2];
        for (way, node) in ways.iter_mut().zip([from, to]) {
            *way = match self.host_at(node) {
                Some(host) => self.path_up(host),
                None => {
                    let gateway = self.gateway();
                    let links = self.numbers(&self.hops_between(routes, name, node, gateway, None)?);
                    let first = links[0];
                    if let (Some(flow), Some(cells)) = (flow, &mut self.cells) {
                        cells.wired[flow] = links;
                    }
                    self.add_first(first)
                }
            };
        }
        Ok(Some((ways[0], ways[1])))
    }

    pub(super) fn gateway(&self) -> NodeId {
        self.cells.as_ref().map_or(0, |cells| cells.config.gateway)
    }

    fn host_at(&self, node: NodeId) -> Option<usize> {
        self.cells.as_ref().and_then(|cells| cells.host(node))
    }

    /// A way of one link, beyond which there is more: a packet that comes to its end is off its route.
    fn add_first(&mut self, link: u32) -> Path {
        let path = Path { start: self.paths.len() as u32, len: 1 };
        self.paths.extend([link, link, END]);
        path
    }

    /// The first link of what a host sends at present.
    fn path_up(&mut self, host: usize) -> Path {
        let Some(cells) = &self.cells else { return Path { start: 0, len: 0 } };
        let host_now = &cells.hosts[host];
        let (station, known) = (host_now.station, host_now.firsts[host_now.station]);
        if known != NONE {
            return Path { start: known, len: 1 };
        }
        let link = host_now.links[station] ^ 1;
        let path = self.add_first(link);
        if let Some(cells) = &mut self.cells {
            cells.hosts[host].firsts[station] = path.start;
        }
        path
    }

    /// Begins the run: a host sends by its station alone, and its first move and update are on the agenda.
    pub(super) fn begin_cells(&mut self) {
        let Some(cells) = &mut self.cells else { return };
        let (update, active) = (cells.config.route_update, cells.config.active_timeout);
        for index in 0..cells.hosts.len() {
            let host = &mut cells.hosts[index];
            (host.active_until, host.armed) = (Time::at(active), Time::at(update));
            self.agenda.push(host.armed, event(index, UPDATE));
            if let Some(at) = host.next_move(Time::ZERO) {
                self.agenda.push(at, event(index, MOVE));
            }
            let in_use = host.links[host.station];
            for link in host.links.iter().filter(|link| **link != NONE && **link != in_use) {
                self.links.fail((*link ^ 1) as usize, Time::ZERO);
            }
        }
    }

    /// Something happens to a host.
    #[inline(never)]
    pub(super) fn on_cell(&mut self, index: usize) {
        self.agenda.pop();
        let host = index >> 2;
        match index & 3 {
            MOVE => self.on_handoff(host),
            RADIO => self.on_radio(host),
            UPDATE => self.on_update(host),
            _ => self.on_held(host),
        }
    }

    fn on_handoff(&mut self, index: usize) {
        let now = self.now;
        let Some(cells) = &mut self.cells else { return };
        let host = &mut cells.hosts[index];
        let config: &MobileHost = host.config;
        let here = station_node(cells.config, host.station);
        let target = host.target(here).filter(|node| *node != here);
        let poisson = matches!(config.moves, Moves::Round { poisson: true, .. });
        let skipped = host.phase != Phase::Attached || target.is_none();
        // The time to the next move of a Poisson process begins with the end of this one.
        if (!poisson || skipped)
            && let Some(at) = host.next_move(now)
        {
            self.agenda.push(at, event(index, MOVE));
        }
        let Some(target) = target.filter(|_| !skipped).and_then(|node| cells.station(node)) else { return };
        match config.handoff {
            Handoff::Hard => self.tune(index, target),
            Handoff::Semisoft { delay, .. } => {
                let host = &mut cells.hosts[index];
                host.phase = Phase::Leaving(target);
                let up = host.links[target] ^ 1;
                self.links.restore(up as usize);
                self.agenda.push(now.saturating_add(delay), event(index, RADIO));
                self.send_control(index, target, Control::Semisoft);
            }
        }
    }

    fn on_radio(&mut self, index: usize) {
        let phase = self.cells.as_ref().map(|cells| cells.hosts[index].phase);
        match phase {
            Some(Phase::Leaving(target)) => self.tune(index, target),
            Some(Phase::Tuning(target)) => self.attach(index, target),
            _ => {}
        }
    }

    /// A host leaves its station, as soon as it has what is just coming from there: what waits or comes there later it does
    /// not hear, and what waits to be sent by that station is lost.
    fn tune(&mut self, index: usize, target: usize) {
        let now = self.now;
        let Some(cells) = &mut self.cells else { return };
        let host = &mut cells.hosts[index];
        let (down, gap) = (host.links[host.station] as usize, host.config.gap);
        host.phase = Phase::Leaving(target);
        if let Some(InTransit { arrival, packet, .. }) = self.links.next_arrival(down)
            && arrival > now
            && arrival < now.saturating_add(self.air_time(down, packet))
        {
            return self.agenda.push(arrival, event(index, RADIO));
        }
        let Some(cells) = &mut self.cells else { return };
        cells.hosts[index].phase = Phase::Tuning(target);
        let up = down ^ 1;
        for id in self.links.fail(up, now) {
            self.packets.remove(id);
            self.on_drop(id, up, DropCause::Handoff, now);
        }
        if gap.is_zero() {
            self.attach(index, target);
        } else {
            self.agenda.push(self.now.saturating_add(gap), event(index, RADIO));
        }
    }

    /// A host hears another station, and tells the network so.
    fn attach(&mut self, index: usize, target: usize) {
        let (now, scenario, warm) = (self.now, self.scenario, self.warm);
        let Some(cells) = &mut self.cells else { return };
        let host = &mut cells.hosts[index];
        (host.station, host.phase, host.since) = (target, Phase::Attached, now);
        host.book.handoffs += u64::from(warm);
        let (down, node) = (host.links[target] as usize, host.config.node);
        if matches!(host.config.moves, Moves::Round { poisson: true, .. })
            && let Some(at) = host.next_move(now)
        {
            self.agenda.push(at, event(index, MOVE));
        }
        self.links.restore(down ^ 1);
        let path = self.path_up(index);
        for (flow, of) in scenario.flows.iter().enumerate().filter(|(_, of)| of.from == node || of.to == node)
        {
            for connection in self.flows[flow].connections() {
                let connection = &mut self.connections[connection];
                *(if of.from == node { &mut connection.forward } else { &mut connection.back }) = path;
            }
        }
        for source in &mut self.sources {
            if scenario.traffic[source.traffic].from == node {
                source.path = path;
            }
        }
        self.send_control(index, target, Control::Route);
        self.recount_load();
    }

    /// A host sends a control packet by the station of this number.
    fn send_control(&mut self, index: usize, station: usize, control: Control) {
        let (now, warm) = (self.now, self.warm);
        let Some(cells) = &mut self.cells else { return };
        let bytes = cells.config.update_bytes;
        let host = &mut cells.hosts[index];
        let link = host.links[station] ^ 1;
        host.sent = now;
        if warm {
            let sent = match control {
                Control::Paging => &mut host.book.paging_updates,
                Control::Route | Control::Semisoft => &mut host.book.route_updates,
            };
            *sent += 1;
            host.book.update_bytes += u64::from(bytes);
        }
        let id = self.packets.add(Packet::control(now, index, control as u8, bytes));
        self.send_into(id, link);
    }

    /// It may be time for a host to say where it is.
    fn on_update(&mut self, index: usize) {
        let now = self.now;
        let Some(cells) = &mut self.cells else { return };
        let (route, paging) = (cells.config.route_update, cells.config.paging_update);
        let host = &mut cells.hosts[index];
        if host.armed != now {
            return;
        }
        let idle = host.is_idle(now);
        let due = host.sent.saturating_add(if idle { paging } else { route });
        // One that is about to go says where it is when it has come; by its old station it would undo what it announced.
        let next = if due > now { due } else { now.saturating_add(if idle { paging } else { route }) };
        host.armed = next;
        let station = (due <= now && host.phase == Phase::Attached).then_some(host.station);
        self.agenda.push(next, event(index, UPDATE));
        if let Some(station) = station {
            self.send_control(index, station, if idle { Control::Paging } else { Control::Route });
        }
    }

    /// A host has sent or heard something at `at`: one that was idle says where it is.
    fn stir(&mut self, index: usize, at: Time) {
        let now = self.now;
        let Some(cells) = &mut self.cells else { return };
        let (active, route) = (cells.config.active_timeout, cells.config.route_update);
        let host = &mut cells.hosts[index];
        let was_idle = host.is_idle(now);
        host.active_until = host.active_until.max(at.saturating_add(active));
        if was_idle && host.phase == Phase::Attached {
            host.armed = now.saturating_add(route);
            let (armed, station) = (host.armed, host.station);
            self.agenda.push(armed, event(index, UPDATE));
            self.send_control(index, station, Control::Route);
        }
    }

    /// The ends of a packet, if one of them is a mobile host; of a control packet the gateway is the other.
    fn mobile_ends(&self, id: PacketId) -> Option<Ends> {
        let cells = self.cells.as_ref()?;
        let packet = &self.packets[id];
        let ends = match packet.body() {
            Body::Message(_) => return None,
            Body::Control(host) => Ends { from: cells.hosts[host].config.node, to: cells.config.gateway },
            Body::Datagram(source) => {
                let traffic = &self.scenario.traffic[self.sources[source].traffic];
                Ends { from: traffic.from, to: traffic.to }
            }
            Body::Segment(index) => {
                let flow = &self.scenario.flows[self.connections[index].flow()];
                match packet.is(bits::FORWARD) {
                    true => Ends { from: flow.from, to: flow.to },
                    false => Ends { from: flow.to, to: flow.from },
                }
            }
        };
        cells.concern(ends.from, ends.to).then_some(ends)
    }

    /// Sends a packet from or to a mobile host on that is at the far end of link `from`; whether it is one.
    pub(super) fn by_cells(&mut self, id: PacketId, from: usize) -> bool {
        let Some(Ends { from: source, to }) = self.mobile_ends(id) else { return false };
        let node = self.scenario.far_end(from);
        let now = self.now;
        let Some(cells) = &mut self.cells else { return false };
        if cells.host(node).is_some() {
            self.at_host(id, node, from);
            return true;
        }
        let Some(station) = cells.station(node) else {
            self.outside(id, node, to, from);
            return true;
        };
        if let (true, Some(host)) = (cells.rises(from), cells.host(source)) {
            let packet = self.packets[id];
            let up = cells.up(station);
            if let Body::Control(_) = packet.body() {
                let control = Control::of(packet.flags);
                cells.on_control(host, station, from as u32, control, now);
                if control == Control::Route {
                    self.let_go(host, station, from as u32 ^ 1);
                }
                match up {
                    Some(up) => self.send_into(id, up),
                    None => self.packets.remove(id),
                }
                return true;
            }
            cells.on_rising(host, station, from as u32, now);
            if cells.radio_of(from).is_some() {
                let host_now = &mut cells.hosts[host];
                host_now.sent = host_now.sent.max(packet.sent);
                self.stir(host, packet.sent);
            }
            if let Some(up) = up {
                self.send_into(id, up);
                return true;
            }
        }
        match self.host_at(to) {
            Some(host) => self.send_down(id, host, station, from),
            None => self.outside(id, node, to, from),
        }
        true
    }

    /// A packet is at a node that is no station, or leaves the gateway for the outside.
    fn outside(&mut self, id: PacketId, node: NodeId, to: NodeId, from: usize) {
        let goal = if self.host_at(to).is_some() { self.gateway() } else { to };
        if node == goal {
            self.packets.remove(id);
            return self.on_rare_arrival(id);
        }
        match self.tables.as_mut().and_then(|tables| tables.next(self.scenario, node, goal)) {
            Some(link) => self.send_over(id, link),
            None => {
                self.packets.remove(id);
                self.on_drop(id, from, DropCause::Outage, self.now);
            }
        }
    }

    /// For how long a packet is on the air over a link.
    fn air_time(&self, link: usize, id: PacketId) -> Span {
        Span::ns(u64::from(self.packets[id].wire) * BITS_NS / self.links.rate(link))
    }

    /// A packet has come to where a mobile host is, who hears it or not.
    fn at_host(&mut self, id: PacketId, node: NodeId, from: usize) {
        let (now, air_time) = (self.now, self.air_time(from, id));
        let Some(cells) = &mut self.cells else { return };
        let Some(host) = cells.host(node) else { return };
        if !cells.hosts[host].hears(from as u32, Time::at(now.saturating_sub(Time::at(air_time)))) {
            self.packets.remove(id);
            return self.on_drop(id, from, DropCause::Handoff, now);
        }
        cells.twins.arrive(id);
        self.stir(host, now);
        self.packets.remove(id);
        self.on_rare_arrival(id);
    }

    /// Sends a packet for a host on from a station, by each way that its caches know.
    fn send_down(&mut self, id: PacketId, host: usize, station: usize, from: usize) {
        let (now, warm) = (self.now, self.warm);
        let Some(cells) = &mut self.cells else { return };
        let links = cells.links_down(host, station, now);
        let Some((&newest, older)) = links.split_first() else {
            cells.give_back(links);
            self.packets.remove(id);
            return self.on_drop(id, from, DropCause::Handoff, now);
        };
        // Copies first: what becomes of the packet itself may free its place.
        for &link in older {
            let copy = self.packets.add_copy(id);
            if let Some(cells) = &mut self.cells {
                cells.twins.split(id, copy);
                cells.hosts[host].book.copies += u64::from(warm);
            }
            self.send_or_hold(copy, host, station, link);
        }
        self.send_or_hold(id, host, station, newest);
        if let Some(cells) = &mut self.cells {
            cells.give_back(links);
        }
    }

    fn send_or_hold(&mut self, id: PacketId, host: usize, station: usize, link: u32) {
        let now = self.now;
        let held = self.cells.as_mut().and_then(|cells| cells.hosts[host].held.as_mut());
        let Some(hold) = held.filter(|hold| hold.station == station && hold.link == link) else {
            return self.send_into(id, link);
        };
        let due = now.saturating_add(hold.lasts);
        hold.packets.push_back((due, id));
        self.agenda.push(due, event(host, HELD));
    }

    /// Packets that were held back are due.
    fn on_held(&mut self, host: usize) {
        let now = self.now;
        while let Some(hold) = self.cells.as_mut().and_then(|cells| cells.hosts[host].held.as_mut())
            && let Some((_, id)) = hold.packets.pop_front_if(|(due, _)| *due <= now)
        {
            let link = hold.link;
            self.send_into(id, link);
        }
    }

    /// The host has come: what is held back for it goes on at once, and nothing is any more.
    fn let_go(&mut self, host: usize, station: usize, link: u32) {
        let Some(cells) = &mut self.cells else { return };
        let here = cells.hosts[host].held.take_if(|hold| hold.station == station && hold.link == link);
        for (_, id) in here.into_iter().flat_map(|hold| hold.packets) {
            self.send_into(id, link);
        }
    }

    /// Why a packet is lost that a link drops, and whether that is a loss: it is none where another copy comes.
    pub(super) fn loss_of(&mut self, id: PacketId, link: usize, cause: DropCause) -> Option<DropCause> {
        let warm = self.warm;
        let Some(cells) = &mut self.cells else { return Some(cause) };
        let deaf = cause == DropCause::Outage && cells.radio_of(link).is_some() && !self.links.is_up(link);
        let cause = if deaf { DropCause::Handoff } else { cause };
        if cells.twins.is_last(id) {
            return Some(cause);
        }
        if let Some(host) = cells.radio_of(link) {
            cells.hosts[host].book.copies_lost += u64::from(warm);
        }
        None
    }

    /// The links of a connection's way as they are now, of one that a mobile host is an end of.
    pub(super) fn mobile_way(&self, index: usize, forward: bool) -> Option<Vec<usize>> {
        let cells = self.cells.as_ref()?;
        let number = self.connections[index].flow();
        let flow = &self.scenario.flows[number];
        if !cells.concern(flow.from, flow.to) {
            return None;
        }
        let ends = [cells.host(flow.from), cells.host(flow.to)];
        let half =
            |end: Option<usize>| end.map_or_else(|| cells.wired[number].clone(), |host| cells.chain(host));
        let [up, down] = ends.map(half);
        let way: Vec<usize> =
            up.iter().map(|l| *l as usize).chain(down.iter().rev().map(|l| (*l ^ 1) as usize)).collect();
        Some(if forward { way } else { way.into_iter().rev().map(|link| link ^ 1).collect() })
    }
}

/// The node of a station.
fn station_node(config: &truckee_scenario::model::Cells, station: usize) -> NodeId {
    station.checked_sub(1).and_then(|k| config.stations.get(k)).copied().unwrap_or(config.gateway)
}
