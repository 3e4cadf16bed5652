//! Messages that go to everyone: known again, passed on by relays only, gathered into packets. Source: RFC 3626, sections
//! 3.3, 3.4 and 3.4.1.

use super::message::told;
use super::{Body, Message, Olsr, Packet};
use crate::{Hop, Interface, NodeId, Time, To};
use std::collections::BTreeMap;

/// Of a packet of 1,500 bytes, what is left for messages.
const MOST_IN_PACKET: u32 = 1_500 - crate::UDP_IP - 4;

/// A message that has been seen.
#[derive(Debug, Default)]
struct Duplicate {
    until: Time,
    passed_on: bool,
    /// By which interfaces it came.
    by: Vec<Interface>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Flood {
    known: BTreeMap<(NodeId, u16), Duplicate>,
    /// What goes in the next packet, and when that goes at the latest.
    waiting: Vec<Message>,
    pub due: Time,
    message: u16,
    /// Of each interface.
    packets: Vec<u16>,
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

impl Olsr {
    /// The default forwarding (3.4.1), of a message from a symmetric neighbour.
    pub(super) fn pass_on(&mut self, now: Time, hop: Hop, message: &Message) {
        let until = now + self.config.duplicate_hold_time;
        let known = self.flood.known.entry((message.from, message.seq)).or_default();
        if known.passed_on || known.by.contains(&hop.interface) {
            return;
        }
        let passes = self.selectors.get(&hop.neighbour).is_some_and(|&end| end > now) && message.ttl > 1;
        known.until = until;
        known.by.push(hop.interface);
        known.passed_on = passes;
        self.until(until);
        if passes {
            let due = now + self.jitter();
            let message =
                Message { ttl: message.ttl - 1, hops: message.hops.saturating_add(1), ..message.clone() };
            self.flood.add(message, due);
        }
    }

    /// Sends what waits, and hellos if they are due, by every interface.
    pub(super) fn send(&mut self, now: Time, hello: bool) {
        let waiting = std::mem::take(&mut self.flood.waiting);
        self.flood.due = Time::MAX;
        for interface in (0..self.interfaces).map(Interface) {
            let mut messages = Vec::new();
            if hello {
                messages.push(Message {
                    from: self.node,
                    seq: self.flood.number(),
                    ttl: 1,
                    hops: 0,
                    validity: told(self.config.neighbour_hold_time),
                    body: self.hello(now, interface),
                });
            }
            for message in &waiting {
                let bytes: u32 = messages.iter().map(Message::bytes).sum();
                if bytes + message.bytes() > MOST_IN_PACKET {
                    self.send_packet(interface, std::mem::take(&mut messages));
                }
                messages.push(message.clone());
            }
            if !messages.is_empty() {
                self.send_packet(interface, messages);
            }
        }
    }

    fn send_packet(&mut self, interface: Interface, messages: Vec<Message>) {
        let Some(count) = self.flood.packets.get_mut(usize::from(interface.0)) else { return };
        *count = count.wrapping_add(1);
        let packet = Packet { seq: *count, messages };
        self.out.send(interface, To::Everyone, crate::Message::Olsr(packet));
    }

    /// A message of the node's own that goes with the next packet.
    pub(super) fn originate(&mut self, now: Time, body: Body) {
        let message = Message {
            from: self.node,
            seq: self.flood.number(),
            ttl: u8::MAX,
            hops: 0,
            validity: told(self.config.topology_hold_time),
            body,
        };
        self.flood.add(message, now);
    }
}
