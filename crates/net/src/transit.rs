//! What is on its way over a link: accepted, and not yet at the far end. Next arrival first.

use crate::packet::{InTransit, PacketId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use truckee_tcp::Time;

/// Packets on their way.
#[derive(Debug)]
pub enum Transit {
    /// Over a channel that keeps order: first in, first out.
    Fifo(VecDeque<InTransit>),
    /// Over one that does not.
    Heap { heap: BinaryHeap<Reverse<Ordered>>, count: u64 },
}

/// By arrival and, of one time, by the order in which they were accepted.
#[derive(Debug)]
pub struct Ordered {
    rank: (Time, u64),
    item: InTransit,
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}
impl Eq for Ordered {}
impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl Transit {
    /// Nothing on its way yet.
    pub fn new(keeps_order: bool) -> Self {
        match keeps_order {
            true => Self::Fifo(VecDeque::new()),
            false => Self::Heap { heap: BinaryHeap::new(), count: 0 },
        }
    }

    /// Whether packets arrive in the order in which they were accepted.
    pub fn keeps_order(&self) -> bool {
        matches!(self, Self::Fifo(_))
    }

    /// Another packet. Returns the new next arrival if that changed.
    #[inline]
    pub fn add(&mut self, item: InTransit) -> Option<Time> {
        match self {
            Self::Fifo(fifo) => {
                fifo.push_back(item);
                (fifo.len() == 1).then_some(item.arrival)
            }
            Self::Heap { heap, count } => {
                let next = heap.peek().map(|o| o.0.rank.0);
                *count += 1;
                heap.push(Reverse(Ordered { rank: (item.arrival, *count), item }));
                next.is_none_or(|next| item.arrival < next).then_some(item.arrival)
            }
        }
    }

    /// The one that arrives next.
    pub fn next(&self) -> Option<InTransit> {
        match self {
            Self::Fifo(fifo) => fifo.front().copied(),
            Self::Heap { heap, .. } => heap.peek().map(|ordered| ordered.0.item),
        }
    }

    /// When the next one arrives.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        match self {
            Self::Fifo(fifo) => fifo.front().map(|i| i.arrival),
            Self::Heap { heap, .. } => heap.peek().map(|o| o.0.rank.0),
        }
    }

    /// Takes the next one if it has arrived by `now`; and when the one after it will.
    #[inline]
    pub fn arrive(&mut self, now: Time) -> (Option<PacketId>, Option<Time>) {
        match self {
            Self::Fifo(fifo) => {
                let due = fifo.pop_front_if(|next| next.arrival <= now);
                (due.map(|item| item.packet), fifo.front().map(|next| next.arrival))
            }
            Self::Heap { .. } => {
                let due = self.next_arrival().is_some_and(|next| next <= now);
                let item = if due { self.take() } else { None };
                (item.map(|item| item.packet), self.next_arrival())
            }
        }
    }

    /// Takes the one that arrives next, whenever that is.
    pub fn take(&mut self) -> Option<InTransit> {
        match self {
            Self::Fifo(fifo) => fifo.pop_front(),
            Self::Heap { heap, .. } => heap.pop().map(|o| o.0.item),
        }
    }
}
