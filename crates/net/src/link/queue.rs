//! A queue that decides when a packet leaves it, with what it holds and when it is to be asked.

use crate::packet::PacketId;
use truckee_channel::Fate;
use truckee_channel::queue::{ActiveConfig, ActiveQueue};
use truckee_tcp::Time;

/// The queue, and when it is looked at.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) queue: ActiveQueue<Waiting>,
    /// Time of the pending event at which the next packet is to leave, [`Time::MAX`] if there is none.
    pub(super) armed: Time,
    /// Until when the packets that wait are in the books.
    pub(super) noted: Time,
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
    pub fn new(config: &ActiveConfig, seed: u64) -> Self {
        let queue = ActiveQueue::new(config, seed);
        Self { queue, armed: Time::MAX, noted: Time::ZERO, dropped: Vec::new() }
    }

    /// When to call, if that is sooner than what was asked for before.
    pub fn arm(&mut self, at: Time) -> Option<Time> {
        if self.queue.packets() == 0 || at >= self.armed {
            return None;
        }
        self.armed = at;
        Some(at)
    }
}
