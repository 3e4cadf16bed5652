//! One test of a server: a request, the round that comes of it, ACKs of our cutting, and what they bring.
//!
//! All ACKs are held until a round is complete: nothing new for half a round-trip time. That is before a server's tail
//! loss probe, and makes the initial window exact and the rounds clean, with servers that pace too. Then the first parts
//! are acknowledged, each a segment (or, where a short one comes first, a little more), in as many ACKs as the test
//! says. Where a round has fewer parts than wanted, its ACKs go and the next round is awaited. Everything else that
//! comes stays without an ACK: what the server sends thereafter it sends of the window that these ACKs have opened,
//! until its retransmission timer fires.
//!
//! Not for: what the counts mean (see [`super::judge`]).

use super::connection::{Connection, WINDOW};
use super::fault::{Fault, Stop};
use super::http::Head;
use super::line;
use super::log::Log;
use super::observation::{Observation, PARTS, Test};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// No quiet is judged by less than this: a machine is not faster.
const LEAST_QUIET: Duration = Duration::from_millis(2);
const LEAST_LAST_QUIET: Duration = Duration::from_millis(20);
/// So long a request without an answer waits to be repeated.
const REPEAT: Duration = Duration::from_secs(1);
/// For a further round after ACKs, at least.
const NEXT_ROUND: Duration = Duration::from_millis(500);
/// A server may send so much within a test, bytes, and no more: the window and as much in repetitions.
const MOST: u64 = 4 * WINDOW as u64;
/// In so many segments at most, however small they are.
const MOST_SEGMENTS: usize = 20_000;
/// ACKs a segment may be cut into, at most.
pub const MOST_PIECES: u32 = 32;

/// How long to watch and to wait.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// After the last ACK.
    pub watch: Duration,
    /// For an answer's first byte.
    pub patience: Duration,
}

/// What is known while it runs.
struct Run<'a, 'b> {
    connection: &'a mut Connection<'b>,
    log: Log,
    cancel: &'a AtomicBool,
    /// Bytes acknowledged.
    acked: u32,
    acks: u32,
    /// When the first ACK went, and the last.
    first_ack: u64,
    last_ack: u64,
    rounds: Vec<u32>,
    counted: u32,
}

/// Runs a test over a connection that has just been taken over. `length`: the whole answer's bytes, where that is known.
pub fn observe(
    connection: &mut Connection<'_>,
    (test, repetition): (Test, u32),
    length: Option<u64>,
    times: &Times,
    cancel: &AtomicBool,
) -> Result<Observation, Stop> {
    let log = connection.log();
    let rounds = Vec::new();
    let mut run =
        Run { connection, log, cancel, acked: 0, acks: 0, first_ack: 0, last_ack: 0, rounds, counted: 0 };
    run.first_round(times.patience)?;
    run.acknowledge(test)?;
    run.watch(times.watch)?;
    run.conclude(test, repetition, length)
}

impl Run<'_, '_> {
    fn rtt(&self) -> Duration {
        self.connection.rtt
    }

    /// Asks, and waits for the first round to be complete.
    fn first_round(&mut self, patience: Duration) -> Result<(), Stop> {
        let began = Instant::now();
        let mut asked = 0;
        while self.log.segments.is_empty() {
            if began.elapsed() >= asked * REPEAT.max(3 * self.rtt()) {
                self.connection.ask()?;
                asked += 1;
            }
            let seconds = patience.as_secs();
            let stalled = Fault::Stalled { seconds, after: "after the request" };
            let left = line::slice(began + patience, self.cancel)?.ok_or(stalled)?;
            self.take(left)?;
            if self.log.fin.is_some() && self.log.segments.is_empty() {
                return Err(Fault::Closed("without an answer").into());
            }
        }
        self.settle()
    }

    /// Takes down what comes, within `left`.
    fn take(&mut self, left: Duration) -> Result<bool, Stop> {
        let came = self.connection.take(&mut self.log, left)?;
        if self.log.reset {
            return Err(Fault::Reset("in its answer").into());
        }
        if self.log.load() > MOST || self.log.segments.len() > MOST_SEGMENTS {
            return Err(Fault::Flood.into());
        }
        Ok(came)
    }

    /// Waits until nothing new has come for half a round-trip time: a round is complete.
    fn settle(&mut self) -> Result<(), Stop> {
        let quiet = (self.rtt() / 2).max(LEAST_QUIET);
        loop {
            line::slice(Instant::now() + quiet, self.cancel)?;
            let since = Duration::from_nanos(now().saturating_sub(self.log.last_fresh().unwrap_or(0)));
            let left = quiet.saturating_sub(since);
            if !self.take(left)? && left.is_zero() {
                break;
            }
        }
        let fresh = self.log.fresh().count() as u32;
        self.rounds.push(fresh - self.counted);
        self.counted = fresh;
        Ok(())
    }

