//! What went in each round trip: the initial window, and how the window opens.
//!
//! A round ends with the first data that answers an ACK of something sent within it. Such an ACK, having passed here at
//! `t`, shows in data no sooner than the sender's side of the round trip after it.

use super::book::{Acked, Sent};
use super::memory::room;
use super::segment::{Ack, Data};
use serde::Serialize;
use truckee_tcp::{Seq, Span, Time};

/// Rounds that are kept one by one.
const KEPT: usize = 32;

/// A round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Round {
    /// When its first data passed.
    pub start: Time,
    /// When the first data of the next one passed, or the last of its own.
    pub end: Time,
    /// Payload sent in it, bytes; again ones included.
    pub bytes: u64,
    /// Segments, as captured.
    pub segments: u64,
    /// The largest number of bytes in the air.
    pub flight: u64,
    /// Whether anything was sent again in it.
    pub resent: bool,
}

/// A round, as it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Report {
    /// When it began, seconds after the connection's first packet.
    pub start_s: f64,
    /// Payload sent in it, bytes.
    pub bytes: u64,
    /// Segments, as captured.
    pub segments: u64,
    /// Times the bytes of the round before.
    pub growth: Option<f64>,
    /// The largest number of bytes in the air.
    pub flight_bytes: u64,
    /// Whether anything was sent again in it.
    pub resent: bool,
}

/// The rounds of a direction.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    kept: Vec<Round>,
    present: Option<Round>,
    /// One after the highest byte sent before the present round began: an ACK above it ends the round.
    before: Seq,
    /// When such an ACK passed.
    answered: Option<Time>,
    count: u64,
}

impl Rounds {
    /// Data has passed; the round that has ended, if one has. `flight`: before it; `delay`: the sender's side.
    pub(super) fn on_sent(&mut self, data: &Data, sent: &Sent, flight: u64, delay: Span) -> Option<Round> {
        let over = self.answered.is_some_and(|at| data.now >= at.saturating_add(delay));
        let mut ended = None;
        if over && let Some(mut round) = self.present.take() {
            round.end = data.now;
            ended = Some(round);
            if self.kept.len() < KEPT {
                self.kept.push(round);
            }
        }
        let round = self.present.get_or_insert_with(|| {
            self.count += 1;
            self.before = data.seq;
            self.answered = None;
            Round { start: data.now, ..Round::default() }
        });
        round.end = data.now;
        if !sent.copy {
            round.bytes += u64::from(data.len);
            round.segments += 1;
        }
        round.flight = round.flight.max(flight + sent.new);
        round.resent |= sent.is_again();
        ended
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, acked: &Acked) {
        if self.present.is_some() && self.answered.is_none() && acked.newly > 0 && ack.ack > self.before {
            self.answered = Some(ack.now);
        }
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        room::<Round>(self.kept.capacity())
    }

    /// How many rounds there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first rounds, the present one included.
    pub fn first(&self) -> impl Iterator<Item = &Round> {
        let present = self.present.iter().filter(|_| self.kept.len() < KEPT);
        self.kept.iter().chain(present)
    }

    /// The initial window as it looks: the first round of more than one segment or, if there is none, the first round.
    /// Requests and greetings that come before it are smaller than any window.
    pub fn initial(&self, segment_size: u32) -> Option<Round> {
        let more = |round: &&Round| round.bytes > u64::from(segment_size);
        self.first().find(more).or_else(|| self.first().next()).copied()
    }

    /// The first rounds; `origin`: when the connection began.
    pub fn report(&self, origin: Time) -> Vec<Report> {
        let mut before = None;
        let report = |round: &Round| {
            let growth = before.replace(round.bytes).map(|b: u64| round.bytes as f64 / b.max(1) as f64);
            Report {
                start_s: round.start.saturating_sub(origin).seconds(),
                bytes: round.bytes,
                segments: round.segments,
                growth,
                flight_bytes: round.flight,
                resent: round.resent,
            }
        };
        self.first().map(report).collect()
    }
}
