//! The emulated network: lanes, the ways through them, cross traffic, changes and books. It is told what happens and when
//! and says what leaves where; it reads no clock and touches no device, so that a test can drive it through any moment.

mod changes;

use super::book::{Book, FlowBook};
use super::delays::Delays;
use super::ecn;
use super::lane::{Lane, Offer, Offered};
use super::listener::LossListener;
use super::plan::{END, FlowPlan, Plan, Source, Wiring};
use super::pool::{Owner, Packet, Pool};
use super::segment::{self, Header, Tcp};
use super::tap::Tap;
use super::transit::{InTransit, PacketId};
use super::truth::Dropped;
use super::{Cause, FLOW_PORT, LaneCounters};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use truckee_channel::{CROSS_TRAFFIC, Time};
use truckee_scenario::model::LinkChange;
use truckee_scenario::outcome::{Drops, LinkOutcome, QueueSeries, TrafficOutcome, Vantage};

/// What happens by itself, in the order of what happens first at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The time that is measured ends.
    End,
    /// The warm-up ends.
    Warm,
    /// The change of this number.
    Change(u32),
    /// The transmitter of this lane, whose queue decides when packets leave it, is free: what leaves makes room for what
    /// comes at the same time.
    Serve(u32),
    /// The next packet on this lane is at its far end.
    Lane(u32),
    /// This source sends.
    Source(u32),
}

/// Who is told of a packet that leaves the network.
pub(super) trait Exit {
    /// The packet leaves by the port of this number, `due` being the moment it should; returns when it does.
    fn leave(&mut self, port: usize, frame: &[u8], due: Time) -> Time;
}

/// The emulated network.
#[derive(Debug)]
pub(super) struct Network {
    wiring: Wiring,
    lanes: Vec<Lane>,
    ways: Vec<u32>,
    /// The position of each node among the endpoints; `END`: it is none.
    port_of: Vec<u32>,
    ports: usize,
    between: Vec<u32>,
    flows: Vec<FlowPlan>,
    books: Vec<Book>,
    sources: Vec<Source>,
    traffic: Vec<TrafficBook>,
    changes: Vec<(Time, LinkChange)>,
    measured: (Time, Time),
    measuring: bool,
    agenda: BinaryHeap<Reverse<(Time, Event)>>,
    packets: Pool,
    /// Packets that no way leads on: to addresses of no node, multicast.
    pub strays: u64,
    /// What is kept of the packets of each flow; none where nobody wants them.
    taps: Vec<Tap>,
    /// What one call has lost.
    lost: Vec<(PacketId, Cause)>,
    listener: Option<Box<dyn LossListener>>,
}

#[derive(Debug, Default)]
struct TrafficBook {
    name: String,
    sent: u64,
    delivered: u64,
    bytes: u64,
    drops: Drops,
    delays: Delays,
}

impl Network {
    /// The network of a plan; `series`: whether time series are kept.
    pub fn new(plan: Plan, series: bool) -> Self {
        let nodes = plan.endpoints.iter().max().map_or(0, |last| last + 1);
        let mut port_of = vec![END; nodes];
        plan.endpoints.iter().enumerate().for_each(|(port, &node)| port_of[node] = port as u32);
        let mut network = Self {
            wiring: plan.wiring,
            lanes: plan.lanes,
            ways: plan.ways,
            port_of,
            ports: plan.endpoints.len(),
            between: plan.between,
            books: plan.flows.iter().map(|_| Book::new(series)).collect(),
            flows: plan.flows,
            sources: plan.sources,
            traffic: plan
                .traffic
                .into_iter()
                .map(|name| TrafficBook { name, ..TrafficBook::default() })
                .collect(),
            changes: plan.changes,
            measured: plan.measured,
            measuring: false,
            agenda: BinaryHeap::new(),
            packets: Pool::default(),
            strays: 0,
            taps: Vec::new(),
            lost: Vec::new(),
            listener: None,
        };
        if series {
            network.lanes.iter_mut().for_each(Lane::record_queue);
        }
        network.arrange();
        network
    }

    /// The same, and if so the packets of the flows are kept at that end of theirs.
    pub fn tapped(mut self, at: Option<Vantage>) -> Self {
        self.taps = at.into_iter().flat_map(|at| self.flows.iter().map(move |_| Tap::new(at))).collect();
        self
    }

    /// The same, and this one is told of losses as they happen.
    pub fn telling(mut self, listener: Option<Box<dyn LossListener>>) -> Self {
        self.listener = listener;
        self
    }

