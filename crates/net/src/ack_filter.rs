//! An ACK filter in front of a link (RFC 3449, section 5.2.1), as modems and home routers have on their way up: where a
//! cumulative ACK comes while an older one of the same connection still waits, the older one has become superfluous.
//! Not for: the queue itself, whose limit and times are the link's.
//!
//! The newer ACK takes the place of the older one: it is places that a link has promised their times to, and whatever
//! noise will do to one stays with it, so that filtering moves nothing else. In CAKE (Høiland-Jørgensen, Täht and Morton
//! 2018) the newer one waits at the end; the difference is the time that the packets between the two take.
//!
//! Two ACKs of which one would do are alike but for their numbers. An ACK that says more is left alone, and keeps its
//! order: one that repeats a number (it tells of a loss), one with SACK blocks, another ECN echo, a SYN, a FIN, data.

use crate::packet::{Body, Packet, PacketId, bits};
use std::collections::BTreeMap;
use truckee_tcp::flags;

/// The filter of one direction of a link.
#[derive(Debug, Default)]
pub struct AckFilter {
    /// How many packets have had to wait so far: the place of the next one that has to.
    places: u64,
    /// By connection, and whether towards its receiver.
    streams: BTreeMap<(u32, bool), Stream>,
}

/// What it has seen of one connection in one direction.
#[derive(Debug)]
struct Stream {
    /// Of the connections that have one slot in turn, which one.
    generation: u32,
    /// Highest acknowledgement number.
    highest: u64,
    /// The last packet, if that may be superseded once it has to wait.
    last: Option<Waiting>,
}

/// An ACK that had to wait.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    place: u64,
    flags: u8,
    wire: u32,
    held: Held,
}

/// The packets that stand for one place in the queue: none where noise will destroy it, two where the channel will
/// deliver it twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    first: Option<PacketId>,
    copy: Option<PacketId>,
}

impl Held {
    /// The packets.
    pub fn packets(self) -> impl Iterator<Item = PacketId> {
        self.first.into_iter().chain(self.copy)
    }
}

/// What the filter makes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It takes the place of an older ACK.
    Supersedes(Held),
    /// It waits like any other, and may be superseded.
    Candidate,
    /// It waits like any other.
    Other,
}

impl AckFilter {
    /// A packet comes while `waiting` others wait.
    pub fn see(&mut self, packet: &Packet, waiting: usize) -> Seen {
        if !matches!(packet.body(), Body::Segment(_)) {
            return Seen::Other;
        }
        let new = || Stream { generation: packet.generation, highest: 0, last: None };
        let stream = self.streams.entry(key(packet)).or_insert_with(new);
        if packet.generation < stream.generation {
            return Seen::Other; // late, of a connection that is over
        }
        if packet.generation > stream.generation {
            *stream = new();
        }
        let advances = packet.ack > stream.highest;
        stream.highest = stream.highest.max(packet.ack);
        if !(advances && is_pure_ack(packet)) {
            stream.last = None;
            return Seen::Other;
        }
        let first_place = self.places - waiting as u64;
        match stream.last {
            Some(last)
                if last.place >= first_place && last.flags == packet.flags && last.wire == packet.wire =>
            {
                Seen::Supersedes(last.held)
            }
            _ => {
                stream.last = None;
                Seen::Candidate
            }
        }
    }

    /// The next place has been taken. Returns its number.
    pub fn take_place(&mut self) -> u64 {
        self.places += 1;
        self.places - 1
    }

    /// A candidate has got this place; `id`: the packet, unless noise will destroy it.
    pub fn hold(&mut self, packet: &Packet, place: u64, id: Option<PacketId>) {
        if let Some(stream) = self.streams.get_mut(&key(packet)) {
            let held = Held { first: id, copy: None };
            stream.last = Some(Waiting { place, flags: packet.flags, wire: packet.wire, held });
        }
    }

    /// The channel will deliver packet `id` once more, as `copy`.
    pub fn hold_copy(&mut self, packet: &Packet, id: PacketId, copy: PacketId) {
        if let Some(Stream { last: Some(last), .. }) = self.streams.get_mut(&key(packet))
            && last.held.first == Some(id)
        {
            last.held.copy = Some(copy);
        }
    }
}

fn key(packet: &Packet) -> (u32, bool) {
    (packet.owner, packet.is(bits::FORWARD))
}

