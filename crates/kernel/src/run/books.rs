//! From the books of a live run to its outcome: what the path's packets show, what the senders' windows were, what the
//! senders took each loss for, and what it truly was.

use super::app::Ends;
use super::controls::Controls;
use super::detectors::{self, Found};
use super::watch::{Record, State};
use crate::Error;
use std::collections::BTreeMap;
use truckee_cc::replay::{Report, replay};
use truckee_cc::{self as cc, Port};
use truckee_path::{Books, FLOW_PORT, FlowBook};
use truckee_scenario::Scenario;
use truckee_scenario::model::Flow;
use truckee_scenario::outcome::*;
use truckee_shape::arrival;
use truckee_tcp::{Arg, Cause, Span, Spec, Time};

/// What a run leaves.
pub struct Run<'a> {
    pub scenario: &'a Scenario,
    pub ends: &'a [Ends<'a>],
    pub path: Books,
    pub records: Vec<Record>,
    /// What the receivers' policies and observers heard of, by flow.
    pub heard: Vec<Vec<arrival::Record>>,
    pub controls: &'a Controls,
    /// Where the flows' data comes from, as the kernel knows it.
    pub namespaces: Vec<u32>,
    /// The beginning and the end on the clock.
    pub t0: Time,
    pub end: Time,
    pub series: bool,
}

/// A loss event as Linux noticed it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Noticed {
    t: Time,
    port: u16,
    una: u32,
    kind: Kind,
    /// Whether it is a loss event of its own: a timer that goes off again for the same segment is none.
    event: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    DupAcks,
    Timeout,
    EcnEcho,
}

/// What a predictor's answer is in a record: wireless.
const WIRELESS: u8 = 2;