    /// Tells of what has changed in a flow's book.
    fn tell(&mut self, flow: usize) {
        if let Some(listener) = self.listener.as_mut().filter(|listener| listener.wants(flow))
            && let Some((port, missing)) = self.books[flow].take_change()
        {
            listener.hear(flow, port, &missing);
        }
    }

    /// Puts what is known of the future on the agenda.
    fn arrange(&mut self) {
        self.agenda.push(Reverse((self.measured.0, Event::Warm)));
        self.agenda.push(Reverse((self.measured.1, Event::End)));
        for (index, (at, _)) in self.changes.iter().enumerate() {
            self.agenda.push(Reverse((*at, Event::Change(index as u32))));
        }
        for (index, source) in self.sources.iter_mut().enumerate() {
            self.agenda.push(Reverse((source.process.next(), Event::Source(index as u32))));
        }
    }

    /// When something happens by itself next.
    pub fn next_event(&self) -> Option<Time> {
        self.agenda.peek().map(|Reverse((at, _))| *at)
    }

    /// Lets happen what is due by `now`, each thing at its own time.
    pub fn advance(&mut self, now: Time, exit: &mut impl Exit) {
        while let Some(&Reverse((at, event))) = self.agenda.peek()
            && at <= now
        {
            self.agenda.pop();
            match event {
                Event::Serve(lane) => self.serve(at, lane),
                Event::Lane(lane) => self.on_lane(at, lane, exit),
                Event::Source(source) => self.on_source(at, source),
                Event::Change(change) => self.on_change(at, change as usize),
                Event::Warm => self.on_warm(),
                Event::End => self.on_end(),
            }
        }
    }

    /// A frame was read from a port at `now`; its IP packet begins at `offset`. [`Network::advance`] has been told of
    /// `now` before.
    pub fn enter(&mut self, now: Time, port: usize, frame: &[u8], offset: usize) {
        let packet = &frame[offset.min(frame.len())..];
        let header = segment::read(packet);
        let Some((to, way, owner)) = self.find_way(now, port, header.as_ref()) else {
            self.strays += 1;
            return;
        };
        let flow = match owner {
            Owner::Flow(seen) => {
                if let Some(tap) = self.taps.get_mut(seen.flow as usize) {
                    tap.enters(now, seen.connection, seen.forward, packet);
                }
                seen.flow
            }
            _ => CROSS_TRAFFIC,
        };
        let packet = Packet {
            owner,
            at: way,
            wire: packet.len() as u32,
            flow,
            data: header.is_some_and(|h| h.data),
            key: segment::flow_key(packet),
            ecn: ecn::is_capable(packet),
            marked: false,
            copy: false,
            number: None,
            born: now,
            to: to as u32,
            frame: Vec::new(),
        };
        let id = self.packets.add(packet, frame);
        self.inject(now, id);
    }

    /// The port that a frame would leave by if there were no lanes on its way: what holds before a run begins.
    pub fn port_out(&self, port: usize, packet: &[u8]) -> Option<usize> {
        self.out(port, segment::read(packet).as_ref())
    }

    fn out(&self, port: usize, header: Option<&Header>) -> Option<usize> {
        match self.wiring {
            Wiring::Pair => Some(1 - port),
            Wiring::ByAddress => {
                let out = *self.port_of.get(header?.to?)?;
                (out != END && out as usize != port).then_some(out as usize)
            }
        }
    }

    /// Where a packet goes, by which way, and what it belongs to.
    fn find_way(&mut self, now: Time, port: usize, header: Option<&Header>) -> Option<(usize, u32, Owner)> {
        let to = self.out(port, header)?;
        if let Some(tcp) = header.and_then(|h| h.tcp)
            && let Some((flow, forward)) = self.flow_of(port, to, &tcp)
        {
            let plan = &self.flows[flow];
            let way = if forward { plan.forward } else { plan.back };
            let seen = self.books[flow].send(now, flow as u32, &tcp, forward);
            self.tell(flow);
            return Some((to, way, seen.map_or(Owner::None, Owner::Flow)));
        }
        let way = self.between[port * self.ports + to];
        (way != END).then_some((to, way, Owner::None))
    }

    /// The flow that a segment belongs to, by the server's port at either end of it, and whether it goes the way of the
    /// data.
    fn flow_of(&self, from: usize, to: usize, tcp: &Tcp) -> Option<(usize, bool)> {
        let is = |port: u16| {
            let index = usize::from(port.checked_sub(FLOW_PORT)?);
            let flow = self.flows.get(index)?;
            let ends = (self.port_of[flow.from] as usize, self.port_of[flow.to] as usize);
            let forward = ends == (from, to);
            (forward || ends == (to, from)).then_some((index, forward))
        };
        is(tcp.destination).or_else(|| is(tcp.source))
    }

