//! One test of a server: a request, the round that comes of it, ACKs of our cutting, and what they bring.
//!
//! All ACKs are held until a round is complete: nothing new for half a round-trip time. That is before a server's tail
//! loss probe, and makes the initial window exact and the rounds clean, with servers that pace too. Then the first parts
//! are acknowledged, each a segment (or, where a short one comes first, a little more), in as many ACKs as the test
//! says. Where a round has fewer parts than wanted, its ACKs go and the next round is awaited. Everything else that
//! comes stays without an ACK: what the server sends thereafter it sends of the window that these ACKs have opened,
//! until its retransmission timer fires.
//!
//! A first flight that ends as the end of what an application has written does (a head that was flushed by itself) is
//! waited for a little longer, as long as no timer of the server's can fire: what comes of itself belongs to it. If more
//! comes after the ACKs than these can have opened, or nothing, then the application ended it and not the window, which
//! is said.
//!
//! Whatever a server does, a test has an end: a time for all that goes before the last ACK, and so much that may come. What
//! has come by then counts, however late it is read. A prober that stands still before the last ACK for as long as a timer
//! of the server's takes shows nothing of the server, and says so.
//!
//! Not for: what the counts mean (see [`super::judge`]).

use super::connection::{Connection, WINDOW};
use super::fault::Fault;
use super::http::Head;
use super::log::Log;
use super::observation::{MOST_PIECES, Observation, Test};
use super::peer::Peer;
use super::stop::Stop;
use crate::Error;
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::Span;
use truckee_tcp::Time;

/// No quiet is judged by less than this: a machine is not faster.
const LEAST_QUIET: Duration = Duration::from_millis(2);
const LEAST_LAST_QUIET: Duration = Duration::from_millis(20);
/// So long a request without an answer waits to be repeated.
const REPEAT: Duration = Duration::from_secs(1);
/// For a further round after ACKs, at least.
const NEXT_ROUND: Duration = Duration::from_millis(500);
/// For what may still belong to a flight of one segment: half of what a server waits, beside two round trips, before it
/// probes for one that is lost (RFC 8985, section 7.2).
const ALONE: Duration = Duration::from_millis(100);
/// A server may send so much within a test, bytes, and no more: the window and as much in repetitions.
const MOST: u64 = 4 * WINDOW as u64;
/// In so many segments at most, however small they are.
const MOST_SEGMENTS: usize = 20_000;
/// Segments by which what ACKs open may differ from what they acknowledge: small ones.
const FINE: u32 = 2;
/// A prober that stood still for so long may have had a retransmission timer go off: that of Linux waits no less, and others
/// wait longer (RFC 6298: 1 s).
const STILL: Duration = Duration::from_millis(200);
/// So often it looks whether to stop.
const SLICE: Duration = Duration::from_millis(100);

/// How long to watch and to wait.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// After the last ACK.
    pub watch: Duration,
    /// For an answer's first byte.
    pub patience: Duration,
    /// For all that goes before the last ACK, from the request on.
    pub rounds: Duration,
}

/// What is known while it runs.
struct Run<'a, P: Peer> {
    connection: &'a mut Connection<P>,
    log: Log,
    cancel: &'a Cancel,
    /// The whole answer's bytes, where that is known.
    length: Option<u64>,
    began: Time,
    /// When the rounds must be over; and how long they may take.
    until: Time,
    may: Duration,
    /// Whether the server waits for something of ours: all until the last ACK.
    awaited: bool,
    /// Bytes acknowledged.
    acked: u32,
    acks: u32,
    /// When the first ACK went, and the last.
    first_ack: Time,
    last_ack: Time,
    rounds: Vec<u32>,
    counted: u32,
    /// Whether the application may have ended the first flight.
    early: bool,
}

