//! A run over time: windows, packets, queues, and what was said of them when.

use truckee_tcp::{Segment, Span, Time, Transmission};

/// Time series of one flow. Times in seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowSeries {
    /// The flow's name.
    pub flow: String,
    /// The sender's state after each ACK and timeout.
    pub window: Vec<WindowPoint>,
    /// Data segments sent.
    pub segments: Vec<SegmentPoint>,
    /// ACKs that reached the sender.
    pub acks: Vec<AckPoint>,
    /// Drops of the flow's packets.
    pub drops: Vec<DropPoint>,
    /// Loss events detected.
    pub losses: Vec<LossPoint>,
    /// Bandwidth estimates.
    pub estimates: Vec<EstimatePoint>,
    /// Turns of the sender's true phase, as its segments reach the receiver, and of the detectors' verdicts; where there
    /// are detectors.
    pub phases: Vec<PhasePoint>,
    /// Gaps between data segments at the receiver, where a detector watches that looks at them.
    pub gaps: Vec<GapPoint>,
    /// Segments delivered in order to the receiving application.
    pub delays: Vec<DelayPoint>,
    /// Packets at one of its ends, as they leave and come, in order of time; where they are asked for.
    pub packets: Vec<PacketPoint>,
    /// How much later than due the packets of a live run left the path, data first, then ACKs, each in the order in which the
    /// last link took them; where packets are asked for. Packets that it lost are not among them.
    pub late: [Vec<Span>; 2],
}

/// What waited in one direction of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueSeries {
    /// Name of the link's direction.
    pub link: String,
    /// Each change of its length, in order; it is empty before the first one.
    pub points: Vec<QueuePoint>,
}

impl QueueSeries {
    /// Of each change of a queue's length, in order of time; of several at one time the last one counts.
    pub fn new(link: &str, lengths: impl IntoIterator<Item = (Time, u32)>) -> Self {
        let mut points: Vec<QueuePoint> = Vec::new();
        for (t, packets) in lengths {
            let t = t.seconds();
            match points.last_mut() {
                Some(last) if last.t == t => last.packets = packets,
                _ => points.push(QueuePoint { t, packets }),
            }
        }
        Self { link: link.to_owned(), points }
    }
}

/// A queue's length, from now on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueuePoint {
    /// s.
    pub t: f64,
    /// Packets waiting, the one in transmission not counted.
    pub packets: u32,
}

/// A segment delivered in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayPoint {
    /// s.
    pub t: f64,
    /// From where [`FlowOutcome::delay_s`] counts, s.
    pub delay: f64,
}

/// The end of a flow at which its packets are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vantage {
    /// That which sends the data.
    #[default]
    Sender,
    /// That which it reaches.
    Receiver,
}

impl Vantage {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }

    /// Whether a packet leaves from here; `from_sender`: whether the sender of the data sends it.
    pub fn is_left(self, from_sender: bool) -> bool {
        (self == Self::Sender) == from_sender
    }
}

/// A packet of a flow as it leaves the end where it is captured, or reaches it.
#[derive(Debug, Clone, PartialEq)]
pub struct PacketPoint {
    /// Time of the run.
    pub at: Time,
    /// Which of the flow's connections, from 0.
    pub connection: u32,
    /// Whether the sender of the data sent it.
    pub from_sender: bool,
    /// Which transmission of the sender it is, where the engine counts them.
    pub transmission: Option<Transmission>,
    /// What it is.
    pub content: PacketContent,
    /// What dropped it after it left, `queue`, `channel` or `outage`, and the link; none if it was not.
    pub dropped: Option<(&'static str, String)>,
}

/// What a packet is, as its engine has it.
#[derive(Debug, Clone, PartialEq)]
pub enum PacketContent {
    /// A simulated segment.
    Segment(Segment),
    /// The first bytes of a real IP packet, and how many it had.
    Headers {
        /// IP and TCP header, at the least.
        bytes: Box<[u8]>,
        /// Bytes of the whole packet.
        wire_len: u32,
    },
}

/// Who knows the true phase, among those of [`FlowSeries::phases`].
pub const TRUE_PHASE: &str = "sender";

/// A turn to another phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhasePoint {
    /// s.
    pub t: f64,
    /// Whose: [`TRUE_PHASE`], [`OWN_DETECTOR`], or an observer's name.
    pub who: String,
    /// Whether it is slow start from now on.
    pub slow_start: bool,
}

/// A gap between two data segments at the receiver, and the block that it is in (see `truckee_tcp::detect::Floats`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapPoint {
    /// When the second of them came, s.
    pub t: f64,
    /// s.
    pub gap: f64,
    /// MinFloat, s.
    pub min: f64,
    /// MaxFloat, s.
    pub max: f64,
    /// The receiver's smoothed round-trip time, s.
    pub rtt: Option<f64>,
}

impl GapPoint {
    /// What a detector looks at that heard of a segment at `t`, s.
    pub fn of(t: f64, floats: &truckee_tcp::detect::Floats) -> Self {
        let (gap, min, max) = (floats.gap.seconds(), floats.min.seconds(), floats.max.seconds());
        Self { t, gap, min, max, rtt: floats.rtt.map(truckee_tcp::Span::seconds) }
    }
}

/// The sender's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowPoint {
    /// s.
    pub t: f64,
    /// Congestion window, bytes.
    pub cwnd: f64,
    /// Slow-start threshold, bytes.
    pub ssthresh: f64,
    /// Bytes outstanding.
    pub flight: u64,
    /// The RTT sample taken, s.
    pub rtt: Option<f64>,
}

/// A data segment sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SegmentPoint {
    /// s.
    pub t: f64,
    /// Sequence number.
    pub seq: u64,
    /// Payload, bytes.
    pub len: u32,
    /// Whether it was sent before.
    pub retransmission: bool,
}

/// An ACK at the sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckPoint {
    /// s.
    pub t: f64,
    /// Acknowledgement number.
    pub ack: u64,
}

/// A packet dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct DropPoint {
    /// s.
    pub t: f64,
    /// Sequence number (acknowledgement number of an ACK).
    pub seq: u64,
    /// Whether it was an ACK.
    pub ack: bool,
    /// `queue`, `channel`, `outage`, `collision` or `reach`: see [`Drops`](super::Drops).
    pub cause: &'static str,
    /// Name of the link's direction, or of the medium's station that gave it up.
    pub link: String,
}

/// A bandwidth estimate, read.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatePoint {
    /// s.
    pub t: f64,
    /// Whose: an observer's name, or `sender`.
    pub estimator: String,
    /// The estimate, bit/s.
    pub estimate: Option<f64>,
    /// What was truly available to the flow, bit/s of payload.
    pub available: f64,
    /// What the flow used since the reading before, bit/s of payload.
    pub used: f64,
}

/// A loss event detected by the sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossPoint {
    /// s.
    pub t: f64,
    /// Sequence number of the segment.
    pub seq: u64,
    /// `dup-acks`, `timeout` or `ecn`.
    pub kind: &'static str,
    /// `congestion`, `wireless` or `none` (nothing was dropped).
    pub truth: &'static str,
    /// What the sender took it for.
    pub verdict: &'static str,
}
