//! What only some links have, and what becomes of a packet there.

use super::queue::Active;
use super::station::StationQueue;
use super::transmitter::{BITS_NS, Measured, NO_CONVOY, Rare, Transmitter, Wire};
use crate::ack_filter::{AckFilter, Held, Seen};
use crate::packet::{DropCause, Packet, PacketId, bits};
use crate::quick_start::Router;
use crate::transit::Transit;
use std::collections::VecDeque;
use std::sync::Arc;
use truckee_channel::queue::Red;
use truckee_channel::random::stream_seed;
use truckee_channel::{Capacity, CapacityTrace, Channel, Fate, Loss, Packet as Sighting};
use truckee_scenario::model::{Direction, Limit, Queue};
use truckee_tcp::{Span, Time};

/// When a packet that was accepted leaves and arrives, and its twin if it is doubled.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    pub departure: Time,
    pub arrival: Time,
    pub copy: Option<Time>,
    /// The convoy in which it travels; `None`: give it to [`Links::carry`](super::Links::carry).
    pub convoy: Option<u32>,
}

/// What became of a packet that was offered to a link.
#[derive(Debug, Clone, Copy)]
pub enum Offered {
    /// It arrives at the far end, and perhaps once more.
    Accepted(Accepted),
    /// It is lost at this time.
    Dropped(DropCause, Time),
    /// It takes the place of an older ACK that waits: of these packets.
    Supersedes(Held),
    /// When it leaves is known when it leaves: [`Links::enqueue`](super::Links::enqueue) it.
    Waits,
    /// It goes over a medium that is shared: [`Links::hand_over`] it to its station.
    OnAir,
}

/// What only some links have.
#[derive(Debug)]
pub(super) struct Special {
    /// Whether it works.
    pub up: bool,
    pub limit: Limit,
    /// Of a link with no more than a limit in packets.
    pub queue: DropTail,
    red: Option<Red>,
    /// A queue that decides when a packet leaves it: then what waits is there, and neither `limit` nor `waiting` is of use.
    pub active: Option<Box<Active>>,
    /// That of a station of a medium: then none of what follows is of use but the books.
    pub station: Option<Box<StationQueue>>,
    pub filter: Option<AckFilter>,
    /// Where some flow asks for a rate.
    pub router: Option<Router>,
    pub capacity: Option<Capacity>,
    pub trace: Option<Arc<CapacityTrace>>,
    pub channel: Option<Channel>,
    /// Whether the channel acts before the queue.
    pub after_channel: bool,
    /// Whether the schedule of what waits is kept: the queue's discipline, its ACK filter or a change in mid run will
    /// ask for it.
    scheduled: bool,
    /// Start of service and size of packets that had to wait, where `scheduled`. Also those that the channel will lose:
    /// they take their time.
    pub waiting: VecDeque<(Time, u32)>,
    pub waiting_bytes: u64,
    /// What is accepted from now on does not arrive before this: a link that keeps order does so, too, when its delay
    /// becomes shorter.
    pub not_before: Time,
    /// Each change of the number of packets that wait, where somebody wants it.
    pub lengths: Option<Vec<(Time, u32)>>,
    /// What is under way, where that is not in lanes.
    pub transit: Option<Transit>,
    /// Time of the pending event of what is in `transit`.
    pub armed: Time,
    pub rare: Rare,
}

/// A queue that is asked for nothing but room.
#[derive(Debug, Default)]
pub(super) struct DropTail {
    limit: u64,
    /// When the service of those begins that have to wait. Those whose service has begun are sorted out when room is short.
    starts: VecDeque<Time>,
}

impl DropTail {
    /// Takes in a packet that comes at `now` and has to wait until `free_at`, if there is room.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, free_at: Time) -> bool {
        let len = self.starts.len();
        if (len == self.starts.capacity() || len as u64 >= self.limit) && !self.make_room(now) {
            return false;
        }
        self.starts.push_back(free_at);
        true
    }

    #[inline(never)]
    fn make_room(&mut self, now: Time) -> bool {
        let served = self.starts.iter().take_while(|start| **start <= now).count();
        self.starts.drain(..served);
        (self.starts.len() as u64) < self.limit
    }
}

impl Default for Special {
    /// Nothing special.
    fn default() -> Self {
        Self {
            up: true,
            limit: Limit::None,
            queue: DropTail::default(),
            red: None,
            active: None,
            station: None,
            filter: None,
            router: None,
            capacity: None,
            trace: None,
            channel: None,
            after_channel: false,
            scheduled: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            not_before: Time::ZERO,
            lengths: None,
            transit: None,
            armed: Time::MAX,
            rare: Rare::default(),
        }
    }
}

