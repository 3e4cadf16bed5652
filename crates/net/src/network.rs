//! The event loop, and what joins links, connections, applications and cross traffic.

use crate::agenda::{Agenda, Key};
use crate::app::{Application, Command};
use crate::arrivals::Process;
use crate::connection::{Connection, NEVER, Path, Template};
use crate::digest::Digest;
use crate::link::{self, Link, Offered};
use crate::packet::{DropCause, InTransit, Packet, PacketId, Pool, TRAFFIC, bits};
use crate::record::{Deliveries, FlowBook, Totals, TrafficBook, count_drop};
use crate::{Error, Options};
use truckee_channel::random::stream;
use truckee_scenario::Scenario;
use truckee_scenario::model::{App, Change, Which};
use truckee_scenario::outcome::{AckPoint, DropPoint, FlowSeries, LossPoint, SegmentPoint, WindowPoint};
use truckee_scenario::route::{Hop, Routes};
use truckee_tcp::{Cause, LossKind, Segment, Time};

/// Kinds of components in an event's key: the upper three bits. At equal times the lower kind goes first.
mod kind {
    use super::Key;
    pub const SHIFT: u32 = 29;
    pub const CHANGE: Key = 0 << SHIFT;
    pub const WARM: Key = 1 << SHIFT;
    pub const LINK: Key = 2 << SHIFT;
    pub const APP: Key = 3 << SHIFT;
    pub const SENDER: Key = 4 << SHIFT;
    pub const RECEIVER: Key = 5 << SHIFT;
    pub const SOURCE: Key = 6 << SHIFT;
    pub const MASK: Key = 7 << SHIFT;
}

/// Ends each path in the table of paths.
const END: u32 = u32::MAX;

/// A flow in operation.
pub struct FlowState {
    pub app: Application,
    pub template: Template,
    pub book: FlowBook,
    /// Its connections: one slot a lane.
    first_connection: usize,
    armed: Time,
}

impl FlowState {
    /// The slots of its connections.
    fn connections(&self) -> std::ops::Range<usize> {
        self.first_connection..self.first_connection + self.app.lanes()
    }
}

/// A source of cross traffic.
struct Source {
    traffic: usize,
    process: Process,
    path: Path,
    packet: u32,
    stop: Time,
}

/// A network in simulated time.
pub struct Network<'a> {
    scenario: &'a Scenario,
    /// Whether anything changes in mid run.
    changing: bool,
    end: Time,
    agenda: Agenda,
    routes: Routes<'a>,
    pub links: Vec<Link>,
    pub links_warm: Vec<link::Counts>,
    /// Table of paths: numbers of links, each path followed by [`END`].
    paths: Vec<u32>,
    packets: Pool,
    pub connections: Vec<Connection>,
    pub flows: Vec<FlowState>,
    sources: Vec<Source>,
    pub traffic: Vec<TrafficBook>,
    pub digest: Digest,
    pub events: u64,
    pub now: Time,
    pub warm: bool,
    unfinished: usize,
    commands: Vec<Command>,
}

impl<'a> Network<'a> {
    /// Builds the network of a scenario.
    pub fn new(scenario: &'a Scenario, options: &Options) -> Result<Self, Error> {
        let mut changes = vec![false; scenario.links.len()];
        scenario.changes.iter().for_each(|change| changes[change.link] = true);
        let links: Vec<Link> = scenario
            .links
            .iter()
            .zip(changes)
            .flat_map(|(l, changes)| {
                let ends = |a: usize, b: usize| format!("{}-{}", scenario.nodes[a], scenario.nodes[b]);
                let plain = ends(l.first, l.second);
                let names = if l.name == plain {
                    [plain, ends(l.second, l.first)]
                } else {
                    [format!("{}>", l.name), format!("{}<", l.name)]
                };
                [
                    Link::new(&l.forward, &names[0], l.second, scenario, changes),
                    Link::new(&l.back, &names[1], l.first, scenario, changes),
                ]
            })
            .collect();
        let mut network = Self {
            scenario,
            changing: !scenario.changes.is_empty(),
            end: scenario.duration,
            agenda: Agenda::default(),
            routes: Routes::new(&scenario.nodes, &scenario.links),
            links_warm: vec![link::Counts::default(); links.len()],
            links,
            paths: Vec::new(),
            packets: Pool::default(),
            connections: Vec::new(),
            flows: Vec::with_capacity(scenario.flows.len()),
            sources: Vec::new(),
            traffic: scenario.traffic.iter().map(|_| TrafficBook::default()).collect(),
            digest: Digest::default(),
            events: 0,
            now: 0,
            warm: scenario.warmup == 0,
            unfinished: scenario.flows.len(),
            commands: Vec::new(),
        };
        network.add_flows(options)?;
        network.add_traffic()?;
        network.find_fused();
        for (index, change) in scenario.changes.iter().enumerate() {
            network.agenda.push(change.at, kind::CHANGE | index as Key);
        }
        if !network.warm {
            network.agenda.push(scenario.warmup, kind::WARM);
        }
        Ok(network)
    }

