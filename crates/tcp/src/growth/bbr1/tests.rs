//! BBRv1 against a pipe: a bottleneck of 10 Mbit/s behind 100 ms, driven departure by departure.

use super::super::tests::window;
use super::turns::DRAIN_GAIN;
use super::*;
use crate::{Seq, Spec};
use std::collections::VecDeque;

const MS: Span = Span::ms(1);
const RATE: f64 = 1.25e6;
const RTT: Span = Span::ms(100);
/// Bytes: 125 segments.
const BDP: f64 = 125_000.0;

fn rule(seed: f64) -> Bbr1 {
    let spec = Spec::named("bbr1").with("seed", crate::Arg::Number(seed));
    Bbr1::build(&mut Args::new(&spec)).unwrap()
}

/// A sender that has always something to send, a bottleneck with an endless queue, and an ACK for each segment.
struct Pipe {
    bbr: Bbr1,
    w: Window,
    now: Time,
    release: Time,
    /// When the bottleneck will be free.
    free: Time,
    /// (arrival of the ACK, its number, when its segment was sent).
    acks: VecDeque<(Time, u64, Time)>,
    sent: u64,
    acked: u64,
    lost: u64,
    rate: f64,
    repairing: bool,
    /// The mode after each ACK, where it changed, and what was in flight then.
    modes: Vec<(Time, Mode, u64)>,
}

impl Pipe {
    fn new() -> Self {
        Self {
            bbr: rule(1.0),
            w: Window { srtt: None, rtt_min: None, ..window(10.0, 1e6) },
            now: Time::ZERO,
            release: Time::ZERO,
            free: Time::ZERO,
            acks: VecDeque::new(),
            sent: 0,
            acked: 0,
            lost: 0,
            rate: RATE,
            repairing: false,
            modes: Vec::new(),
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent - self.acked
    }

    fn machine(&self) -> &Machine {
        &self.bbr.0
    }

    fn send(&mut self) {
        let seq = Seq::at(1 + self.sent);
        let sent = Departure { seq, in_flight: self.in_flight(), ..Departure::of_bytes(self.now, 1000) };
        self.bbr.on_sent(&sent, &self.w);
        self.sent += 1000;
        self.release = self.now + Span::truncated(1000.0 / self.bbr.pacing_rate().unwrap() * 1e9);
        self.free = self.free.max(self.now) + Span::truncated(1000.0 / self.rate * 1e9);
        self.acks.push_back((self.free + RTT, 1 + self.sent, self.now));
    }

    fn acknowledge(&mut self, number: u64, sent: Time) {
        self.acked += 1000;
        let rtt = Some(self.now - sent);
        (self.w.srtt, self.w.flight) = (rtt, self.in_flight());
        let ack = Ack {
            ack: Seq::at(number),
            sent: Some(sent),
            rtt,
            highest: Seq::at(1 + self.sent),
            ..Ack::of_bytes(self.now, 1000)
        };
        let air = Air {
            in_flight: self.in_flight(),
            delivered: self.acked,
            lost: self.lost,
            repairing: self.repairing,
            more: true,
            ..Air::default()
        };
        self.bbr.after_ack(&ack, &air, &mut self.w);
        let mode = self.machine().turns.mode;
        if self.modes.last().is_none_or(|last| last.1 != mode) {
            self.modes.push((self.now, mode, self.in_flight()));
        }
    }

    fn run(&mut self, until: Time) {
        loop {
            let room = (self.in_flight() + 1000) as f64 <= self.w.cwnd;
            let departure = room.then_some(self.release.max(self.now));
            let arrival = self.acks.front().map(|a| a.0);
            match [departure, arrival].into_iter().flatten().min() {
                Some(at) if at > until => break,
                Some(at) if Some(at) == arrival => {
                    self.now = at;
                    if let Some((_, number, sent)) = self.acks.pop_front() {
                        self.acknowledge(number, sent);
                    }
                }
                Some(at) => {
                    self.now = at;
                    self.send();
                }
                None => break,
            }
        }
        self.now = until;
    }

    fn run_on(&mut self, span: Span) {
        let until = self.now + span;
        self.run(until);
    }

    fn entered(&self, mode: Mode) -> Option<Time> {
        self.modes.iter().find(|m| m.1 == mode).map(|m| m.0)
    }
}

#[test]
fn the_constants_are_the_kernels() {
    // 256·2885/1000 + 1 and 256·1000/2885, in whole numbers.
    let kernels = (f64::from(256 * 2885 / 1000 + 1), f64::from(256 * 1000 / 2885));
    assert_eq!((HIGH_GAIN * 256.0, DRAIN_GAIN * 256.0), kernels);
}

#[test]
fn startup_finds_the_bottlenecks_rate_and_round_trip_and_drains_what_it_has_queued() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(2));
    let bw = pipe.machine().widest.value();
    assert!((bw / RATE - 1.0).abs() < 0.02, "{bw}");
    let rtt = pipe.machine().min_rtt.unwrap();
    assert!((RTT..RTT + 2 * MS).contains(&rtt), "{rtt:?}");
    let (drain, probe) = (pipe.entered(Mode::Drain).unwrap(), pipe.entered(Mode::ProbeBw).unwrap());
    // log2(125 segments / 10) rounds fill the pipe, and three more, which its queue makes nearly three times as long, show it.
    assert!(drain < Time::at(15 * RTT) && probe < drain + 4 * RTT, "{drain:?} {probe:?}");
    let (_, _, left) = pipe.modes.iter().find(|m| m.1 == Mode::ProbeBw).unwrap();
    // bw·RTTmin, three bursts of two segments, an even number.
    assert!(*left as f64 <= BDP + 8000.0, "{left}");
}

