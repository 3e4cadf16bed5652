//! What the packets show of one TCP connection at both ends of the path: what was sent and sent again, delivered in
//! order, acknowledged. Sequence numbers are of 64 bits, and the first byte of data is number 1.
//! Not for: what the ends' stacks think; nothing here is seen by them.

use super::listener::{MOST_MISSING, Missing};
use super::truth::Truth;
use std::collections::{BTreeMap, VecDeque};
use truckee_channel::{Span, Time};
use truckee_scenario::outcome::RoundOutcome;

/// How many rounds are counted one by one.
const COUNTED_ROUNDS: usize = 24;

/// Half the range of a 32-bit sequence number.
const HALF: u64 = 1 << 31;

/// A stretch of data on its way for the first time.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: u64,
    end: u64,
    sent: Time,
    again: bool,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// The port of the data's sender.
    pub port: u16,
    /// The sequence number that is 0.
    isn: u32,
    /// When its first packet was seen.
    pub opened: Time,
    /// The byte behind the highest one sent.
    high: u64,
    /// When `high` reached each multiple of 2^31: by it a 32-bit number of some time is unwrapped.
    halves: Vec<Time>,
    /// What has been sent and is not acknowledged.
    outstanding: VecDeque<Stretch>,
    /// How many of them, from the first on, have been delivered in order.
    delivered: usize,
    /// The next byte the receiver waits for, and what it has beyond.
    next: u64,
    ahead: BTreeMap<u64, u64>,
    last_delivery: Option<Time>,
    /// Acknowledged up to here.
    una: u64,
    rounds: Rounds,
    pub truth: Truth,
}

/// What a transmission was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    /// How many of its bytes had been sent before; 0: none.
    pub again: u64,
}

/// What an arrival brought to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Delivered {
    pub bytes: u64,
    /// The time since the delivery before.
    pub pause: Option<Span>,
}

impl Connection {
    /// A connection whose first packet was seen at `now`.
    pub fn new(port: u16, isn: u32, now: Time) -> Self {
        Self {
            port,
            isn,
            opened: now,
            high: 1,
            halves: vec![now],
            outstanding: VecDeque::new(),
            delivered: 0,
            next: 1,
            ahead: BTreeMap::new(),
            last_delivery: None,
            una: 1,
            rounds: Rounds::default(),
            truth: Truth::default(),
        }
    }

    /// Whether a SYN with this number is its own.
    pub fn opens_with(&self, seq: u32) -> bool {
        self.isn == seq
    }

    /// A 32-bit number as the 64-bit one that is nearest to what was sent last; `None`: it lies before the connection.
    pub fn unwrap(&self, seq: u32) -> Option<u64> {
        let reference = self.isn.wrapping_add(self.high as u32);
        let off = seq.wrapping_sub(reference) as i32;
        self.high.checked_add_signed(i64::from(off))
    }

    /// A 32-bit number as it was to be read at `at`.
    pub fn unwrap_at(&self, seq: u32, at: Time) -> Option<u64> {
        // At that time `high` was in this half of the range, and nothing outstanding was 2^30 or more below it.
        let half = (self.halves.partition_point(|&reached| reached <= at) as u64).checked_sub(1)?;
        let low = (half * HALF).saturating_sub(HALF / 2);
        let off = seq.wrapping_sub(self.isn).wrapping_sub(low as u32);
        Some(low + u64::from(off))
    }

    /// Data `[from, end)` leaves the sender.
    pub fn send(&mut self, now: Time, from: u64, end: u64) -> Sent {
        self.rounds.so_far.segments += 1;
        let again = self.high.min(end).saturating_sub(from);
        if again > 0 {
            self.truth.again(now, from, end);
            let first = self.outstanding.partition_point(|s| s.end <= from);
            self.outstanding.iter_mut().skip(first).take_while(|s| s.from < end).for_each(|s| s.again = true);
        }
        if end > self.high {
            let from = from.max(self.high);
            self.outstanding.push_back(Stretch { from, end, sent: now, again: false });
            self.high = end;
            while self.high >= self.halves.len() as u64 * HALF {
                self.halves.push(now);
            }
        }
        Sent { again }
    }