impl Special {
    /// What is special about a link, if anything is.
    pub fn of(direction: &Direction, seed: u64, role: Role, name: impl Fn() -> String) -> Option<Self> {
        let limit = direction.queue.limit();
        let (mut red, mut active) = (None, None);
        match &direction.queue {
            Queue::DropTail { .. } => {}
            Queue::Red(config) => red = Some(Red::new(config, seed, &name())),
            Queue::Active(config) => {
                active = Some(Box::new(Active::new(config, seed, &name())));
            }
        }
        let channel = (!direction.channel.effects.is_empty())
            .then(|| Channel::new(&direction.channel, stream_seed(seed, &format!("{}/channel", name()))));
        let keeps_order = channel.as_ref().is_none_or(Channel::keeps_order);
        let trace = direction.channel.capacity();
        let filter = direction.ack_filter.then(AckFilter::default);
        let own_transit = role.changes || filter.is_some() || active.is_some() || !keeps_order;
        let scheduled =
            limit != Limit::None || red.is_some() || filter.is_some() || role.changes || role.record_queue;
        let channel = channel.filter(|channel| !channel.is_clean());
        let plain = !scheduled && channel.is_none() && trace.is_none() && role.router.is_none();
        if plain && !own_transit {
            return None;
        }
        let drop_tail = match limit {
            Limit::Packets(limit) => limit,
            _ => 0,
        };
        Some(Self {
            limit,
            queue: DropTail { limit: drop_tail, starts: VecDeque::new() },
            red,
            active,
            filter,
            router: role.router,
            capacity: trace.map(|trace| Capacity::new(trace.clone())),
            trace: trace.cloned(),
            channel,
            after_channel: direction.after_channel,
            scheduled,
            lengths: role.record_queue.then(Vec::new),
            transit: own_transit.then(|| Transit::new(keeps_order)),
            ..Self::default()
        })
    }

    /// Whether there is nothing to it but noise, behind a queue without limit.
    pub fn is_noisy(&self) -> bool {
        self.channel.is_some()
            && !self.after_channel
            && !self.scheduled
            && self.active.is_none()
            && self.router.is_none()
            && self.capacity.is_none()
            && self.transit.is_none()
            && self.station.is_none()
    }

    /// What is special about the way out of a station.
    pub fn of_station(queue: StationQueue, role: Role) -> Self {
        Self {
            station: Some(Box::new(queue)),
            lengths: role.record_queue.then(Vec::new),
            router: role.router,
            ..Self::default()
        }
    }

    /// Whether there is nothing to it but a queue that holds so many packets.
    pub fn is_drop_tail(&self) -> bool {
        matches!(self.limit, Limit::Packets(_))
            && self.red.is_none()
            && self.filter.is_none()
            && self.router.is_none()
            && self.capacity.is_none()
            && self.channel.is_none()
            && self.lengths.is_none()
            && self.transit.is_none()
    }

    /// Whether what it accepts leaves in the same order, and unchanged.
    pub fn keeps_packets(&self) -> bool {
        self.filter.is_none()
            && self.station.is_none()
            && self.transit.as_ref().is_none_or(Transit::keeps_order)
    }

    /// `FILTERS`: whether there is an ACK filter.
    #[allow(clippy::too_many_arguments)]
    pub fn offer<const FILTERS: bool>(
        &mut self,
        wire: &mut Wire,
        transmitter: &mut Transmitter,
        measured: &Measured,
        now: Time,
        id: PacketId,
        packet: &mut Packet,
        flow: u32,
    ) -> Offered {
        if !self.up {
            return Offered::Dropped(DropCause::Outage, now);
        }
        let early = self.after_channel.then(|| self.fate(now, packet, flow));
        if let Some(Fate::Lost(loss)) = early {
            return Offered::Dropped(cause_of(loss), now);
        }
        let seen = if FILTERS { self.see(now, packet) } else { Seen::Other };
        if let Seen::Supersedes(held) = seen {
            self.rare.acks_filtered += u64::from(measured.holds(now));
            return Offered::Supersedes(held);
        }
        if !self.admits(measured, wire.rate, transmitter.free_at, now, packet) {
            return Offered::Dropped(DropCause::Queue, now);
        }
        if let Some(router) = &mut self.router {
            router.on_packet(now, packet, wire.rate);
        }
        let mut place = None;
        if transmitter.free_at > now && self.scheduled {
            self.waiting.push_back((transmitter.free_at, packet.wire));
            self.waiting_bytes += u64::from(packet.wire);
            self.note_length(now);
            if FILTERS {
                place = self.filter.as_mut().map(AckFilter::take_place);
            }
        }
        let departure = match &mut self.capacity {
            None => transmitter.serve(wire, measured, now, packet.wire),
            Some(capacity) => transmitter.serve_recorded(capacity, measured, now, packet.wire),
        };
        let fate = match early {
            Some(fate) => fate,
            None => self.fate(departure, packet, flow),
        };
        if FILTERS && let (Some(filter), Some(place), Seen::Candidate) = (&mut self.filter, place, seen) {
            filter.hold(packet, place, matches!(fate, Fate::Arrives { .. }).then_some(id));
        }
        self.leave(wire, departure, fate)
    }