#[test]
fn phases_take_a_round_trip_each_and_one_in_eight_probes() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(3));
    let mut phases = Vec::new();
    for _ in 0..800 {
        pipe.run_on(MS);
        let phase = pipe.machine().turns.phase;
        if phases.last().is_none_or(|&(_, last)| last != phase) {
            phases.push((pipe.now, phase));
        }
    }
    assert!((7..=9).contains(&phases.len()), "{phases:?}");
    for pair in phases.windows(2) {
        assert_eq!(pair[1].1, (pair[0].1 + 1) % 8);
        let lasted = pair[1].0 - pair[0].0;
        assert!((10 * MS..150 * MS).contains(&lasted) || pair == &phases[..2], "{phases:?}");
    }
}

#[test]
fn steady_it_fills_the_pipe_and_holds_no_more_than_two_of_it() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(3));
    let before = pipe.acked;
    let mut most = 0;
    for _ in 0..60 {
        pipe.run_on(100 * MS);
        most = most.max(pipe.in_flight());
    }
    let rate = (pipe.acked - before) as f64 / 6.0;
    assert!(rate > 0.95 * RATE, "{rate}");
    assert!((most as f64) < 1.4 * BDP, "{most}");
}

#[test]
fn after_ten_seconds_without_a_shorter_round_trip_it_holds_four_segments_for_200_ms() {
    let mut pipe = Pipe::new();
    pipe.run(Time::ms(9900));
    assert!(pipe.entered(Mode::ProbeRtt).is_none());
    let mut least = u64::MAX;
    for _ in 0..1500 {
        pipe.run_on(MS);
        if pipe.machine().turns.mode == Mode::ProbeRtt {
            least = least.min(pipe.in_flight());
        }
    }
    assert_eq!(least, 4000);
    let at = pipe.modes.iter().position(|m| m.1 == Mode::ProbeRtt).unwrap();
    let lasted = pipe.modes[at + 1].0 - pipe.modes[at].0;
    assert!((200 * MS..500 * MS).contains(&lasted), "{lasted:?}");
    assert_eq!(pipe.modes[at + 1].1, Mode::ProbeBw);
    assert!(pipe.w.cwnd > BDP, "what it was is back: {}", pipe.w.cwnd);
}

#[test]
fn a_wider_bottleneck_is_found_and_a_narrower_one_too() {
    for factor in [2.0, 0.5] {
        let mut pipe = Pipe::new();
        pipe.run(Time::s(3));
        pipe.rate = factor * RATE;
        pipe.run(Time::s(20));
        let found = pipe.machine().widest.value() / RATE;
        assert!((found / factor - 1.0).abs() < 0.05, "{factor}: {found}");
    }
}