impl Run<'_> {
    /// The outcome; wall time, lateness and notes are left to the caller.
    pub fn outcome(mut self) -> Result<Outcome, Error> {
        let measured = (self.t0 + self.scenario.warmup).min(self.end);
        let mut by_flow: Vec<Vec<Record>> = vec![Vec::new(); self.scenario.flows.len()];
        // With the path stopped the senders wait in vain until they are stopped too: those timeouts are no part of the run.
        let until = self.end;
        for record in std::mem::take(&mut self.records).into_iter().filter(|r| r.t <= until) {
            let flow = (0..by_flow.len()).find(|&flow| self.is_of(&record, flow));
            if let Some(flow) = flow {
                let window = sensible_window(&record, &by_flow[flow]);
                by_flow[flow].push(Record { cwnd: window, ..record });
            }
        }
        let books = std::mem::take(&mut self.path.flows);
        let (mut flows, mut series) = (Vec::new(), Vec::new());
        for (index, book) in books.into_iter().enumerate() {
            let records = &by_flow[index];
            let verdicts = self.verdicts(index);
            let noticed = noticed(records);
            let judged = self.judge(&noticed, &verdicts, &book);
            let found = match std::mem::take(&mut self.heard[index]) {
                heard if heard.is_empty() => Found::default(),
                heard => detectors::judge(self.scenario, index, &heard, records, (self.t0, measured)),
            };
            let mut flow = self.flow(index, &book, records, &judged, measured);
            flow.ack_burst = found.burst;
            flow.observers.detectors = found.detectors;
            flows.push(flow);
            if self.series {
                let (phases, gaps) = (found.phases, found.gaps);
                series.push(FlowSeries { phases, gaps, ..self.series_of(index, book, records, &judged) });
            }
        }
        let mut outcome = Outcome {
            truckee: env!("CARGO_PKG_VERSION").to_owned(),
            engine: "kernel".to_owned(),
            scenario: self.scenario.name.clone(),
            seed: self.scenario.seed,
            digest: String::new(),
            simulated_s: self.seconds(self.end),
            wall_s: 0.0,
            events: by_flow.iter().map(|r| r.len() as u64).sum(),
            flows,
            links: std::mem::take(&mut self.path.links),
            media: Vec::new(),
            traffic: std::mem::take(&mut self.path.traffic),
            jain: None,
            ports: self.ports()?,
            notes: Vec::new(),
            hosts: Vec::new(),
            lateness: None,
            timers_age: None,
            series,
            queues: std::mem::take(&mut self.path.queues),
            air: Vec::new(),
        };
        outcome.compare_flows();
        Ok(outcome)
    }

    /// Whether a record is of the sender of that flow.
    fn is_of(&self, record: &Record, flow: usize) -> bool {
        let port = FLOW_PORT + flow as u16;
        self.namespaces[flow] == record.namespace && [record.peer, record.local].contains(&port)
    }

    /// A time of CLOCK_MONOTONIC as one of the run.
    fn in_run(&self, t: Time) -> Time {
        Time::at(t.saturating_sub(self.t0))
    }

    fn seconds(&self, t: Time) -> f64 {
        self.in_run(t).seconds()
    }

    /// What a flow's sender took each loss for, by client port, in order of time; empty for the kernel's own senders,
    /// which take every loss for congestion.
    fn verdicts(&self, flow: usize) -> BTreeMap<u16, Vec<(Time, Cause)>> {
        let mut verdicts: BTreeMap<u16, Vec<(Time, Cause)>> = BTreeMap::new();
        let Some((_, events, _)) = self.controls.events(flow) else { return verdicts };
        let asked = events.iter().filter(|e| e.kind == cc::Kind::Ssthresh && sent_by(e, flow));
        for event in asked {
            let cause = if event.verdict == WIRELESS { Cause::Wireless } else { Cause::Congestion };
            verdicts.entry(client_port(event)).or_default().push((event.time, cause));
        }
        verdicts
    }

    /// Each loss event with its true cause and the sender's verdict.
    fn judge(
        &self,
        noticed: &[Noticed],
        verdicts: &BTreeMap<u16, Vec<(Time, Cause)>>,
        book: &FlowBook,
    ) -> Vec<(Noticed, Option<Cause>, Cause)> {
        let judge = |n: &Noticed| {
            let fate = book.fate_of_raw(n.port, n.una, self.in_run(n.t));
            let said = verdicts.get(&n.port).map_or(&[][..], Vec::as_slice);
            // A sender is asked just before Linux turns its state; what it said last holds where it was not asked.
            let last = said.partition_point(|(t, _)| *t <= n.t).checked_sub(1);
            let verdict = last.map_or(Cause::Congestion, |k| said[k].1);
            (*n, fate.map(|f| f.cause.verdict()), verdict)
        };
        noticed.iter().map(judge).collect()
    }

    fn flow(
        &self,
        index: usize,
        book: &FlowBook,
        records: &[Record],
        judged: &[(Noticed, Option<Cause>, Cause)],
        measured: Time,
    ) -> FlowOutcome {
        let flow = &self.scenario.flows[index];
        let mut progress = self.ends[index].progress().clone();
        progress.finished = progress.finished.filter(|&finished| finished <= self.end);
        let start = progress.started.map_or(self.end, |s| s.max(measured));
        let until = progress.finished.unwrap_or(self.end).min(self.end).max(start);
        let span = (until - start).seconds();
        let over = |x: f64| if span > 0.0 { x / span } else { 0.0 };
        let since_start = |t: Time| progress.started.map(|s| t.saturating_sub(s).seconds());
        let counted = || judged.iter().filter(|(n, ..)| n.t >= measured);
        let of = |kind| counted().filter(move |(n, ..)| n.kind == kind).count() as u64;
        let loss_events = loss_events(counted());
        FlowOutcome {
            name: flow.name.clone(),
            sender: flow.sender.label.clone(),
            receiver: flow.receiver.name.clone(),
            goodput_bps: over(book.bytes_delivered as f64 * 8.0),
            bytes_delivered: book.bytes_delivered,
            completion_s: progress.finished.and_then(since_start),
            delivered_s: progress
                .finished
                .and(book.last_delivery)
                .and_then(|last| since_start(self.t0 + last.since_start())),
            segments_sent: book.segments_sent,
            retransmitted_segments: book.retransmitted_segments,
            timeouts: of(Kind::Timeout),
            fast_retransmits: of(Kind::DupAcks),
            ecn_reductions: of(Kind::EcnEcho),
            acks_sent: book.acks_sent,
            acks_per_segment: share(book.acks_sent, book.segments_received).unwrap_or(0.0),
            ack_burst: None,
            probe: None,
            congested: None,
            rounds: book.rounds.clone(),
            overhead: share(book.retransmitted_bytes, book.bytes_delivered).unwrap_or(0.0),
            connections: progress.connections,
            slow_start_rounds: None,
            slow_start_s: slow_start_end(records),
            drops: book.drops,
            ack_drops: book.ack_drops,
            loss_events,
            accuracy: loss_events.accuracy(),
            fair_share: None,
            longest_stall_s: book.longest_stall.map(|s| s.seconds()),
            observers: Observers::default(),
            delay_s: book.delay_s,
            rtt_s: book.rtt_s,
            mean_cwnd_segments: mean_window(records, start, until),
        }
    }

    fn series_of(
        &self,
        index: usize,
        book: FlowBook,
        records: &[Record],
        judged: &[(Noticed, Option<Cause>, Cause)],
    ) -> FlowSeries {
        let flow = &self.scenario.flows[index];
        let losses = judged.iter().filter(|(n, ..)| n.event).filter_map(|(n, truth, verdict)| {
            Some(LossPoint {
                t: self.seconds(n.t),
                seq: book.unwrapped(n.port, n.una, self.in_run(n.t))?,
                kind: match n.kind {
                    Kind::DupAcks => "dup-acks",
                    Kind::Timeout => "timeout",
                    Kind::EcnEcho => "ecn",
                },
                truth: truth.map_or("none", Cause::as_str),
                verdict: verdict.as_str(),
            })
        });
        FlowSeries {
            flow: flow.name.clone(),
            losses: losses.collect(),
            window: self.window(records, flow, &book.rtts),
            delays: book.delays,
            segments: book.segments,
            acks: book.acks,
            drops: book.dropped,
            packets: book.packets,
            late: book.late,
            ..FlowSeries::default()
        }
    }

    /// The windows, each with the last RTT sample since the one before.
    fn window(&self, records: &[Record], flow: &Flow, rtts: &[(Time, Span)]) -> Vec<WindowPoint> {
        let mut known = 0;
        let point = |r: &Record| {
            let until = rtts.partition_point(|&(t, _)| self.t0 + t.since_start() <= r.t);
            let since = rtts.get(std::mem::replace(&mut known, until)..until).unwrap_or_default();
            let rtt = since.last().map(|&(_, rtt)| rtt.seconds());
            WindowPoint { rtt, ..self.window_point(r, flow) }
        };
        records.iter().map(point).collect()
    }

    fn window_point(&self, r: &Record, flow: &Flow) -> WindowPoint {
        let mss = f64::from(r.mss);
        WindowPoint {
            t: self.seconds(r.t),
            cwnd: f64::from(r.cwnd) * mss,
            // Before the first loss the kernel's threshold is no number of segments.
            ssthresh: (f64::from(r.ssthresh) * mss).min(f64::from(flow.stack.advertised_window())),
            flight: u64::from(r.nxt.wrapping_sub(r.una)),
            rtt: None,
        }
    }

    /// Each program of ours against its definition, over all connections of a flow.
    fn ports(&self) -> Result<Vec<PortOutcome>, Error> {
        let mut ports = Vec::new();
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let Some((port, events, missing)) = self.controls.events(index) else { continue };
            let own: Vec<cc::Event> = events.iter().filter(|e| sent_by(e, index)).copied().collect();
            let of =
                |reports: &[Report], what: fn(&Report) -> f64| reports.iter().map(what).fold(0.0, f64::max);
            let reports = replay(port, &own)?;
            ports.push(PortOutcome {
                flow: flow.name.clone(),
                port: name_of(port),
                acks: reports.iter().map(|r| r.acks).sum(),
                unrecorded: missing,
                estimate: estimates(&port.response).then(|| of(&reports, |r| r.estimate)),
                verdicts: reports.iter().map(|r| r.verdicts).sum(),
                verdicts_apart: reports.iter().map(|r| r.differing).sum(),
                cwnd_segments: of(&reports, |r| r.cwnd),
                ssthresh_segments: of(&reports, |r| r.ssthresh as f64),
                within: reports.iter().all(Report::within),
            });
        }
        Ok(ports)
    }
}

