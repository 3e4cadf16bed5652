//! One connection over a path whose round trip the prober sets, without a queue: every ACK goes so long after its segment.
//! What of the server's window comes in each round is noted, while one segment is left out as if it had been lost, first
//! out of slow start and again out of congestion avoidance, and while the round trip becomes longer in the end.
//!
//! A round is over when the first ACK leaves that acknowledges more than had come at its beginning; what has come beyond
//! is the window. That is exact for a server that sends upon each ACK, and for one that paces.
//!
//! Not for: what it means (see [`crate::control`]).

use super::receiver::{Receiver, Reply};
use crate::connection::Connection;
use crate::control::LEAST_ROUNDS;
use crate::fault::Fault;
use crate::identity::Rounds;
use crate::log::Segment;
use crate::peer::Peer;
use crate::stop::Stop;
use std::collections::VecDeque;
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// The round trip: what algorithms that go by the time do within some twenty rounds is large against a segment.
const ROUND_TRIP: Span = Span::ms(150);
/// By so much it is longer than the path's own at least.
const LEAST_HELD: Span = Span::ms(40);
/// By so much the first round is longer, so that whoever goes by the largest delay has seen one.
const FIRST_LONGER: Span = Span::ms(30);
/// By so much in the end, in so many steps: not so much that a timer which is never shorter than 200 ms goes off.
const LONGER: Span = Span::ms(40);
const STEPS: u64 = 2;
/// The window that is offered, segments, and the one from which on the next round has a loss.
const OFFERED: u32 = 256;
const TARGET: f64 = 48.0;
/// Windows below this are none to lose a segment of, and so many rounds are given to open one.
const SMALL: f64 = 6.0;
const MOST_START: usize = 24;
/// A window that has not grown by a tenth in so many rounds has opened.
const STEADY: usize = 4;
/// Rounds between the losses, after the second, and with the longer round trip.
const AFTER_FIRST: usize = 20;
const AFTER_SECOND: usize = 4;
const LONGER_ROUNDS: usize = 10;
/// Rounds at what is offered, after which no more of them are needed.
const FULL: usize = 6;
/// The timer of a server may take so long.
const TIMER: Span = Span::s(4);
/// Segments of an answer that suffices, mostly.
const ENOUGH: u64 = 3500;
/// Later than this no ACK may go, or the round trip is none: a third of it.
const LATE: Span = Span::ms(50);

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    AfterFirst,
    AfterSecond,
    Longer,
    Over,
}

struct Run<'a, P: Peer> {
    r: Receiver<'a, P>,
    seen: Rounds,
    phase: Phase,
    /// By so much an ACK is held.
    held: Span,
    due: VecDeque<(Time, Reply)>,
    /// What had come when the round began.
    mark: u32,
    /// Whether the next segment beyond that is to be left out.
    lose: bool,
    /// What was left out, and when it came; until it is repaired.
    lost: Option<(u32, Time)>,
    /// Whether the window has been noted that it was lost of.
    noted: bool,
}

/// The round trip over a path of that one.
pub fn round_trip(rtt: Duration) -> Span {
    ROUND_TRIP.max(Span::from(rtt) + LEAST_HELD)
}

/// By so much an ACK is held over a path of that one.
pub fn held(rtt: Duration) -> Span {
    round_trip(rtt) - Span::from(rtt)
}

/// The window that is offered with segments of so many bytes.
pub fn offered(mss: u16) -> u32 {
    OFFERED * u32::from(mss)
}

/// Runs it over a connection that the server has answered.
pub fn run<P: Peer>(
    connection: &mut Connection<P>,
    repetition: u32,
    sack: bool,
    patience: Duration,
    cancel: &Cancel,
) -> Result<Rounds, Stop> {
    let round_trip = round_trip(connection.rtt);
    let held = held(connection.rtt);
    // The server times its handshake, too.
    let until = connection.now().saturating_add(held);
    connection.sleep(until);
    let may = Span::from(patience) + 80 * round_trip + 2 * TIMER;
    let longer_s = (round_trip + LONGER).seconds();
    let seen = Rounds {
        repetition,
        round_trip_s: round_trip.seconds(),
        longer_s,
        mss: 0,
        offered: f64::from(OFFERED),
        start: Vec::new(),
        first_loss: 0.0,
        after_first: Vec::new(),
        second_loss: 0.0,
        after_second: Vec::new(),
        longer: Vec::new(),
        timeouts: 0,
        ended: false,
    };
    let mut r = Receiver::new(connection, sack, (may, LATE), cancel);
    r.ask(patience)?;
    let mut run = Run {
        r,
        seen,
        phase: Phase::Start,
        held: held + FIRST_LONGER,
        due: VecDeque::new(),
        mark: 0,
        lose: false,
        lost: None,
        noted: false,
    };
    run.go()?;
    run.seen.mss = run.r.log.largest();
    if run.r.log.missing() > 0 {
        return Err(Fault::Lost(run.r.log.missing()).into());
    }
    if run.seen.ended && run.seen.after_first.len() < LEAST_ROUNDS {
        let bytes = run.r.log.bytes();
        return Err(Fault::Short { bytes, need: ENOUGH * u64::from(run.seen.mss) }.into());
    }
    Ok(run.seen)
}

