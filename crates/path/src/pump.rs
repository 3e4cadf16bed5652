//! The emulator's loop: packets in, what is due out, sleep until the next of either. It reads no clock and touches no device
//! by itself: these are [`Outside`], so that a test can drive it through any moment, stalls included.
//!
//! It sleeps until the next moment at which something is due or a packet comes. Sleep ends late, by what waking a processor
//! takes: it learns by how much and has itself woken as much earlier ([`Waking`]), if it has a processor to look at the clock
//! with until then ([`Company`]). With `busy`, it does not sleep within [`SPIN`] of such a moment, but looks again and again:
//! that costs processor time and saves what waking up takes. While packets come, it reads them in batches, and sends what is
//! due between any two of them. It reads only from ports that have something.

use super::books::Books;
use super::company::Company;
use super::delays::Delays;
use super::late::Late;
use super::network::{Exit, Network};
use super::{LaneCounters, PortCounters};
use crate::Error;
use crossbeam_channel::{Receiver, Sender};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use truckee_channel::{Span, Time};
use truckee_scenario::model::Direction;

/// Packets read from one port before the others have their turn.
const BATCH: usize = 64;

/// With `busy`: how long before a deadline sleep ends.
const SPIN: Span = Span::us(150);

/// The most by which it has itself woken earlier.
const MOST_EARLY: Span = Span::us(100);

/// How much of what it has learnt it takes back where sleep ended earlier than that; where later, it adds a third: so it comes to
/// rest where one of four times is earlier.
const STEP: Span = Span::us(3);

/// How late sleep ends here by itself: what a quarter of the times that ended by the clock did not reach. Not the average: where
/// others have work for the processors, too, that is how long they held them, and who looks at the clock for as long holds
/// them himself.
#[derive(Debug, Default)]
struct Waking(Span);

impl Waking {
    /// Sleep that was to end has ended so much later.
    fn learn(&mut self, late: Span) {
        let late = late.min(MOST_EARLY);
        self.0 =
            if late > self.0 { late.min(self.0 + STEP / 3) } else { late.max(self.0.saturating_sub(STEP)) };
    }

    /// How long to sleep for something that is due in `left`.
    fn sleep_for(&self, left: Span) -> Span {
        left.saturating_sub(self.0)
    }
}

/// The largest frame: an IP packet of 65,535 bytes and what is in front of it.
const LARGEST: usize = 65_600;

/// What is outside of the loop: a clock, ports, and sleep.
pub(super) trait Outside {
    /// CLOCK_MONOTONIC, ns.
    fn now(&self) -> Time;

    /// The names of the ports, in the order of their numbers.
    fn names(&self) -> Vec<String>;

    /// Where the IP packet begins in a frame of that port.
    fn ip_at(&self, port: usize) -> usize;

    /// Reads a frame; `None`: there is none at present. `Some(None)`: there was one that is not forwarded.
    fn read(&mut self, port: usize, into: &mut [u8]) -> Result<Option<Option<usize>>, Error>;

    /// Writes a frame; `false`: the device did not take it.
    fn write(&mut self, port: usize, frame: &[u8]) -> Result<bool, Error>;

    /// Frames of that port which were dropped because nobody had come to read them.
    fn unread(&self, port: usize) -> u64;

    /// Sleeps until a port has something that is not in `ready` yet, the owner calls, or so much time has passed (`None`:
    /// for as long as it takes; 0: it only looks). Adds the ports that have something. Whether time has passed without.
    fn wait(&mut self, at_most: Option<Span>, ready: &mut Vec<usize>) -> Result<bool, Error>;
}

/// What the loop and its owner share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// CLOCK_MONOTONIC at time 0 of the run; 0: it has not begun.
    pub begin: AtomicU64,
    pub stop: AtomicBool,
}

/// What the loop is asked.
#[derive(Debug)]
pub(super) enum Question {
    /// What the lanes show.
    Counters(Sender<Vec<LaneCounters>>),
    /// To set a link otherwise, and to say when it is done.
    Turn(Turn, Sender<()>),
}

/// What both directions of a link are to be from now on.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub link: usize,
    /// Forward, and back.
    pub directions: [Arc<Direction>; 2],
    /// Whether each is to be up or down; `None`: as it is.
    pub up: [Option<bool>; 2],
}

/// The loop.
pub(super) struct Pump<O> {
    pub network: Network,
    pub outside: O,
    pub shared: Arc<Shared>,
    pub questions: Receiver<Question>,
    pub busy: bool,
    pub company: Company,
}

/// What leaves.
struct Out<O> {
    outside: O,
    counters: Vec<PortCounters>,
    begin: Time,
    delays: Delays,
    late: Late,
    failed: Option<Error>,
}

