//! Messages that go to everyone: passed on by relays only, gathered into packets. Source: RFC 3626, sections 3.3 and 3.4.1.

use super::message::told;
use super::{Body, Message, Olsr, Packet};
use crate::{Hop, Interface, Time, To};

/// Of a packet of 1,500 bytes, what is left for messages.
const MOST_IN_PACKET: u32 = 1_500 - crate::UDP_IP - 4;

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
