//! The metrics themselves: name, unit, what it says, and how it is read from an outcome.

use truckee_scenario::Outcome;
use truckee_scenario::outcome::{
    DetectorOutcome, EstimatorOutcome, FlowOutcome, LinkOutcome, PredictorOutcome, ProbeOutcome,
    RoundOutcome, StationOutcome, TrafficOutcome,
};

pub(super) struct Field<T> {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) summary: &'static str,
    pub(super) get: fn(&T) -> Option<f64>,
}

pub(super) const fn field<T>(
    name: &'static str,
    unit: &'static str,
    summary: &'static str,
    get: fn(&T) -> Option<f64>,
) -> Field<T> {
    Field { name, unit, summary, get }
}

/// The field of that name.
pub(super) fn find<T>(fields: &'static [Field<T>], name: &str) -> Option<&'static Field<T>> {
    fields.iter().find(|f| f.name == name)
}

/// Splits `NAME.metric`; the name may contain dots itself.
pub(super) fn split<'n, T>(
    rest: &'n str,
    fields: &'static [Field<T>],
) -> Option<(&'n str, &'static Field<T>)> {
    let fits = |f: &&Field<T>| rest.strip_suffix(f.name).is_some_and(|r| r.len() > 1 && r.ends_with('.'));
    let field = fields.iter().filter(fits).max_by_key(|f| f.name.len())?;
    Some((&rest[..rest.len() - field.name.len() - 1], field))
}

pub(super) const RUN: &[Field<Outcome>] = &[
    field("jain", "", "Jain's fairness index over the flows' goodputs", |o| o.jain),
    field("total_goodput_bps", "bit/s", "sum of the flows' goodputs", |o| {
        Some(o.flows.iter().map(|f| f.goodput_bps).sum())
    }),
    field("simulated_s", "s", "time that passed in the run", |o| Some(o.simulated_s)),
    field("events", "", "events handled", |o| Some(o.events as f64)),
];