/// What a port is called: as it is loaded by name or, if it has none, by its parts.
fn name_of(port: &Port) -> String {
    match port.published() {
        Some(published) => published.name.to_owned(),
        None => format!("{}+{}", port.growth.name, port.response.name),
    }
}

/// Whether anything in a response estimates the bandwidth.
fn estimates(spec: &Spec) -> bool {
    let inside = |arg: &Arg| matches!(arg, Arg::Spec(spec) if estimates(spec));
    spec.args.iter().any(|(name, arg)| name == "estimator" || inside(arg))
}

/// Whether an event is of a sender of that flow.
fn sent_by(event: &cc::Event, flow: usize) -> bool {
    [event.remote_port, event.local_port].contains(&(FLOW_PORT + flow as u16))
}

/// The port of a connection's client: servers' ports are lower.
fn client_port(event: &cc::Event) -> u16 {
    event.local_port.max(event.remote_port)
}

/// The window of a record, or of the connection's record before where it is none: a kernel that passed a program over, which was
/// to say the threshold, has an address there until the next ACK. No window is larger than 2^30 bytes (RFC 7323, section 2.3).
fn sensible_window(record: &Record, before: &[Record]) -> u32 {
    if u64::from(record.cwnd) * u64::from(record.mss) <= 1 << 30 {
        return record.cwnd;
    }
    let of_the_same = |r: &&Record| (r.local, r.peer) == (record.local, record.peer);
    before.iter().rev().find(of_the_same).map_or(0, |r| r.cwnd)
}

