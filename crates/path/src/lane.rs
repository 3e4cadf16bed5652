//! One direction of a link: a queue, a transmitter, a medium, decided from given times only. It admits, serves and loses
//! as the simulator's link does, and asks its channel the same questions, so that the same packets at the same times meet
//! the same fate in both. Not for: clocks, routes, or what is in a packet.
//!
//! The transmitter serves first come, first served, so departure and arrival are known when a packet is accepted, and
//! the channel is asked then, about the moment of departure. A lane whose rate or delay changes in mid run works the
//! times of what it holds out anew.

use super::transit::{InTransit, PacketId, Transit};
use super::{Cause, LaneCounters};
use std::collections::VecDeque;
use std::sync::Arc;
use truckee_channel::{
    Capacity, CapacityTrace, Channel, Fate, Loss, Packet as Sighting, Span, Time, stream_seed,
};
use truckee_scenario::model::{Direction, Limit};
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
}

/// What became of a packet that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offered {
    /// It arrives at the far end, and perhaps once more.
    Accepted { departure: Time, arrival: Time, copy: Option<Time> },
    /// It is lost at this time.
    Dropped(Cause, Time),
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
    /// Whether the channel acts before the queue.
    after_channel: bool,
    transit: Transit,
    measured: (Time, Time),
}

