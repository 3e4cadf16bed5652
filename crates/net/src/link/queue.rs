//! A queue that decides when a packet leaves it, with what it holds.

use crate::packet::PacketId;
use truckee_channel::Fate;
use truckee_channel::queue::{ActiveConfig, TimedQueue};

/// The queue.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) queue: TimedQueue<Waiting>,
    /// What was dropped in one call.
    pub(super) dropped: Vec<Waiting>,
}

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) id: PacketId,
    /// The number of its flow for the channel.
    pub(super) flow: u32,
    /// What the channel did to it, where that acts before the queue.
    pub(super) early: Option<Fate>,
}

impl Active {
    /// An empty one at the link of this name, in a run of this seed.
    pub fn new(config: &ActiveConfig, seed: u64, link: &str) -> Self {
        Self { queue: TimedQueue::new(config, seed, link), dropped: Vec::new() }
    }
}