/// The loss events among the turns of the state, in order of time.
fn noticed(records: &[Record]) -> Vec<Noticed> {
    let mut last_timeout: BTreeMap<u16, u32> = BTreeMap::new();
    let mut noticed = Vec::new();
    for r in records {
        let Some(state) = r.turns else { continue };
        let port = r.peer.max(r.local); // the client's: servers' ports are lower
        let kind = match state {
            State::Recovery if r.before < State::Recovery => Kind::DupAcks,
            State::Loss => Kind::Timeout,
            State::Reduction if r.before < State::Reduction => Kind::EcnEcho,
            _ => continue,
        };
        let again = kind == Kind::Timeout && last_timeout.insert(port, r.una) == Some(r.una);
        noticed.push(Noticed { t: r.t, port, una: r.una, kind, event: !again });
    }
    noticed
}

fn loss_events<'a>(judged: impl Iterator<Item = &'a (Noticed, Option<Cause>, Cause)>) -> LossEvents {
    let mut sum = LossEvents::default();
    for (_, truth, verdict) in judged.filter(|(n, ..)| n.event && n.kind != Kind::EcnEcho) {
        let right = u64::from(*truth == Some(*verdict));
        match truth {
            None => sum.spurious += 1,
            Some(Cause::Congestion) => {
                sum.congestion += 1;
                sum.congestion_judged_right += right;
            }
            Some(Cause::Wireless) => {
                sum.wireless += 1;
                sum.wireless_judged_right += right;
            }
        }
    }
    sum
}

/// Time from a flow's first record to the first window that is not below its threshold, s.
fn slow_start_end(records: &[Record]) -> Option<f64> {
    let first = records.first()?;
    let end = records.iter().find(|r| r.cwnd >= r.ssthresh)?;
    Some((end.t - first.t).seconds())
}

/// Mean congestion window over time, segments, summed over connections that were open at once.
fn mean_window(records: &[Record], from: Time, to: Time) -> f64 {
    let mut held: BTreeMap<(u16, u16), (Time, u32)> = BTreeMap::new();
    let mut area = 0.0;
    let part = |a: Time, b: Time| b.clamp(from, to).saturating_sub(a.clamp(from, to)).as_f64();
    for r in records {
        if let Some((since, cwnd)) = held.insert((r.local, r.peer), (r.t, r.cwnd)) {
            area += f64::from(cwnd) * part(since, r.t);
        }
    }
    // Of connections that followed one another, only the last one lasts until the end.
    if let Some((since, cwnd)) = held.values().max_by_key(|(since, _)| *since) {
        area += f64::from(*cwnd) * part(*since, to);
    }
    if to > from { area / (to - from).as_f64() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(ms: u64, local: u16, cwnd: u32) -> Record {
        Record {
            t: Time::ms(ms),
            namespace: 1,
            local,
            peer: 2,
            una: 0,
            nxt: 0,
            cwnd,
            ssthresh: 5,
            srtt_us: 0,
            mss: 1448,
            before: State::Open,
            turns: None,
        }
    }

    #[test]
    fn where_the_kernel_has_an_address_for_a_window_the_one_before_stands() {
        let before = [record(0, 1, 10), record(1, 1, 12), record(2, 7, 30)];
        assert_eq!(sensible_window(&record(3, 1, 0x27d2_bb00), &before), 12);
        assert_eq!(
            sensible_window(&record(3, 1, 700_000), &before),
            700_000,
            "a gigabyte at most is a window"
        );
        assert_eq!(sensible_window(&record(3, 9, 0x27d2_bb00), &before), 0, "none is known");
    }
}
