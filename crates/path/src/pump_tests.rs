//! The loop under a clock of the test's own, in which it stands still when it is told to.

use super::*;
use crate::address::FLOW_PORT;
use crate::plan::Plan;
use crate::segment::Tcp;
use crate::segment::flags::ACK;
use crate::segment::made::tcp4;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use truckee_scenario::Document;

#[path = "pump_queue_tests.rs"]
mod queues;

const MS: Span = Span::ms(1);
/// When the clock is at time 0 of the run.
const BEGIN: Time = Time::s(1);
/// What each call of the system takes.
const CALL: Span = Span::us(1);
/// How late sleep ends.
const WAKING: Span = Span::us(40);
/// What a delay may differ by where nothing stands still: a call or two, and the first sleeps, from which it learns.
const SOON: Span = Span::us(40 + 20);

/// The clock at that time of the run.
fn clock(at: Time) -> Time {
    BEGIN + at.since_start()
}

/// A machine that does as a test says.
#[derive(Debug)]
struct Machine {
    now: Cell<Time>,
    /// When it stands still, and for how long; in order.
    stalls: RefCell<VecDeque<(Time, Span)>>,
    /// What comes at each port, and when.
    coming: Vec<VecDeque<(Time, Vec<u8>)>>,
    /// How often each port was read.
    reads: Vec<u64>,
    /// What left, by which port and when.
    left: Vec<(usize, Time, Vec<u8>)>,
    /// What has waited for how long at most.
    waits: Vec<Option<Span>>,
    stop: Time,
    shared: Arc<Shared>,
    /// Who else forwards.
    company: Company,
}

/// What the test looks at when the loop, which has the machine, has ended.
struct Lent<'a>(&'a mut Machine);

impl Machine {
    fn new(coming: [Vec<(Time, Vec<u8>)>; 2], stalls: &[(Time, Span)], stop: Time) -> Self {
        Self {
            now: Cell::new(BEGIN),
            stalls: RefCell::new(stalls.iter().copied().collect()),
            coming: coming.into_iter().map(VecDeque::from).collect(),
            reads: vec![0; 2],
            left: Vec::new(),
            waits: Vec::new(),
            stop,
            shared: Arc::default(),
            company: Company::new(1),
        }
    }

    /// The clock goes on to `to`, and beyond if the machine stands still on the way.
    fn pass(&self, to: Time) {
        let mut now = self.now.get().max(to);
        let mut stalls = self.stalls.borrow_mut();
        while let Some((at, length)) = stalls.front().copied()
            && clock(at) <= now
        {
            stalls.pop_front();
            now = now.max(clock(at) + length);
        }
        self.now.set(now);
        if now >= clock(self.stop) {
            self.shared.stop.store(true, Ordering::Release);
        }
    }

    fn has(&self, port: usize) -> bool {
        self.coming[port].front().is_some_and(|&(at, _)| clock(at) <= self.now.get())
    }

    /// Runs the emulator of a scenario on it.
    fn run(&mut self, scenario: &str, busy: bool) -> Books {
        let scenario = Document::parse("net.toml", scenario).unwrap().scenario().unwrap();
        let network = Network::new(Plan::of(&scenario).unwrap(), false);
        self.shared.begin.store(BEGIN.nanos(), Ordering::Release);
        let (_asks, questions) = crossbeam_channel::unbounded();
        let shared = Arc::clone(&self.shared);
        let company = self.company.clone();
        Pump { network, outside: Lent(self), shared, questions, busy, company }.run().unwrap()
    }

    /// When what left by the second port did so, in the time of the run, and the first sequence number of each.
    fn arrivals(&self) -> Vec<(Time, u32)> {
        let number = |frame: &[u8]| u32::from_be_bytes(frame[24..28].try_into().unwrap());
        let second = self.left.iter().filter(|(port, ..)| *port == 1);
        second.map(|(_, at, frame)| (Time::at(*at - BEGIN), number(frame))).collect()
    }
}

