//! Tests of servers that are made up, in a time that passes as they say: what a test shows of them, and that it ends.
//!
//! The last is run by any test runner; `cargo bolero test observe::tests::…` runs it under a fuzzer,
//! `BOLERO_RANDOM_ITERATIONS` sets how often.

use super::*;
use crate::connection::Standing;
use crate::wire::{Arrival, Departure, Header, flags};
use bolero::{TypeGenerator, check};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub const MS: Span = Span::ms(1);
pub const SECOND: Span = Span::s(1);
pub const MSS: u32 = 1000;
/// Where the server's numbers begin: they wrap soon.
const BASE: u32 = u32::MAX - 1499;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

/// A server as the prober sees it: what it gets, and what it sends by when.
pub trait Server {
    /// It gets a segment, at the time given.
    fn hear(&mut self, now: Time, segment: &Departure<'_>);
    /// What comes next, and when; it is gone then.
    fn next(&mut self, now: Time, until: Time) -> Option<Arrival>;
}

/// A server and a clock that only this moves.
pub struct Virtual<S: Server> {
    now: Time,
    server: S,
    sent: Rc<RefCell<Vec<(Time, u32, u8)>>>,
}

impl<S: Server> Peer for Virtual<S> {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        let come = self.server.next(self.now, until.max(self.now));
        // To read something takes time, too.
        self.now = come.as_ref().map_or(until, |arrival| arrival.time).max(self.now) + Span::ns(100);
        Ok(come)
    }

    fn send(&mut self, segment: &Departure<'_>) -> Result<(), Error> {
        self.sent.borrow_mut().push((self.now, segment.ack, segment.flags));
        self.server.hear(self.now, segment);
        // By the time it is sent its answer may be there, as over the loopback.
        self.now += Span::us(1);
        Ok(())
    }

    fn sleep(&mut self, until: Time) {
        self.now = self.now.max(until);
    }
}

/// What a test brought: its end, how long it took, and the ACKs that went, as bytes of the answer.
pub struct Done {
    pub came: Result<Observation, Stop>,
    pub took: Span,
    pub acks: Vec<u32>,
}

fn test(server: impl Server, test: Test, rtt: Span) -> Done {
    test_by(server, test, rtt, |peer| peer)
}

/// When each test begins.
pub const BEGAN: Time = Time::s(3600);

/// The same, with what `by` makes of the peer.
pub fn test_by<S: Server, P: Peer>(
    server: S,
    test: Test,
    rtt: Span,
    by: impl FnOnce(Virtual<S>) -> P,
) -> Done {
    let sent = Rc::default();
    let began = BEGAN;
    let peer = by(Virtual { now: began, server, sent: Rc::clone(&sent) });
    let standing = Standing { next: 1, acked: BASE, field: 1 << 10, stamps: Some((7, 9)) };
    let rtt = Duration::from(rtt);
    let mut connection = Connection::new(peer, standing, began, rtt, REQUEST.to_vec());
    let cancel = Cancel::new();
    let came = observe(&mut connection, (test, 1), None, &TIMES, &cancel, &mut |_| ());
    let took = connection.now() - began;
    drop(connection);
    let sent = sent.take();
    let (last, _) = sent.split_last().unwrap();
    assert_eq!(last.2, flags::RST | flags::ACK, "whatever happens it is aborted");
    let pure = sent.iter().filter(|(_, _, sent)| *sent == flags::ACK);
    Done { came, took, acks: pure.map(|(_, ack, _)| ack.wrapping_sub(BASE)).collect() }
}

pub const TIMES: Times = Times {
    watch: Duration::from_secs(3),
    patience: Duration::from_secs(10),
    rounds: Duration::from_secs(20),
};

