//! What passed at a flow's sender, in the numbers of its own bytes, whoever recorded it: a simulated segment or the headers of
//! a real packet. Not for: holding two of them against each other.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use truckee_capture::file::LinkType;
use truckee_capture::wire::{self, flags as bits};
use truckee_scenario::model::Flow;
use truckee_scenario::outcome::{PacketContent, PacketPoint, WindowPoint};
use truckee_scenario::{Lateness, Outcome};
use truckee_tcp::segment::flags as inside;
use truckee_tcp::seq::widen;
use truckee_tcp::{Seq, Span, Time};

/// A range of sequence numbers `[from, to)`, the first byte of data being 1.
pub type Range = (u64, u64);

/// Something that passed at the sender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Since the flow's first packet.
    #[serde(rename = "at_s", serialize_with = "seconds")]
    pub at: Span,
    /// Which of the flow's connections, from 0.
    pub connection: u32,
    /// What.
    #[serde(flatten)]
    pub what: Passed,
}

/// What passes at a sender of data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passed {
    /// A segment of data left.
    Sent {
        /// Its bytes.
        segment: Range,
        /// For the how many-th time these bytes left, from 1.
        time: u32,
        /// What lost it: the cause, and the link.
        dropped: Option<String>,
    },
    /// An ACK came.
    Heard {
        /// Next byte expected.
        ack: u64,
        /// Its SACK blocks.
        sack: Vec<Range>,
    },
}

/// The sender's window, from then on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Window {
    /// Since the flow's first packet.
    #[serde(rename = "at_s", serialize_with = "seconds")]
    pub at: Span,
    /// Congestion window, bytes.
    pub cwnd: f64,
    /// Slow-start threshold, bytes.
    pub ssthresh: f64,
}

pub(super) fn seconds<S: Serializer>(span: &Span, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(span.seconds())
}

/// A flow as its sender saw it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Who ran it.
    pub engine: String,
    /// Whose.
    pub flow: String,
    /// Data that left and ACKs that came, in order of time. SYN, FIN, and ACKs that the sender of the data sends, are left out.
    pub events: Vec<Event>,
    /// Its windows, in order of time.
    pub windows: Vec<Window>,
    /// From the first SYN to the first SYN-ACK.
    pub opening: Option<Span>,
    /// How much later than due a packet left the live path at the most, and the flow's first packet its sender; 0 of a
    /// simulation.
    pub late: Span,
    /// Payload of the largest segment, bytes.
    pub mss: u32,
}

impl Trace {
    /// That of a flow, in a run that kept its packets at the sender; `None`: it kept none.
    pub fn of(outcome: &Outcome, flow: &Flow) -> Option<Self> {
        let series = outcome.series.iter().find(|series| series.flow == flow.name)?;
        let begin = series.packets.first()?.at;
        let mut reader = Reader::default();
        let mut events = Vec::new();
        let mut syn: [Option<Time>; 2] = [None; 2];
        for point in &series.packets {
            let Some(packet) = reader.read(point) else { continue };
            if packet.syn {
                let side = &mut syn[usize::from(!point.from_sender)];
                *side = side.or(Some(point.at));
            }
            let connection = reader.connection(point);
            if let Some(what) = reader.passed(point, packet) {
                events.push(Event { at: point.at - begin, connection, what });
            }
        }
        let [first, answer] = syn;
        // What a live application does at a time of its own comes earlier, counted from the first packet, by what that is late.
        let late =
            |lateness: &Lateness| Span::truncated(1e9 * lateness.latest_s) + begin.saturating_sub(flow.start);
        Some(Self {
            engine: outcome.engine.clone(),
            flow: flow.name.clone(),
            events,
            windows: series.window.iter().filter_map(|point| window(point, begin)).collect(),
            opening: first.zip(answer).map(|(first, answer)| answer.saturating_sub(first)),
            late: outcome.lateness.as_ref().map_or(Span::ZERO, late),
            mss: reader.mss,
        })
    }

    /// The data that left, with its place among the events.
    pub fn sent(&self) -> impl Iterator<Item = (usize, &Event)> {
        self.events.iter().enumerate().filter(|(_, event)| matches!(event.what, Passed::Sent { .. }))
    }

    /// The ACKs that came before the event at this place, with their own places.
    pub fn heard_before(&self, place: usize) -> impl DoubleEndedIterator<Item = (usize, &Event)> {
        let before = self.events.iter().enumerate().take(place);
        before.filter(|(_, event)| matches!(event.what, Passed::Heard { .. }))
    }