impl Outside for Lent<'_> {
    fn now(&self) -> Time {
        self.0.now.get()
    }

    fn names(&self) -> Vec<String> {
        vec!["a".into(), "b".into()]
    }

    fn ip_at(&self, _: usize) -> usize {
        0
    }

    fn read(&mut self, port: usize, into: &mut [u8]) -> Result<Option<Option<usize>>, Error> {
        self.0.pass(self.0.now.get() + CALL);
        self.0.reads[port] += 1;
        if !self.0.has(port) {
            return Ok(None);
        }
        let frame = self.0.coming[port].pop_front().map_or_else(Vec::new, |(_, frame)| frame);
        into[..frame.len()].copy_from_slice(&frame);
        Ok(Some(Some(frame.len())))
    }

    fn write(&mut self, port: usize, frame: &[u8]) -> Result<bool, Error> {
        self.0.left.push((port, self.0.now.get(), frame.to_vec()));
        self.0.pass(self.0.now.get() + CALL);
        Ok(true)
    }

    fn unread(&self, _: usize) -> u64 {
        0
    }

    fn wait(&mut self, at_most: Option<Span>, ready: &mut Vec<usize>) -> Result<bool, Error> {
        let Lent(machine) = self;
        machine.waits.push(at_most);
        machine.pass(machine.now.get() + CALL);
        let now = machine.now.get();
        let comes = machine.coming.iter().filter_map(|port| port.front()).map(|&(at, _)| clock(at)).min();
        let ends = at_most.map(|left| now + left);
        let until = [comes, ends].into_iter().flatten().min().unwrap_or(clock(machine.stop)).max(now);
        if until > now {
            machine.pass(until + WAKING);
        }
        let before = ready.len();
        let others = (0..machine.coming.len()).filter(|port| machine.has(*port) && !ready.contains(port));
        ready.extend(others.collect::<Vec<_>>());
        Ok(ready.len() == before)
    }
}

/// 50 ms from a to b, and as much back.
const LINK: &str = r#"
    duration = "10s"
    link = [{ between = ["a", "b"], rate = "10Gbit/s", delay = "50ms" }]
    flow = [{ from = "a", to = "b", sender = "reno" }]
"#;

fn segment(seq: u32) -> Vec<u8> {
    tcp4(0, 1, &Tcp { source: 40_000, destination: FLOW_PORT, seq, ack: 0, flags: ACK, len: 100 })
}

/// A segment each millisecond, the k-th with the number k.
fn stream(count: u32) -> Vec<(Time, Vec<u8>)> {
    (0..count).map(|k| (Time::ms(u64::from(k)), segment(k))).collect()
}

