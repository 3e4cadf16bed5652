//! The question: a scenario as an engine reads it. Everything is resolved here: names are numbers, units are SI or
//! nanoseconds, defaults are filled in.

mod cells;
mod link;
mod medium;
mod place;
mod queue;
mod steps;

use crate::error::Error;
use crate::route::Hop;
pub use cells::{Cells, Handoff, MobileHost, Moves};
pub use link::{Direction, Link};
pub use medium::{Medium, REACH_PACKET, Routing, Station};
pub use place::{Movement, NodeId, Place, Roaming};
pub use queue::Queue;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
pub use steps::Steps;
pub use truckee_channel::Limit;
use truckee_tcp::ack::{AckPolicy, AnyAckPolicy};
use truckee_tcp::recovery::{AnyRecovery, Recovery};
use truckee_tcp::response::ToEstimate;
use truckee_tcp::spec::Member;
use truckee_tcp::start::QuickStart;
use truckee_tcp::{Span, Spec, Stack, Time};

/// A whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// File name or other label, for results.
    pub name: String,
    /// Length of the run.
    pub duration: Span,
    /// Measurements start here: what was delivered or sent before does not count.
    pub warmup: Span,
    /// Seed of all randomness.
    pub seed: u64,
    /// Whether the run ends as soon as every finite flow has finished.
    pub stop_when_done: bool,
    /// Node names.
    pub nodes: Vec<String>,
    /// Duplex links.
    pub links: Vec<Link>,
    /// Nodes that have a place.
    pub places: Vec<Place>,
    /// Radio media that nodes share.
    pub media: Vec<Medium>,
    /// TCP flows.
    pub flows: Vec<Flow>,
    /// Cross traffic without congestion control.
    pub traffic: Vec<Traffic>,
    /// What changes in mid run, in order of time.
    pub changes: Vec<Change>,
    /// The base stations between which mobile hosts move, if there are any.
    pub cells: Option<Cells>,
    /// How the kernel engine sets its stacks.
    pub kernel: KernelStack,
}

/// How the kernel engine sets the TCP stacks of its namespaces, beside what each flow's [`Stack`] says. The simulator
/// does not read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelStack {
    /// What holds for all that the rest leaves open.
    pub era: Era,
    /// Selective acknowledgements (RFC 2018); `None`: by the era, in the papers' by each sender's recovery.
    pub sack: Option<bool>,
    /// Duplicate SACK (RFC 2883); `None`: by the era.
    pub dsack: Option<bool>,
    /// Loss detection by time (RACK, RFC 8985); `None`: by the era.
    pub rack: Option<bool>,
    /// Tail loss probes (RFC 8985, section 7); `None`: by the era.
    pub tail_loss_probe: Option<bool>,
    /// Detection of spurious timeouts (F-RTO, RFC 5682); `None`: by the era.
    pub f_rto: Option<bool>,
}

/// Whose TCP stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Era {
    /// As near to the kernels of the papers as the running one can be brought.
    #[default]
    Papers,
    /// As the running kernel is by default.
    Today,
}

impl Scenario {
    /// Refuses a scenario in which nobody sends anything.
    pub fn need_senders(&self) -> Result<(), Error> {
        if !(self.flows.is_empty() && self.traffic.is_empty()) {
            return Ok(());
        }
        let ends = match self.nodes.as_slice() {
            [first, .., last] => [first.as_str(), last.as_str()],
            _ => ["server", "client"],
        };
        Err(Error {
            message: format!("nobody sends anything in \"{}\"", self.name),
            place: None,
            expected: Some("a [[flow]], or [[traffic]] at least".to_owned()),
            help: Some(format!(
                "write [[flow]], from = \"{}\" and to = \"{}\", a line each",
                ends[0], ends[1]
            )),
        })
    }

    /// Whether the receiver of the flow with this index ever goes by a slow-start detector.
    pub fn has_detector(&self, flow: usize) -> bool {
        let by_detector = |policy: &Spec| AnyAckPolicy::build(policy).is_ok_and(|(p, _)| p.phase().is_some());
        let changes_to_one = |change: &Change| match &change.what {
            Changed::Receiver { flow: of, policy } => *of == flow && by_detector(policy),
            Changed::Link(_) => false,
        };
        self.flows.get(flow).is_some_and(|f| by_detector(&f.receiver))
            || self.changes.iter().any(changes_to_one)
    }