    fn add_flows(&mut self, options: &Options) -> Result<(), Error> {
        let scenario = self.scenario;
        for (index, flow) in scenario.flows.iter().enumerate() {
            let links = self.links_between(&flow.name, flow.from, flow.to, flow.route.as_deref())?;
            let forward = self.add_path(&links);
            let back = self.add_path(&backwards(&links));
            let process = match &flow.app {
                App::Segments { arrivals, size, .. } => {
                    let rng = stream(scenario.seed, &format!("{}/app", flow.name));
                    Some(Process::new(arrivals, *size, flow.start, rng))
                }
                _ => None,
            };
            let app = Application::new(flow, process);
            let template = Template::new(flow)?;
            let first_connection = self.connections.len();
            for lane in 0..app.lanes() {
                let (sender, receiver) = template.ends();
                let (forward, back) = if app.is_reverse(lane) { (back, forward) } else { (forward, back) };
                self.connections.push(Connection {
                    sender,
                    receiver,
                    flow: index,
                    lane,
                    generation: 0,
                    forward,
                    back,
                    sender_armed: NEVER,
                    receiver_armed: NEVER,
                    opened: None,
                    reverse: app.is_reverse(lane),
                    ecn: flow.stack.ecn,
                    recorded: options.series && !app.is_reverse(lane),
                    awaited: false,
                    deliveries: Deliveries::default(),
                });
            }
            let series = options
                .series
                .then(|| Box::new(FlowSeries { flow: flow.name.clone(), ..FlowSeries::default() }));
            let book = FlowBook { series, ..FlowBook::default() };
            self.flows.push(FlowState { app, template, book, first_connection, armed: flow.start });
            self.agenda.push(flow.start, kind::APP | index as Key);
        }
        Ok(())
    }

