//! The answer: what every engine returns for a scenario. SI units: seconds, bit/s, bytes. This is the stable JSON of
//! `truckee run --format json`: keys are added, never renamed.

use crate::Lateness;
use serde::Serialize;
use truckee_tcp::detect::Detected;
use truckee_tcp::{Segment, Span, Time, Transmission};

/// What a note of [`Outcome::notes`] begins with that is about this very run: a reason to doubt it, or what it lacks.
pub const THIS_RUN: &str = "this run: ";

/// What a run showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Version of the program.
    pub truckee: String,
    /// The engine: `sim` or `kernel`.
    pub engine: String,
    /// The scenario's name.
    pub scenario: String,
    /// The seed used.
    pub seed: u64,
    /// Digest of the run's history: 16 hexadecimal digits. Same scenario, same seed: same digest, on any machine.
    pub digest: String,
    /// Time that passed in the run, s.
    pub simulated_s: f64,
    /// Time it took, s.
    pub wall_s: f64,
    /// Events handled.
    pub events: u64,
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// One entry a direction of a link: `first-second`, then `second-first`.
    pub links: Vec<LinkOutcome>,
    /// One entry a traffic entry of the scenario.
    pub traffic: Vec<TrafficOutcome>,
    /// Jain's fairness index over the flows' goodputs; `None` without flows.
    pub jain: Option<f64>,
    /// How the BPF programs that stood for senders compare with their definitions (kernel engine).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortOutcome>,
    /// What the reader of the results should know of how they came about (kernel engine).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How late the machine was; `None` of a simulation, which no machine makes late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
    /// Time series, one a flow, where they were asked for.
    #[serde(skip)]
    pub series: Vec<FlowSeries>,
    /// What waited at each direction of a link, where time series were asked for.
    #[serde(skip)]
    pub queues: Vec<QueueSeries>,
}

impl Outcome {
    /// Works out what compares the flows: each one's share, and Jain's index.
    pub fn compare_flows(&mut self) {
        let goodputs = || self.flows.iter().map(|f| f.goodput_bps);
        self.jain = jain(goodputs());
        let mean = goodputs().sum::<f64>() / self.flows.len() as f64;
        for flow in &mut self.flows {
            flow.fair_share = (mean > 0.0).then(|| flow.goodput_bps / mean);
        }
    }
}