    /// What becomes of a packet that leaves the transmitter then, and to which the channel does this.
    #[inline(always)]
    pub fn leave(&self, wire: &Wire, departure: Time, fate: Fate) -> Offered {
        let (extra, copy) = match fate {
            Fate::Arrives { extra, copy } => (extra, copy),
            Fate::Lost(loss) => return Offered::Dropped(cause_of(loss), departure),
        };
        let arrival = departure.saturating_add(wire.delay);
        Offered::Accepted(Accepted {
            departure,
            arrival: arrival.saturating_add(extra).max(self.not_before),
            copy: copy.map(|after| arrival.saturating_add(after)),
            convoy: (wire.convoy != NO_CONVOY).then_some(wire.convoy),
        })
    }

    /// Lets go of what does not wait any longer at `now`.
    pub fn forget_served(&mut self, now: Time) {
        while let Some(&(start, bytes)) = self.waiting.front()
            && start <= now
        {
            self.waiting_bytes -= u64::from(bytes);
            self.waiting.pop_front();
            self.note_length(start);
        }
    }

    /// Notes how many packets wait from `now` on, where somebody wants it.
    #[inline(always)]
    pub fn note_length(&mut self, now: Time) {
        if let Some(lengths) = &mut self.lengths {
            lengths.push((now, self.waiting.len() as u32));
        }
    }

    /// What the channel, if there is one, does to a packet that it meets at `at`.
    #[inline(always)]
    pub fn fate(&mut self, at: Time, packet: &Packet, flow: u32) -> Fate {
        let Some(channel) = &mut self.channel else { return Fate::Arrives { extra: Span::ZERO, copy: None } };
        channel.fate(&Sighting { at, bytes: packet.wire, flow, data: packet.len > 0 })
    }

    /// What the ACK filter, if there is one, makes of a packet.
    fn see(&mut self, now: Time, packet: &Packet) -> Seen {
        self.forget_served(now);
        let waiting = self.waiting.len();
        self.filter.as_mut().map_or(Seen::Other, |filter| filter.see(packet, waiting))
    }

    /// Whether the queue takes the packet; may mark it.
    #[inline(always)]
    fn admits(
        &mut self,
        measured: &Measured,
        rate: u64,
        free_at: Time,
        now: Time,
        packet: &mut Packet,
    ) -> bool {
        if !self.scheduled {
            return true;
        }
        self.forget_served(now);
        let idle = free_at <= now;
        if let Some(red) = &mut self.red {
            let per_packet = Span::ns(u64::from(packet.wire) * BITS_NS / rate);
            let waiting = self.waiting.len() as u64;
            if red.hits(now, waiting, idle.then_some(free_at), per_packet) {
                if !(red.marks() && packet.is(bits::ECN_CAPABLE)) {
                    return false;
                }
                packet.bits |= bits::CONGESTION_EXPERIENCED;
                self.rare.marks += u64::from(measured.holds(now));
            }
        }
        idle || self.limit.has_room(self.waiting.len() as u64, self.waiting_bytes, packet.wire)
    }
}

pub(super) fn cause_of(loss: Loss) -> DropCause {
    match loss {
        Loss::Error => DropCause::Channel,
        Loss::Outage => DropCause::Outage,
    }
}

/// What a new link is told beside its direction.
#[derive(Debug, Default)]
pub struct Role {
    /// Whether its rate, delay or state will change in mid run.
    pub changes: bool,
    /// Whether each change of its queue's length is to be kept, which changes nothing of what the link does.
    pub record_queue: bool,
    /// There where flows ask for rates.
    pub router: Option<Router>,
}