impl Lane {
    /// An idle lane; `measured`: from the end of the warm-up to the end of the run.
    pub fn new(direction: &Direction, name: &str, seed: u64, measured: (Time, Time)) -> Self {
        let limit = direction.queue.limit(); // of another kind than drop-tail is refused before any lane is made
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
            limit,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            lengths: None,
            not_before: Time::ZERO,
            capacity: trace.clone().map(Capacity::new),
            trace,
            transit: Transit::new(channel.keeps_order()),
            channel: (!channel.is_clean()).then_some(channel),
            after_channel: direction.after_channel,
            measured,
        }
    }

    /// Offers a packet of `bytes` at `now`; `flow` and `data` are what the channel is told of it. Times never fall from
    /// one call to the next.
    pub fn offer(&mut self, now: Time, bytes: u32, flow: u32, data: bool) -> Offered {
        if !self.up {
            self.counts.outage_drops += 1;
            return Offered::Dropped(Cause::Outage, now);
        }
        let early = if self.after_channel { Some(self.fate(now, bytes, flow, data)) } else { None };
        if let Some(Fate::Lost(loss)) = early {
            return self.lost(loss, now);
        }
        self.forget_served(now);
        if !self.admits(now, bytes) {
            self.counts.queue_drops += 1;
            return Offered::Dropped(Cause::Queue, now);
        }
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
        let departure = match &mut self.capacity {
            Some(capacity) => capacity.depart(start, bytes),
            None => start.saturating_add(self.service_time(bytes)),
        };
        self.counts.packets += 1;
        self.counts.bytes += u64::from(bytes);
        self.counts.busy += self.within(start, departure);
        self.free_at = departure;
        let fate = match early {
            Some(fate) => fate,
            None => self.fate(departure, bytes, flow, data),
        };
        match fate {
            Fate::Arrives { extra, copy } => {
                let arrival = departure.saturating_add(self.delay);
                Offered::Accepted {
                    departure,
                    arrival: arrival.saturating_add(extra).max(self.not_before),
                    copy: copy.map(|after| arrival.saturating_add(after)),
                }
            }
            Fate::Lost(loss) => self.lost(loss, departure),
        }
    }

    /// What the channel does to a packet that it meets at `at`.
    fn fate(&mut self, at: Time, bytes: u32, flow: u32, data: bool) -> Fate {
        match &mut self.channel {
            None => Fate::Arrives { extra: Span::ZERO, copy: None },
            Some(channel) => channel.fate(&Sighting { at, bytes, flow, data }),
        }
    }

    /// Counts what the channel has lost at `at`.
    fn lost(&mut self, loss: Loss, at: Time) -> Offered {
        match loss {
            Loss::Error => {
                self.counts.channel_drops += 1;
                Offered::Dropped(Cause::Channel, at)
            }
            Loss::Outage => {
                self.counts.outage_drops += 1;
                Offered::Dropped(Cause::Outage, at)
            }
        }
    }

    /// Whether the queue takes the packet. The one in transmission does not count.
    fn admits(&self, now: Time, bytes: u32) -> bool {
        let fits = |limit| self.waiting_bytes + u64::from(bytes) <= limit;
        self.free_at <= now
            || match self.limit {
                Limit::None => fits(AMPLE),
                Limit::Packets(n) => (self.waiting.len() as u64) < n && fits(AMPLE),
                Limit::Bytes(n) => fits(n),
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
            lengths.push((at, self.waiting.len() as u32));
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

    /// Changes rate or delay from `now` on. What is in transmission or has left keeps its times: a new rate holds from
    /// the next packet on, a new delay for all that is still to leave. What the channel decided stays decided.
    pub fn change(&mut self, now: Time, rate: Option<u64>, delay: Option<Span>) {
        let old_delay = self.delay;
        self.rate = rate.unwrap_or(self.rate);
        self.delay = delay.unwrap_or(self.delay);
        let paced = self.capacity.is_some();
        let moved = if rate.is_some() && !paced { self.reschedule(now) } else { Vec::new() };
        let items: Vec<InTransit> = std::iter::from_fn(|| self.transit.take()).collect();
        let mut latest = Time::ZERO;
        for mut item in items {
            if item.departure > now {
                let extra = item.arrival.saturating_sub(item.departure).saturating_sub(old_delay);
                if let Ok(at) = moved.binary_search_by_key(&item.departure, |m| m.0) {
                    item.departure = moved[at].1;
                }
                item.arrival = item.departure.saturating_add(self.delay).saturating_add(extra);
            }
            if self.transit.keeps_order() {
                item.arrival = item.arrival.max(latest);
                latest = item.arrival;
            }
            self.transit.add(item);
        }
        self.not_before = latest;
    }

    /// Works out anew when what waits is served. Returns each old departure with the new one, in order.
    fn reschedule(&mut self, now: Time) -> Vec<(Time, Time)> {
        self.forget_served(now);
        self.uncount_waiting(now);
        let old = std::mem::take(&mut self.waiting);
        let Some(&(mut start, _)) = old.front() else { return Vec::new() };
        let old_departures = old.iter().skip(1).map(|w| w.0).chain([self.free_at]);
        self.remainder = 0;
        let mut moved = Vec::with_capacity(old.len());
        for (&(_, bytes), departure) in old.iter().zip(old_departures) {
            let end = start.saturating_add(self.service_time(bytes));
            self.counts.waited += self.within(now, start).as_f64();
            self.counts.busy += self.within(start, end);
            self.waiting.push_back((start, bytes));
            moved.push((departure, end));
            start = end;
        }
        self.free_at = start;
        moved
    }

    /// Takes the time that what waits at `now` will wait and be in transmission out of the books.
    fn uncount_waiting(&mut self, now: Time) {
        let Some(&(first, _)) = self.waiting.front() else { return };
        self.counts.busy -= self.within(first, self.free_at);
        let ahead: f64 = self.waiting.iter().map(|w| self.within(now, w.0).as_f64()).sum();
        self.counts.waited = (self.counts.waited - ahead).max(0.0);
    }

    /// Takes the lane up.
    pub fn mend(&mut self) {
        self.up = true;
    }

    /// Takes the lane down: what waits or travels on it is lost and returned.
    pub fn fail(&mut self, now: Time) -> Vec<PacketId> {
        self.up = false;
        self.forget_served(now);
        self.uncount_waiting(now);
        let in_service_until = self.waiting.front().map_or(self.free_at, |w| w.0);
        self.counts.busy -= self.within(now.min(in_service_until), in_service_until);
        self.free_at = self.free_at.min(now);
        self.not_before = Time::ZERO;
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.note_length(now);
        // Opportunities that were given to lost packets are free again.
        self.capacity = self.trace.clone().map(Capacity::new);
        let lost: Vec<PacketId> = std::iter::from_fn(|| self.transit.take()).map(|i| i.packet).collect();
        self.counts.outage_drops += lost.len() as u64;
        lost
    }

    /// The warm-up ends.
    pub fn begin_measuring(&mut self) {
        self.warm = self.counts;
    }

    /// The time that is measured ends.
    pub fn end_measuring(&mut self) {
        self.closed.get_or_insert(self.counts);
    }

    /// What it shows at `now`.
    pub fn counters(&mut self, now: Time) -> LaneCounters {
        self.forget_served(now);
        LaneCounters {
            name: self.name.to_string(),
            packets: self.counts.packets,
            bytes: self.counts.bytes,
            delivered: self.counts.delivered,
            queue_drops: self.counts.queue_drops,
            channel_drops: self.counts.channel_drops,
            outage_drops: self.counts.outage_drops,
            waiting_packets: self.waiting.len() as u64,
            waiting_bytes: self.waiting_bytes,
            on_the_way: self.transit.len() as u64,
        }
    }

    /// What it did from `from` until the run ended at `end`.
    pub fn outcome(&self, from: Time, end: Time) -> LinkOutcome {
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
            ecn_marks: 0,
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