pub(super) const FLOW: &[Field<FlowOutcome>] = &[
    field("goodput_bps", "bit/s", "payload delivered in order over the time", |f| Some(f.goodput_bps)),
    field("bytes_delivered", "B", "payload delivered in order", |f| Some(f.bytes_delivered as f64)),
    field("completion_s", "s", "opening to closing of the connections; missing: not finished", |f| {
        f.completion_s
    }),
    field("delivered_s", "s", "opening to delivery of the last byte; missing: not finished", |f| {
        f.delivered_s
    }),
    field("segments_sent", "", "data segments sent, again ones included", |f| Some(f.segments_sent as f64)),
    field("retransmitted_segments", "", "data segments sent again", |f| {
        Some(f.retransmitted_segments as f64)
    }),
    field("timeouts", "", "retransmission timeouts", |f| Some(f.timeouts as f64)),
    field("fast_retransmits", "", "fast retransmits", |f| Some(f.fast_retransmits as f64)),
    field("ecn_reductions", "", "window reductions by ECN", |f| Some(f.ecn_reductions as f64)),
    field("acks_sent", "", "ACKs sent by the receiver", |f| Some(f.acks_sent as f64)),
    field("acks_per_segment", "", "ACKs per data segment received", |f| Some(f.acks_per_segment)),
    field(
        "ack_burst",
        "segments",
        "what an ACK covers at most at the end, where the policy learns it",
        |f| f.ack_burst.map(|n| n as f64),
    ),
    field("congested.forward", "", "share of rounds in which the sender saw the way there congested", |f| {
        f.congested.as_ref().and_then(|c| c.shares()).map(|(there, _)| there)
    }),
    field("congested.reverse", "", "share of rounds in which the sender saw the way back congested", |f| {
        f.congested.as_ref().and_then(|c| c.shares()).map(|(_, back)| back)
    }),
    field("overhead", "", "retransmitted bytes over bytes delivered", |f| Some(f.overhead)),
    field("connections", "", "connections completed", |f| Some(f.connections as f64)),
    field("slow_start_rounds", "", "rounds until slow start first ended; missing: it did not", |f| {
        f.slow_start_rounds.map(|n| n as f64)
    }),
    field("slow_start_s", "s", "time until slow start first ended; missing: it did not", |f| f.slow_start_s),
    field("drops.queue", "", "data packets dropped by queues", |f| Some(f.drops.queue as f64)),
    field("drops.channel", "", "data packets destroyed by noise", |f| Some(f.drops.channel as f64)),
    field("drops.outage", "", "data packets lost in outages", |f| Some(f.drops.outage as f64)),
    field("drops.collision", "", "data packets given up by stations of a medium after collisions", |f| {
        Some(f.drops.collision as f64)
    }),
    field("drops.reach", "", "data packets given up by stations of a medium, out of reach", |f| {
        Some(f.drops.reach as f64)
    }),
    field("drops.route", "", "data packets for which a routing protocol had no way", |f| {
        Some(f.drops.route as f64)
    }),
    field("drops.handoff", "", "data packets lost in handoffs", |f| Some(f.drops.handoff as f64)),
    field("ack_drops.queue", "", "ACKs dropped by queues", |f| Some(f.ack_drops.queue as f64)),
    field("ack_drops.channel", "", "ACKs destroyed by noise", |f| Some(f.ack_drops.channel as f64)),
    field("ack_drops.outage", "", "ACKs lost in outages", |f| Some(f.ack_drops.outage as f64)),
    field("ack_drops.collision", "", "ACKs given up by stations of a medium after collisions", |f| {
        Some(f.ack_drops.collision as f64)
    }),
    field("ack_drops.reach", "", "ACKs given up by stations of a medium, out of reach", |f| {
        Some(f.ack_drops.reach as f64)
    }),
    field("ack_drops.route", "", "ACKs for which a routing protocol had no way", |f| {
        Some(f.ack_drops.route as f64)
    }),
    field("ack_drops.handoff", "", "ACKs lost in handoffs", |f| Some(f.ack_drops.handoff as f64)),
    field("loss_events.congestion", "", "losses noticed that a queue caused", |f| {
        Some(f.loss_events.congestion as f64)
    }),
    field("loss_events.wireless", "", "losses noticed that noise or an outage caused", |f| {
        Some(f.loss_events.wireless as f64)
    }),
    field("loss_events.spurious", "", "losses noticed that were none", |f| {
        Some(f.loss_events.spurious as f64)
    }),
    field("loss_events.wireless_share", "", "share of noise and outages in the true losses noticed", |f| {
        share(f.loss_events.wireless, f.loss_events.congestion + f.loss_events.wireless)
    }),
    field("loss_events.congestion_judged_right", "", "congestion losses judged so", |f| {
        Some(f.loss_events.congestion_judged_right as f64)
    }),
    field("loss_events.wireless_judged_right", "", "wireless losses judged so", |f| {
        Some(f.loss_events.wireless_judged_right as f64)
    }),
    field("accuracy.congestion", "", "A_C: share of congestion losses judged right", |f| {
        f.accuracy.congestion
    }),
    field("accuracy.wireless", "", "A_W: share of wireless losses judged right", |f| f.accuracy.wireless),
    field("accuracy.all", "", "A_L: share of all losses judged right", |f| f.accuracy.all),
    field("fair_share", "", "goodput over the mean of all flows' goodputs", |f| f.fair_share),
    field("longest_stall_s", "s", "longest time between two deliveries over one connection", |f| {
        f.longest_stall_s
    }),
    field("delay_s.mean", "s", "mean delay of segments", |f| f.delay_s.mean),
    field("delay_s.sd", "s", "standard deviation of the delay of segments", |f| f.delay_s.sd),
    field("delay_s.p50", "s", "median delay of segments", |f| f.delay_s.p50),
    field("delay_s.p99", "s", "99th percentile of the delay of segments", |f| f.delay_s.p99),
    field("rtt_s.min", "s", "smallest RTT sample", |f| f.rtt_s.min),
    field("rtt_s.mean", "s", "mean RTT sample", |f| f.rtt_s.mean),
    field("mean_cwnd_segments", "segments", "mean congestion window over time", |f| {
        Some(f.mean_cwnd_segments)
    }),
];

pub(super) const PREDICTOR: &[Field<PredictorOutcome>] = &[
    field("loss_events.congestion", "", "losses noticed that a queue caused", |p| {
        Some(p.loss_events.congestion as f64)
    }),
    field("loss_events.wireless", "", "losses noticed that noise or an outage caused", |p| {
        Some(p.loss_events.wireless as f64)
    }),
    field("loss_events.spurious", "", "losses noticed that were none", |p| {
        Some(p.loss_events.spurious as f64)
    }),
    field("loss_events.congestion_judged_right", "", "congestion losses it judged so", |p| {
        Some(p.loss_events.congestion_judged_right as f64)
    }),
    field("loss_events.wireless_judged_right", "", "wireless losses it judged so", |p| {
        Some(p.loss_events.wireless_judged_right as f64)
    }),
    field("accuracy.congestion", "", "A_C: share of congestion losses it judged right", |p| {
        p.accuracy.congestion
    }),
    field("accuracy.wireless", "", "A_W: share of wireless losses it judged right", |p| p.accuracy.wireless),
    field("accuracy.all", "", "A_L: share of all losses it judged right", |p| p.accuracy.all),
];

