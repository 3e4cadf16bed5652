//! What travels over links: a segment and what the network needs to know of it.

use truckee_tcp::{SackBlocks, Segment, Seq, Time, Transmission, Transmit};

/// Marks a packet of cross traffic in [`Packet::owner`].
const TRAFFIC: u32 = 1 << 31;
/// Marks among these one that carries a message between routers.
const MESSAGE: u32 = 1 << 30;
/// Marks among the rest one by which a mobile host says where it is.
const CONTROL: u32 = 1 << 29;

/// What a packet carries, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A segment of the connection with this index.
    Segment(usize),
    /// Bytes that nobody reads, of the source of cross traffic with this index.
    Datagram(usize),
    /// A message between routers, by its place among them.
    Message(usize),
    /// What the mobile host with this index says of where it is.
    Control(usize),
}

/// Bits of [`Packet::bits`].
pub mod bits {
    /// From the data sender to the receiver.
    pub const FORWARD: u8 = 1;
    /// ECN-capable transport (ECT, RFC 3168).
    pub const ECN_CAPABLE: u8 = 2;
    /// Congestion experienced (CE, RFC 3168).
    pub const CONGESTION_EXPERIENCED: u8 = 4;
    /// [`super::Packet::number`] counts. The laboratory's knowledge.
    pub const NUMBERED: u8 = 8;
    /// Its sender was in slow start. The laboratory's knowledge.
    pub const SLOW_START: u8 = 16;
    /// It is a retransmission. The laboratory's knowledge.
    pub const AGAIN: u8 = 32;
    /// Its segment has a time stamp.
    pub const STAMPED: u8 = 64;

    /// Those of what an end sends, towards the flow's destination or from it.
    #[inline]
    pub fn of(sent: &truckee_tcp::Transmit, forward: bool) -> u8 {
        let on = |flag: bool, bit: u8| if flag { bit } else { 0 };
        on(forward, FORWARD)
            | on(sent.ecn_capable, ECN_CAPABLE)
            | on(sent.number.is_some(), NUMBERED)
            | on(sent.slow_start, SLOW_START)
            | on(sent.retransmission, AGAIN)
            | on(sent.segment.ts_val != truckee_tcp::Time::ZERO, STAMPED)
    }
}

/// Packets from which on what has been written of one is no more in the nearest cache when it comes: 32 KiB.
const MANY: usize = 512;

/// One packet: a cache line. What few have, SACK blocks, the [`Pool`] keeps apart.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Packet {
    /// Whose it is: see [`Packet::body`]. Digests go by it.
    pub owner: u32,
    /// The connection's generation: a slot serves many connections in turn.
    pub generation: u32,
    /// Position in the table of paths: the link it is on.
    pub at: u32,
    /// Bytes on the wire.
    pub wire: u32,
    /// Which transmission of its sender it is. The laboratory's knowledge.
    pub number: Transmission,
    /// [`bits`].
    pub bits: u8,
    /// Of the segment, as all that follows: see [`Segment`].
    pub flags: u8,
    pub request: u8,
    /// Whether it has SACK blocks.
    pub sack: bool,
    pub seq: Seq,
    pub ack: Seq,
    pub window: u32,
    pub len: u32,
    /// When it left. With [`bits::STAMPED`] its segment says so, too.
    pub sent: Time,
    pub ts_ecr: Time,
}

impl Packet {
    /// A packet of what a connection's end sends, at its first link; `forward`: towards the flow's destination.
    #[inline(always)]
    pub fn of(now: Time, sent: &Transmit, owner: u32, generation: u32, at: u32, forward: bool) -> Self {
        let segment = &sent.segment;
        debug_assert!(segment.ts_val == Time::ZERO || segment.ts_val == now.max(Time::ns(1)));
        Self {
            owner,
            generation,
            at,
            wire: segment.wire_bytes(),
            number: sent.number.unwrap_or_default(),
            bits: bits::of(sent, forward),
            flags: segment.flags,
            request: segment.request,
            sack: !segment.sack.is_empty(),
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            len: segment.len,
            sent: now,
            ts_ecr: segment.ts_ecr,
        }
    }

    /// Its segment, without SACK blocks.
    #[inline(always)]
    pub fn head(&self) -> Segment {
        Segment {
            seq: self.seq,
            ack: self.ack,
            window: self.window,
            len: self.len,
            flags: self.flags,
            request: self.request,
            ts_val: if self.is(bits::STAMPED) { self.sent.max(Time::ns(1)) } else { Time::ZERO },
            ts_ecr: self.ts_ecr,
            ..Segment::default()
        }
    }

    /// The sequence number after its segment.
    pub fn end(&self) -> Seq {
        self.head().end()
    }

    /// Whether the bit is set.
    pub fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    /// Whether its segment has the flag.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// What its sender has sent, if that has a number.
    pub fn transmission(&self) -> Option<Transmission> {
        self.is(bits::NUMBERED).then_some(self.number)
    }

    /// A packet of cross traffic, of so many bytes.
    pub fn datagram(now: Time, source: usize, at: u32, bytes: u32) -> Self {
        let owner = TRAFFIC | source as u32;
        Self { owner, at, wire: bytes, len: bytes, sent: now, ..Self::default() }
    }