/// Runs a test over a connection that has just been taken over. `length`: the whole answer's bytes, where that is known.
/// `answered` is told when the answer begins.
pub fn observe<P: Peer>(
    connection: &mut Connection<P>,
    (test, repetition): (Test, u32),
    length: Option<u64>,
    times: &Times,
    cancel: &Cancel,
    answered: &mut dyn FnMut(Duration),
) -> Result<Observation, Stop> {
    let (log, began) = (connection.log(), connection.now());
    let mut run = Run {
        connection,
        log,
        cancel,
        length,
        began,
        until: began.saturating_add(times.rounds.into()),
        may: times.rounds,
        awaited: true,
        acked: 0,
        acks: 0,
        first_ack: Time::ZERO,
        last_ack: Time::ZERO,
        rounds: Vec::new(),
        counted: 0,
        early: false,
    };
    let come = run.answer(times.patience);
    answered((run.now() - began).into());
    come?;
    run.first_round()?;
    run.acknowledge(test)?;
    if run.acks == 0 && test.most_acks() == 0 {
        // What none was sent for is told from what came before by when the first would have gone.
        (run.first_ack, run.last_ack) = (run.now(), run.now());
    } else if run.acks == 0 {
        // The first segment never came.
        return Err(Fault::Lost(run.log.missing()).into());
    }
    run.watch(times.watch)?;
    run.conclude(test, repetition)
}