/// Jain's fairness index (Jain, Chiu and Hawe 1984): 1 if all are equal, 1/n if one has everything.
fn jain(goodputs: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) = goodputs.fold((0.0, 0.0, 0.0), |(n, s, q), x| (n + 1.0, s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// A part of a whole; `None` without a whole.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How a BPF program that stood for a flow's sender compares with its definition: the events of the run, fed to both.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct PortOutcome {
    /// The flow.
    pub flow: String,
    /// The program.
    pub port: String,
    /// ACKs compared.
    pub acks: u64,
    /// Events that were not recorded in time, so that nothing after them could be compared.
    pub unrecorded: u64,
    /// Largest difference of the bandwidth estimate, as a share of the definition's; `None`: it has none.
    pub estimate: Option<f64>,
    /// Loss events at which both were asked for a verdict.
    pub verdicts: u64,
    /// Of them, those on which they differ.
    pub verdicts_apart: u64,
    /// Largest difference of the congestion window while it grows, segments.
    pub cwnd_segments: f64,
    /// Largest difference of the threshold after a loss, segments.
    pub ssthresh_segments: f64,
    /// Whether all this is within the bounds that the program states.
    pub within: bool,
}

/// What one flow did.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct FlowOutcome {
    /// Its name.
    pub name: String,
    /// The sender's label.
    pub sender: String,
    /// The receiver's ACK policy.
    pub receiver: String,
    /// Payload delivered in order to the receiving application, bit/s, from the flow's start (or the warm-up's end)
    /// to its completion (or the run's end).
    pub goodput_bps: f64,
    /// Payload delivered in order, bytes.
    pub bytes_delivered: u64,
    /// From the opening of the (first) connection to the closing of the (last) one, s; `None`: not finished.
    pub completion_s: Option<f64>,
    /// From the opening to the delivery of the last byte, s; `None`: not finished.
    pub delivered_s: Option<f64>,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub retransmitted_segments: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// ECN reductions.
    pub ecn_reductions: u64,
    /// ACKs sent by the receiver.
    pub acks_sent: u64,
    /// ACKs per data segment received.
    pub acks_per_segment: f64,
    /// How many segments an ACK covers at most at the end, as the receiver's policy has learnt; `None`: it learns nothing.
    pub ack_burst: Option<u64>,
    /// The first rounds of the (last) connection, one by one.
    pub rounds: Vec<RoundOutcome>,
    /// Retransmitted bytes over bytes delivered.
    pub overhead: f64,
    /// Connections completed (more than one for sequences of files).
    pub connections: u64,
    /// Rounds (windows acknowledged) the sender's slow start took until it first ended; `None`: it never did.
    pub slow_start_rounds: Option<u64>,
    /// Time from the connection's establishment to the first end of slow start, s; `None`: it never did.
    pub slow_start_s: Option<f64>,
    /// Data packets dropped, by true cause.
    pub drops: Drops,
    /// ACKs dropped, by true cause.
    pub ack_drops: Drops,
    /// Loss events the sender detected, by true cause and by its verdict.
    pub loss_events: LossEvents,
    /// Shares of loss events judged right.
    pub accuracy: Accuracy,
    /// Goodput over the mean of all flows' goodputs: 1 is a fair share; `None`: no flow got anything.
    pub fair_share: Option<f64>,
    /// The longest time between two deliveries to the receiving application over one connection, s; `None`: there were
    /// no two.
    pub longest_stall_s: Option<f64>,
    /// What watched the sender, in the scenario's order.
    pub observers: Observers,
    /// Delay of segments: handed to TCP (arrival-process applications) or first transmitted (others) → delivered in
    /// order.
    pub delay_s: Delay,
    /// RTT samples of the sender.
    pub rtt_s: RttOutcome,
    /// Mean congestion window, segments, over time.
    pub mean_cwnd_segments: f64,
    /// What probing its sender showed; `None`: it was not probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeOutcome>,
}

/// How a sender that was probed reacts to divided ACKs.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct ProbeOutcome {
    /// Its reaction: `per-ack`, `counts-bytes`, `capped`, `harmed`, `fixed` or `unclear`.
    pub reaction: String,
    /// Share of the repetitions that say so.
    pub agreement: f64,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Of one that counts bytes, for how many segments an ACK counts at most; `None`: no limit within three.
    pub limit: Option<u32>,
    /// Of a capped one, how many times the window before is the bound.
    pub cap: Option<f64>,
    /// By how many segments each test has opened the window, by its letter.
    pub gains: std::collections::BTreeMap<String, f64>,
    /// When the first retransmission comes, s after the last new segment; `None`: none came.
    pub first_retransmission_s: Option<f64>,
}

/// What went in one round: from the sending of a window to its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct RoundOutcome {
    /// Data segments sent, again ones included.
    pub segments: u64,
    /// ACKs that came for them.
    pub acks: u64,
}

/// Packets dropped, by true cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Drops {
    /// Did not fit into a queue, or was dropped early by its discipline.
    pub queue: u64,
    /// Destroyed by noise.
    pub channel: u64,
    /// Sent into an outage, a handoff, or a link that was down.
    pub outage: u64,
}

/// Loss events the sender detected (fast retransmits and timeouts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct LossEvents {
    /// Whose segment was dropped by a queue.
    pub congestion: u64,
    /// Whose segment was destroyed by the channel or an outage.
    pub wireless: u64,
    /// Whose segment was not dropped at all: reordering, late ACKs, lost ACKs.
    pub spurious: u64,
    /// Congestion losses the sender judged so.
    pub congestion_judged_right: u64,
    /// Wireless losses the sender judged so.
    pub wireless_judged_right: u64,
}

