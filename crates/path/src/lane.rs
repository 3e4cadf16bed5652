//! One direction of a link: a queue, a transmitter, a medium, decided from given times only. It admits, serves and loses
//! as the simulator's link does, and asks its channel the same questions, so that the same packets at the same times meet
//! the same fate in both. Not for: clocks, routes, or what is in a packet.
//!
//! The transmitter serves first come, first served, so departure and arrival are known when a packet is accepted, and
//! the channel is asked then, about the moment of departure. Only a queue that decides when packets leave it (CoDel and its
//! kin) is asked when the transmitter is free: such a lane is [`Lane::enqueue`]d and [`Lane::serve`]d. A lane whose rate or delay changes in mid run works the
//! times of what it holds out anew.

mod active;
mod change;
mod turn;

pub(super) use turn::refuses;

use super::transit::{InTransit, PacketId, Transit};
use super::{Cause, LaneCounters};
use std::collections::VecDeque;
use std::sync::Arc;
use truckee_channel::queue::{Red, TimedQueue};
use truckee_channel::{
    Capacity, CapacityTrace, Channel, Fate, Loss, Packet as Sighting, Span, Time, stream_seed,
};
use truckee_scenario::model::{Direction, Limit, Queue};
use truckee_scenario::outcome::{LinkOutcome, QueueSeries};

/// What a queue without a limit holds, bytes: a flood shall end in drops, not in the machine's memory.
const AMPLE: u64 = 256 << 20;

const BITS_NS: u64 = 8 * 1_000_000_000;

/// What a lane counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counts {
    /// Accepted and transmitted, those the medium loses included.
    pub packets: u64,
    pub bytes: u64,
    /// Time spent transmitting within the time that is measured.
    pub busy: Span,
    /// Packets waiting, integrated over the time that is measured, ns.
    pub waited: f64,
    pub queue_drops: u64,
    pub channel_drops: u64,
    pub outage_drops: u64,
    /// At the far end, copies included.
    pub delivered: u64,
    /// Marked in place of dropped.
    pub marks: u64,
}

/// What a lane is told of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offer {
    pub bytes: u32,
    /// The number of its flow for the channel.
    pub flow: u32,
    pub data: bool,
    /// What a queue for each flow tells flows apart by.
    pub key: u64,
    /// Whether it may be marked in place of dropped.
    pub ecn: bool,
}

/// What became of a packet that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offered {
    /// It arrives at the far end, and perhaps once more; it may have been marked.
    Accepted { departure: Time, arrival: Time, copy: Option<Time>, marked: bool },
    /// It is lost at this time.
    Dropped(Cause, Time),
}

/// A packet that waits in a queue which decides when it leaves.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    packet: PacketId,
    offer: Offer,
    /// What the channel did to it, where that acts before the queue.
    early: Option<Fate>,
}

/// One direction of a link.
#[derive(Debug)]
pub(super) struct Lane {
    /// Its name in results, and of its random streams.
    pub name: Arc<str>,
    /// Time of its pending event.
    pub armed: Time,
    pub counts: Counts,
    /// Those at the end of the warm-up; those at the end of the time that is measured.
    warm: Counts,
    closed: Option<Counts>,
    up: bool,
    rate: u64,
    delay: Span,
    /// When the transmitter will be idle.
    free_at: Time,
    /// Fraction of a nanosecond by which `free_at` is early, in units of 1/rate ns.
    remainder: u64,
    limit: Limit,
    red: Option<Red>,
    /// A queue that decides when a packet leaves it: then what waits is there, and neither `limit` nor `waiting` is of use.
    active: Option<TimedQueue<Waiting>>,
    /// What that dropped in one call.
    dropped: Vec<Waiting>,
    /// Start of service and size of packets that had to wait, those included that the channel will lose.
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    /// Each change of the number that waited, where that is wanted.
    lengths: Option<Vec<(Time, u32)>>,
    /// What is accepted from now on does not arrive before this: order is kept when the delay becomes shorter, too.
    not_before: Time,
    capacity: Option<Capacity>,
    trace: Option<Arc<CapacityTrace>>,
    channel: Option<Channel>,
    /// What it was last set to, and how often.
    set: Direction,
    turns: u64,
    seed: u64,
    /// Whether the channel acts before the queue.
    after_channel: bool,
    transit: Transit,
    measured: (Time, Time),
}