    /// Waits for a further round; whether there is one.
    fn next_round(&mut self) -> Result<bool, Stop> {
        let until = Instant::now() + NEXT_ROUND.max(3 * self.rtt());
        while self.log.fresh().count() as u32 == self.counted {
            let Some(left) = line::slice(until, self.cancel)? else { return Ok(false) };
            self.take(left)?;
        }
        self.settle()?;
        Ok(true)
    }

    /// The ACKs of the test.
    fn acknowledge(&mut self, test: Test) -> Result<(), Stop> {
        if test == Test::G {
            let whole = self.log.contiguous();
            self.cut(whole, 1)?;
            if !self.next_round()? {
                return Ok(());
            }
        }
        let mut wanted = PARTS;
        loop {
            let cuts = self.log.cuts(self.acked, self.log.largest(), wanted);
            wanted -= cuts.len();
            match (test, cuts.last()) {
                (Test::F, Some(last)) => self.cut(*last, 1)?,
                _ => cuts.iter().try_for_each(|cut| self.cut(*cut, test.pieces()))?,
            }
            if wanted == 0 || cuts.is_empty() || !self.next_round()? {
                return Ok(());
            }
        }
    }

    /// Acknowledges up to byte `to` in so many pieces, evenly, a little apart: a burst would be one ACK to a server whose
    /// socket is busy.
    fn cut(&mut self, to: u32, pieces: u32) -> Result<(), Stop> {
        let bytes = to - self.acked;
        let pieces = pieces.clamp(1, MOST_PIECES).min(bytes.max(1));
        let apart = self.rtt() / 4 / (PARTS as u32 * pieces);
        let apart = apart.clamp(Duration::from_micros(50), Duration::from_millis(1));
        for k in 1..=pieces {
            let at = self.acked + (u64::from(bytes) * u64::from(k) / u64::from(pieces)) as u32;
            self.connection.acknowledge(&self.log, at)?;
            self.last_ack = now();
            if self.acks == 0 {
                self.first_ack = self.last_ack;
            }
            self.acks += 1;
            std::thread::sleep(apart);
        }
        self.acked = to;
        Ok(())
    }

    /// Takes down what comes of it.
    fn watch(&mut self, how_long: Duration) -> Result<(), Stop> {
        let until = Instant::now() + how_long;
        while let Some(left) = line::slice(until, self.cancel)? {
            self.take(left)?;
        }
        Ok(())
    }

    /// The counts.
    fn conclude(mut self, test: Test, repetition: u32, length: Option<u64>) -> Result<Observation, Stop> {
        let status = self.status()?;
        let log = &self.log;
        let quiet = self.connection.rtt.max(LEAST_LAST_QUIET).as_nanos() as u64;
        let window: Vec<_> = log.fresh().filter(|s| s.time < self.first_ack).collect();
        let mut second: Vec<_> = log.fresh().filter(|s| s.time >= self.first_ack).collect();
        second.sort_by_key(|s| s.time);
        // What comes from here on may be due to the last ACK.
        let reached = self.last_ack + self.connection.rtt.as_nanos() as u64;
        let mut last = reached;
        let in_time = second.iter().take_while(|s| {
            let soon = s.time <= last + quiet;
            last = last.max(s.time);
            soon
        });
        let in_time = in_time.count();
        let late_segments = (second.len() - in_time) as u32;
        second.truncate(in_time);
        let after = second.last().map_or(self.last_ack, |s| s.time);
        let again: Vec<u64> = log.segments.iter().filter(|s| !s.new).map(|s| s.time).collect();
        let first_again = again.iter().find(|t| **t >= self.first_ack);
        Ok(Observation {
            test,
            repetition,
            rtt_s: self.connection.rtt.as_secs_f64(),
            status,
            mss: log.largest(),
            window_segments: window.len() as u32,
            window_bytes: window.iter().map(|s| u64::from(s.end - s.start)).sum(),
            handshake_segments: self.connection.handshake,
            rounds: self.rounds.clone(),
            acks: self.acks,
            acked_segments: log.fresh_until(self.acked),
            acked_bytes: self.acked.into(),
            second_segments: second.len() as u32,
            second_bytes: second.iter().map(|s| u64::from(s.end - s.start)).sum(),
            second_largest: second.iter().map(|s| s.end - s.start).max().unwrap_or(0),
            late_segments,
            retransmitted: again.len() as u32,
            early_retransmissions: again.iter().filter(|t| **t < reached).count() as u32,
            first_retransmission_s: first_again.map(|t| t.saturating_sub(after) as f64 / 1e9),
            data_packets: log.fresh().count() as u32,
            ended: log.fin.is_some() || length.is_some_and(|length| log.bytes() >= length),
            missing_bytes: log.missing(),
        })
    }

    /// The status of the answer, if its head can be read by now.
    fn status(&mut self) -> Result<Option<u16>, Stop> {
        let text = match &mut self.connection.tls {
            Some(tls) => tls.open(&self.log.text)?,
            None => std::mem::take(&mut self.log.text),
        };
        Ok(Head::read(&text)?.map(|head| head.status))
    }
}

/// Since the epoch, ns.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}
