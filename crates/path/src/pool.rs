//! The packets inside the emulator. A packet is written once, stays in its place while lanes pass its number on, and its
//! place and its buffer serve again: nothing is allocated per packet once a run has reached its depth.

use super::segment::Seen;
use super::transit::PacketId;
use truckee_channel::Time;

/// What a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// To nothing that is counted one by one: pings, set-up, what is not of a flow.
    None,
    /// To a connection of a flow.
    Flow(Seen),
    /// To this traffic entry; it has no bytes.
    Traffic(u32),
}

/// One packet.
#[derive(Debug)]
pub(super) struct Packet {
    pub owner: Owner,
    /// Position in the table of ways: the lane it is on.
    pub at: u32,
    /// Bytes of the IP packet: what it costs on a lane.
    pub wire: u32,
    /// What channels are told: number of the flow, whether it carries payload.
    pub flow: u32,
    pub data: bool,
    /// What queues are told: what tells its flow apart, whether it may be marked in place of dropped.
    pub key: u64,
    pub ecn: bool,
    /// Whether a queue marked it. The frame, which losses are known again by, shows it only when it leaves.
    pub marked: bool,
    /// Whether it is the second one of two that a channel made of one.
    pub copy: bool,
    /// When it entered.
    pub born: Time,
    /// Its number among those of its flow and direction that the last lane took, where these are counted.
    pub number: Option<u32>,
    /// The number of its port out; meaningless for cross traffic.
    pub to: u32,
    /// The frame as read; empty for cross traffic.
    pub frame: Vec<u8>,
}

/// All packets there are.
#[derive(Debug, Default)]
pub(super) struct Pool {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Pool {
    /// Gives a packet a place; its `frame` is taken from `bytes`.
    pub fn add(&mut self, packet: Packet, bytes: &[u8]) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                let place = &mut self.packets[id as usize];
                let mut frame = std::mem::take(&mut place.frame);
                frame.clear();
                frame.extend_from_slice(bytes);
                *place = Packet { frame, ..packet };
                id
            }
            None => {
                self.packets.push(Packet { frame: bytes.to_vec(), ..packet });
                (self.packets.len() - 1) as PacketId
            }
        }
    }

    /// A second packet like this one.
    pub fn double(&mut self, id: PacketId) -> PacketId {
        let frame = std::mem::take(&mut self.packets[id as usize].frame);
        let one = &self.packets[id as usize];
        let twin = Packet { copy: true, frame: Vec::new(), ..*one };
        let twin = self.add(twin, &frame);
        self.packets[id as usize].frame = frame;
        twin
    }

    /// A packet's place is free. What it holds can be read until the next one is added.
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// How many there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

impl std::ops::Index<PacketId> for Pool {
    type Output = Packet;

    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }
}

impl std::ops::IndexMut<PacketId> for Pool {
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}