#[test]
fn the_first_round_of_a_repair_conserves_packets_and_behind_it_the_window_is_what_it_was() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(3));
    let cwnd = pipe.w.cwnd;
    let loss = Loss { now: pipe.now, kind: LossKind::DupAcks, seq: Seq::at(1 + pipe.acked) };
    pipe.bbr.on_loss(&loss, cwnd, &mut pipe.w);
    pipe.repairing = true;
    let until = pipe.machine().repair.unwrap().until;
    let in_flight = pipe.in_flight();
    assert!((in_flight as f64) < cwnd);
    pipe.run_on(20 * MS);
    assert!(pipe.machine().conserving);
    // One may have left before the first ACK of the repair, and one since.
    assert!(pipe.w.cwnd <= (in_flight + 2000) as f64, "{} {in_flight}", pipe.w.cwnd);
    while pipe.acked + 1 < until.number() {
        pipe.run_on(MS);
    }
    pipe.repairing = false;
    pipe.run_on(5 * MS);
    assert!(pipe.machine().repair.is_none() && !pipe.machine().conserving);
    assert!(pipe.w.cwnd > 0.9 * cwnd, "{} {cwnd}", pipe.w.cwnd);
}

#[test]
fn what_is_lost_comes_off_the_window() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(3));
    let cwnd = pipe.w.cwnd;
    pipe.bbr.0.turns.mode = Mode::Startup; // which opens by what is delivered and is not yet at its aim
    pipe.bbr.0.turns.full_bw_reached = false;
    pipe.lost += 5000;
    let (at, number, sent) = pipe.acks.pop_front().unwrap();
    pipe.now = at;
    pipe.acknowledge(number, sent);
    assert_eq!(pipe.w.cwnd, cwnd - 5000.0 + 1000.0);
}

#[test]
fn a_timeout_leaves_a_segment_until_it_is_repaired() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(3));
    let cwnd = pipe.w.cwnd;
    let loss = Loss { now: pipe.now, kind: LossKind::Timeout, seq: Seq::at(1 + pipe.acked) };
    pipe.bbr.on_loss(&loss, cwnd, &mut pipe.w);
    assert_eq!(pipe.w.cwnd, 1000.0);
    let until = pipe.machine().repair.unwrap().until;
    pipe.repairing = true;
    while pipe.acked + 1 < until.number() {
        assert!(pipe.w.cwnd < cwnd, "it opens by what is acknowledged: {}", pipe.w.cwnd);
        pipe.run_on(MS);
    }
    pipe.repairing = false;
    pipe.run_on(150 * MS);
    assert!(pipe.w.cwnd > 0.9 * cwnd, "{} {cwnd}", pipe.w.cwnd);
}

#[test]
fn the_seed_decides_where_a_cycle_begins_and_it_never_begins_by_draining() {
    let first = |seed: f64| {
        let mut machine = *rule(seed).0;
        machine.probe_bandwidth();
        machine.turns.phase
    };
    assert_eq!(first(7.0), first(7.0));
    let phases: Vec<usize> = (0..200).map(|seed| first(f64::from(seed))).collect();
    assert!((0..8).all(|phase| phases.contains(&phase) == (phase != 1)), "{phases:?}");
}

#[test]
fn a_burst_is_a_millisecond_of_the_pace_within_bounds() {
    let mut machine = *rule(1.0).0;
    machine.mss = 1000.0;
    for (rate, segments) in [(100_000.0, 1.0), (200_000.0, 2.0), (10_240_000.0, 10.0), (1e9, 65.0)] {
        machine.pacing_rate = Some(rate);
        assert_eq!(machine.burst(), segments, "{rate}");
    }
    // bw·RTTmin of 12.2 segments are 13; three bursts of two, and an even number: 20.
    machine.pacing_rate = Some(200_000.0);
    machine.min_rtt = Some(RTT);
    assert_eq!(machine.inflight(122_000.0, 1.0), 20_000.0);
}