/// Whether it carries an acknowledgement number and nothing else, but perhaps the ECN echo and a time stamp.
fn is_pure_ack(packet: &Packet) -> bool {
    packet.len == 0
        && packet.has(flags::ACK)
        && packet.flags & !(flags::ACK | flags::ECE) == 0
        && !packet.sack
        && packet.request == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_tcp::Time;

    /// An ACK of connection 0.
    fn ack(number: u64) -> Packet {
        Packet { ack: number, flags: flags::ACK, wire: 40, ..Packet::default() }
    }

    fn with(number: u64, change: impl FnOnce(&mut Packet)) -> Packet {
        let mut packet = ack(number);
        change(&mut packet);
        packet
    }

    /// A filter in front of a queue that nothing leaves; the number of a packet is that of its offer.
    #[derive(Default)]
    struct Queue {
        filter: AckFilter,
        offers: u32,
        waiting: usize,
    }

    impl Queue {
        /// Offers a packet. Returns which older one it supersedes.
        fn offer(&mut self, packet: Packet) -> Option<PacketId> {
            self.offers += 1;
            let seen = self.filter.see(&packet, self.waiting);
            if let Seen::Supersedes(held) = seen {
                return held.packets().next();
            }
            let place = self.filter.take_place();
            self.waiting += 1;
            if seen == Seen::Candidate {
                self.filter.hold(&packet, place, Some(self.offers));
            }
            None
        }
    }

    /// What each of these supersedes, one after the other.
    fn superseded<const N: usize>(packets: [Packet; N]) -> [Option<PacketId>; N] {
        let mut queue = Queue::default();
        packets.map(|packet| queue.offer(packet))
    }

    #[test]
    fn a_newer_ack_takes_the_place_of_the_one_that_waits() {
        // The place stays that of the first, whoever has it.
        assert_eq!(superseded([ack(1000), ack(2000), ack(3000)]), [None, Some(1), Some(1)]);
    }

    #[test]
    fn what_is_in_transmission_is_not_superseded() {
        let mut queue = Queue::default();
        assert_eq!(queue.offer(ack(1000)), None);
        queue.waiting = 0;
        assert_eq!(queue.offer(ack(2000)), None);
        assert_eq!(queue.offer(ack(3000)), Some(2));
    }

    #[test]
    fn a_duplicate_ack_stays_and_so_does_what_it_repeats() {
        // The third of one number would repair a loss: all are kept, also against what comes later.
        let packets = [1000, 2000, 2000, 2000, 3000, 4000].map(ack);
        assert_eq!(superseded(packets), [None, Some(1), None, None, None, Some(5)]);
    }

    #[test]
    fn a_duplicate_of_what_has_left_is_known_as_one() {
        let mut queue = Queue::default();
        queue.offer(ack(1000));
        queue.waiting = 0;
        assert_eq!([1000, 2000].map(|n| queue.offer(ack(n))), [None, None]);
    }

    #[test]
    fn an_older_number_supersedes_nothing() {
        assert_eq!(superseded([2000, 1000, 3000].map(ack)), [None, None, None]);
    }

    #[test]
    fn what_says_more_than_a_number_is_neither_superseded_nor_overtaken() {
        let more: [fn(&mut Packet); 6] = [
            |p| p.sack = true,
            |p| p.flags |= flags::FIN,
            |p| p.flags |= flags::SYN,
            |p| p.flags |= flags::CWR,
            |p| p.len = 100,
            |p| p.request = 3,
        ];
        for change in more {
            assert_eq!(superseded([ack(1000), with(2000, change), ack(3000)]), [None; 3]);
        }
    }

    #[test]
    fn a_change_of_the_ecn_echo_stays_visible() {
        let echo = |number| with(number, |p| p.flags |= flags::ECE);
        let packets = [ack(1000), echo(2000), echo(3000), ack(4000)];
        assert_eq!(superseded(packets), [None, None, Some(2), None]);
    }

    #[test]
    fn connections_and_directions_are_kept_apart() {
        let other = |number| with(number, |p| p.owner = 1);
        let forward = |number| with(number, |p| p.bits = bits::FORWARD);
        let packets = [ack(1000), other(5000), forward(7000), ack(2000), other(6000), forward(8000)];
        assert_eq!(superseded(packets), [None, None, None, Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_new_connection_in_the_same_slot_begins_anew_and_the_old_one_is_over() {
        let second = |number| with(number, |p| p.generation = 1);
        let packets = [ack(9000), second(1000), ack(9500), second(2000)];
        assert_eq!(superseded(packets), [None, None, None, Some(2)]);
    }

    #[test]
    fn cross_traffic_is_not_looked_at() {
        let traffic = |number| with(number, |p| *p = Packet::datagram(Time::ZERO, 0, 0, p.wire));
        assert_eq!(superseded([traffic(1000), traffic(2000)]), [None, None]);
    }

    #[test]
    fn a_place_that_noise_will_destroy_or_double_keeps_its_fate() {
        let mut filter = AckFilter::default();
        assert_eq!(filter.see(&ack(1000), 0), Seen::Candidate);
        let place = filter.take_place();
        filter.hold(&ack(1000), place, None);
        assert_eq!(filter.see(&ack(2000), 1), Seen::Supersedes(Held::default()));
        filter.hold(&ack(2000), place, Some(7));
        filter.hold_copy(&ack(2000), 7, 8);
        let Seen::Supersedes(held) = filter.see(&ack(3000), 1) else { panic!("it waits") };
        assert_eq!(held.packets().collect::<Vec<_>>(), [7, 8]);
    }
}
