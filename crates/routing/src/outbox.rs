//! What a router has to say and has not been asked for yet, and messages whose jitter has not passed.

use crate::{Cause, Counters, Hop, Interface, Message, NodeId, Output, PacketId, To};
use std::collections::{BTreeMap, VecDeque};
use truckee_channel::Time;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    ready: VecDeque<Output>,
    /// By time, and among equal times by turn.
    delayed: BTreeMap<(Time, u64), (Interface, To, Message)>,
    turns: u64,
    pub(crate) counters: Counters,
}

impl Outbox {
    /// A message that goes now.
    pub(crate) fn send(&mut self, interface: Interface, to: To, message: Message) {
        self.counters.sent(&message);
        self.ready.push_back(Output::Send { interface, to, message });
    }

    /// A message that goes to everyone at a time to come.
    pub(crate) fn send_at(&mut self, at: Time, interface: Interface, message: Message) {
        self.turns += 1;
        self.delayed.insert((at, self.turns), (interface, To::Everyone, message));
    }

    /// A packet that was held goes on.
    pub(crate) fn release(&mut self, packet: PacketId, to: Hop) {
        self.ready.push_back(Output::Release { packet, to });
    }

    /// A packet that was held ends.
    pub(crate) fn drop(&mut self, packet: PacketId, cause: Cause) {
        self.ready.push_back(Output::Drop { packet, cause });
    }

    /// Packets are wanted back.
    pub(crate) fn withdraw(&mut self, from: Hop) {
        self.ready.push_back(Output::Withdraw(from));
    }

    /// The table has changed.
    pub(crate) fn route(&mut self, to: NodeId, next: Option<Hop>, hops: u32) {
        self.ready.push_back(Output::Route { to, next, hops });
    }

    pub(crate) fn poll(&mut self) -> Option<Output> {
        self.ready.pop_front()
    }

    /// When the next message goes.
    pub(crate) fn next(&self) -> Time {
        self.delayed.first_key_value().map_or(Time::MAX, |(&(at, _), _)| at)
    }

    /// What is due goes.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(entry) = self.delayed.first_entry() {
            if entry.key().0 > now {
                return;
            }
            let (interface, to, message) = entry.remove();
            self.send(interface, to, message);
        }
    }
}
