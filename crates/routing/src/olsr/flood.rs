//! Messages that go to everyone: those seen, and those that wait for a packet. Source: RFC 3626, sections 3.3 and 3.4.

use super::message::Message;
use crate::address::{Interface, NodeId};
use std::collections::BTreeMap;
use truckee_channel::Time;

/// A message that has been seen.
#[derive(Debug, Default)]
pub(super) struct Duplicate {
    pub until: Time,
    pub passed_on: bool,
    /// By which interfaces it came.
    pub by: Vec<Interface>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Flood {
    pub known: BTreeMap<(NodeId, u16), Duplicate>,
    /// What goes in the next packet, and when that goes at the latest.
    pub waiting: Vec<Message>,
    pub due: Time,
    pub message: u16,
    /// Of each interface.
    pub packets: Vec<u16>,
}

impl Flood {
    pub fn new(interfaces: u8) -> Self {
        Self {
            known: BTreeMap::new(),
            waiting: Vec::new(),
            due: Time::MAX,
            message: 0,
            packets: vec![0; interfaces.into()],
        }
    }

    pub fn knows(&self, message: &Message) -> bool {
        self.known.contains_key(&(message.from, message.seq))
    }

    /// What has ended is forgotten; when something ends next.
    pub fn forget(&mut self, now: Time) -> Time {
        self.known.retain(|_, duplicate| duplicate.until > now);
        self.known.values().map(|duplicate| duplicate.until).min().unwrap_or(Time::MAX)
    }

    /// A message waits for the next packet, which goes then at the latest.
    pub fn add(&mut self, message: Message, due: Time) {
        self.waiting.push(message);
        self.due = self.due.min(due);
    }

    pub fn number(&mut self) -> u16 {
        self.message = self.message.wrapping_add(1);
        self.message
    }
}
