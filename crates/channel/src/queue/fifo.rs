//! What waits, in the order in which it came.

use super::contract::{Limit, Seen, Served};
use crate::{Span, Time};
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Debug)]
struct Entry<T> {
    packet: T,
    seen: Seen,
    came: Time,
}

/// A packet taken from the head.
#[derive(Debug)]
pub(super) struct Head<T> {
    pub served: Served<T>,
    /// How long it waited.
    pub waited: Span,
    pub ecn: bool,
}

/// First in, first out, with the bytes that wait.
#[derive(Debug)]
pub(super) struct Fifo<T> {
    entries: VecDeque<Entry<T>>,
    bytes: u64,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), bytes: 0 }
    }
}

impl<T> Fifo<T> {
    pub fn push(&mut self, now: Time, seen: Seen, packet: T) {
        self.bytes += u64::from(seen.bytes);
        self.entries.push_back(Entry { packet, seen, came: now });
    }

    /// Whether another one fits; where nothing waits any does, since it may be on its way at once.
    pub fn has_room(&self, limit: Limit, next: Seen) -> bool {
        self.entries.is_empty() || limit.has_room(self.entries.len() as u64, self.bytes, next.bytes)
    }

    pub fn pop(&mut self, now: Time) -> Option<Head<T>> {
        let Entry { packet, seen, came } = self.entries.pop_front()?;
        self.bytes -= u64::from(seen.bytes);
        let served = Served { packet, bytes: seen.bytes, marked: false, came };
        Some(Head { served, waited: now.saturating_sub(came), ecn: seen.ecn })
    }

    /// Empties it.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.bytes = 0;
        self.entries.drain(..).map(|entry| entry.packet)
    }

    pub fn packets(&self) -> usize {
        self.entries.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