    /// A message between routers, of so many bytes.
    pub fn message(now: Time, index: usize, at: u32, bytes: u32) -> Self {
        let owner = TRAFFIC | MESSAGE | index as u32;
        Self { owner, at, wire: bytes, len: bytes, sent: now, ..Self::default() }
    }

    /// A packet by which a mobile host says where it is, of so many bytes; `kind` is the stations' to read.
    pub fn control(now: Time, host: usize, kind: u8, bytes: u32) -> Self {
        let owner = TRAFFIC | CONTROL | host as u32;
        Self { owner, wire: bytes, flags: kind, sent: now, ..Self::default() }
    }

    /// What it carries.
    #[inline(always)]
    pub fn body(&self) -> Body {
        let index = (self.owner & !(TRAFFIC | MESSAGE | CONTROL)) as usize;
        if self.owner & TRAFFIC == 0 {
            Body::Segment(self.owner as usize)
        } else {
            match (self.owner & MESSAGE, self.owner & CONTROL) {
                (0, 0) => Body::Datagram(index),
                (_, 0) => Body::Message(index),
                _ => Body::Control(index),
            }
        }
    }
}

/// A packet's place in the [`Pool`].
pub type PacketId = u32;

/// A packet on its way to the far end of a link.
#[derive(Debug, Clone, Copy)]
pub struct InTransit {
    /// When it arrives.
    pub arrival: Time,
    /// When its transmission ends or ended.
    pub departure: Time,
    /// The packet.
    pub packet: PacketId,
}

/// Most packets that may exist: a run in which more wait somewhere is ended before memory is.
pub const MOST: usize = 1 << 24;

/// All packets that exist. A packet is written once and stays where it is while links pass its number on.
#[derive(Debug)]
pub struct Pool {
    packets: Vec<Packet>,
    /// SACK blocks by packet, where there are any; as long as there were none, empty.
    sacks: Vec<SackBlocks>,
    free: Vec<PacketId>,
    most: usize,
    overfull: bool,
}

impl Default for Pool {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Pool {
    /// Of so many packets at most.
    pub fn of(most: usize) -> Self {
        Self { packets: Vec::new(), sacks: Vec::new(), free: Vec::new(), most, overfull: false }
    }

    /// Most packets that may be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether there have been more than there may be. What is here then is of no use.
    #[inline(always)]
    pub fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Gives a packet a place.
    #[inline(always)]
    pub fn add(&mut self, packet: Packet) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.packets[id as usize] = packet;
        id
    }

    /// One more place; where there may be none, that of another packet.
    #[inline(never)]
    fn grow(&mut self) -> PacketId {
        if self.packets.len() >= self.most {
            self.overfull = true;
            return 0;
        }
        self.packets.push(Packet::default());
        (self.packets.len() - 1) as PacketId
    }

    /// Gives a packet with these SACK blocks a place.
    #[inline]
    pub fn add_with(&mut self, packet: Packet, sack: &SackBlocks) -> PacketId {
        let id = self.add(packet);
        if packet.sack {
            self.keep(id, sack);
        }
        id
    }

    #[inline(never)]
    fn keep(&mut self, id: PacketId, sack: &SackBlocks) {
        let at = id as usize;
        if at >= self.sacks.len() {
            self.sacks.resize(self.packets.len().max(at + 1), SackBlocks::default());
        }
        self.sacks[at] = *sack;
    }

    /// Whether there are, or were, so many that one which has long been under way is far from the processor.
    #[inline(always)]
    pub fn are_many(&self) -> bool {
        self.packets.len() >= MANY
    }

    /// Another packet like this one.
    pub fn add_copy(&mut self, id: PacketId) -> PacketId {
        let segment = self.segment(id);
        self.add_with(self[id], &segment.sack)
    }

    /// The segment of a packet.
    #[inline]
    pub fn segment(&self, id: PacketId) -> Segment {
        let packet = &self[id];
        let mut segment = packet.head();
        if packet.sack {
            segment.sack = self.sacks[id as usize];
        }
        segment
    }

    /// Frees a packet's place; what was there can be read until the next [`Self::add`].
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }
}

impl std::ops::Index<PacketId> for Pool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }
}

impl std::ops::IndexMut<PacketId> for Pool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropCause {
    /// By a queue.
    Queue,
    /// By noise.
    Channel,
    /// By an outage, or a link that was down.
    Outage,
    /// Given up by a station of a medium at its retry limit, the last attempt having met what others sent.
    Collision,
    /// The same, the last attempt having arrived too weak to be noticed.
    Reach,
    /// By a router: there is no way, or none was found in time.
    Route,
    /// By a base station that the mobile host does not hear.
    Handoff,
}

impl DropCause {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            DropCause::Queue => "queue",
            DropCause::Channel => "channel",
            DropCause::Outage => "outage",
            DropCause::Collision => "collision",
            DropCause::Reach => "reach",
            DropCause::Route => "route",
            DropCause::Handoff => "handoff",
        }
    }
}