    fn add_traffic(&mut self) -> Result<(), Error> {
        let scenario = self.scenario;
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            let links =
                self.links_between(&traffic.name, traffic.from, traffic.to, traffic.route.as_deref())?;
            let path = self.add_path(&links);
            for k in 1..=traffic.sources {
                let rng = stream(scenario.seed, &format!("{}.{k}", traffic.name));
                let mut process = Process::new(&traffic.arrivals, traffic.packet, traffic.start, rng);
                let first = process.next();
                self.agenda.push(first, kind::SOURCE | self.sources.len() as Key);
                self.sources.push(Source {
                    traffic: index,
                    process,
                    path,
                    packet: traffic.packet,
                    stop: traffic.stop.unwrap_or(scenario.duration),
                });
            }
        }
        Ok(())
    }

    fn links_between(
        &mut self,
        name: &str,
        from: usize,
        to: usize,
        via: Option<&[usize]>,
    ) -> Result<Vec<u32>, Error> {
        let links = match via {
            Some(nodes) => self.routes.along(nodes).ok().map(|hops| numbers(&hops)),
            None => self.way(from, to),
        };
        links.filter(|l| !l.is_empty()).ok_or_else(|| Error::NoRoute {
            flow: name.to_owned(),
            from: self.scenario.nodes[from].clone(),
            to: self.scenario.nodes[to].clone(),
        })
    }

    /// The links of the way from one node to another as it is at present; `None`: there is none.
    fn way(&mut self, from: usize, to: usize) -> Option<Vec<u32>> {
        self.routes.path(from, to).map(|hops| numbers(&hops))
    }

    fn add_path(&mut self, links: &[u32]) -> Path {
        let path = Path { start: self.paths.len() as u32, len: links.len() as u32 };
        self.paths.extend_from_slice(links);
        self.paths.push(END);
        path
    }

    /// Finds the links whose arrivals can be worked out one hop ahead: all they carry comes from one other link, which
    /// keeps its order and its properties for the whole run.
    fn find_fused(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum Feeder {
            Unknown,
            One(u32),
            Other,
        }
        let mut feeders = vec![Feeder::Unknown; self.links.len()];
        let mut previous = END;
        for &link in &self.paths {
            if link != END {
                let feeder = &mut feeders[link as usize];
                *feeder = match *feeder {
                    _ if previous == END => Feeder::Other,
                    Feeder::Unknown => Feeder::One(previous),
                    Feeder::One(one) if one == previous => Feeder::One(one),
                    _ => Feeder::Other,
                };
            }
            previous = link;
        }
        // Where routes can change, anything may come from anywhere.
        let steady = !self.scenario.changes.iter().any(|c| c.up.is_some() || c.delay.is_some());
        let mut changes = vec![false; self.scenario.links.len()];
        self.scenario.changes.iter().for_each(|change| changes[change.link] = true);
        let fixed = |link: usize| steady && !changes[link / 2];
        let fused: Vec<bool> = feeders
            .iter()
            .enumerate()
            .map(|(link, feeder)| match feeder {
                Feeder::One(from) => {
                    let from = *from as usize;
                    fixed(link) && fixed(from) && self.links[from].keeps_order()
                }
                _ => false,
            })
            .collect();
        self.links.iter_mut().zip(fused).for_each(|(link, fused)| link.fused = fused);
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        while let Some((time, key)) = self.agenda.peek() {
            if time > self.end {
                break;
            }
            self.now = time;
            self.events += 1;
            let index = (key & !kind::MASK) as usize;
            match key & kind::MASK {
                kind::LINK => self.on_link(index),
                kind::SENDER => self.on_sender_timer(index),
                kind::RECEIVER => self.on_receiver_timer(index),
                kind::SOURCE => self.on_source(index),
                kind::APP => self.on_app(index),
                kind::WARM => self.on_warm(),
                _ => self.on_change(index),
            }
            if self.unfinished == 0 && self.scenario.stop_when_done && !self.flows.is_empty() {
                return self.close_books();
            }
        }
        self.now = self.end;
        self.close_books();
    }

    /// Closes the books. What ended before the warm-up did has not been measured.
    fn close_books(&mut self) {
        if !self.warm {
            self.begin_measuring();
        }
        for flow in &mut self.flows {
            if let Some(series) = &mut flow.book.series {
                // Links tell of a drop when its time is known, which may be before it comes.
                series.drops.sort_by(|a, b| a.t.total_cmp(&b.t));
            }
        }
    }

    // --- links ---------------------------------------------------------------------------------------------------

    #[inline]
    fn on_link(&mut self, index: usize) {
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
    fn on_hop(&mut self, id: PacketId, from: usize) {
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
    fn inject(&mut self, id: PacketId, mut at: Time) {
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
            match self.links[index].offer(at, packet, flow) {
                Offered::Dropped(cause, when) => {
                    self.packets.remove(id);
                    return self.on_drop(id, index, cause, when);
                }
                Offered::Accepted { departure, arrival, copy } => {
                    let next = self.paths[packet.at as usize + 1];
                    if next != END && self.links[next as usize].fused {
                        packet.at += 1;
                        index = next as usize;
                        at = arrival;
                        continue;
                    }
                    let item = InTransit { arrival, departure, packet: id };
                    if let Some(arrival) = copy {
                        let twin = *packet;
                        let packet = self.packets.add(twin);
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

    #[inline]
    fn carry(&mut self, index: usize, item: InTransit) {
        let link = &mut self.links[index];
        if let Some(next) = link.carry(item)
            && next < link.armed
        {
            link.armed = next;
            self.agenda.push(next, kind::LINK | index as Key);
        }
    }

    /// A packet, whose place is free already, was dropped by link `index`.
    fn on_drop(&mut self, id: PacketId, index: usize, cause: DropCause, when: Time) {
        let packet = self.packets[id];
        let segment = packet.segment;
        let number = if segment.len > 0 { segment.seq } else { segment.ack };
        self.digest.add(when ^ (index as u64) << 48, number ^ u64::from(packet.owner) << 32 ^ cause as u64);
        if packet.is_traffic() {
            let source = &self.sources[(packet.owner & !TRAFFIC) as usize];
            count_drop(&mut self.traffic[source.traffic].drops, cause);
            return;
        }
        let connection = &mut self.connections[packet.owner as usize];
        let forward = packet.is(bits::FORWARD);
        if forward && segment.seq_len() > 0 && connection.generation == packet.generation {
            let truth = if cause == DropCause::Queue { Cause::Congestion } else { Cause::Wireless };
            connection.sender.note_drop(segment.seq, segment.end(), truth);
        }
        let flow = &mut self.flows[connection.flow];
        if connection.reverse {
            return; // requests are not the flow's data
        }
        let book = &mut flow.book;
        let data = segment.len > 0;
        if forward && data {
            count_drop(&mut book.ended.drops, cause);
        } else if !forward {
            count_drop(&mut book.ended.ack_drops, cause);
        }
        if let Some(series) = &mut book.series {
            series.drops.push(DropPoint {
                t: seconds(when),
                seq: number,
                ack: !forward,
                cause: cause.name(),
                link: self.links[index].name.clone(),
            });
        }
    }

    // --- endpoints -----------------------------------------------------------------------------------------------

    /// A packet, whose place is free already, has reached its endpoint.
    #[inline]
    fn on_arrival(&mut self, id: PacketId) {
        let now = self.now;
        let packet = &self.packets[id];
        let segment = &packet.segment;
        self.digest.add(now, segment.seq ^ segment.ack.rotate_left(32) ^ u64::from(packet.owner) << 40);
        if packet.is_traffic() {
            let source = &self.sources[(packet.owner & !TRAFFIC) as usize];
            let book = &mut self.traffic[source.traffic];
            if self.warm {
                book.delivered += 1;
                book.bytes += u64::from(packet.wire);
                book.delays.add(now - segment.born);
            }
            return;
        }
        let index = packet.owner as usize;
        if self.connections[index].generation != packet.generation {
            return;
        }
        if packet.is(bits::FORWARD) {
            self.at_receiver(index, id);
        } else {
            self.at_sender(index, id);
        }
    }

    #[inline]
    fn at_receiver(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        let packet = &self.packets[id];
        let connection = &mut self.connections[index];
        connection.receiver.on_segment(now, &packet.segment, packet.is(bits::CONGESTION_EXPERIENCED));
        let mut bytes = 0;
        for delivered in connection.receiver.delivered() {
            bytes += delivered.bytes;
            if self.warm {
                connection.deliveries.delays.add(now.saturating_sub(delivered.born));
            }
        }
        if bytes > 0 {
            connection.deliveries.bytes += bytes;
            connection.deliveries.last = now;
        }
        let (flow, lane, news) = (connection.flow, connection.lane, connection.awaited && bytes > 0);
        self.flush_receiver(index);
        if news && self.flows[flow].app.delivered(now, lane, bytes, &mut self.commands) {
            self.obey(flow);
        }
    }

    #[inline]
    fn at_sender(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        let segment = &self.packets[id].segment;
        let connection = &mut self.connections[index];
        connection.sender.on_segment(now, segment);
        if connection.recorded
            && let Some(series) = &mut self.flows[connection.flow].book.series
        {
            series.acks.push(AckPoint { t: seconds(now), ack: segment.ack });
        }
        self.after_sender(index);
    }

    fn on_sender_timer(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.sender_armed != now {
            return;
        }
        connection.sender_armed = NEVER;
        if connection.sender.deadline().is_some_and(|d| d <= now) {
            connection.sender.on_timer(now);
            self.after_sender(index);
        } else {
            self.arm_sender(index);
        }
    }

    fn on_receiver_timer(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.receiver_armed != now {
            return;
        }
        connection.receiver_armed = NEVER;
        if connection.receiver.deadline().is_some_and(|d| d <= now) {
            connection.receiver.on_timer(now);
        }
        self.flush_receiver(index);
    }

    /// After anything has happened to a sender: its record, its segments, its timer, its end.
    #[inline]
    fn after_sender(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if connection.recorded {
            self.record(index);
        }
        self.flush_sender(index);
        if self.connections[index].finished() {
            self.on_finished(index);
        }
    }

    #[inline]
    fn flush_sender(&mut self, index: usize) {
        let now = self.now;
        while let Some(segment) = self.connections[index].sender.poll_transmit(now) {
            let connection = &self.connections[index];
            let ecn = connection.ecn && segment.len > 0 && !segment.retransmission;
            let packet = Packet {
                segment,
                owner: index as u32,
                generation: connection.generation,
                at: connection.forward.start,
                wire: segment.wire_bytes(),
                bits: bits::FORWARD | if ecn { bits::ECN_CAPABLE } else { 0 },
            };
            if segment.len > 0
                && connection.recorded
                && let Some(series) = &mut self.flows[connection.flow].book.series
            {
                series.segments.push(SegmentPoint {
                    t: seconds(now),
                    seq: segment.seq,
                    len: segment.len,
                    retransmission: segment.retransmission,
                });
            }
            let id = self.packets.add(packet);
            self.inject(id, now);
        }
        self.arm_sender(index);
    }

    #[inline]
    fn arm_sender(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if let Some(deadline) = connection.sender.deadline()
            && deadline < connection.sender_armed
        {
            connection.sender_armed = deadline.max(self.now);
            self.agenda.push(connection.sender_armed, kind::SENDER | index as Key);
        }
    }

    #[inline]
    fn flush_receiver(&mut self, index: usize) {
        let now = self.now;
        while let Some(segment) = self.connections[index].receiver.poll_transmit(now) {
            let connection = &self.connections[index];
            let packet = Packet {
                segment,
                owner: index as u32,
                generation: connection.generation,
                at: connection.back.start,
                wire: segment.wire_bytes(),
                bits: 0,
            };
            let id = self.packets.add(packet);
            self.inject(id, now);
        }
        let connection = &mut self.connections[index];
        if let Some(deadline) = connection.receiver.deadline()
            && deadline < connection.receiver_armed
        {
            connection.receiver_armed = deadline.max(now);
            self.agenda.push(connection.receiver_armed, kind::RECEIVER | index as Key);
        }
    }

    fn record(&mut self, index: usize) {
        let t = seconds(self.now);
        let connection = &mut self.connections[index];
        let Some(series) = &mut self.flows[connection.flow].book.series else { return };
        let window = connection.sender.window();
        series.window.push(WindowPoint {
            t,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            flight: connection.sender.outstanding().flight(),
            rtt: connection.sender.last_rtt().map(seconds),
        });
        if let Some(record) = connection.sender.take_loss() {
            let name = |cause| match cause {
                Cause::Congestion => "congestion",
                Cause::Wireless => "wireless",
            };
            series.losses.push(LossPoint {
                t,
                seq: record.loss.seq,
                kind: match record.loss.kind {
                    LossKind::DupAcks => "dup-acks",
                    LossKind::Timeout => "timeout",
                    LossKind::EcnEcho => "ecn",
                },
                truth: record.loss.truth.map_or("none", name),
                verdict: name(record.verdict),
            });
        }
    }

    // --- applications --------------------------------------------------------------------------------------------

    fn on_app(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let flow = &mut self.flows[index];
        if flow.armed != now {
            return;
        }
        flow.armed = NEVER;
        if flow.book.started.is_none() {
            flow.book.started = Some(now);
            flow.app.start(now, &mut self.commands);
        } else {
            flow.app.wake(now, &mut self.commands);
        }
        self.obey(index);
    }

    fn on_finished(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        connection.opened = None;
        let (flow, lane) = (connection.flow, connection.lane);
        if !self.connections[index].reverse {
            self.flows[flow].book.ended.connections += 1;
        }
        self.flows[flow].app.finished(self.now, lane, &mut self.commands);
        self.obey(flow);
    }

    /// Carries out what the application of a flow wants, and arms its timer.
    fn obey(&mut self, flow: usize) {
        let now = self.now;
        let commands = std::mem::take(&mut self.commands);
        for &command in &commands {
            let first = self.flows[flow].first_connection;
            match command {
                Command::Open { lane } => {
                    self.renew(first + lane);
                    self.connections[first + lane].sender.open(now);
                }
                Command::Write { lane, bytes, born } => {
                    self.connections[first + lane].sender.write(bytes, born)
                }
                Command::Close { lane } => self.connections[first + lane].sender.close(),
                Command::Abandon { lane } => self.connections[first + lane].sender.close_unsent(),
            }
        }
        let mut lanes = 0u64;
        for &command in &commands {
            let (Command::Open { lane }
            | Command::Write { lane, .. }
            | Command::Close { lane }
            | Command::Abandon { lane }) = command;
            // A flow of many lanes is served lane by lane, each once.
            if lane >= 64 || lanes & (1 << lane) == 0 {
                lanes |= 1 << (lane % 64);
                let index = self.flows[flow].first_connection + lane;
                if self.connections[index].opened.is_some() {
                    self.after_sender(index);
                }
            }
        }
        if self.commands.is_empty() {
            self.commands = commands;
            self.commands.clear();
        }
        let state = &mut self.flows[flow];
        for connection in &mut self.connections[state.connections()] {
            connection.awaited = state.app.awaits(connection.lane);
        }
        if state.app.is_done() && state.book.finished.is_none() {
            state.book.finished = Some(now);
            self.unfinished -= 1;
        }
        if let Some(deadline) = state.app.deadline()
            && deadline < state.armed
        {
            state.armed = deadline.max(now);
            self.agenda.push(state.armed, kind::APP | flow as Key);
        }
    }

    /// Puts a new connection into a slot; what the last one counted goes to the flow's books.
    fn renew(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let flow = &mut self.flows[connection.flow];
        if connection.generation > 0 && !connection.reverse {
            add_connection(&mut flow.book.ended, connection);
        }
        (connection.sender, connection.receiver) = flow.template.ends();
        connection.generation += 1;
        connection.opened = Some(self.now);
    }

    /// What a flow has counted so far.
    pub fn totals(&self, flow: usize) -> Totals {
        let state = &self.flows[flow];
        let mut totals = state.book.ended;
        for connection in self.connections[state.connections()].iter().filter(|c| !c.reverse) {
            add_connection(&mut totals, connection);
            totals.bytes_delivered += connection.deliveries.bytes;
            // The window's integral runs up to the sender's last event; add what has passed since.
            if connection.opened.is_some() {
                totals.counts.cwnd_time += connection.sender.cwnd_time_since(self.now);
            }
        }
        totals
    }

    /// What has been delivered to a flow's application.
    pub fn deliveries(&self, flow: usize) -> Deliveries {
        let mut all = Deliveries::default();
        let connections = &self.connections[self.flows[flow].connections()];
        connections.iter().filter(|c| !c.reverse).for_each(|c| all.merge(&c.deliveries));
        all
    }

    // --- cross traffic, warm-up, changes -------------------------------------------------------------------------

    fn on_source(&mut self, index: usize) {
        let now = self.now;
        let source = &mut self.sources[index];
        if now >= source.stop {
            self.agenda.pop();
            return;
        }
        self.agenda.postpone(source.process.next());
        self.traffic[source.traffic].sent += 1;
        let packet = Packet {
            segment: Segment { born: now, len: source.packet, ..Segment::default() },
            owner: TRAFFIC | index as u32,
            generation: 0,
            at: source.path.start,
            wire: source.packet,
            bits: 0,
        };
        let id = self.packets.add(packet);
        self.inject(id, now);
    }

    fn on_warm(&mut self) {
        self.agenda.pop();
        self.begin_measuring();
    }

    fn begin_measuring(&mut self) {
        self.warm = true;
        for flow in 0..self.flows.len() {
            self.flows[flow].book.warm = self.totals(flow);
        }
        self.links_warm = self.links.iter().map(|l| l.counts).collect();
        for book in &mut self.traffic {
            book.sent = 0;
            book.drops = Default::default();
        }
    }

    fn on_change(&mut self, index: usize) {
        self.agenda.pop();
        let change: &Change = &self.scenario.changes[index];
        let directions: &[usize] = match change.direction {
            Which::Both => &[0, 1],
            Which::Forward => &[0],
            Which::Back => &[1],
        };
        for direction in directions {
            let link = 2 * change.link + direction;
            let hop = Hop { link: change.link, forward: *direction == 0 };
            self.routes.change(hop, change.delay, change.up);
            match change.up {
                Some(true) => self.links[link].up = true,
                Some(false) => {
                    for id in self.links[link].fail(self.now) {
                        self.packets.remove(id);
                        self.on_drop(id, link, DropCause::Outage, self.now);
                    }
                }
                None => {}
            }
            if change.rate.is_some() || change.delay.is_some() {
                self.links[link].change(self.now, change.rate, change.delay);
                if let Some(next) = self.links[link].next_arrival() {
                    self.links[link].armed = next;
                    self.agenda.push(next, kind::LINK | link as Key);
                }
            }
        }
        if change.delay.is_some() || change.up.is_some() {
            self.find_routes();
        }
    }

    /// Works the routes out anew. Where there is none at present, the old one stays, and its packets are lost.
    fn find_routes(&mut self) {
        let scenario = self.scenario;
        for (index, flow) in scenario.flows.iter().enumerate() {
            if flow.route.is_some() {
                continue;
            }
            let first = self.flows[index].first_connection;
            let current = self.connections[first].forward;
            let Some(links) = self.other_way(current, flow.from, flow.to) else { continue };
            let forward = self.add_path(&links);
            let back = self.add_path(&backwards(&links));
            for lane in 0..self.flows[index].app.lanes() {
                let connection = &mut self.connections[first + lane];
                (connection.forward, connection.back) =
                    if connection.reverse { (back, forward) } else { (forward, back) };
            }
        }
        let mut first = 0;
        for traffic in &scenario.traffic {
            let sources = first..first + traffic.sources as usize;
            first = sources.end;
            if sources.is_empty() || traffic.route.is_some() {
                continue;
            }
            let current = self.sources[sources.start].path;
            if let Some(links) = self.other_way(current, traffic.from, traffic.to) {
                let path = self.add_path(&links);
                self.sources[sources].iter_mut().for_each(|source| source.path = path);
            }
        }
    }

    /// The way that has taken the place of `current`, if one has.
    fn other_way(&mut self, current: Path, from: usize, to: usize) -> Option<Vec<u32>> {
        let stretch = current.start as usize..(current.start + current.len) as usize;
        self.way(from, to).filter(|links| self.paths[stretch] != links[..])
    }

    /// Whether the packet follows a route that its owner no longer uses.
    fn is_off_route(&self, id: PacketId) -> bool {
        let packet = &self.packets[id];
        let path = if packet.is_traffic() {
            return false; // it is turned away only where its link is down
        } else {
            let connection = &self.connections[packet.owner as usize];
            if packet.is(bits::FORWARD) { connection.forward } else { connection.back }
        };
        !path.holds(packet.at)
    }

    /// Finds the way on for a packet at the far end of link `from` whose route has changed.
    fn reroute(&mut self, id: PacketId, from: usize) {
        let packet = self.packets[id];
        let node = self.links[from].to;
        let (to, fixed) = if packet.is_traffic() {
            let source = &self.sources[(packet.owner & !TRAFFIC) as usize];
            let traffic = &self.scenario.traffic[source.traffic];
            (traffic.to, traffic.route.is_some())
        } else {
            let connection = &self.connections[packet.owner as usize];
            let flow = &self.scenario.flows[connection.flow];
            let reverse = connection.reverse;
            (if packet.is(bits::FORWARD) != reverse { flow.to } else { flow.from }, flow.route.is_some())
        };
        let way = if fixed { None } else { self.way(node, to) };
        match way {
            None => {
                let link = self.paths[packet.at as usize] as usize;
                self.links[link].counts.outage_drops += 1;
                self.packets.remove(id);
                self.on_drop(id, link, DropCause::Outage, self.now);
            }
            Some(links) if links.is_empty() => {
                self.packets.remove(id);
                self.on_arrival(id);
            }
            Some(links) => {
                self.packets[id].at = self.detour(&links);
                self.inject(id, self.now);
            }
        }
    }

    /// The position of a path in the table; paths found on the way are kept for the packets behind.
    fn detour(&mut self, links: &[u32]) -> u32 {
        let mut wanted = links.to_vec();
        wanted.push(END);
        let found = self.paths.windows(wanted.len()).position(|w| w == wanted);
        found.map_or_else(|| self.add_path(links).start, |at| at as u32)
    }
}

/// Hops as numbers of directed links: of link k, 2k is forward and 2k + 1 back.
fn numbers(hops: &[Hop]) -> Vec<u32> {
    hops.iter().map(|hop| 2 * hop.link as u32 + u32::from(!hop.forward)).collect()
}

/// The same path backwards, link by link.
fn backwards(path: &[u32]) -> Vec<u32> {
    path.iter().rev().map(|l| l ^ 1).collect()
}

fn add_connection(totals: &mut Totals, connection: &Connection) {
    totals.add(
        connection.sender.counts(),
        connection.sender.rtt().min(),
        connection.receiver.segments(),
        connection.receiver.acks(),
    );
}

/// Seconds as results show them.
pub fn seconds(time: Time) -> f64 {
    time as f64 / 1e9
}