    /// What results call a direction of a link: of link k number 2k is forward, 2k + 1 back. It is called by its ends, or by
    /// the link's own name.
    pub fn link_name(&self, direction: usize) -> String {
        let link = &self.links[direction / 2];
        let (first, second) = (&self.nodes[link.first], &self.nodes[link.second]);
        match (&link.name, direction.is_multiple_of(2)) {
            (None, true) => format!("{first}-{second}"),
            (None, false) => format!("{second}-{first}"),
            (Some(name), true) => format!("{name}>"),
            (Some(name), false) => format!("{name}<"),
        }
    }

    /// The node that a direction of a link leads to; numbers as in [`Self::link_name`].
    pub fn far_end(&self, direction: usize) -> NodeId {
        let link = &self.links[direction / 2];
        if direction.is_multiple_of(2) { link.second } else { link.first }
    }

    /// The node that a hop leads to.
    pub fn end_of(&self, hop: Hop) -> NodeId {
        match hop {
            Hop::Link { link, forward } => self.far_end(2 * link + usize::from(!forward)),
            Hop::Medium { medium, to, .. } => self.media[medium].stations[to].node,
        }
    }

    /// What results call the station of a node on a medium, and the hops from there.
    pub fn station_name(&self, medium: usize, station: usize) -> String {
        let medium = &self.media[medium];
        format!("{}@{}", self.nodes[medium.stations[station].node], medium.name)
    }

    /// Whether any flow asks the routers on its way for a rate.
    pub fn asks_for_rates(&self) -> bool {
        self.flows.iter().any(|flow| flow.sender.start.name == <QuickStart as Member>::INFO.name)
    }
}

/// A TCP flow: data from `from` to `to`. What its copies have in common is in its settings, which can be read as if they
/// were its own: `flow.sender`.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Its name: `flow-1`, `flow-2`, … by default.
    pub name: String,
    /// Node that sends data.
    pub from: NodeId,
    /// Node that receives it.
    pub to: NodeId,
    /// When it starts.
    pub start: Time,
    /// Nodes on the way of the data, ends included; `None`: the path with the least delay. ACKs go back the same way.
    pub route: Option<Vec<NodeId>>,
    /// The rest, shared by all copies.
    pub settings: Arc<FlowSettings>,
}

impl Deref for Flow {
    type Target = FlowSettings;
    fn deref(&self) -> &FlowSettings {
        &self.settings
    }
}

impl DerefMut for Flow {
    /// Gives the flow settings of its own.
    fn deref_mut(&mut self) -> &mut FlowSettings {
        Arc::make_mut(&mut self.settings)
    }
}

/// What the copies of a flow have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowSettings {
    /// The sender.
    pub sender: Sender,
    /// The receiver's ACK policy.
    pub receiver: Spec,
    /// Who watches the sender.
    pub observe: Observe,
    /// What its application does.
    pub app: App,
    /// When its application stops writing; `None`: never.
    pub stop: Option<Time>,
    /// Stack settings of both ends.
    pub stack: Stack,
    /// Longest time that the sending host takes to get a segment out: each takes a time drawn evenly from 0 to this, one
    /// after the other. 0: none.
    pub processing: Span,
}

/// A sender as the product of its choices, each with all defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Sender {
    /// What results call it: the preset's name, or the parts' names joined by `+`.
    pub label: String,
    /// How losses are noticed and repaired.
    pub recovery: Spec,
    /// How the window opens.
    pub growth: Spec,
    /// What a loss does to the window.
    pub response: Spec,
    /// How the connection starts.
    pub start: Spec,
    /// How segments are spaced.
    pub pacing: Spec,
    /// One algorithm for growth, response and pacing, in place of these three.
    pub controller: Option<Spec>,
    /// The running kernel's congestion control of this name, in place of the parts; the kernel engine's only.
    pub native: Option<String>,
}

impl Sender {
    /// Whether its response to a loss goes by an estimate of the bandwidth.
    pub fn goes_by_estimate(&self) -> bool {
        self.response.name == <ToEstimate as Member>::INFO.name
    }

    /// Whether its recovery has both ends agree on SACK.
    pub fn wants_sack(&self) -> bool {
        AnyRecovery::build(&self.recovery).is_ok_and(|(recovery, _)| recovery.wants_sack())
    }
}

/// Those who watch a flow's ends and change nothing, each with the name that results call it by.
#[derive(Debug, Clone, PartialEq)]
pub struct Observe {
    /// Loss predictors.
    pub predictors: Vec<(String, Spec)>,
    /// Bandwidth estimators.
    pub estimators: Vec<(String, Spec)>,
    /// Slow-start detectors, at the receiver.
    pub detectors: Vec<(String, Spec)>,
    /// How often estimates are read and held against the truth.
    pub every: Span,
}

