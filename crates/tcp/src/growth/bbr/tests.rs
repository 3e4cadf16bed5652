//! BBR against a pipe: a bottleneck of 10 Mbit/s behind 100 ms, driven departure by departure.

use super::super::tests::window;
use super::*;
use crate::Spec;
use std::collections::VecDeque;

const MS: Span = Span::ms(1);
const SECOND: Span = Span::s(1);
const RATE: f64 = 1.25e6;
const RTT: Span = Span::ms(100);

/// A sender that has always something to send, a bottleneck with an endless queue, and an ACK for each segment.
struct Pipe {
    bbr: Bbr,
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
    /// The state after each ACK, where it changed.
    states: Vec<(Time, State)>,
    most_in_flight: u64,
    /// Whether each ACK is held against a look at it, and how many needed none.
    held_against: bool,
    calm: usize,
    /// Of these, how many while it probed below a bound.
    calm_below_a_bound: usize,
}

impl Pipe {
    fn new() -> Self {
        let bbr = Bbr::build(&mut Args::new(&Spec::named("bbr"))).unwrap();
        let w = Window { srtt: None, rtt_min: None, ..window(10.0, 1e6) };
        Self {
            bbr,
            w,
            now: Time::ZERO,
            release: Time::ZERO,
            free: Time::ZERO,
            acks: VecDeque::new(),
            sent: 0,
            acked: 0,
            lost: 0,
            rate: RATE,
            states: Vec::new(),
            most_in_flight: 0,
            held_against: false,
            calm: 0,
            calm_below_a_bound: 0,
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent - self.acked
    }

    fn machine(&self) -> &Machine {
        &self.bbr.0
    }

    fn send(&mut self) {
        let sent = Departure {
            seq: Seq::at(1 + self.sent),
            in_flight: self.in_flight(),
            ..Departure::of_bytes(self.now, 1000)
        };
        self.bbr.on_sent(&sent, &self.w);
        self.sent += 1000;
        self.most_in_flight = self.most_in_flight.max(self.in_flight());
        self.release = self.now + Span::truncated(1040.0 / self.bbr.pacing_rate().unwrap() * 1e9);
        self.free = self.free.max(self.now) + Span::truncated(1000.0 / self.rate * 1e9);
        self.acks.push_back((self.free + RTT, 1 + self.sent, self.now));
    }

    fn acknowledge(&mut self, number: u64, sent: Time) {
        self.w.flight = self.in_flight();
        self.acked += 1000;
        let rtt = self.now - sent;
        self.w.srtt = Some(rtt);
        let ack = Ack {
            ack: Seq::at(number),
            sent: Some(sent),
            rtt: Some(rtt),
            highest: Seq::at(1 + self.sent),
            ..Ack::of_bytes(self.now, 1000)
        };
        self.bbr.on_ack(&ack, &mut self.w);
        let (in_flight, delivered, lost) = (self.in_flight(), self.acked, self.lost);
        let air = Air { in_flight, delivered, lost, more: true, ..Air::default() };
        let before = self.held_against.then(|| (self.bbr.clone(), self.w));
        self.bbr.after_ack(&ack, &air, &mut self.w);
        if let Some((Bbr(mut looked), mut w)) = before {
            let calm = looked.clone().passes_calmly(&Brief::of(&ack, &air), &mut { w });
            self.calm += usize::from(calm);
            let bounded = looked.state == State::Up && looked.model.inflight_long.is_finite();
            self.calm_below_a_bound += usize::from(calm && bounded);
            looked.look(&ack, &air, &mut w);
            let mut passed = self.machine().clone();
            // What the next event brings anew.
            (passed.now, passed.cwnd, passed.in_flight) = (looked.now, looked.cwnd, looked.in_flight);
            assert_eq!((format!("{passed:?}"), self.w), (format!("{looked:?}"), w));
        }
        let state = self.machine().state;
        if self.states.last().is_none_or(|last| last.1 != state) {
            self.states.push((self.now, state));
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

    /// In the middle of its next probe a duplicate says that so many bytes are lost. What was in the air.
    fn lose_in_a_probe(&mut self, lost: u64) -> u64 {
        while self.machine().state != State::Up {
            self.run(self.now + MS);
        }
        self.run(self.now + RTT / 2);
        assert_eq!(self.machine().state, State::Up);
        let in_flight = self.in_flight();
        self.now += MS;
        let sent = Some(self.acks[1].2);
        let ack = Ack { ack: Seq::at(1 + self.acked), sent, duplicate: true, ..Ack::of_bytes(self.now, 0) };
        let newest_lost = Some(self.acks[0].2);
        let delivered = self.acked + 1000;
        let air =
            Air { in_flight, delivered, lost, newest_lost, repairing: true, more: true, ..Air::default() };
        self.bbr.after_ack(&ack, &air, &mut self.w);
        in_flight
    }

    fn entered(&self, state: State) -> Option<Time> {
        self.states.iter().find(|s| s.1 == state).map(|s| s.0)
    }
}

#[test]
fn startup_finds_the_bottlenecks_rate_and_round_trip_in_ten_rounds_and_drains() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(2));
    let model = &pipe.machine().model;
    assert!((model.max_bw() / RATE - 1.0).abs() < 0.02, "{}", model.max_bw());
    let rtt = model.min_rtt.unwrap();
    assert!((RTT..RTT + 2 * MS).contains(&rtt), "{rtt:?}");
    let (drain, cruise) = (pipe.entered(State::Drain).unwrap(), pipe.entered(State::Cruise).unwrap());
    // log2(125 segments / 10) rounds to fill the pipe and three to see that it is full; rounds last longer as it fills.
    assert!(drain < Time::at(12 * RTT), "{drain:?}");
    assert!(cruise < drain + 3 * RTT, "with its queue gone DOWN ends at once: {cruise:?}");
    let bdp = RATE * 0.1;
    assert!(
        (pipe.most_in_flight as f64) < 3.0 * bdp,
        "the window bounds Startup's queue: {}",
        pipe.most_in_flight
    );
}

#[test]
fn a_cycle_cruises_refills_probes_up_and_goes_down_within_three_seconds() {
    let mut pipe = Pipe::new();
    pipe.run(Time::ms(4900));
    let states: Vec<State> = pipe.states.iter().map(|s| s.1).collect();
    use State::*;
    assert_eq!(states[..7], [Startup, Drain, Cruise, Refill, Up, Down, Cruise]);
    let waited = pipe.entered(Refill).unwrap() - pipe.entered(Cruise).unwrap();
    assert!((2 * SECOND..3 * SECOND + RTT).contains(&waited), "{waited:?}");
}

#[test]
fn an_ack_that_needs_no_look_does_what_a_look_would_do() {
    let mut pipe = Pipe::new();
    pipe.held_against = true;
    pipe.run(Time::ms(4900));
    let acks = (pipe.acked / 1000) as usize;
    assert!(3 * pipe.calm > 2 * acks, "{} of {acks}, Startup and all", pipe.calm);
    pipe.rate = 0.8 * RATE;
    pipe.run(Time::ms(7900));
    use State::*;
    for state in [Startup, Drain, Cruise, Refill, Up, Down, ProbeRtt] {
        assert!(pipe.entered(state).is_some(), "{state:?}");
    }
}

#[test]
fn a_probe_below_a_bound_that_losses_have_set_is_calm_until_the_window_limits_it() {
    let mut pipe = Pipe::new();
    pipe.held_against = true;
    pipe.lose_in_a_probe(10_000);
    pipe.lost = 10_000;
    pipe.run(pipe.now + 9 * SECOND);
    assert!(pipe.machine().model.inflight_long.is_finite());
    assert!(pipe.calm_below_a_bound > 100, "{}", pipe.calm_below_a_bound);
}

#[test]
fn steady_it_fills_the_pipe_and_cruises_without_a_queue() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(2));
    let before = pipe.acked;
    let mut cruising = Vec::new();
    for tenth in 21..=120 {
        pipe.run(Time::at(tenth * SECOND / 10));
        cruising.extend((pipe.machine().state == State::Cruise).then_some(pipe.in_flight() as f64));
    }
    let rate = (pipe.acked - before) as f64 / 10.0;
    assert!(rate > 0.93 * RATE, "{rate}");
    let mean = cruising.iter().sum::<f64>() / cruising.len() as f64;
    assert!(cruising.len() > 40 && mean < 1.05 * RATE * 0.1, "{mean} in {}", cruising.len());
}