impl Lane {
    /// An idle lane; `measured`: from the end of the warm-up to the end of the run.
    pub fn new(direction: &Direction, name: &str, seed: u64, measured: (Time, Time)) -> Self {
        let (mut red, mut active) = (None, None);
        match &direction.queue {
            Queue::DropTail { .. } => {}
            Queue::Red(config) => red = Some(Red::new(config, seed, name)),
            Queue::Active(config) => active = Some(TimedQueue::new(config, seed, name)),
        }
        let channel = Channel::new(&direction.channel, stream_seed(seed, &format!("{name}/channel")));
        let trace = direction.channel.capacity().cloned();
        Self {
            name: name.into(),
            armed: Time::MAX,
            counts: Counts::default(),
            warm: Counts::default(),
            closed: None,
            up: true,
            rate: direction.rate,
            delay: direction.delay,
            free_at: Time::ZERO,
            remainder: 0,
            limit: direction.queue.limit(),
            red,
            active,
            dropped: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            lengths: None,
            not_before: Time::ZERO,
            capacity: trace.clone().map(Capacity::new),
            trace,
            transit: Transit::new(channel.keeps_order()),
            channel: (!channel.is_clean()).then_some(channel),
            set: direction.clone(),
            turns: 0,
            seed,
            after_channel: direction.after_channel,
            measured,
        }
    }

    /// Offers a packet at `now`. Times never fall from one call to the next.
    pub fn offer(&mut self, now: Time, offer: Offer) -> Offered {
        let early = match self.meet(now, &offer) {
            Ok(early) => early,
            Err(cause) => return Offered::Dropped(cause, now),
        };
        let bytes = offer.bytes;
        self.forget_served(now);
        let Some(marked) = self.admits(now, &offer) else {
            self.counts.queue_drops += 1;
            return Offered::Dropped(Cause::Queue, now);
        };
        self.counts.marks += u64::from(marked);
        let start = if self.free_at > now {
            self.counts.waited += self.within(now, self.free_at).as_f64();
            self.waiting.push_back((self.free_at, bytes));
            self.waiting_bytes += u64::from(bytes);
            self.note_length(now);
            self.free_at
        } else {
            self.remainder = 0;
            now
        };
        self.transmit(start, &offer, early, marked)
    }

    /// What a packet that comes at `now` meets before the queue: what the channel did to it, where it acts there.
    fn meet(&mut self, now: Time, offer: &Offer) -> Result<Option<Fate>, Cause> {
        if !self.up {
            self.counts.outage_drops += 1;
            return Err(Cause::Outage);
        }
        let early = self.after_channel.then(|| self.fate(now, offer));
        match early {
            Some(Fate::Lost(loss)) => Err(self.lost(loss)),
            _ => Ok(early),
        }
    }

    /// Transmits a packet from `start` on.
    fn transmit(&mut self, start: Time, offer: &Offer, early: Option<Fate>, marked: bool) -> Offered {
        let departure = match &mut self.capacity {
            Some(capacity) => capacity.depart(start, offer.bytes),
            None => start.saturating_add(self.service_time(offer.bytes)),
        };
        self.counts.packets += 1;
        self.counts.bytes += u64::from(offer.bytes);
        self.counts.busy += self.within(start, departure);
        self.free_at = departure;
        match early.unwrap_or_else(|| self.fate(departure, offer)) {
            Fate::Arrives { extra, copy } => {
                let arrival = departure.saturating_add(self.delay);
                Offered::Accepted {
                    departure,
                    arrival: arrival.saturating_add(extra).max(self.not_before),
                    copy: copy.map(|after| arrival.saturating_add(after)),
                    marked,
                }
            }
            Fate::Lost(loss) => Offered::Dropped(self.lost(loss), departure),
        }
    }

    /// What the channel does to a packet that it meets at `at`.
    fn fate(&mut self, at: Time, offer: &Offer) -> Fate {
        let &Offer { bytes, flow, data, .. } = offer;
        match &mut self.channel {
            None => Fate::Arrives { extra: Span::ZERO, copy: None },
            Some(channel) => channel.fate(&Sighting { at, bytes, flow, data }),
        }
    }

    /// Counts what the channel has lost.
    fn lost(&mut self, loss: Loss) -> Cause {
        match loss {
            Loss::Error => {
                self.counts.channel_drops += 1;
                Cause::Channel
            }
            Loss::Outage => {
                self.counts.outage_drops += 1;
                Cause::Outage
            }
        }
    }

    /// Whether the queue takes the packet, and marks it. The one in transmission does not count.
    fn admits(&mut self, now: Time, offer: &Offer) -> Option<bool> {
        let bytes = u64::from(offer.bytes);
        let (waiting, idle) = (self.waiting.len() as u64, self.free_at <= now);
        let mut marked = false;
        if let Some(red) = &mut self.red {
            let per_packet = Span::ns(bytes * BITS_NS / self.rate);
            if red.hits(now, waiting, idle.then_some(self.free_at), per_packet) {
                marked = red.marks() && offer.ecn;
                if !marked {
                    return None;
                }
            }
        }
        let fits = |limit| self.waiting_bytes + bytes <= limit;
        let has_room = idle
            || match self.limit {
                Limit::None => fits(AMPLE),
                Limit::Packets(n) => waiting < n && fits(AMPLE),
                Limit::Bytes(n) => fits(n),
            };
        has_room.then_some(marked)
    }