#[test]
fn packets_leave_after_their_delay_in_order() {
    let mut machine = Machine::new([stream(100), Vec::new()], &[], Time::ms(300));
    let books = machine.run(LINK, false);
    let arrivals = machine.arrivals();
    assert_eq!(arrivals.iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    for (at, seq) in arrivals {
        let late = at - (Time::ms(u64::from(seq)) + 50 * MS);
        assert!(late <= 2 * SOON, "{seq}: {late:?}");
    }
    assert_eq!((books.late.packets, books.late.late), (100, 0));
}

#[test]
fn a_stalled_emulator_delivers_what_is_late_in_order_and_books_how_late() {
    // What is due from 80 to 110 ms waits until then: what was read from 30 to 60 ms.
    let (at, length) = (Time::ms(80), 30 * MS);
    let mut machine = Machine::new([stream(100), Vec::new()], &[(at, length)], Time::ms(400));
    let books = machine.run(LINK, false);
    let arrivals = machine.arrivals();
    assert_eq!(arrivals.iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    let mut held = 0;
    for (left, seq) in arrivals {
        // What came while it stood still it could not know of: the delay begins when it is read.
        let came = Time::ms(u64::from(seq));
        let read = if came >= at { came.max(at + length) } else { came };
        let due = read + 50 * MS;
        let stood = (at..at + length).contains(&due);
        held += u64::from(stood && at + length - due > 2 * MS);
        let expected = if stood { at + length } else { due };
        assert!((expected..expected + 100 * SOON).contains(&left), "{seq}: {left:?}, not {expected:?}");
    }
    assert!(held >= 27, "{held}");
    assert_eq!((books.late.packets, books.late.late), (100, held), "more than 2 ms is late");
    assert!((length - MS..length + SOON).contains(&books.late.latest), "{:?}", books.late);
    let slow = books.late_s.p99.unwrap() * 1e9;
    assert!((length.as_f64() - 2e6..length.as_f64() + 1e6).contains(&slow), "{slow}");
}

#[test]
fn a_run_that_only_stands_still_ends_with_all_that_was_due() {
    // It begins, and the next thing that it sees is that all is over due.
    let stalls = [(Time::ms(10), 200 * MS)];
    let mut machine = Machine::new([stream(10), Vec::new()], &stalls, Time::ms(300));
    let books = machine.run(LINK, false);
    assert_eq!(machine.arrivals().len(), 10);
    assert_eq!((books.late.packets, books.late.late), (10, 10));
    assert!(books.late.latest > 150 * MS - SOON);
}

#[test]
fn only_ports_that_have_something_are_read() {
    let mut machine = Machine::new([stream(100), Vec::new()], &[], Time::ms(300));
    machine.run(LINK, false);
    assert_eq!(machine.reads[1], 0, "nothing ever came there");
    assert!(machine.reads[0] <= 200, "once for each packet, and once to see that there is no more");
}

#[test]
fn a_port_that_always_has_something_keeps_no_other_from_being_read() {
    // More than it can read, all at once; and one packet the other way a little later.
    let flood = (0..100_000).map(|_| (Time::ZERO, segment(1))).collect();
    let back =
        tcp4(1, 0, &Tcp { source: FLOW_PORT, destination: 40_000, seq: 7, ack: 1, flags: ACK, len: 0 });
    let mut machine = Machine::new([flood, vec![(Time::ms(1), back)]], &[], Time::ms(80));
    machine.run(LINK, false);
    let (_, at, _) = machine.left.iter().find(|(port, ..)| *port == 0).unwrap();
    let read = *at - BEGIN - 50 * MS;
    assert!(read <= MS + 4 * BATCH as u64 * CALL, "{read:?}");
}

#[test]
fn a_busy_one_ends_its_sleep_well_before_something_is_due() {
    let mut machine = Machine::new([stream(20), Vec::new()], &[], Time::ms(100));
    let books = machine.run(LINK, true);
    assert_eq!(books.late.packets, 20);
    assert!(books.late.latest <= 5 * CALL, "{:?}: it looked at the clock until then", books.late);
    assert!(machine.waits.contains(&Some(Span::ZERO)));
}

#[test]
fn it_has_itself_woken_earlier_by_as_much_as_sleep_ends_late() {
    let mut waking = Waking::default();
    assert_eq!(waking.sleep_for(Span::ms(1)), Span::ms(1));
    (0..100).for_each(|_| waking.learn(Span::us(50)));
    let early = MS - waking.sleep_for(Span::ms(1));
    assert!((Span::us(49)..=Span::us(50)).contains(&early), "{early:?}");
    // Where others hold the processor most of the time, it goes by the rest.
    (0..400).for_each(|k| waking.learn(if k % 3 == 0 { Span::us(20) } else { Span::us(90) }));
    let early = MS - waking.sleep_for(Span::ms(1));
    assert!((Span::us(18)..=Span::us(25)).contains(&early), "{early:?}");
    // Once held up for long, it does not spin for long.
    (0..100).for_each(|_| waking.learn(Span::ms(10)));
    assert!(waking.sleep_for(Span::ms(1)) >= MS - MOST_EARLY);
    assert_eq!(waking.sleep_for(Span::us(20)), Span::ZERO);
}

#[test]
fn among_more_than_there_are_processors_it_sleeps_until_the_moment() {
    // What is due comes between what is to be read.
    let link = LINK.replace("50ms", "50.5ms");
    let late = |others: usize| {
        let mut machine = Machine::new([stream(500), Vec::new()], &[], Time::ms(600));
        machine.company = Company::new(2);
        let _others: Vec<_> = (0..others).map(|_| machine.company.join()).collect();
        machine.run(&link, false);
        let late = |&(at, seq): &(Time, u32)| at - (Time::ms(u64::from(seq)) + 50 * MS + MS / 2);
        machine.arrivals()[400..].iter().map(late).max().unwrap()
    };
    // Both read what comes as late as sleep ends.
    let (with_room, among_many) = (late(1), late(2));
    assert!(with_room <= SOON, "{with_room:?}");
    assert!(among_many >= with_room + WAKING / 2, "{among_many:?} {with_room:?}");
}