/// What an application does with its flow.
#[derive(Debug, Clone, PartialEq)]
pub enum App {
    /// Always has data.
    Bulk,
    /// One file, then it closes.
    File {
        /// Bytes.
        size: u64,
    },
    /// Several files.
    Files {
        /// Bytes each.
        size: u64,
        /// How many.
        count: u64,
        /// Over which connections.
        connections: Connections,
        /// Time between the end of one file and the start of the next on the same lane.
        pause: Span,
    },
    /// The receiver asks, the sender answers; again and again over one connection.
    RequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// How many; `None`: until the end.
        count: Option<u64>,
        /// Time the client thinks between a response and its next request.
        think: Span,
    },
    /// A web page, asked for by a real client of a real server; the kernel engine's only.
    WebPage {
        /// How many objects.
        objects: u32,
        /// Mean bytes of one; each is drawn from an exponential distribution.
        mean: u64,
        /// Connections at a time.
        connections: u32,
    },
    /// Full segments handed to TCP by an arrival process.
    Segments {
        /// When.
        arrivals: Arrivals,
        /// Bytes of each.
        size: u32,
        /// How many; `None`: until the end.
        count: Option<u64>,
    },
}

impl App {
    /// How many connections it has at a time, at most.
    pub fn connections(&self) -> u64 {
        match self {
            App::Files { count, connections: Connections::Parallel(n), .. } => {
                u64::from(*n).min(*count).max(1)
            }
            _ => 1,
        }
    }
}

/// Which connections a sequence of files uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// One persistent connection for all.
    One,
    /// A new connection for each, one after the other.
    Separate,
    /// New connections, so many at a time.
    Parallel(u32),
}

/// An arrival process of packets of a given size.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Evenly spaced.
    Cbr {
        /// Bit/s of packets as counted on the wire (traffic) or of payload (apps).
        rate: f64,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean bit/s, counted likewise.
        rate: f64,
    },
    /// ON/OFF periods with evenly spaced packets while ON.
    OnOff {
        /// Bit/s while ON, counted likewise.
        rate: f64,
        /// Mean ON time.
        on: Span,
        /// Mean OFF time.
        off: Span,
        /// Distribution of both.
        periods: Periods,
        /// Whether an ON period is a number of whole packets, at least one (ns-2, `POO_Traffic`); otherwise it is a time, and what
        /// it has left over counts towards the next packet, so that the mean rate is kept.
        whole_packets: bool,
    },
    /// At recorded times, repeated from the start after the last one.
    Trace(Arc<truckee_channel::CapacityTrace>),
}

/// Distribution of ON and OFF times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Periods {
    /// Exponential.
    Exponential,
    /// Pareto with this shape, above 1.
    Pareto {
        /// Shape.
        shape: f64,
    },
}

/// Cross traffic: packets that do not react to anything.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Its name: `traffic-1`, … by default; source k of several is `name.k`.
    pub name: String,
    /// Where it comes from.
    pub from: NodeId,
    /// Where it goes.
    pub to: NodeId,
    /// How many independent sources.
    pub sources: u32,
    /// When each source sends.
    pub arrivals: Arrivals,
    /// Bytes of a packet on the wire.
    pub packet: u32,
    /// When it starts.
    pub start: Time,
    /// When it stops; `None`: at the end.
    pub stop: Option<Time>,
    /// Nodes on the way, ends included; `None`: the path with the least delay.
    pub route: Option<Vec<NodeId>>,
}

/// A change in mid run.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// What.
    pub what: Changed,
}

impl Change {
    /// The change of a link, if it is one.
    pub fn of_link(&self) -> Option<&LinkChange> {
        match &self.what {
            Changed::Link(change) => Some(change),
            Changed::Receiver { .. } => None,
        }
    }
}

/// What changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Changed {
    /// A link.
    Link(LinkChange),
    /// The ACK policy of a flow: of the connections it has and of those to come.
    Receiver {
        /// Index of the flow.
        flow: usize,
        /// The policy from now on.
        policy: Spec,
    },
}

/// What changes about a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkChange {
    /// Index of the link.
    pub link: usize,
    /// Which directions.
    pub direction: Which,
    /// New rate, bit/s.
    pub rate: Option<u64>,
    /// New delay.
    pub delay: Option<Span>,
    /// Whether the link works from now on. Routes follow; what waits or travels on a link that goes down is lost.
    pub up: Option<bool>,
}

/// Directions of a link that a change concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// First → second and back.
    Both,
    /// First → second.
    Forward,
    /// Second → first.
    Back,
}
