//! The answer: what every engine returns for a scenario. SI units: seconds, bit/s, bytes. This is the stable JSON of
//! `truckee run --format json`: keys are added, never renamed.

mod losses;
mod media;
mod observers;
mod series;

pub use losses::{Accuracy, Drops, LossEvents, share};
pub use media::{
    FramePoint, HopPoint, MediumOutcome, MediumSeries, MessagesOutcome, PlacePoint, RoutingOutcome,
    StationOutcome,
};
pub use observers::{
    DetectorAccuracy, DetectorOutcome, EstimatorOutcome, OWN_DETECTOR, OWN_ESTIMATE, Observers,
    PredictorOutcome,
};
pub use series::{
    AckPoint, DelayPoint, DropPoint, EstimatePoint, FlowSeries, GapPoint, LossPoint, PacketContent,
    PacketPoint, PhasePoint, QueuePoint, QueueSeries, SegmentPoint, TRUE_PHASE, Vantage, WindowPoint,
};

use crate::Lateness;
use serde::Serialize;
use truckee_tcp::Span;

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
    /// One entry a medium; not shown where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediumOutcome>,
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
    /// How long the timers of the end hosts had been counting when the run began, where that is known: a kernel's.
    #[serde(skip)]
    pub timers_age: Option<Span>,
    /// What each mobile host did, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostOutcome>,
    /// Time series, one a flow, where they were asked for.
    #[serde(skip)]
    pub series: Vec<FlowSeries>,
    /// What waited at each direction of a link, where time series were asked for.
    #[serde(skip)]
    pub queues: Vec<QueueSeries>,
    /// Places and frames of each medium, where time series were asked for.
    #[serde(skip)]
    pub air: Vec<MediumSeries>,
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
    /// In how many rounds of the (last) connection which direction of the path was congested, by a sender that tells it
    /// (TCP Santa Cruz); not shown of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congested: Option<Box<CongestedOutcome>>,
    /// What probing its sender showed; `None`: it was not probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Box<ProbeOutcome>>,
}

/// Rounds by the direction of the path whose queues had grown when they ended, as the sender saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct CongestedOutcome {
    /// Neither.
    pub neither: u64,
    /// From sender to receiver alone.
    pub forward: u64,
    /// From receiver to sender alone.
    pub reverse: u64,
    /// Both.
    pub both: u64,
}

impl CongestedOutcome {
    /// Shares of the rounds in which the way there was congested, and the way back; `None`: there was no round.
    pub fn shares(&self) -> Option<(f64, f64)> {
        let all = self.neither + self.forward + self.reverse + self.both;
        let share = |n: u64| n as f64 / all as f64;
        (all > 0).then(|| (share(self.forward + self.both), share(self.reverse + self.both)))
    }
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
    /// Packets lost in handoffs of a mobile host.
    #[serde(skip_serializing_if = "losses::is_none")]
    pub handoff_drops: u64,
    /// Packets marked by ECN.
    pub ecn_marks: u64,
    /// ACKs that its filter has superseded by newer ones. They are no drops.
    pub acks_filtered: u64,
    /// Mean number of packets waiting, the one in transmission not counted.
    pub mean_queue_packets: f64,
    /// Mean time a packet waited, s.
    pub mean_wait_s: f64,
}

/// What a mobile host of a Cellular IP network did, and what it cost, after the warm-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct HostOutcome {
    /// Its node.
    pub name: String,
    /// Handoffs that have ended.
    pub handoffs: u64,
    /// Route-update packets that it sent, semisoft ones included.
    pub route_updates: u64,
    /// Paging-update packets that it sent.
    pub paging_updates: u64,
    /// Bytes of all these on its radio links.
    pub update_bytes: u64,
    /// Copies of packets for it that were made where its old and its new way meet.
    pub copies: u64,
    /// Of a packet and its copies those that were lost while another one came: no losses.
    pub copies_lost: u64,
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
