//! The event loop, and what joins links, connections, applications and cross traffic.

mod applications;
mod aside;
mod build;
mod cells;
mod changes;
mod ends;
mod hops;
mod kind;
mod lookahead;
mod media;
mod observe;
mod readings;
mod recording;
mod roaming;
mod routing;
mod serve;
mod steering;
mod tables;

use crate::Error;
use crate::agenda::{Agenda, Key, Next};
use crate::air::{Air, Mover};
use crate::app::{Application, Command};
use crate::cells::Cells;
use crate::connection::{Connection, DESTINATION, Path, SOURCE, Template};
use crate::digest::Digest;
use crate::lanes::Lanes;
use crate::link::Links;
use crate::packet::{DropCause, Packet, PacketId, Pool};
use crate::record::{FlowBook, Standing, TrafficBook};
use crate::roaming::Roamer;
use crate::routers::Travel;
use aside::Aside;
use readings::Load;
use std::sync::Arc;
use tables::Tables;
use truckee_scenario::arrivals::Process;
use truckee_scenario::{Cancel, Scenario};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::controller::Order;
use truckee_tcp::{Span, Time};

pub use readings::{EstimateBook, Readings};

/// So much simulated time passes until it is looked again whether the run is to end early.
const LOOKED_AFTER: Span = Span::ms(100);

/// Ends each path in the table of paths.
const END: u32 = !FUSED;

/// In place of a position in the table of paths: the packet goes by the tables of the nodes.
const BY_TABLE: u32 = u32::MAX;

/// Marks a link in the table of paths: everything on it comes from the link before it, in order, so that arrivals here can
/// be worked out when a packet is accepted there.
const FUSED: u32 = 1 << 31;

/// A flow in operation.
pub struct FlowState {
    pub app: Application,
    /// Flows that are alike share it.
    pub template: Arc<Template>,
    pub book: FlowBook,
    /// Its estimates over time, where there are any.
    pub readings: Option<Box<Readings>>,
    /// Its connections: one slot a lane.
    pub first_connection: usize,
    /// The link that stands for the time its sending host takes, if it takes any.
    host: Option<u32>,
    armed: Time,
    /// What its controllers were told last from outside the run, if they are: connections to come hear of it, too.
    order: Option<Box<Order>>,
}

impl FlowState {
    /// The slots of its connections.
    fn connections(&self) -> std::ops::Range<usize> {
        self.first_connection..self.first_connection + self.app.lanes()
    }
}

/// A drop as the books have it.
struct Dropped {
    when: Time,
    link: usize,
    of: Lost,
    cause: DropCause,
}

/// Whose books a drop is in, besides the link's.
#[derive(Clone, Copy)]
enum Lost {
    /// A flow's: data.
    Data(usize),
    /// A flow's: what its receiver sends.
    Ack(usize),
    /// A traffic entry's.
    Traffic(usize),
    /// Nobody's: requests, and segments of the sender without data.
    Other,
}

/// A source of cross traffic.
struct Source {
    traffic: usize,
    process: Process,
    path: Path,
    packet: u32,
    stop: Time,
    /// Bit/s at present.
    rate: f64,
}

/// A network in simulated time.
pub struct Network<'a> {
    scenario: &'a Scenario,
    /// Whether any link changes in mid run.
    changing: bool,
    /// Whether a packet that an event sends last may go on to events of its own within it: nothing changes in mid run, and no
    /// medium, which hands on several packets in one event, is there.
    straight: bool,
    /// Whether there are so many connections that what the next packets need is fetched beforehand.
    looks_ahead: bool,
    /// Of each change the ACK policy that it brings, if it brings one, until it does.
    policies: Vec<Option<AnyAckPolicy>>,
    end: Time,
    /// To where it goes on at present: its end, unless somebody has it stop on the way.
    until: Time,
    /// Whoever may wish that the run end early, and when it is looked next whether that is so; `until` where nobody may.
    cancel: Option<Cancel>,
    look: Time,
    agenda: Agenda,
    /// Which way packets go, where that can change.
    tables: Option<Box<Tables<'a>>>,
    pub links: Links,
    /// Radio media, whose stations' ways out stand behind the scenario's links.
    pub media: Vec<Air>,
    movers: Vec<Mover>,
    roamers: Vec<Roamer<'a>>,
    /// What packets remember that go by routers.
    travel: Travel,
    /// What is under way over them.
    lanes: Lanes,
    /// The next event, maybe.
    aside: Aside,
    /// Table of paths: numbers of links, some of them [`FUSED`], each path followed by [`END`].
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
    /// Until when the run goes on for certain: its end, if all flows cannot be done before.
    certain: Time,
    /// Drops that were booked ahead of their time.
    drops_ahead: Vec<Dropped>,
    /// What crosses each link, where anybody wants to know.
    load: Option<Load>,
    commands: Vec<Command>,
    /// What a queue has dropped in one call, and why.
    lost: Vec<(PacketId, DropCause)>,
    /// Base stations and mobile hosts, where there are any.
    pub cells: Option<Box<Cells<'a>>>,
}