pub(super) const ESTIMATOR: &[Field<EstimatorOutcome>] = &[
    field("mean_bps", "bit/s", "mean estimate over time", |e| e.mean_bps),
    field("sd_bps", "bit/s", "standard deviation of the estimate over time", |e| e.sd_bps),
    field("available_bps", "bit/s", "mean of what was truly available to the flow", |e| e.available_bps),
    field("used_bps", "bit/s", "mean of what the flow used", |e| e.used_bps),
    field("tracking_error", "", "mean distance from what was available, over its mean", |e| e.tracking_error),
    field("over_available", "", "mean estimate over the mean of what was available", |e| e.over_available),
    field("over_used", "", "mean estimate over the mean of what was used", |e| e.over_used),
];

pub(super) const DETECTOR: &[Field<DetectorOutcome>] = &[
    field("slow_start", "", "segments that had been sent in slow start", |d| Some(d.slow_start as f64)),
    field("slow_start_judged_right", "", "of them, those it judged so", |d| {
        Some(d.slow_start_judged_right as f64)
    }),
    field("avoidance", "", "segments that had been sent in avoidance or recovery", |d| {
        Some(d.avoidance as f64)
    }),
    field("avoidance_judged_right", "", "of them, those it judged so", |d| {
        Some(d.avoidance_judged_right as f64)
    }),
    field("accuracy.slow_start", "", "share of the segments of slow start judged right", |d| {
        d.accuracy.slow_start
    }),
    field("accuracy.avoidance", "", "share of the segments of avoidance judged right", |d| {
        d.accuracy.avoidance
    }),
    field("accuracy.all", "", "share of all segments judged right", |d| d.accuracy.all),
    field("accuracy.balanced", "", "mean of the shares of both phases", |d| d.accuracy.balanced),
    field("false_alarms", "", "turns of its verdict to slow start in avoidance", |d| {
        Some(d.false_alarms as f64)
    }),
    field("ends", "", "ends of slow start", |d| Some(d.ends as f64)),
    field("ends_noticed", "", "of them, those it noticed", |d| Some(d.ends_noticed as f64)),
    field("end_delay_s", "s", "mean time until it noticed an end of slow start", |d| d.end_delay_s),
    field("starts", "", "returns to slow start", |d| Some(d.starts as f64)),
    field("starts_noticed", "", "of them, those it noticed", |d| Some(d.starts_noticed as f64)),
    field("start_delay_s", "s", "mean time until it noticed a return to slow start", |d| d.start_delay_s),
];

pub(super) const ROUND: &[Field<RoundOutcome>] = &[
    field("segments", "", "data segments sent in that round, counted from 1", |r| Some(r.segments as f64)),
    field("acks", "", "ACKs that came for that round", |r| Some(r.acks as f64)),
];

fn is(probe: &ProbeOutcome, reaction: &str) -> Option<f64> {
    Some(if probe.reaction == reaction { 1.0 } else { 0.0 })
}

pub(super) const PROBE: &[Field<ProbeOutcome>] = &[
    field("per_ack", "", "1: the sender was found to grow per ACK; 0: not", |p| is(p, "per-ack")),
    field("counts_bytes", "", "1: it was found to count bytes; 0: not", |p| is(p, "counts-bytes")),
    field("capped", "", "1: it was found to grow per ACK up to a bound; 0: not", |p| is(p, "capped")),
    field("harmed", "", "1: it was found to be harmed by division; 0: not", |p| is(p, "harmed")),
    field("fixed", "", "1: it was found not to grow at all; 0: not", |p| is(p, "fixed")),
    field("agreement", "", "share of the repetitions that agree", |p| Some(p.agreement)),
    field("initial_window", "segments", "initial window", |p| Some(p.initial_window.into())),
    field("mss", "B", "payload of a full segment", |p| Some(p.mss.into())),
    field(
        "limit",
        "segments",
        "for how many segments an ACK counts at most; missing: no limit within three",
        |p| p.limit.map(f64::from),
    ),
    field("cap", "", "of a capped one, how many times the window before is the bound", |p| p.cap),
    field("gain.A", "segments", "growth by three ACKs", |p| p.gains.get("A").copied()),
    field("gain.B", "segments", "growth by the same ACKs in 2 each", |p| p.gains.get("B").copied()),
    field("gain.C", "segments", "growth by the same ACKs in 4 each", |p| p.gains.get("C").copied()),
    field("gain.D", "segments", "growth by the same ACKs in 8 each", |p| p.gains.get("D").copied()),
    field("gain.E", "segments", "growth by the same ACKs in 12 each", |p| p.gains.get("E").copied()),
    field("gain.F", "segments", "growth by one ACK for three segments", |p| p.gains.get("F").copied()),
    field("gain.G", "segments", "growth by one ACK for the first round and 36 in the second", |p| {
        p.gains.get("G").copied()
    }),
    field("first_retransmission_s", "s", "from the last new segment to the first repeated one", |p| {
        p.first_retransmission_s
    }),
];

