//! What a router is told, and what it says.

use crate::address::{Hop, Interface, NodeId, PacketId};
use crate::message::{Counters, Message};
use truckee_channel::Time;

/// What a router sees of a packet of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Its name, by which it is released or dropped if it is held.
    pub id: PacketId,
    /// Where it comes from.
    pub from: NodeId,
    /// Where it goes.
    pub to: NodeId,
    /// From whom this node has it; `None`: it is the node's own.
    pub previous: Option<Hop>,
    /// Time to live, as it came: with 1 a packet of somebody else's is not passed on. Who drives the router takes one
    /// off each time the packet is passed on.
    pub ttl: u8,
}

/// What happens to a packet now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is for this node.
    Local,
    /// It goes to this neighbour.
    Forward(Hop),
    /// The router waits for a route; it says later what becomes of the packet, by [`Output::Release`] or [`Output::Drop`].
    Hold,
    /// It ends here.
    Drop(Cause),
}

/// Why a packet ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// There is no route, and this node does not look for one: it is not the packet's source, or the protocol does not
    /// search.
    NoRoute,
    /// A search for a route found none.
    NotFound,
    /// It waited for a route, and younger packets took its place in the buffer.
    BufferFull,
    /// It waited for a route for too long.
    Expired,
    /// It has passed as many nodes as it may.
    Ttl,
    /// The neighbour it went to does not answer, and there is no other way.
    LinkBroken,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 6] =
        [Cause::NoRoute, Cause::NotFound, Cause::BufferFull, Cause::Expired, Cause::Ttl, Cause::LinkBroken];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Cause::NoRoute => "no-route",
            Cause::NotFound => "not-found",
            Cause::BufferFull => "buffer-full",
            Cause::Expired => "expired",
            Cause::Ttl => "ttl",
            Cause::LinkBroken => "link-broken",
        }
    }
}

/// Why a packet comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    /// The link layer gave its transmission up, say, after the last retry.
    Failed,
    /// It waited in the queue and was asked back, by [`Output::Withdraw`].
    Withdrawn,
}

/// Who a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// One neighbour.
    Neighbour(NodeId),
    /// Whoever hears it.
    Everyone,
}

/// What a router wants done, or says.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send a message of [`Message::bytes`] bytes, ahead of data if the queue knows priorities. It goes at once: a
    /// protocol's jitter has passed already.
    Send {
        /// By this interface.
        interface: Interface,
        /// To one or all.
        to: To,
        /// What is in it.
        message: Message,
    },
    /// A packet that was held goes to this neighbour.
    Release {
        /// Which.
        packet: PacketId,
        /// Its next hop.
        to: Hop,
    },
    /// A packet that was held ends.
    Drop {
        /// Which.
        packet: PacketId,
        /// Why.
        cause: Cause,
    },
    /// Packets that wait in the interface's queue for this neighbour are wanted back, each by [`Router::returned`]; packets
    /// that are in transmission stay.
    Withdraw(Hop),
    /// The table's next hop to a destination is another one, or there is none any longer: for who counts changes or draws
    /// routes. Nothing needs to be done.
    Route {
        /// Where to.
        to: NodeId,
        /// By whom.
        next: Option<Hop>,
        /// Hops up to the destination, as the protocol believes; 0 if there is no route.
        hops: u32,
    },
}

/// One node's router. Times are those of the run, and no call goes back in time; after each call there may be
/// [outputs](Output), and [`Self::next`] may be another.
pub trait Router: std::fmt::Debug + Send + Sync {
    /// Begin. Before this nothing else may be called but [`Self::counters`].
    fn start(&mut self, now: Time);

    /// When [`Self::advance`] wants to be called; [`Time::MAX`]: no timer runs.
    fn next(&self) -> Time;

    /// It is now; timers that have run out by now are let run out. Calling it earlier than it wants does nothing.
    fn advance(&mut self, now: Time);

    /// What there is to do or to say, oldest first.
    fn poll(&mut self) -> Option<Output>;

    /// A message arrived from a neighbour.
    fn receive(&mut self, now: Time, from: NodeId, interface: Interface, message: &Message);

    /// What becomes of a packet that is the node's own or arrived for somebody. A packet that arrives for this node is
    /// shown, too: a route that is used stays.
    fn route(&mut self, now: Time, packet: &Packet) -> Verdict;

    /// The link layer gave a message to this neighbour up, say, after the last retry. Not for what the queue dropped.
    fn failed(&mut self, now: Time, hop: Hop, message: &Message);

    /// A packet that had been forwarded to this neighbour comes back; what becomes of it now. Not for what the queue
    /// dropped.
    fn returned(&mut self, now: Time, hop: Hop, packet: &Packet, why: Return) -> Verdict;

    /// The link layer brought a frame to this neighbour, who acknowledged it. Not needed by every protocol, but all
    /// may be told; none has anything to say for it, or wakes earlier.
    fn delivered(&mut self, now: Time, hop: Hop);

    /// Whether [`Self::delivered`] makes any difference: if not, it need not be called.
    fn hears_of_deliveries(&self) -> bool;

    /// The table's next hop to a destination, and how many hops there are, as far as it is valid now. Changes nothing.
    fn next_hop(&self, now: Time, to: NodeId) -> Option<(Hop, u32)>;

    /// What it has sent so far.
    fn counters(&self) -> &Counters;

    /// How many packets it holds.
    fn held(&self) -> usize;
}