/// A sender that opens its window by what is acknowledged, over a path of `rtt`.
pub struct Honest {
    rtt: Span,
    cwnd: u32,
    /// Its retransmission timer, if it has one: for the first segment without an ACK. Numbers of it that ran in vain.
    pub rto: Option<Span>,
    armed: usize,
    /// Acknowledged when it was last armed.
    known: u32,
    /// What its application writes when, from the request on.
    writes: Vec<(Span, u32)>,
    asked: bool,
    /// Bytes written, each write's end; sent; acknowledged.
    edges: Vec<u32>,
    sent: u32,
    acked: u32,
    /// By time, and in the order in which they were made.
    events: BTreeMap<(Time, usize), Event>,
    count: usize,
}

enum Event {
    Write(u32),
    Ack(u32),
    Arrive(Arrival),
    /// The timer of that number.
    Timer(usize),
}

impl Honest {
    pub fn new(rtt: Span, segments: u32, writes: &[(Span, u32)]) -> Self {
        let cwnd = segments * MSS;
        let (edges, events, count) = Default::default();
        Self {
            rtt,
            cwnd,
            rto: None,
            armed: 0,
            known: 0,
            writes: writes.to_vec(),
            asked: false,
            edges,
            sent: 0,
            acked: 0,
            events,
            count,
        }
    }

    fn add(&mut self, time: Time, event: Event) {
        self.events.insert((time, self.count), event);
        self.count += 1;
    }

    /// Sends what may go now.
    fn go(&mut self, now: Time) {
        let written = self.edges.last().copied().unwrap_or(0);
        while self.sent < written && self.sent + MSS.min(written - self.sent) <= self.acked + self.cwnd {
            let end = (self.sent + MSS).min(written);
            let byte = |at: u32| HEAD.get(at as usize).copied().unwrap_or(b'x');
            let payload = (self.sent..end).map(byte).collect();
            let pushed = if self.edges.contains(&end) { flags::PSH } else { 0 };
            let time = now + self.rtt / 2;
            self.add(time, Event::Arrive(arrival(time, self.sent, payload, flags::ACK | pushed)));
            self.sent = end;
        }
    }

    /// The timer begins anew.
    fn arm(&mut self, now: Time, longer: u64) {
        self.armed += 1;
        if let Some(rto) = self.rto
            && self.acked < self.sent
        {
            self.add(now + longer * rto, Event::Timer(self.armed));
        }
    }

    /// The timer has gone off: the first segment without an ACK goes again, and the window is one segment.
    fn on_timer(&mut self, now: Time) {
        self.cwnd = MSS;
        let end = (self.acked + MSS).min(self.sent);
        let payload = (self.acked..end).map(|_| b'x').collect();
        let time = now + self.rtt / 2;
        self.add(time, Event::Arrive(arrival(time, self.acked, payload, flags::ACK)));
        self.arm(now, 2);
    }
}

impl Server for Honest {
    fn hear(&mut self, now: Time, segment: &Departure<'_>) {
        let there = now + self.rtt / 2;
        if !segment.payload.is_empty() && !std::mem::replace(&mut self.asked, true) {
            for (at, bytes) in self.writes.clone() {
                self.add(there + at, Event::Write(bytes));
            }
        }
        if segment.flags == flags::ACK {
            self.add(there, Event::Ack(segment.ack.wrapping_sub(BASE)));
        }
    }

    fn next(&mut self, _: Time, until: Time) -> Option<Arrival> {
        loop {
            let (&(time, number), _) =
                self.events.first_key_value().filter(|((time, _), _)| *time <= until)?;
            match self.events.remove(&(time, number))? {
                Event::Arrive(arrival) => return Some(arrival),
                Event::Write(bytes) => self.edges.push(self.edges.last().unwrap_or(&0) + bytes),
                Event::Ack(acked) => {
                    self.cwnd += acked - self.acked;
                    self.acked = acked;
                }
                Event::Timer(number) => {
                    if number == self.armed {
                        self.on_timer(time);
                    }
                    continue;
                }
            }
            let before = (self.sent, std::mem::replace(&mut self.known, self.acked));
            self.go(time);
            if (before.0 == 0 && self.sent > 0) || before.1 < self.acked {
                self.arm(time, 1);
            }
        }
    }
}