impl Network<'_> {
    /// Runs to the end.
    pub fn run(&mut self) -> Result<(), Error> {
        self.advance(self.end)?;
        self.close_books();
        Ok(())
    }

    /// Goes on up to a time, the end at the latest, and everything that happens then; whether the run is over: it is at its
    /// end, or all flows are done where it ends with them. What comes of a run does not depend on where it stops on the way.
    pub fn advance(&mut self, until: Time) -> Result<bool, Error> {
        self.until = until.min(self.end);
        self.look = if self.cancel.is_some() { self.now } else { self.until };
        loop {
            if self.aside.is_there {
                self.on_aside();
            } else {
                let next = self.agenda.peek();
                let (Next::Arrival(time, key) | Next::Timer(time, key)) = next;
                if time > self.look && self.is_over(time)? {
                    break;
                }
                self.now = time;
                self.events += 1;
                let index = (key & !kind::MASK) as usize;
                match next {
                    Next::Arrival(..) => self.on_lane(index),
                    Next::Timer(..) if key & kind::MASK == kind::PACE => self.on_release(index),
                    Next::Timer(..) => self.on_timer(key & kind::MASK, index),
                }
            }
            if self.unfinished == 0 && self.may_end_early() {
                return Ok(true);
            }
            if self.packets.is_overfull() {
                return Err(self.too_many_packets());
            }
        }
        self.now = self.until;
        Ok(self.until == self.end)
    }

    /// Whether an event at that time is after what it goes on to. Where somebody may wish that the run end early, this is asked once in
    /// a while, so that events cost nothing more.
    #[cold]
    fn is_over(&mut self, time: Time) -> Result<bool, Error> {
        if let Some(cancel) = &self.cancel {
            if cancel.is_cancelled() {
                return Err(Error::Stopped { at: self.now.seconds() });
            }
            self.look = time.saturating_add(LOOKED_AFTER).min(self.until);
        }
        Ok(time > self.until)
    }

    /// Whether somebody has to look, before the next event at that time, if the run is over or cannot go on.
    fn has_to_stop(&self, next: Time) -> bool {
        next > self.look || self.packets.is_overfull() || self.unfinished == 0 && self.may_end_early()
    }

    /// Whether the run ends as soon as all flows are done.
    #[cold]
    fn may_end_early(&self) -> bool {
        self.scenario.stop_when_done && !self.flows.is_empty()
    }

    /// Why there are more packets than there may be.
    #[cold]
    fn too_many_packets(&self) -> Error {
        let of_scenario = 0..self.first_host();
        let backlog = |link: usize| self.links.backlog(link, self.now);
        // Behind a link with a long queue others are known to be busy as long, but nothing waits there.
        let waited = |link: usize| self.links.counts(link).waited;
        let longest = |a: &usize, b: &usize| {
            waited(*a).total_cmp(&waited(*b)).then_with(|| backlog(*a).cmp(&backlog(*b)))
        };
        let link = of_scenario.max_by(longest).unwrap_or(0);
        Error::TooManyPackets {
            at_s: self.now.seconds(),
            most: self.packets.most(),
            link: self.hop_name(link),
            backlog_s: backlog(link).seconds(),
        }
    }

    /// Anything but an arrival and the release of a segment.
    #[inline(never)]
    fn on_timer(&mut self, kind: Key, index: usize) {
        match kind {
            kind::SENDER => self.on_end_timer(index, SOURCE),
            kind::RECEIVER => self.on_end_timer(index, DESTINATION),
            kind::SOURCE => self.on_source(index),
            kind::APP => self.on_app(index),
            kind::WARM if index == kind::WARM_UP => self.on_warm(),
            kind::WARM => self.on_reading(index - 1),
            kind::SERVE => self.on_serve(index),
            kind::AIR => self.on_air(index),
            kind::ROUTER => self.on_router(index),
            kind::CELL => self.on_cell(index),
            _ => self.on_change(index),
        }
    }

    /// Closes the books. What ended before the warm-up did has not been measured, and what was worked out ahead of its
    /// time has not happened.
    pub fn close_books(&mut self) {
        if !self.warm {
            self.begin_measuring();
        }
        let end = self.now;
        self.links.close(end);
        // What is still under way has no part in the outcome, which needs room of its own.
        (self.agenda, self.lanes, self.packets) = (Agenda::default(), Lanes::default(), Pool::default());
        for dropped in std::mem::take(&mut self.drops_ahead) {
            if dropped.when > end {
                self.book_drop(&dropped, |n| *n -= 1);
            }
        }
        for flow in &mut self.flows {
            if let Some(series) = &mut flow.book.series {
                // Links tell of a drop when its time is known, which may be before it comes.
                let drops = &mut series.drops;
                drops.sort_by(|a, b| a.t.total_cmp(&b.t));
                drops.truncate(drops.partition_point(|point| point.t <= end.seconds()));
            }
        }
    }

    fn on_source(&mut self, index: usize) {
        let now = self.now;
        let source = &mut self.sources[index];
        if now >= source.stop {
            self.agenda.pop();
            self.set_rate(index, 0.0);
            return;
        }
        let next = source.process.next();
        let rate = source.process.rate(next.saturating_sub(now));
        self.agenda.postpone(next);
        self.set_rate(index, rate);
        let source = &mut self.sources[index];
        self.traffic[source.traffic].sent += 1;
        let packet = Packet::datagram(now, index, source.path.start, source.packet);
        let id = self.packets.add(packet);
        self.inject(id, packet.at, packet.wire, now);
    }

    /// A source sends at this rate from now on.
    fn set_rate(&mut self, index: usize, rate: f64) {
        if self.load.is_some() && self.sources[index].rate != rate {
            self.sources[index].rate = rate;
            self.recount_load();
        }
    }

    fn on_warm(&mut self) {
        self.agenda.pop();
        self.links.begin_measuring();
        self.begin_measuring();
    }

    fn begin_measuring(&mut self) {
        self.warm = true;
        for flow in 0..self.flows.len() {
            let standing = Standing { totals: self.totals(flow), verdicts: self.verdicts(flow) };
            self.flows[flow].book.warm = Some(Box::new(standing));
        }
        self.traffic.iter_mut().for_each(|book| book.sent = 0);
        let now = self.now;
        self.media.iter_mut().for_each(|air| air.begin_measuring(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use truckee_scenario::Document;

    #[test]
    fn a_run_of_too_many_packets_ends_and_says_where_they_are() {
        let text = r#"
            duration = "100s"
            link = [{ between = ["a", "b"], rate = "1Mbit/s" }, { between = ["b", "c"], rate = "10Mbit/s", delay = "1s" }]
            traffic = [{ from = "a", to = "c", kind = "cbr", rate = "10Mbit/s" }]
        "#;
        let scenario = Document::parse("t.toml", text).unwrap().scenario().unwrap();
        let mut network =
            Network::new(&scenario, &Options::default(), &truckee_tcp::Registry::new()).unwrap();
        network.packets = Pool::of(1000);
        let error = network.run().unwrap_err().to_string();
        assert!(error.starts_with("at 0.9") || error.starts_with("at 1."), "{error}");
        assert!(error.contains("more than 1000 packets"), "{error}");
        assert!(error.contains("that of \"a-b\""), "{error}");
    }
}