#[test]
fn after_five_seconds_without_a_shorter_round_trip_it_probes_for_one() {
    let mut pipe = Pipe::new();
    pipe.run(Time::s(20));
    let probes: Vec<u64> =
        pipe.states.iter().filter(|s| s.1 == State::ProbeRtt).map(|s| s.0.ticks(SECOND)).collect();
    assert!(probes.len() >= 2 && probes.len() <= 4, "{probes:?}");
    let at = pipe.states.iter().position(|s| s.1 == State::ProbeRtt).unwrap();
    let lasted = pipe.states[at + 1].0 - pipe.states[at].0;
    assert!((200 * MS..600 * MS).contains(&lasted), "{lasted:?}");
    assert_eq!(pipe.states[at + 1].1, State::Cruise);
}

#[test]
fn a_wider_bottleneck_is_found_and_a_narrower_one_too() {
    for factor in [2.0, 0.5] {
        let mut pipe = Pipe::new();
        pipe.run(Time::s(3));
        pipe.rate = factor * RATE;
        pipe.run(Time::s(23));
        let found = pipe.machine().model.max_bw() / RATE;
        assert!((found / factor - 1.0).abs() < 0.05, "{factor}: {found}");
    }
}

#[test]
fn a_probe_that_loses_more_than_two_percent_sets_the_long_term_bound_and_ends() {
    for (lost, bounded) in [(1000, false), (10_000, true)] {
        let mut pipe = Pipe::new();
        let in_flight = pipe.lose_in_a_probe(lost);
        let long = pipe.machine().model.inflight_long;
        assert_eq!(long.is_finite(), bounded, "{long}");
        assert_eq!(pipe.machine().state == State::Down, bounded);
        if bounded {
            assert!(
                long >= 0.7 * RATE * 0.1 * 0.95 && long <= in_flight as f64 + 1000.0,
                "{long} {in_flight}"
            );
        }
    }
}

