//! What a lane has accepted and not yet delivered to its far end. Next arrival first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use truckee_channel::Time;

/// A packet's place in the [`Pool`](super::pool::Pool).
pub(super) type PacketId = u32;

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InTransit {
    /// When it is at the far end.
    pub arrival: Time,
    /// When its transmission ends or ended.
    pub departure: Time,
    /// Which one.
    pub packet: PacketId,
}

/// Packets on their way.
#[derive(Debug)]
pub(super) enum Transit {
    /// Over a channel that keeps order: first in, first out.
    Fifo(VecDeque<InTransit>),
    /// Over one that does not: by arrival and, of one time, by acceptance.
    Heap { heap: BinaryHeap<Reverse<Ranked>>, count: u64 },
}

/// By arrival and, of one time, by the order in which they were accepted.
#[derive(Debug)]
pub(super) struct Ranked(Time, u64, InTransit);

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}
impl Eq for Ranked {}
impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

impl Transit {
    /// Nothing on its way yet.
    pub fn new(keeps_order: bool) -> Self {
        if keeps_order {
            Self::Fifo(VecDeque::new())
        } else {
            Self::Heap { heap: BinaryHeap::new(), count: 0 }
        }
    }

    /// Whether packets arrive in the order in which they were accepted.
    pub fn keeps_order(&self) -> bool {
        matches!(self, Self::Fifo(_))
    }

    /// Another packet.
    pub fn add(&mut self, item: InTransit) {
        match self {
            Self::Fifo(fifo) => fifo.push_back(item),
            Self::Heap { heap, count } => {
                *count += 1;
                heap.push(Reverse(Ranked(item.arrival, *count, item)));
            }
        }
    }

    /// When the next one arrives.
    pub fn next_arrival(&self) -> Option<Time> {
        match self {
            Self::Fifo(fifo) => fifo.front().map(|item| item.arrival),
            Self::Heap { heap, .. } => heap.peek().map(|ranked| ranked.0.0),
        }
    }

    /// Takes the one that arrives next, whenever that is.
    pub fn take(&mut self) -> Option<InTransit> {
        match self {
            Self::Fifo(fifo) => fifo.pop_front(),
            Self::Heap { heap, .. } => heap.pop().map(|ranked| ranked.0.2),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Fifo(fifo) => fifo.len(),
            Self::Heap { heap, .. } => heap.len(),
        }
    }
}