    /// Offers a packet to the lane at its position.
    fn inject(&mut self, now: Time, id: PacketId) {
        let &Packet { at, wire: bytes, flow, data, key, ecn, .. } = &self.packets[id];
        let (lane, offer) = (self.ways[at as usize], Offer { bytes, flow, data, key, ecn });
        if self.lanes[lane as usize].is_active() {
            self.enqueue(now, id, lane, offer);
        } else {
            let offered = self.lanes[lane as usize].offer(now, offer);
            self.go_on(id, lane, offered);
        }
    }

    /// Offers a packet to a lane whose queue decides when it leaves.
    fn enqueue(&mut self, now: Time, id: PacketId, lane: u32, offer: Offer) {
        let mut lost = std::mem::take(&mut self.lost);
        let wake = self.lanes[lane as usize].enqueue(now, id, offer, &mut lost);
        self.lose(lost, lane, now);
        match wake {
            // The transmitter is idle: what came does not wait, and takes no place.
            Some(wake) if wake == now => self.serve(now, lane),
            Some(wake) => self.agenda.push(Reverse((wake, Event::Serve(lane)))),
            None => {}
        }
    }

    /// The transmitter of such a lane may be free.
    fn serve(&mut self, now: Time, lane: u32) {
        let mut lost = std::mem::take(&mut self.lost);
        let (left, again) = self.lanes[lane as usize].serve(now, &mut lost);
        self.lose(lost, lane, now);
        if let Some((id, became)) = left {
            self.go_on(id, lane, became);
        }
        if let Some(again) = again {
            self.agenda.push(Reverse((again, Event::Serve(lane))));
        }
    }

    /// Packets are lost on a lane.
    fn lose(&mut self, mut lost: Vec<(PacketId, Cause)>, lane: u32, at: Time) {
        for (id, cause) in lost.drain(..) {
            self.packets.remove(id);
            self.on_drop(id, lane, Dropped { at, cause });
        }
        self.lost = lost;
    }

    /// What becomes of a packet behind a lane's queue.
    fn go_on(&mut self, id: PacketId, lane: u32, offered: Offered) {
        match offered {
            Offered::Dropped(cause, at) => {
                self.packets.remove(id);
                self.on_drop(id, lane, Dropped { at, cause });
            }
            Offered::Accepted { departure, arrival, copy, marked } => {
                let packet = &mut self.packets[id];
                packet.marked |= marked;
                if let Owner::Flow(seen) = packet.owner
                    && self.ways[packet.at as usize + 1] == END
                    && let Some(tap) = self.taps.get_mut(seen.flow as usize)
                {
                    packet.number = Some(tap.taken(seen.forward));
                }
                self.carry(lane, InTransit { arrival, departure, packet: id });
                if let Some(arrival) = copy {
                    let packet = self.packets.double(id);
                    self.carry(lane, InTransit { arrival, departure, packet });
                }
            }
        }
    }

    fn carry(&mut self, lane: u32, item: InTransit) {
        self.lanes[lane as usize].carry(item);
        self.arm(lane);
    }

    /// Sees to it that the agenda knows of the lane's next arrival.
    fn arm(&mut self, lane: u32) {
        let link = &mut self.lanes[lane as usize];
        if let Some(next) = link.next_arrival()
            && next < link.armed
        {
            link.armed = next;
            self.agenda.push(Reverse((next, Event::Lane(lane))));
        }
    }

    fn on_lane(&mut self, at: Time, lane: u32, exit: &mut impl Exit) {
        let link = &mut self.lanes[lane as usize];
        if link.armed != at {
            return; // left over from before a change
        }
        link.armed = Time::MAX;
        while let Some((id, arrival)) = self.lanes[lane as usize].arrive(at) {
            let packet = &mut self.packets[id];
            packet.at += 1;
            if self.ways[packet.at as usize] == END {
                self.packets.remove(id);
                self.on_arrival(id, arrival, exit);
            } else {
                self.inject(at, id);
            }
        }
        self.arm(lane);
    }