impl<O: Outside> Out<O> {
    /// The time of the run.
    fn now(&self) -> Time {
        Time::at(self.outside.now().saturating_sub(self.begin))
    }

    fn write(&mut self, port: usize, frame: &[u8]) {
        match self.outside.write(port, frame) {
            Ok(true) => self.counters[port].written += 1,
            Ok(false) => self.counters[port].refused += 1,
            Err(error) => {
                self.failed.get_or_insert(error);
            }
        }
    }
}

impl<O: Outside> Exit for Out<O> {
    fn leave(&mut self, port: usize, frame: &[u8], due: Time) -> Time {
        let now = self.now();
        self.delays.add(now.saturating_sub(due));
        self.late.add(now.saturating_sub(due));
        self.write(port, frame);
        now
    }
}

impl<O: Outside> Pump<O> {
    /// Forwards until it is told to stop.
    pub fn run(self) -> Result<Books, Error> {
        let Self { mut network, outside, shared, questions, busy, company } = self;
        let company = company.join();
        let counters = outside.names().into_iter().map(|name| PortCounters { name, ..Default::default() });
        let mut out = Out {
            counters: counters.collect(),
            outside,
            begin: Time::ZERO,
            delays: Delays::default(),
            late: Late::default(),
            failed: None,
        };
        let (mut frame, mut waking) = (vec![0; LARGEST], Waking::default());
        // Ports that have something, or may have more than was read of them.
        let mut ready = Vec::new();
        while !shared.stop.load(Ordering::Acquire) {
            out.begin = Time::ns(shared.begin.load(Ordering::Acquire));
            let begun = out.begin > Time::ZERO;
            let now = out.now();
            if begun {
                network.advance(now, &mut out);
            }
            for question in questions.try_iter() {
                let now = if begun { now } else { Time::ZERO };
                // Whoever has gone does not want to know.
                let _ = match question {
                    Question::Counters(answer) => answer.send(network.counters(now)).is_ok(),
                    Question::Turn(turn, answer) => {
                        network.turn(now, &turn);
                        answer.send(()).is_ok()
                    }
                };
            }
            if let Some(error) = out.failed {
                return Err(error);
            }
            let next = if begun { network.next_event() } else { None };
            let now = out.now();
            let left = next.map(|next| next.saturating_sub(now));
            let left = left.map(|left| match (busy, company.is_crowded()) {
                (true, _) => waking.sleep_for(left.saturating_sub(SPIN)),
                (false, true) => left,
                (false, false) => waking.sleep_for(left),
            });
            let left = if ready.is_empty() { left } else { Some(Span::ZERO) };
            let slept = out.outside.wait(left, &mut ready)?;
            if let (true, Some(left)) = (slept, left.filter(|left| !left.is_zero())) {
                waking.learn(out.now().saturating_sub(now + left));
            }
            let mut unread = Vec::new();
            for port in ready.drain(..) {
                if read_batch(&mut network, &mut out, port, &mut frame, &shared)? {
                    unread.push(port);
                }
            }
            ready = unread;
        }
        let Out { outside, mut counters, begin, delays, late, .. } = out;
        counters.iter_mut().enumerate().for_each(|(port, counters)| counters.unread = outside.unread(port));
        let end = if begin > Time::ZERO { Time::at(outside.now().saturating_sub(begin)) } else { Time::ZERO };
        let strays = network.strays;
        let queues = network.take_queues(end);
        let (flows, links, traffic) = network.finish(end);
        Ok(Books { flows, links, traffic, queues, ports: counters, strays, late_s: delays.outcome(), late })
    }
}

/// Reads what a port has, up to a batch; whether it may have more.
fn read_batch<O: Outside>(
    network: &mut Network,
    out: &mut Out<O>,
    port: usize,
    frame: &mut [u8],
    shared: &Shared,
) -> Result<bool, Error> {
    let ip_at = out.outside.ip_at(port);
    for _ in 0..BATCH {
        let Some(read) = out.outside.read(port, frame)? else { return Ok(false) };
        let Some(bytes) = read else {
            out.counters[port].oversized += 1;
            continue;
        };
        out.counters[port].read += 1;
        let frame = &frame[..bytes];
        if out.begin == Time::ZERO {
            // After the reading: what was sent after the run began shall not pass as if before.
            out.begin = Time::ns(shared.begin.load(Ordering::Acquire));
        }
        if out.begin > Time::ZERO {
            let now = out.now();
            network.advance(now, out);
            network.enter(now, port, frame, ip_at);
        } else if let Some(to) = network.port_out(port, &frame[ip_at.min(bytes)..]) {
            out.write(to, frame);
        } else {
            network.strays += 1;
        }
    }
    Ok(true)
}

#[cfg(test)]
#[path = "pump_tests.rs"]
mod tests;