impl<P: Peer> Run<'_, P> {
    fn go(&mut self) -> Result<(), Stop> {
        while self.phase != Phase::Over {
            if self.due.is_empty() && self.lost.is_none() && self.r.is_over() {
                self.seen.ended = true;
                return Ok(());
            }
            let quiet = self.r.now().saturating_add(TIMER + 4 * self.held);
            let next = self.due.front().map_or(quiet, |(at, _)| *at);
            if let Some(segment) = self.r.next(next)? {
                self.on_segment(&segment);
            } else if let Some((at, reply)) = self.due.pop_front() {
                self.r.stood(at)?;
                self.on_due(&reply)?;
            } else {
                let seconds = TIMER.ticks(Span::s(1));
                return Err(Fault::Stalled { seconds, after: "in its answer" }.into());
            }
        }
        Ok(())
    }

    fn on_segment(&mut self, segment: &Segment) {
        if self.lose && segment.new && segment.start >= self.mark {
            (self.lose, self.lost, self.noted) = (false, Some((segment.start, segment.time)), false);
            return;
        }
        if let Some((start, came)) = self.lost
            && segment.start <= start
            && start < segment.end
        {
            self.lost = None;
            // A duplicate goes when its segment has been held, and brings the repair a path's round trip later.
            let soon = came.saturating_add(2 * (self.held + self.r.rtt()));
            self.seen.timeouts += u32::from(segment.time > soon);
            self.phase = if self.phase == Phase::Start { Phase::AfterFirst } else { Phase::AfterSecond };
        }
        let reply = self.r.keep(segment);
        // None overtakes another where the round trip becomes shorter.
        let at =
            segment.time.saturating_add(self.held).max(self.due.back().map_or(Time::ZERO, |(at, _)| *at));
        self.due.push_back((at, reply));
    }

    fn on_due(&mut self, reply: &Reply) -> Result<(), Stop> {
        let segment = f64::from(self.r.log.largest().max(1));
        let beyond = |from: u32| f64::from(self.r.log.end().saturating_sub(from)) / segment;
        if let Some((start, _)) = self.lost
            && !self.noted
            && reply.gap
        {
            self.noted = true;
            let window = beyond(start);
            if self.phase == Phase::Start {
                self.seen.first_loss = window
            } else {
                self.seen.second_loss = window
            }
        }
        if reply.ack > self.mark {
            // What this ACK is about was in the air until now.
            let window = beyond(reply.ack) + 1.0;
            self.mark = self.r.log.end();
            self.on_round(window)?;
        }
        Ok(self.r.reply(reply)?)
    }

    fn on_round(&mut self, window: f64) -> Result<(), Stop> {
        let seen = &mut self.seen;
        match self.phase {
            Phase::Start => {
                if seen.start.is_empty() {
                    self.held -= FIRST_LONGER;
                }
                seen.start.push(window);
                let steady = seen.start.iter().rev().nth(STEADY).is_some_and(|before| window < 1.1 * before);
                let many = seen.start.len() >= MOST_START;
                self.lose = window >= TARGET || (window >= SMALL && (steady || many));
                if many && window < SMALL {
                    return Err(Fault::Narrow { segments: window as u32 }.into());
                }
            }
            Phase::AfterFirst => {
                seen.after_first.push(window);
                let full = seen.after_first.iter().rev().take_while(|w| **w > 0.9 * seen.offered).count();
                let rounds = seen.after_first.len();
                self.lose = rounds >= AFTER_FIRST || (rounds > LEAST_ROUNDS && full >= FULL);
            }
            Phase::AfterSecond => {
                seen.after_second.push(window);
                let over = seen.after_second.len().saturating_sub(AFTER_SECOND);
                if over < STEPS as usize && seen.after_second.len() >= AFTER_SECOND {
                    self.held += LONGER / STEPS;
                } else if over == STEPS as usize {
                    self.phase = Phase::Longer;
                }
            }
            Phase::Longer => {
                seen.longer.push(window);
                if seen.longer.len() == LONGER_ROUNDS {
                    self.phase = Phase::Over;
                }
            }
            Phase::Over => {}
        }
        Ok(())
    }
}