    /// A packet, whose place is free already, has come through.
    fn on_arrival(&mut self, id: PacketId, due: Time, exit: &mut impl Exit) {
        let packet = &mut self.packets[id];
        if let Owner::Traffic(index) = packet.owner {
            if self.measuring {
                let book = &mut self.traffic[index as usize];
                book.delivered += 1;
                book.bytes += u64::from(packet.wire);
                book.delays.add(due - packet.born);
            }
            return;
        }
        if packet.marked {
            let ip_at = packet.frame.len() - packet.wire as usize;
            ecn::mark(&mut packet.frame[ip_at..]);
        }
        let packet = &self.packets[id];
        let when = exit.leave(packet.to as usize, &packet.frame, due);
        if let Owner::Flow(seen) = &packet.owner {
            self.books[seen.flow as usize].arrive(when, seen);
            if let Some(tap) = self.taps.get_mut(seen.flow as usize) {
                tap.exits(when, seen.connection, seen.forward, &packet.frame);
                if let Some(number) = packet.number.filter(|_| !packet.copy) {
                    tap.late(seen.forward, number, when.saturating_sub(due));
                }
            }
        }
    }

    /// A packet, whose place is free already, was lost on a lane.
    fn on_drop(&mut self, id: PacketId, lane: u32, drop: Dropped) {
        let packet = &self.packets[id];
        match &packet.owner {
            Owner::None => {}
            Owner::Traffic(index) => {
                if self.measuring {
                    drop.cause.count(&mut self.traffic[*index as usize].drops);
                }
            }
            Owner::Flow(seen) => {
                let name = &self.lanes[lane as usize].name;
                if let Some(tap) = self.taps.get_mut(seen.flow as usize) {
                    let lost = (drop.cause, &**name);
                    tap.lost(packet.born, seen.connection, seen.forward, &packet.frame, lost);
                }
                self.books[seen.flow as usize].lose(seen, packet.born, drop, packet.copy, name);
                let flow = seen.flow as usize;
                self.tell(flow);
            }
        }
    }

    fn on_source(&mut self, now: Time, index: u32) {
        let source = &mut self.sources[index as usize];
        if now >= source.stop {
            return;
        }
        self.agenda.push(Reverse((source.process.next(), Event::Source(index))));
        if self.measuring {
            self.traffic[source.traffic as usize].sent += 1;
        }
        let packet = Packet {
            owner: Owner::Traffic(source.traffic),
            at: source.way,
            wire: source.packet,
            flow: CROSS_TRAFFIC,
            data: source.packet > 0,
            key: 1 << 63 | u64::from(index),
            ecn: false,
            marked: false,
            copy: false,
            number: None,
            born: now,
            to: END,
            frame: Vec::new(),
        };
        let id = self.packets.add(packet, &[]);
        self.inject(now, id);
    }

    fn on_warm(&mut self) {
        self.measuring = true;
        self.lanes.iter_mut().for_each(Lane::begin_measuring);
        self.books.iter_mut().for_each(Book::begin_measuring);
    }

    fn on_end(&mut self) {
        self.measuring = false;
        self.lanes.iter_mut().for_each(Lane::end_measuring);
        self.books.iter_mut().for_each(Book::close);
    }

    /// What every lane shows at `now`.
    pub fn counters(&mut self, now: Time) -> Vec<LaneCounters> {
        self.lanes.iter_mut().map(|lane| lane.counters(now)).collect()
    }

    /// What waited at each lane until the run ended at `now`; nothing where no series are kept.
    pub fn take_queues(&mut self, now: Time) -> Vec<QueueSeries> {
        let end = now.min(self.measured.1);
        self.lanes.iter_mut().filter_map(|lane| lane.take_queue(end)).collect()
    }

    /// The books, the run having ended at `now`.
    pub fn finish(mut self, now: Time) -> (Vec<FlowBook>, Vec<LinkOutcome>, Vec<TrafficOutcome>) {
        let (from, last) = self.measured;
        let end = now.min(last);
        let links = self.lanes.iter_mut().map(|lane| lane.outcome(from, end)).collect();
        let span = end.saturating_sub(from).seconds();
        let traffic = self.traffic.iter().map(|book| TrafficOutcome {
            name: book.name.clone(),
            packets_sent: book.sent,
            packets_delivered: book.delivered,
            delivered_bps: if span > 0.0 { book.bytes as f64 * 8.0 / span } else { 0.0 },
            drops: book.drops,
            delay_s: book.delays.outcome(),
        });
        let traffic = traffic.collect();
        let mut books: Vec<FlowBook> = self.books.into_iter().map(Book::finish).collect();
        for (book, tap) in books.iter_mut().zip(self.taps) {
            (book.packets, book.packets_left_out, book.late) = tap.finish();
        }
        (books, links, traffic)
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