    /// Data `[from, end)` reaches the receiver; `on_delay` hears the delay of each segment that it delivers.
    pub fn arrive(&mut self, now: Time, from: u64, end: u64, mut on_delay: impl FnMut(Span)) -> Delivered {
        if from > self.next {
            let to = self.ahead.entry(from).or_insert(end);
            *to = end.max(*to);
            return Delivered::default();
        }
        let before = self.next;
        self.next = self.next.max(end);
        while let Some(entry) = self.ahead.first_entry().filter(|entry| *entry.key() <= self.next) {
            self.next = self.next.max(entry.remove());
        }
        if self.next == before {
            return Delivered::default();
        }
        while let Some(stretch) = self.outstanding.get(self.delivered).filter(|s| s.end <= self.next) {
            on_delay(now.saturating_sub(stretch.sent));
            self.delivered += 1;
        }
        let pause = self.last_delivery.replace(now).map(|last| now.saturating_sub(last));
        Delivered { bytes: self.next - before, pause }
    }

    /// An acknowledgement up to `ack` reaches the sender: the RTT sample that it gives, if it gives one. It gives none if
    /// any of what it covers was sent twice: what lay behind a hole has then waited for the hole to be filled.
    pub fn acknowledge(&mut self, now: Time, ack: u64) -> Option<Span> {
        self.rounds.so_far.acks += 1;
        if ack <= self.una {
            return None;
        }
        self.rounds.advance(ack, self.high);
        self.una = ack;
        self.truth.acknowledge(ack);
        let (mut newest, mut again) = (None, false);
        while let Some(stretch) = self.outstanding.pop_front_if(|s| s.end <= ack) {
            self.delivered = self.delivered.saturating_sub(1);
            again |= stretch.again;
            newest = Some(stretch.sent);
        }
        newest.filter(|_| !again).map(|sent| now.saturating_sub(sent))
    }

    /// What its latest transmission lost, lowest first, as many stretches as there is room for.
    pub fn missing(&self) -> Vec<Missing> {
        let raw = |(from, to, cause): (u64, u64, _)| Missing {
            first: self.isn.wrapping_add(from as u32),
            bytes: (to - from) as u32,
            cause,
        };
        self.truth.missing().take(MOST_MISSING).map(raw).collect()
    }

    /// The first rounds: see `truckee_tcp::sender::Sender::rounds`.
    pub fn rounds(&self) -> Vec<RoundOutcome> {
        self.rounds.list()
    }

    /// Lets go of all but what is asked of later: no more packets will come.
    pub fn retire(&mut self) {
        self.outstanding = VecDeque::new();
        self.ahead = BTreeMap::new();
        self.delivered = 0;
    }
}

/// The first rounds: a round is what is outstanding when its first ACK comes, and the ACKs from that one until all of it
/// is acknowledged. At the first ACK of each, all segments sent and ACKs come before it.
#[derive(Debug, Default)]
struct Rounds {
    so_far: RoundOutcome,
    begun: Vec<RoundOutcome>,
    end: Option<u64>,
}

impl Rounds {
    fn advance(&mut self, ack: u64, high: u64) {
        if self.end.is_none() && self.begun.len() <= COUNTED_ROUNDS {
            self.begun.push(RoundOutcome { acks: self.so_far.acks - 1, ..self.so_far });
        }
        if ack >= *self.end.get_or_insert(high) {
            self.end = None;
        }
    }

    fn list(&self) -> Vec<RoundOutcome> {
        let ends = self.begun.iter().skip(1).chain([&self.so_far]);
        let mut sent = 0;
        let rounds = self.begun.iter().zip(ends).map(|(begin, end)| {
            let segments = begin.segments - sent;
            sent = begin.segments;
            RoundOutcome { segments, acks: end.acks - begin.acks }
        });
        rounds.take(COUNTED_ROUNDS).collect()
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