#[test]
fn a_repair_leaves_the_window_where_it_was_and_a_timeout_brings_it_back() {
    let mut pipe = Pipe::new();
    pipe.run(Time::ms(1500));
    let cwnd = pipe.w.cwnd;
    let loss = Loss { now: pipe.now, kind: LossKind::Timeout, seq: Seq::at(1 + pipe.acked) };
    pipe.w.cwnd = pipe.w.mss;
    pipe.bbr.on_loss(&loss, cwnd, &mut pipe.w);
    let until = pipe.machine().repair.unwrap().until;
    assert_eq!(until, Seq::at(1 + pipe.sent));
    let limit = pipe.now + 10 * SECOND;
    while pipe.acked + 1 < until.number() {
        assert!(pipe.now < limit);
        assert!(pipe.w.cwnd < cwnd, "it opens by what is acknowledged: {}", pipe.w.cwnd);
        let next = pipe.now + MS;
        pipe.run(next);
    }
    assert!(pipe.machine().repair.is_none());
    assert!(pipe.w.cwnd > 0.9 * cwnd, "{} {cwnd}", pipe.w.cwnd);
}

#[test]
fn the_seed_alone_decides_how_long_it_waits() {
    let wait = |seed: f64| {
        let spec = Spec::named("bbr").with("seed", crate::Arg::Number(seed));
        let mut machine = Bbr::build(&mut Args::new(&spec)).unwrap().0;
        machine.cycle.full_bw_reached = true;
        machine.state = State::Drain;
        machine.advance(&Heard::default());
        machine.cycle.probe_wait()
    };
    assert_eq!(wait(1.0), wait(1.0));
    assert_ne!(wait(1.0), wait(2.0));
    assert!((2 * SECOND..=3 * SECOND).contains(&wait(3.0)));
}