    /// The window at that time, once the sender has said any.
    pub fn window_at(&self, at: Span) -> Option<Window> {
        let next = self.windows.partition_point(|window| window.at <= at);
        self.windows.get(next.checked_sub(1)?).copied()
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ms ", 1e3 * self.at.seconds())?;
        match &self.what {
            Passed::Sent { segment: (from, to), time, dropped } => {
                write!(f, "sends {from}:{to}")?;
                match time {
                    1 => {}
                    n => write!(f, ", time {n}")?,
                }
                dropped.as_ref().map_or(Ok(()), |why| write!(f, " (lost by {why})"))
            }
            Passed::Heard { ack, sack } => {
                write!(f, "hears {ack}")?;
                let blocks: Vec<String> = sack.iter().map(|(from, to)| format!("{from}:{to}")).collect();
                if blocks.is_empty() { Ok(()) } else { write!(f, " sack {}", blocks.join(" ")) }
            }
        }
    }
}

fn window(point: &WindowPoint, begin: Time) -> Option<Window> {
    let at = Time::at(Span::truncated(1e9 * point.t)).checked_sub(begin)?;
    Some(Window { at, cwnd: point.cwnd, ssthresh: point.ssthresh })
}

/// A packet in the connection's own numbers: a SYN is 0.
struct Packet {
    seq: u64,
    len: u32,
    ack: Option<u64>,
    sack: Vec<Range>,
    syn: bool,
}

/// What has to be known of the packets before.
#[derive(Default)]
struct Reader {
    numbers: BTreeMap<u32, [Numbers; 2]>,
    /// How often the bytes from a number on have left, by connection.
    times: BTreeMap<(u32, u64), u32>,
    /// What the engine calls the connections, in the order in which they began.
    connections: Vec<u32>,
    mss: u32,
}

/// What the numbers on the wire of one end are counted from.
#[derive(Clone, Copy, Default)]
struct Numbers {
    base: u32,
    near: Seq,
}

impl Numbers {
    fn of(&self, wire: u32) -> u64 {
        widen(wire.wrapping_sub(self.base), self.near).number()
    }
}

impl Reader {
    /// The ordinal of its connection, whatever the engine calls it.
    fn connection(&mut self, point: &PacketPoint) -> u32 {
        let known = self.connections.iter().rposition(|&name| name == point.connection);
        let ordinal = known.unwrap_or_else(|| {
            self.connections.push(point.connection);
            self.connections.len() - 1
        });
        ordinal as u32
    }

    /// `None`: it is no TCP packet.
    fn read(&mut self, point: &PacketPoint) -> Option<Packet> {
        match &point.content {
            PacketContent::Segment(segment) => Some(Packet {
                seq: segment.seq.number(),
                len: segment.len,
                ack: segment.has(inside::ACK).then(|| segment.ack.number()),
                sack: segment.sack.iter(segment.ack).map(|(from, to)| (from.number(), to.number())).collect(),
                syn: segment.has(inside::SYN),
            }),
            PacketContent::Headers { bytes, wire_len } => {
                let tcp = wire::read(LinkType::RAW, bytes, *wire_len).ok()?.tcp;
                let ends = self.numbers.entry(point.connection).or_default();
                let [own, other] = if point.from_sender { [0, 1] } else { [1, 0] };
                let syn = tcp.has(bits::SYN);
                if syn {
                    ends[own] = Numbers { base: tcp.seq, near: Seq::FIRST };
                }
                let seq = ends[own].of(tcp.seq);
                ends[own].near = ends[own].near.max(Seq::at(seq + u64::from(tcp.len)));
                let numbers = ends[other];
                let wide = |&(from, to): &(u32, u32)| (numbers.of(from), numbers.of(to));
                Some(Packet {
                    seq,
                    len: tcp.len,
                    ack: tcp.has(bits::ACK).then(|| numbers.of(tcp.ack)),
                    sack: tcp.options.sack.blocks().iter().map(wide).collect(),
                    syn,
                })
            }
        }
    }

    /// Data that left or an ACK that came; `None`: something else.
    fn passed(&mut self, point: &PacketPoint, packet: Packet) -> Option<Passed> {
        if packet.syn {
            return None;
        }
        if !point.from_sender {
            return packet.ack.map(|ack| Passed::Heard { ack, sack: packet.sack });
        }
        if packet.len == 0 {
            return None;
        }
        self.mss = self.mss.max(packet.len);
        let time = self.times.entry((point.connection, packet.seq)).or_default();
        *time += 1;
        let dropped = point.dropped.as_ref().map(|(cause, link)| format!("{cause} at {link}"));
        let segment = (packet.seq, packet.seq + u64::from(packet.len));
        Some(Passed::Sent { segment, time: *time, dropped })
    }
}