impl LossEvents {
    /// Shares of them judged right.
    pub fn accuracy(&self) -> Accuracy {
        let right = self.congestion_judged_right + self.wireless_judged_right;
        Accuracy {
            congestion: share(self.congestion_judged_right, self.congestion),
            wireless: share(self.wireless_judged_right, self.wireless),
            all: share(right, self.congestion + self.wireless),
        }
    }
}

/// Shares of loss events judged right; `None` where there was none to judge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct Accuracy {
    /// A_C: of congestion losses.
    pub congestion: Option<f64>,
    /// A_W: of wireless losses.
    pub wireless: Option<f64>,
    /// A_L: of all losses.
    pub all: Option<f64>,
}

/// What the detector that a receiver goes by is called among those of its observers.
pub const OWN_DETECTOR: &str = "receiver";

/// What the estimate that a sender goes by is called among those of its observers.
pub const OWN_ESTIMATE: &str = "sender";

/// What those found who watched a flow's ends and changed nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Observers {
    /// Loss predictors.
    pub predictors: Vec<PredictorOutcome>,
    /// Bandwidth estimators; first the one that the sender goes by, if it goes by one, called
    /// [`OWN_ESTIMATE`].
    pub estimators: Vec<EstimatorOutcome>,
    /// Slow-start detectors; first the one that the receiver's policy goes by, if it goes by one, called
    /// [`OWN_DETECTOR`].
    pub detectors: Vec<DetectorOutcome>,
}

/// How a slow-start detector judged. The truth of a segment is the phase in which the sender sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct DetectorOutcome {
    /// Its name, with the arguments that are not the defaults.
    pub name: String,
    /// Data segments that came and had been sent in slow start.
    pub slow_start: u64,
    /// Of them, those on whose arrival it said so.
    pub slow_start_judged_right: u64,
    /// Data segments that came and had been sent in congestion avoidance or the repair of a loss.
    pub avoidance: u64,
    /// Of them, those on whose arrival it said so.
    pub avoidance_judged_right: u64,
    /// Shares judged right.
    pub accuracy: DetectorAccuracy,
    /// How often its verdict turned to slow start while segments of avoidance came.
    pub false_alarms: u64,
    /// Ends of slow start.
    pub ends: u64,
    /// Of them, those it noticed before the next slow start.
    pub ends_noticed: u64,
    /// Mean time from the arrival of the first segment of avoidance to its verdict, s; `None`: no end noticed.
    pub end_delay_s: Option<f64>,
    /// Returns to slow start.
    pub starts: u64,
    /// Of them, those it noticed before they ended.
    pub starts_noticed: u64,
    /// Mean time from the arrival of the first segment of slow start to its verdict, s; `None`: no return noticed.
    pub start_delay_s: Option<f64>,
}

impl DetectorOutcome {
    /// What the book of a detector of that name says.
    pub fn of(name: &str, d: &Detected) -> Self {
        let slow_start = share(d.slow_start_right, d.slow_start);
        let avoidance = share(d.avoidance_right, d.avoidance);
        let mean_s = |sum: Span, n: u64| share(sum.nanos(), n).map(|ns| ns / 1e9);
        Self {
            name: name.to_owned(),
            slow_start: d.slow_start,
            slow_start_judged_right: d.slow_start_right,
            avoidance: d.avoidance,
            avoidance_judged_right: d.avoidance_right,
            accuracy: DetectorAccuracy {
                slow_start,
                avoidance,
                all: share(d.slow_start_right + d.avoidance_right, d.slow_start + d.avoidance),
                balanced: slow_start.zip(avoidance).map(|(s, a)| (s + a) / 2.0),
            },
            false_alarms: d.false_alarms,
            ends: d.ends,
            ends_noticed: d.ends_noticed,
            end_delay_s: mean_s(d.end_delays, d.ends_noticed),
            starts: d.starts,
            starts_noticed: d.starts_noticed,
            start_delay_s: mean_s(d.start_delays, d.starts_noticed),
        }
    }
}

