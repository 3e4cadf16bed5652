//! Queues with a rule: what is taken in, what is sent next, and what is dropped or marked on the way.
//!
//! [`Red`] decides when a packet comes, by the average queue, and the rest is first in, first out: departures are known when
//! packets come. The others decide by how long packets wait. Such a queue is fed packets as they come ([`ActiveQueue::offer`]) and asked for the next one when the transmitter is free
//! ([`ActiveQueue::serve`]). It knows nothing of what a packet is: a token of the caller's goes in, and comes out again,
//! sent or dropped, exactly once; [`TimedQueue`] keeps for the link around it when to ask. Not for: queues that are asked for
//! nothing but room.
//!
//! | queue | decides | source |
//! |---|---|---|
//! | [`CoDel`] | at the head, by the least wait within an interval | RFC 8289 |
//! | [`FqCoDel`] | the same for each flow's queue, which take turns | RFC 8290 |
//! | [`Pie`] | at the tail, by chance, from the wait and its trend | RFC 8033 |
//! | [`Red`] | at the tail, by chance, from the average queue | Floyd and Jacobson 1993 |

mod codel;
mod contract;
mod fifo;
mod fq_codel;
mod pie;
mod red;
mod timed;

pub use codel::{CoDel, CoDelConfig};
pub use contract::{Limit, Seen, Served};
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use pie::{Pie, PieConfig};
pub use red::{Red, RedConfig};
pub use timed::TimedQueue;

use crate::Time;

/// Parameters of a queue.
#[derive(Debug, Clone, PartialEq)]
pub enum ActiveConfig {
    /// [`CoDel`].
    CoDel(CoDelConfig),
    /// [`FqCoDel`].
    FqCoDel(FqCoDelConfig),
    /// [`Pie`].
    Pie(PieConfig),
}

impl ActiveConfig {
    /// What fits.
    pub fn limit(&self) -> Limit {
        match self {
            Self::CoDel(config) => config.limit,
            Self::FqCoDel(config) => config.limit,
            Self::Pie(config) => config.limit,
        }
    }

    /// The same, to be changed.
    pub fn limit_mut(&mut self) -> &mut Limit {
        match self {
            Self::CoDel(config) => &mut config.limit,
            Self::FqCoDel(config) => &mut config.limit,
            Self::Pie(config) => &mut config.limit,
        }
    }
}

/// One of the queues, empty at first.
#[derive(Debug)]
pub enum ActiveQueue<T> {
    /// RFC 8289.
    CoDel(CoDel<T>),
    /// RFC 8290.
    FqCoDel(Box<FqCoDel<T>>),
    /// RFC 8033.
    Pie(Pie<T>),
}

impl<T> ActiveQueue<T> {
    /// An empty queue; `seed` is that of its own random stream.
    pub fn new(config: &ActiveConfig, seed: u64) -> Self {
        match config {
            ActiveConfig::CoDel(config) => Self::CoDel(CoDel::new(config.clone())),
            ActiveConfig::FqCoDel(config) => Self::FqCoDel(Box::new(FqCoDel::new(config.clone(), seed))),
            ActiveConfig::Pie(config) => Self::Pie(Pie::new(config.clone(), seed)),
        }
    }

    /// A packet comes at `now`. What is dropped for it, itself perhaps, is added to `dropped`. Times never fall from one
    /// call to the next.
    pub fn offer(&mut self, now: Time, seen: Seen, packet: T, dropped: &mut Vec<T>) {
        match self {
            Self::CoDel(queue) => queue.offer(now, seen, packet, dropped),
            Self::FqCoDel(queue) => queue.offer(now, seen, packet, dropped),
            Self::Pie(queue) => queue.offer(now, seen, packet, dropped),
        }
    }

    /// The transmitter is free at `now`: what it sends next, `None` where nothing waits. What is dropped at the head of
    /// the queue is added to `dropped`.
    pub fn serve(&mut self, now: Time, dropped: &mut Vec<T>) -> Option<Served<T>> {
        match self {
            Self::CoDel(queue) => queue.serve(now, dropped),
            Self::FqCoDel(queue) => queue.serve(now, dropped),
            Self::Pie(queue) => queue.serve(now),
        }
    }

    /// Empties it: all that waited is added to `dropped`. What it has learnt of the time before stays.
    pub fn clear(&mut self, dropped: &mut Vec<T>) {
        match self {
            Self::CoDel(queue) => queue.clear(dropped),
            Self::FqCoDel(queue) => queue.clear(dropped),
            Self::Pie(queue) => queue.clear(dropped),
        }
    }

    /// How many packets wait.
    pub fn packets(&self) -> usize {
        match self {
            Self::CoDel(queue) => queue.packets(),
            Self::FqCoDel(queue) => queue.packets(),
            Self::Pie(queue) => queue.packets(),
        }
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::CoDel(queue) => queue.bytes(),
            Self::FqCoDel(queue) => queue.bytes(),
            Self::Pie(queue) => queue.bytes(),
        }
    }
}

#[cfg(test)]
mod tests;