pub(super) const LINK: &[Field<LinkOutcome>] = &[
    field("utilisation", "", "share of the time it was transmitting", |l| Some(l.utilisation)),
    field("packets", "", "packets transmitted", |l| Some(l.packets as f64)),
    field("bytes", "B", "bytes transmitted", |l| Some(l.bytes as f64)),
    field("queue_drops", "", "packets dropped by its queue", |l| Some(l.queue_drops as f64)),
    field("channel_drops", "", "packets destroyed by its channel", |l| Some(l.channel_drops as f64)),
    field("outage_drops", "", "packets lost in outages", |l| Some(l.outage_drops as f64)),
    field("handoff_drops", "", "packets lost in handoffs", |l| Some(l.handoff_drops as f64)),
    field("ecn_marks", "", "packets marked by ECN", |l| Some(l.ecn_marks as f64)),
    field("acks_filtered", "", "ACKs superseded by newer ones in its queue", |l| {
        Some(l.acks_filtered as f64)
    }),
    field("mean_queue_packets", "packets", "mean number of packets waiting", |l| Some(l.mean_queue_packets)),
    field("mean_wait_s", "s", "mean time a packet waited", |l| Some(l.mean_wait_s)),
];

pub(super) const STATION: &[Field<StationOutcome>] = &[
    field("airtime", "", "share of the time it was sending", |s| Some(s.airtime)),
    field("busy", "", "share of the time the medium was busy where it is", |s| Some(s.busy)),
    field("packets", "", "packets taken into its queue", |s| Some(s.packets as f64)),
    field("bytes", "B", "bytes of them", |s| Some(s.bytes as f64)),
    field("frames", "", "frames sent", |s| Some(s.frames as f64)),
    field("attempts", "", "attempts to send a packet", |s| Some(s.attempts as f64)),
    field("collisions", "", "attempts that met another's frame", |s| Some(s.collisions as f64)),
    field("noise", "", "attempts destroyed by noise", |s| Some(s.noise as f64)),
    field("weak", "", "attempts too weak to be noticed", |s| Some(s.weak as f64)),
    field("receiver_sending", "", "attempts while the receiver was sending", |s| {
        Some(s.receiver_sending as f64)
    }),
    field("reserved", "", "requests not answered, the medium being reserved", |s| Some(s.reserved as f64)),
    field("duplicates", "", "packets that came again", |s| Some(s.duplicates as f64)),
    field("drops.queue", "", "packets dropped by its queue", |s| Some(s.drops.queue as f64)),
    field("drops.channel", "", "packets given up after noise", |s| Some(s.drops.channel as f64)),
    field("drops.collision", "", "packets given up after collisions", |s| Some(s.drops.collision as f64)),
    field("drops.reach", "", "packets given up out of reach", |s| Some(s.drops.reach as f64)),
    field("drops.route", "", "packets for which its router had no way", |s| Some(s.drops.route as f64)),
    field("ecn_marks", "", "packets marked by ECN", |s| Some(s.ecn_marks as f64)),
    field("mean_queue_packets", "packets", "mean number of packets waiting", |s| Some(s.mean_queue_packets)),
    field("mean_wait_s", "s", "mean time a packet waited", |s| Some(s.mean_wait_s)),
];

pub(super) const TRAFFIC: &[Field<TrafficOutcome>] = &[
    field("packets_sent", "", "packets sent", |t| Some(t.packets_sent as f64)),
    field("packets_delivered", "", "packets delivered", |t| Some(t.packets_delivered as f64)),
    field("delivered", "", "packets delivered over packets sent", |t| {
        share(t.packets_delivered, t.packets_sent)
    }),
    field("delivered_bps", "bit/s", "bytes delivered over the time", |t| Some(t.delivered_bps)),
    field("drops.queue", "", "packets dropped by queues", |t| Some(t.drops.queue as f64)),
    field("drops.channel", "", "packets destroyed by noise", |t| Some(t.drops.channel as f64)),
    field("drops.outage", "", "packets lost in outages", |t| Some(t.drops.outage as f64)),
    field("drops.collision", "", "packets given up by stations of a medium after collisions", |t| {
        Some(t.drops.collision as f64)
    }),
    field("drops.reach", "", "packets given up by stations of a medium, out of reach", |t| {
        Some(t.drops.reach as f64)
    }),
    field("drops.route", "", "packets for which a routing protocol had no way", |t| {
        Some(t.drops.route as f64)
    }),
    field("delay_s.mean", "s", "mean delay from source to sink", |t| t.delay_s.mean),
    field("delay_s.p99", "s", "99th percentile of the delay", |t| t.delay_s.p99),
];

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
