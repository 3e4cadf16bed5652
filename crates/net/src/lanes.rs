//! Packets under way over links that keep their order and their properties: first in, first out.
//!
//! Links that are equal share a convoy: a row of lanes, in each of which packets stand in order of their events, whatever
//! links of the convoy they cross. A packet goes into the first lane whose last packet is not behind it; so a lane is
//! opened only where packets overtake each other, and there are as few lanes as can be (patience sorting). Only the first
//! packet of a lane has an event pending: a thousand access links have as many events as one.
//!
//! Where links change in mid run, filter ACKs or let packets overtake, `crate::transit` is for it.

use crate::packet::PacketId;
use crate::ring::Ring;
use truckee_tcp::Time;

/// A packet under way: 16 bytes, as there are many. Where on its way it is, and how long, the packet itself knows, which
/// nobody has to read at the last of its links.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnderWay {
    /// When it arrives.
    pub arrival: Time,
    /// The link.
    pub link: u32,
    /// The packet, and whether the link is the last of its path.
    packet: u32,
}

/// Marks [`UnderWay::packet`]: no pool has as many.
const LAST: u32 = 1 << 31;

impl UnderWay {
    /// A packet that arrives then at the far end of a link, the last of its path or not.
    #[inline(always)]
    pub fn new(arrival: Time, link: u32, packet: PacketId, last: bool) -> Self {
        Self { arrival, link, packet: packet | if last { LAST } else { 0 } }
    }

    /// The packet.
    #[inline(always)]
    pub fn packet(&self) -> PacketId {
        self.packet & !LAST
    }

    /// Whether the link is the last of its path.
    #[inline(always)]
    pub fn is_last(&self) -> bool {
        self.packet & LAST != 0
    }

    /// Packets arrive in this order: by time and then by link, as events do.
    #[inline(always)]
    fn rank(&self) -> (Time, u32) {
        (self.arrival, self.link)
    }
}

/// A lane: a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Lane {
    /// Rank of the last packet that went into it.
    last: (Time, u32),
    packets: Ring<UnderWay>,
    /// Of the first lane of a convoy: the others. The later a lane, the earlier its last packet, and the higher its number:
    /// of equal times on the same link the one accepted first comes first.
    others: Vec<u32>,
}

const _: () = assert!(size_of::<Lane>() == 64);

/// All lanes.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
}

impl Lanes {
    /// Another lane: the first of a new convoy, whose number it is, or one more of a convoy.
    pub fn open(&mut self) -> u32 {
        self.lanes.push(Lane::default());
        (self.lanes.len() - 1) as u32
    }

    /// Another packet of a convoy. Returns its lane if it is the next packet there: then it is not in it before
    /// [`Self::begin`] puts it there.
    #[inline(always)]
    pub fn add(&mut self, convoy: u32, packet: UnderWay) -> Option<u32> {
        let mut number = convoy;
        let mut lane = &mut self.lanes[convoy as usize];
        if packet.rank() < lane.last {
            number = self.find_lane(convoy, packet.rank());
            lane = &mut self.lanes[number as usize];
        }
        lane.last = packet.rank();
        if lane.packets.is_empty() {
            return Some(number);
        }
        lane.packets.push(packet);
        None
    }

    /// Puts the first packet into a lane that is empty.
    #[inline(always)]
    pub fn begin(&mut self, lane: u32, packet: UnderWay) {
        self.lanes[lane as usize].packets.push(packet);
    }

    /// The first lane of a convoy, behind its very first, into which a packet of this rank may go.
    #[inline(never)]
    fn find_lane(&mut self, convoy: u32, rank: (Time, u32)) -> u32 {
        let others = &self.lanes[convoy as usize].others;
        let fitting = others.partition_point(|&lane| self.lanes[lane as usize].last > rank);
        if let Some(&lane) = others.get(fitting) {
            return lane;
        }
        let lane = self.open();
        self.lanes[convoy as usize].others.push(lane);
        lane
    }

    /// The packet that will be taken so many after the next.
    #[inline(always)]
    pub fn after_next(&self, lane: usize, by: usize) -> Option<&UnderWay> {
        self.lanes[lane].packets.get(by)
    }

    /// Takes the next packet of a lane; and time and link of the one after it.
    #[inline]
    pub fn arrive(&mut self, lane: usize) -> (Option<UnderWay>, Option<(Time, u32)>) {
        let packets = &mut self.lanes[lane].packets;
        let arrived = packets.pop();
        (arrived, packets.get(0).map(UnderWay::rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, VecDeque};

    proptest! {
        /// Each link is a FIFO of its own, and has one event at a time: the smallest (time, link) comes first.
        #[test]
        fn a_convoy_has_the_order_of_its_links(offers in prop::collection::vec((0u64..5, 0u32..4, 0u64..30), 1..200)) {
            let (mut lanes, mut links) = (Lanes::default(), vec![VecDeque::new(); 4]);
            lanes.open();
            let convoy = lanes.open();
            let mut agenda = BTreeSet::new();
            let (mut now, mut free) = (0, [0; 4]);
            let come = |agenda: &mut BTreeSet<_>, lanes: &mut Lanes, links: &mut Vec<VecDeque<_>>, until| {
                while let Some(&(time, link, lane)) = agenda.first() && time <= until {
                    agenda.pop_first();
                    let (arrived, next) = lanes.arrive(lane as usize);
                    next.map(|(time, link)| agenda.insert((time, link, lane)));
                    let own = links.iter().flat_map(|l| l.front().copied()).min();
                    let arrived = arrived.map(|p| (p.arrival, p.link, p.packet()));
                    assert_eq!(arrived.map(|a| (a.0, a.1)), Some((time, link)));
                    assert_eq!(arrived, own);
                    links[link as usize].pop_front();
                }
            };
            for (packet, (gap, link, time)) in offers.into_iter().enumerate() {
                now += gap;
                come(&mut agenda, &mut lanes, &mut links, Time::ns(now));
                let arrival = free[link as usize].max(now + 1) + time / 10;
                free[link as usize] = arrival;
                let packet = UnderWay::new(Time::ns(arrival), link, packet as u32, false);
                links[link as usize].push_back((Time::ns(arrival), link, packet.packet()));
                if let Some(lane) = lanes.add(convoy, packet) {
                    lanes.begin(lane, packet);
                    agenda.insert((Time::ns(arrival), link, lane));
                }
            }
            come(&mut agenda, &mut lanes, &mut links, Time::MAX);
            prop_assert!(links.iter().all(VecDeque::is_empty));
        }
    }
}