    /// Packets and bytes that wait.
    fn backlog(&self) -> (usize, u64) {
        match &self.active {
            Some(queue) => (queue.packets(), queue.bytes()),
            None => (self.waiting.len(), self.waiting_bytes),
        }
    }

    fn forget_served(&mut self, now: Time) {
        while let Some((start, bytes)) = self.waiting.pop_front_if(|&mut (start, _)| start <= now) {
            self.waiting_bytes -= u64::from(bytes);
            self.note_length(start);
        }
    }

    fn note_length(&mut self, at: Time) {
        if let Some(lengths) = &mut self.lengths {
            let waiting = self.active.as_ref().map_or(self.waiting.len(), TimedQueue::packets);
            lengths.push((at, waiting as u32));
        }
    }

    /// Keeps each change of its queue's length from now on.
    pub fn record_queue(&mut self) {
        self.lengths = Some(Vec::new());
    }

    /// Each change of the number of packets that waited, up to `end`; `None` where nobody wanted it.
    pub fn take_queue(&mut self, end: Time) -> Option<QueueSeries> {
        self.forget_served(end);
        Some(QueueSeries::new(&self.name, self.lengths.take()?))
    }

    /// The time from `from` to `to` as far as it is measured.
    fn within(&self, from: Time, to: Time) -> Span {
        let (first, last) = self.measured;
        to.clamp(first, last) - from.clamp(first, last)
    }

    /// How long the next packet is in transmission, in whole nanoseconds; the fractions add up over a busy period.
    fn service_time(&mut self, bytes: u32) -> Span {
        let work = u64::from(bytes) * BITS_NS;
        self.remainder += work % self.rate;
        let carry = self.remainder >= self.rate;
        self.remainder -= if carry { self.rate } else { 0 };
        Span::ns(work / self.rate + u64::from(carry))
    }

    /// Puts an accepted packet on its way.
    pub fn carry(&mut self, item: InTransit) {
        self.transit.add(item);
    }

    /// When the next packet arrives at the far end.
    pub fn next_arrival(&self) -> Option<Time> {
        self.transit.next_arrival()
    }

    /// Takes the next packet if it has arrived by `now`, and when it did.
    pub fn arrive(&mut self, now: Time) -> Option<(PacketId, Time)> {
        if self.next_arrival().is_none_or(|next| next > now) {
            return None;
        }
        self.counts.delivered += 1;
        self.transit.take().map(|item| (item.packet, item.arrival))
    }

    /// The warm-up ends.
    pub fn begin_measuring(&mut self) {
        self.warm = self.counts;
    }

    /// The time that is measured ends.
    pub fn end_measuring(&mut self) {
        self.note_waiting(self.measured.1);
        self.closed.get_or_insert(self.counts);
    }

    /// What it shows at `now`.
    pub fn counters(&mut self, now: Time) -> LaneCounters {
        self.forget_served(now);
        let (waiting_packets, waiting_bytes) = self.backlog();
        let held = self.active.as_ref().map_or(0, TimedQueue::packets);
        LaneCounters {
            name: self.name.to_string(),
            packets: self.counts.packets,
            bytes: self.counts.bytes,
            delivered: self.counts.delivered,
            queue_drops: self.counts.queue_drops,
            channel_drops: self.counts.channel_drops,
            outage_drops: self.counts.outage_drops,
            waiting_packets: waiting_packets as u64,
            waiting_bytes,
            on_the_way: (self.transit.len() + held) as u64,
            rate_bps: self.rate,
            delay_s: self.delay.seconds(),
            up: self.up,
        }
    }

    /// What it did from `from` until the run ended at `end`.
    pub fn outcome(&mut self, from: Time, end: Time) -> LinkOutcome {
        self.note_waiting(end);
        let (counts, warm) = (self.closed.unwrap_or(self.counts), &self.warm);
        // What it had accepted it is seen to finish, as in the simulator.
        let span = self.free_at.min(self.measured.1).max(end).saturating_sub(from);
        let over = |x: f64| if span > Span::ZERO { x / span.as_f64() } else { 0.0 };
        let packets = counts.packets - warm.packets;
        LinkOutcome {
            name: self.name.to_string(),
            utilisation: over(counts.busy.as_f64()),
            packets,
            bytes: counts.bytes - warm.bytes,
            queue_drops: counts.queue_drops - warm.queue_drops,
            channel_drops: counts.channel_drops - warm.channel_drops,
            outage_drops: counts.outage_drops - warm.outage_drops,
            handoff_drops: 0,
            ecn_marks: counts.marks - warm.marks,
            acks_filtered: 0,
            // Little's law: packets waiting on average = sum of their waiting times over the time.
            mean_queue_packets: over(counts.waited),
            mean_wait_s: if packets > 0 { counts.waited / packets as f64 / 1e9 } else { 0.0 },
        }
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