impl<P: Peer> Run<'_, P> {
    fn rtt(&self) -> Duration {
        self.connection.rtt
    }

    fn now(&self) -> Time {
        self.connection.now()
    }

    /// The time so long from now.
    fn after(&self, how_long: Duration) -> Time {
        self.now().saturating_add(how_long.into())
    }

    /// Asks, until the answer begins.
    fn answer(&mut self, patience: Duration) -> Result<(), Stop> {
        let until = self.after(patience);
        let mut again = self.began;
        while self.log.segments.is_empty() {
            if self.now() >= again {
                let began = self.now();
                self.connection.ask()?;
                self.stood_since(began)?;
                again = self.after(REPEAT.max(3 * self.rtt()));
            }
            let came = self.take(again.min(until))?;
            if !self.log.segments.is_empty() {
                break;
            }
            if self.log.fin.is_some() {
                return Err(Fault::Closed("without an answer").into());
            }
            if self.is_past(until, came) {
                let seconds = patience.as_secs();
                return Err(Fault::Stalled { seconds, after: "after the request" }.into());
            }
        }
        Ok(())
    }

    /// Waits for the first round to be complete.
    fn first_round(&mut self) -> Result<(), Stop> {
        self.settle()?;
        while self.log.ends_early() && !self.is_over() {
            let alone = self.counted == 1;
            let until = self.after(if alone { ALONE } else { self.rtt() / 4 });
            self.early = !self.comes_by(until)?;
            if self.early {
                break;
            }
            self.settle()?;
        }
        // Whatever came of itself is one round.
        self.rounds = vec![self.counted];
        Ok(())
    }

    /// Whether the answer has come to its end.
    fn is_over(&self) -> bool {
        self.log.fin.is_some() || self.length.is_some_and(|length| self.log.bytes() >= length)
    }

    /// Takes down what comes next, waiting until then at most; when it came, if anything did.
    fn take(&mut self, until: Time) -> Result<Option<Time>, Stop> {
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        let until = until.min(self.until).min(self.after(SLICE)).max(self.now());
        let came = self.connection.take(&mut self.log, until)?;
        self.stood_since(came.unwrap_or(until))?;
        if self.is_past(self.until, came) {
            let (bytes, seconds) = (self.log.bytes(), self.may.as_secs());
            return Err(Fault::Slow { bytes, seconds }.into());
        }
        if self.log.reset {
            let nothing = self.log.segments.is_empty();
            return Err(Fault::Reset(if nothing { "after the request" } else { "in its answer" }).into());
        }
        let most = self.log.packets.max(self.log.segments.len());
        if self.log.load() > MOST || most > MOST_SEGMENTS {
            return Err(Fault::Flood.into());
        }
        Ok(came)
    }

    /// Whether it is over with what could come by then, the last time something came being this: what waits still counts,
    /// however late we are.
    fn is_past(&self, until: Time, came: Option<Time>) -> bool {
        self.now() >= until && came.is_none_or(|came| came >= until)
    }

    /// Whether something new comes by then.
    fn comes_by(&mut self, until: Time) -> Result<bool, Stop> {
        while self.log.news() == self.counted {
            let came = self.take(until)?;
            if self.log.news() == self.counted && self.is_past(until, came) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What was to be over by then is: did we stand still for too long, while the server waited for us?
    fn stood_since(&self, then: Time) -> Result<(), Fault> {
        let late = self.now().saturating_sub(then);
        if self.awaited && late >= STILL.into() {
            return Err(Fault::Stood { milliseconds: late.ticks(Span::ms(1)) });
        }
        Ok(())
    }

    /// Waits until nothing new has come for half a round-trip time: a round is complete.
    fn settle(&mut self) -> Result<(), Stop> {
        let quiet = (self.rtt() / 2).max(LEAST_QUIET).into();
        loop {
            let until = self.log.last_fresh().unwrap_or(Time::ZERO).saturating_add(quiet);
            // What waits by then is taken, however late we are.
            if self.take(until)?.is_none() && self.now() >= until {
                break;
            }
        }
        self.rounds.push(self.log.news() - self.counted);
        self.counted = self.log.news();
        Ok(())
    }

    /// Waits for a further round; whether there is one.
    fn next_round(&mut self) -> Result<bool, Stop> {
        let until = self.after(NEXT_ROUND.max(3 * self.rtt()));
        let comes = self.comes_by(until)?;
        if comes {
            self.settle()?;
        }
        Ok(comes)
    }

    /// The ACKs of the test.
    fn acknowledge(&mut self, test: Test) -> Result<(), Stop> {
        if test == Test::G {
            let whole = self.log.contiguous();
            self.cut(whole, 1, test)?;
            if !self.next_round()? {
                return Ok(());
            }
        }
        let mut wanted = test.segments() as usize;
        while self.acks < test.most_acks() {
            let cuts = self.log.cuts(self.acked, self.log.largest(), wanted);
            wanted -= cuts.len();
            match (test, cuts.last()) {
                (Test::F, Some(last)) => self.cut(*last, 1, test)?,
                _ => cuts.iter().try_for_each(|cut| self.cut(*cut, test.pieces(), test))?,
            }
            if wanted == 0 || cuts.is_empty() || !self.next_round()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Acknowledges up to byte `to` in so many pieces, evenly, a little apart: a burst would be one ACK to a server whose
    /// socket is busy. Ends where the test's last ACK has gone.
    fn cut(&mut self, to: u32, pieces: u32, test: Test) -> Result<(), Stop> {
        let (from, bytes) = (self.acked, to - self.acked);
        let pieces = pieces.clamp(1, MOST_PIECES).min(bytes);
        let apart = self.rtt() / 4 / (test.segments() * pieces.max(1));
        let apart = apart.clamp(Duration::from_micros(50), Duration::from_millis(1));
        for k in 1..=pieces {
            if self.acks >= test.most_acks() {
                break;
            }
            let at = from + (u64::from(bytes) * u64::from(k) / u64::from(pieces)) as u32;
            // Before it goes: over the loopback what it opens has come when it is sent.
            self.last_ack = self.now();
            self.connection.acknowledge(&self.log, at)?;
            if self.acks == 0 {
                self.first_ack = self.last_ack;
            }
            self.acks += 1;
            self.stood_since(self.last_ack)?;
            let until = self.after(apart);
            self.connection.sleep(until);
            self.stood_since(until)?;
            self.acked = at;
        }
        Ok(())
    }

    /// Takes down what comes of it.
    fn watch(&mut self, how_long: Duration) -> Result<(), Stop> {
        let until = self.after(how_long);
        // From here on it has an end of its own, and nothing is due from us.
        (self.until, self.awaited) = (Time::MAX, false);
        loop {
            let came = self.take(until)?;
            if self.is_past(until, came) {
                return Ok(());
            }
        }
    }

    /// The counts.
    fn conclude(mut self, test: Test, repetition: u32) -> Result<Observation, Stop> {
        let status = self.status()?;
        let log = &self.log;
        let quiet = self.connection.rtt.max(LEAST_LAST_QUIET).into();
        let window: Vec<_> = log.fresh().filter(|s| s.time < self.first_ack).collect();
        let mut second: Vec<_> = log.fresh().filter(|s| s.time >= self.first_ack).collect();
        second.sort_by_key(|s| s.time);
        // What comes from here on may be due to the last ACK.
        let reached = self.last_ack.saturating_add(self.connection.rtt.into());
        let mut last = reached;
        let in_time = second.iter().take_while(|s| {
            let soon = s.time <= last.saturating_add(quiet);
            last = last.max(s.time);
            soon
        });
        let in_time = in_time.count();
        let late_segments = (second.len() - in_time) as u32;
        second.truncate(in_time);
        let after = second.last().map_or(self.last_ack, |s| s.time);
        let again: Vec<Time> = log.segments.iter().filter(|s| !s.new).map(|s| s.time).collect();
        let first_again = again.iter().find(|t| **t >= self.first_ack);
        let ended = self.is_over();
        let acked_segments = log.fresh_until(self.acked);
        let (retransmitted, data_packets) = (again.len() as u32, log.news());
        let application_limited = self.early && !ended && !self.opened(acked_segments, second.len() as u32);
        Ok(Observation {
            test,
            repetition,
            // A peer's clock has no date: who has one says when (see [`super::host`]).
            began: String::new(),
            rtt_s: self.connection.rtt.as_secs_f64(),
            ttl: self.connection.ttl,
            status,
            mss: log.largest(),
            window_segments: window.len() as u32,
            window_bytes: window.iter().map(|s| u64::from(s.end - s.start)).sum(),
            handshake_segments: self.connection.handshake,
            rounds: self.rounds.clone(),
            acks: self.acks,
            withheld: (data_packets + retransmitted).saturating_sub(acked_segments),
            acked_segments,
            acked_bytes: self.acked.into(),
            second_segments: second.len() as u32,
            second_bytes: second.iter().map(|s| u64::from(s.end - s.start)).sum(),
            second_largest: second.iter().map(|s| s.end - s.start).max().unwrap_or(0),
            late_segments,
            retransmitted,
            early_retransmissions: again.iter().filter(|t| **t < reached).count() as u32,
            first_retransmission_s: first_again.map(|t| t.saturating_sub(after).seconds()),
            data_packets,
            data_bytes: log.bytes(),
            ended,
            missing_bytes: log.missing(),
            application_limited,
        })
    }

    /// Whether what came in time after the ACKs is something that they can have opened: as much as they have acknowledged
    /// and again as much, or a segment an ACK.
    fn opened(&self, acked: u32, came: u32) -> bool {
        came > 0 && came <= acked + acked.max(self.acks) + FINE
    }

    /// The status of the answer, if its head can be read by now.
    fn status(&mut self) -> Result<Option<u16>, Stop> {
        let text = match &mut self.connection.tls {
            Some(tls) => tls.open(&self.log.text)?,
            None => std::mem::take(&mut self.log.text),
        };
        let head = Head::read(&text);
        let head = if self.connection.foreign { head.unwrap_or(None) } else { head? };
        Ok(head.map(|head| head.status))
    }
}

#[cfg(test)]
#[path = "stall_tests.rs"]
mod stall_tests;
#[cfg(test)]
#[path = "observe_tests.rs"]
mod tests;