fn arrival(time: Time, at: u32, payload: Vec<u8>, flags: u8) -> Arrival {
    let (stamps, header, segment) = (None, Header::default(), 0);
    Arrival { time, seq: BASE.wrapping_add(at), ack: 1, flags, stamps, header, segment, payload }
}

const BODY: u32 = 200_000;

#[test]
fn a_server_that_counts_bytes_shows_its_window_and_what_it_opens() {
    for rtt in [Span::ZERO, MS / 10, 40 * MS, 600 * MS] {
        for window in [1, 2, 3, 10] {
            let seen = test(Honest::new(rtt, window, &[(Span::ZERO, BODY)]), Test::A, rtt).came.unwrap();
            assert_eq!((seen.window_segments, seen.acks, seen.acked_segments), (window, 3, 3), "{seen:#?}");
            assert_eq!((seen.second_segments, seen.status), (6, Some(200)), "{seen:#?}");
            assert!(!seen.application_limited && seen.missing_bytes == 0, "{seen:#?}");
        }
    }
}

#[test]
fn a_head_that_is_flushed_before_the_body_is_no_window() {
    // The body comes 30 ms later: to a single segment it is added, as long as no timer of the server's can fire.
    for rtt in [MS / 10, 40 * MS] {
        let server = Honest::new(rtt, 10, &[(Span::ZERO, 200), (Span::ms(30), BODY)]);
        let seen = test(server, Test::A, rtt).came.unwrap();
        assert_eq!((seen.window_segments, seen.window_bytes), (10, 9200), "{seen:#?}");
        assert!(!seen.application_limited, "{seen:#?}");
    }
    // After a head and 4 kB, and after too long a pause, nothing is known of the window.
    let cases: [&[(Span, u32)]; 3] = [
        &[(Span::ZERO, 4200), (Span::ms(30), BODY)],
        &[(Span::ZERO, 200), (Span::ms(400), BODY)],
        &[(Span::ZERO, 200), (Span::s(8), BODY)],
    ];
    for writes in cases {
        for which in [Test::A, Test::B, Test::F] {
            let seen = test(Honest::new(MS / 10, 10, writes), which, MS / 10).came.unwrap();
            assert!(seen.application_limited, "{writes:?} {seen:#?}");
        }
    }
}

/// A division of one's own, over a path of 40 ms, of a server that counts bytes with a first window of four.
fn own(word: &str) -> Done {
    let server = Honest { rto: Some(SECOND), ..Honest::new(40 * MS, 4, &[(Span::ZERO, BODY)]) };
    test(server, word.parse().unwrap(), 40 * MS)
}

#[test]
fn a_division_of_ones_own_cuts_as_many_segments_into_as_many_acks_as_it_says() {
    let done = own("250:first=6");
    let seen = done.came.unwrap();
    // Four segments of the first round and two of the second, each ACK for four bytes.
    assert_eq!((seen.acks, seen.acked_segments, seen.acked_bytes), (1500, 6, 6000), "{seen:#?}");
    assert!(done.acks.iter().enumerate().all(|(k, ack)| *ack == 4 * (k as u32 + 1)), "{:?}", done.acks);
    assert_eq!(seen.withheld, seen.packets() - 6, "{seen:#?}");
}

#[test]
fn after_its_last_ack_a_division_of_ones_own_sends_none_in_the_middle_of_a_segment_either() {
    let done = own("4:stop=6");
    let seen = done.came.unwrap();
    assert_eq!(done.acks, [250, 500, 750, 1000, 1250, 1500]);
    assert_eq!((seen.acks, seen.acked_segments, seen.acked_bytes), (6, 1, 1500), "{seen:#?}");
}