/// Shares of segments judged right; `None` where there was none to judge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct DetectorAccuracy {
    /// Of those sent in slow start.
    pub slow_start: Option<f64>,
    /// Of those sent in avoidance.
    pub avoidance: Option<f64>,
    /// Of all.
    pub all: Option<f64>,
    /// Mean of the first two: what a detector that always says the same has at .5.
    pub balanced: Option<f64>,
}

/// How a predictor that watched judged the sender's loss events.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct PredictorOutcome {
    /// Its name, with the arguments that are not the defaults.
    pub name: String,
    /// Loss events by true cause and by its verdict.
    pub loss_events: LossEvents,
    /// Shares judged right.
    pub accuracy: Accuracy,
}

/// What an estimator said over time, read at regular intervals and held against the truth. All rates are of payload.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct EstimatorOutcome {
    /// Its name, with the arguments that are not the defaults.
    pub name: String,
    /// Mean estimate, bit/s; this and what follows are `None` where nothing was read.
    pub mean_bps: Option<f64>,
    /// Standard deviation of the estimate over time, bit/s.
    pub sd_bps: Option<f64>,
    /// Mean of the bandwidth truly available to the flow: what cross traffic leaves of the bottleneck, over the number
    /// of its TCP flows; bit/s.
    pub available_bps: Option<f64>,
    /// Mean of the bandwidth that the flow used, retransmissions included, bit/s.
    pub used_bps: Option<f64>,
    /// Mean distance of estimate and available bandwidth, as a share of the mean available bandwidth.
    pub tracking_error: Option<f64>,
    /// Mean estimate over mean available bandwidth.
    pub over_available: Option<f64>,
    /// Mean estimate over mean used bandwidth.
    pub over_used: Option<f64>,
}

/// A delay's distribution, s; `None` without samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct Delay {
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Median (within 1 %).
    pub p50: Option<f64>,
    /// 99th percentile (within 1 %).
    pub p99: Option<f64>,
}

/// RTT samples, s; `None` without samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct RttOutcome {
    /// Smallest.
    pub min: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
}

/// What one direction of a link did.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct LinkOutcome {
    /// `first-second` or `second-first`; the link's own name with `>` or `<` behind it where it has one.
    pub name: String,
    /// Share of the time it was transmitting.
    pub utilisation: f64,
    /// Packets transmitted.
    pub packets: u64,
    /// Bytes transmitted.
    pub bytes: u64,
    /// Packets dropped by its queue.
    pub queue_drops: u64,
    /// Packets destroyed by its channel.
    pub channel_drops: u64,
    /// Packets lost in outages.
    pub outage_drops: u64,
    /// Packets marked by ECN.
    pub ecn_marks: u64,
    /// ACKs that its filter has superseded by newer ones. They are no drops.
    pub acks_filtered: u64,
    /// Mean number of packets waiting, the one in transmission not counted.
    pub mean_queue_packets: f64,
    /// Mean time a packet waited, s.
    pub mean_wait_s: f64,
}

/// What cross traffic did.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct TrafficOutcome {
    /// Its name.
    pub name: String,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets delivered.
    pub packets_delivered: u64,
    /// Bytes delivered over the time, bit/s.
    pub delivered_bps: f64,
    /// Packets dropped, by true cause.
    pub drops: Drops,
    /// Delay from source to sink.
    pub delay_s: Delay,
}

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
    /// Segments delivered in order to the receiving application.
    pub delays: Vec<DelayPoint>,
    /// Packets at one of its ends, as they leave and come, in order of time; where they are asked for.
    pub packets: Vec<PacketPoint>,
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
    /// `queue`, `channel` or `outage`.
    pub cause: &'static str,
    /// Name of the link's direction.
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
