//! Packets that wait for a route: first in, first out, of limited number and patience.

use crate::error::{count, span};
use crate::outbox::Outbox;
use crate::{Cause, ConfigError, Hop, NodeId, Packet};
use std::collections::VecDeque;
use truckee_channel::{Span, Time};

/// How many packets wait for how long. Where one comes too many, the one that has waited longest ends: of its own
/// destination, if that has too many, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferConfig {
    /// In all.
    pub packets: u32,
    /// For each destination.
    pub per_destination: u32,
    /// For so long.
    pub time: Span,
}

impl BufferConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        count("buffer.packets", self.packets, 1, 1_000_000)?;
        count("buffer.per_destination", self.per_destination, 1, 1_000_000)?;
        span("buffer.time", self.time, Span::ms(1), Span::s(86_400))
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Buffer {
    config: BufferConfig,
    /// With when each is given up. All wait equally long: the first is the first to be given up.
    held: VecDeque<(Time, Packet)>,
}

impl Buffer {
    pub(crate) fn new(config: BufferConfig) -> Self {
        Self { config, held: VecDeque::new() }
    }

    /// A packet has to wait.
    pub(crate) fn add(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        let of_its = self.held.iter().filter(|(_, other)| other.to == packet.to).count();
        let victim = if of_its >= self.config.per_destination as usize {
            self.held.iter().position(|(_, other)| other.to == packet.to)
        } else {
            (self.held.len() >= self.config.packets as usize).then_some(0)
        };
        if let Some((_, oldest)) = victim.and_then(|i| self.held.remove(i)) {
            out.drop(oldest.id, Cause::BufferFull);
        }
        self.held.push_back((now.saturating_add(self.config.time), *packet));
    }

    /// There is a route.
    pub(crate) fn release(&mut self, to: NodeId, next: Hop, out: &mut Outbox) {
        self.held.retain(|(_, packet)| {
            if packet.to == to {
                out.release(packet.id, next);
            }
            packet.to != to
        });
    }

    /// There will be none.
    pub(crate) fn give_up(&mut self, to: NodeId, cause: Cause, out: &mut Outbox) {
        self.held.retain(|(_, packet)| {
            if packet.to == to {
                out.drop(packet.id, cause);
            }
            packet.to != to
        });
    }

    /// When the next one has waited too long.
    pub(crate) fn next(&self) -> Time {
        self.held.front().map_or(Time::MAX, |&(until, _)| until)
    }

    /// Those that have waited too long end.
    pub(crate) fn advance(&mut self, now: Time, out: &mut Outbox) {
        while self.next() <= now {
            if let Some((_, packet)) = self.held.pop_front() {
                out.drop(packet.id, Cause::Expired);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interface, Output, PacketId};

    fn packet(id: u64, to: u32) -> Packet {
        Packet { id: PacketId(id), from: NodeId(0), to: NodeId(to), previous: None, ttl: 64 }
    }

    #[test]
    fn the_packet_that_waited_longest_makes_room() {
        let config = BufferConfig { packets: 3, per_destination: 2, time: Span::s(30) };
        let (mut buffer, mut out) = (Buffer::new(config), Outbox::default());
        for (id, to) in [(1, 7), (2, 8), (3, 8), (4, 8), (5, 9)] {
            buffer.add(Time::s(id), &packet(id, to), &mut out);
        }
        let dropped = |id| Some(Output::Drop { packet: PacketId(id), cause: Cause::BufferFull });
        // The third for 8 pushed out the first for 8; the fourth in all the oldest of all.
        assert_eq!([out.poll(), out.poll(), out.poll()], [dropped(2), dropped(1), None]);
        assert_eq!((buffer.len(), buffer.next()), (3, Time::s(33)));
        buffer.advance(Time::s(34), &mut out);
        let next = Hop { interface: Interface(0), neighbour: NodeId(2) };
        buffer.release(NodeId(9), next, &mut out);
        let expired = |id| Some(Output::Drop { packet: PacketId(id), cause: Cause::Expired });
        assert_eq!([out.poll(), out.poll()], [expired(3), expired(4)]);
        assert_eq!(out.poll(), Some(Output::Release { packet: PacketId(5), to: next }));
        assert_eq!(buffer.len(), 0);
    }
}