#[test]
fn without_any_ack_the_first_window_and_its_repetitions_are_counted() {
    let done = own("0");
    let seen = done.came.unwrap();
    assert_eq!(done.acks, [0; 0]);
    assert_eq!((seen.window_segments, seen.data_packets, seen.second_segments), (4, 4, 0), "{seen:#?}");
    assert!(seen.retransmitted >= 1 && seen.withheld == 4 + seen.retransmitted, "{seen:#?}");
}

#[test]
fn a_flight_that_ends_short_by_the_window_is_one() {
    // As records of TLS have it: the next segment is there, and does not fit.
    for rtt in [MS / 10, 40 * MS] {
        let writes = [3000, 500, BODY].map(|bytes| (Span::ZERO, bytes));
        let seen = test(Honest::new(rtt, 4, &writes), Test::A, rtt).came.unwrap();
        assert_eq!((seen.window_segments, seen.window_bytes), (4, 3500), "{seen:#?}");
        assert!(!seen.application_limited, "{seen:#?}");
    }
}

#[test]
fn a_server_that_resets_before_it_has_answered_does_not_do_so_in_its_answer() {
    struct Resets(Vec<Arrival>);
    impl Server for Resets {
        fn hear(&mut self, _: Time, _: &Departure<'_>) {}
        fn next(&mut self, now: Time, _: Time) -> Option<Arrival> {
            self.0.pop().map(|arrival| Arrival { time: now, ..arrival })
        }
    }
    let reset = || arrival(Time::ZERO, 0, Vec::new(), flags::RST | flags::ACK);
    let fault = |arrivals: Vec<Arrival>| match test(Resets(arrivals), Test::A, Span::ms(1)).came {
        Err(Stop::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(vec![reset()]), Fault::Reset("after the request"));
    let data = arrival(Time::ZERO, 0, HEAD.to_vec(), flags::ACK);
    assert_eq!(fault(vec![reset(), data]), Fault::Reset("in its answer"));
}

/// A server that does the same over and over, whatever it gets.
struct Stubborn {
    every: Span,
    each: fn(u32) -> Arrival,
    sent: u32,
    at: Time,
}

impl Server for Stubborn {
    fn hear(&mut self, _: Time, _: &Departure<'_>) {}

    fn next(&mut self, now: Time, until: Time) -> Option<Arrival> {
        let time = if self.at == Time::ZERO { now } else { self.at + self.every };
        if time > until {
            return None;
        }
        self.at = time;
        self.sent += 1;
        Some(Arrival { time, ..(self.each)(self.sent - 1) })
    }
}

#[test]
fn a_server_holds_no_test_beyond_its_time_whatever_it_sends() {
    let nothing: fn(u32) -> Arrival = |_| arrival(Time::ZERO, 0, Vec::new(), flags::ACK);
    let next: fn(u32) -> Arrival = |k| arrival(Time::ZERO, k, vec![b'x'], flags::ACK);
    let again: fn(u32) -> Arrival = |_| arrival(Time::ZERO, 0, vec![b'x'; 1000], flags::ACK);
    let apart: fn(u32) -> Arrival = |k| arrival(Time::ZERO, 7 * k + 1, vec![b'x'], flags::ACK);
    for each in [nothing, next, again, apart] {
        for every in [Span::ZERO, MS / 20, MS, 100 * MS, 2 * SECOND, 9 * SECOND] {
            for rtt in [MS / 10, 10 * SECOND] {
                for which in [Test::A, Test::E, Test::G] {
                    let done = test(Stubborn { every, each, sent: 0, at: Time::ZERO }, which, rtt);
                    let most = Span::from(TIMES.patience + TIMES.rounds + TIMES.watch) + SECOND;
                    assert!(done.took <= most, "{} s of one every {every:?} ns", done.took.seconds());
                    if let Ok(seen) = done.came {
                        assert!(seen.acks > 0, "{seen:#?}");
                    }
                }
            }
        }
    }
}

/// What an adversary sends, over and over.
#[derive(Debug, Clone, TypeGenerator)]
struct Act {
    /// After what is sent before it: nothing, microseconds, or milliseconds.
    later: u16,
    unit: u8,
    /// From where the last one ended, or anywhere.
    from: i32,
    anywhere: bool,
    len: u16,
    /// As the kernel puts them together.
    segment: u16,
    flags: u8,
    stamps: Option<(u32, u32)>,
    ack: u32,
}

#[derive(Debug, Clone, TypeGenerator)]
struct Adversary {
    acts: Vec<Act>,
    which: u8,
    rtt: u8,
    /// Whether it begins with an answer.
    answers: bool,
}

struct Script {
    acts: Vec<Act>,
    next: usize,
    at: Option<Time>,
    end: u32,
    answers: bool,
    /// All that has come, as ranges, to hold the ACKs against.
    come: Rc<RefCell<Vec<(u32, u32)>>>,
}

impl Script {
    fn arrival(&mut self, time: Time, act: &Act) -> Arrival {
        let offset =
            if act.anywhere { act.from as u32 } else { self.end.wrapping_add((act.from % 3) as u32) };
        let payload = if self.answers && self.next == 1 { HEAD.to_vec() } else { vec![b'x'; act.len.into()] };
        let offset = if self.answers && self.next == 1 { 0 } else { offset };
        self.end = offset.wrapping_add(payload.len() as u32);
        self.come.borrow_mut().push((offset, self.end));
        // Seldom the end of it all.
        let ends = if act.flags.is_multiple_of(16) { 0xff } else { !(flags::RST | flags::FIN) };
        let (stamps, segment) = (act.stamps, act.segment.into());
        let flags = act.flags & ends;
        Arrival { ack: act.ack, stamps, segment, ..arrival(time, offset, payload, flags) }
    }
}

impl Server for Script {
    fn hear(&mut self, _: Time, _: &Departure<'_>) {}

    fn next(&mut self, now: Time, until: Time) -> Option<Arrival> {
        let act = self.acts.get(self.next % self.acts.len().max(1))?.clone();
        let later = u64::from(act.later) * [Span::ZERO, Span::us(1), MS][usize::from(act.unit % 3)];
        let time = self.at.map_or(now, |at| at + later);
        if time > until {
            return None;
        }
        (self.at, self.next) = (Some(time), self.next + 1);
        Some(self.arrival(time, &act))
    }
}

#[test]
fn an_adversary_ends_no_test_but_by_a_fault_or_with_true_acks() {
    check!().with_type::<Adversary>().with_iterations(2_000).for_each(|adversary| {
        let Adversary { acts, which, rtt, answers } = adversary.clone();
        let come: Rc<RefCell<Vec<(u32, u32)>>> = Rc::default();
        let server = Script { acts, next: 0, at: None, end: 0, answers, come: Rc::clone(&come) };
        let which = Test::ALL[usize::from(which) % Test::ALL.len()];
        let rtt = [MS / 20, MS, 30 * MS, 600 * MS, 9 * SECOND][usize::from(rtt) % 5];
        let done = test(server, which, rtt);
        assert!(done.took <= Span::from(TIMES.patience + TIMES.rounds + TIMES.watch) + SECOND);
        assert!(done.acks.len() <= which.most_acks() as usize, "{:?}", done.acks);
        let mut so_far = 0;
        for ack in &done.acks {
            assert!(*ack > so_far, "nothing is acknowledged twice: {:?}", done.acks);
            so_far = *ack;
        }
        let mut reached = 0;
        let mut come = come.take();
        come.sort_unstable();
        for (from, to) in come.into_iter().filter(|(from, to)| from <= to) {
            reached = if from <= reached { reached.max(to) } else { reached };
        }
        assert!(so_far <= reached, "acknowledged up to {so_far} of {reached}");
        if let Ok(seen) = done.came {
            assert_eq!(seen.acks as usize, done.acks.len());
            assert!(seen.window_bytes + seen.second_bytes <= 2 * MOST, "{seen:#?}");
        }
    });
}
