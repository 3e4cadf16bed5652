//! One direction of a link: a queue, a transmitter, a medium.
//!
//! The transmitter serves first come, first served, so a packet's departure is known when it is accepted, and so is its
//! arrival at the far end: a packet costs one event a hop. A link whose rate or delay changes in mid run works the
//! times of what it holds out anew.

use crate::ack_filter::{AckFilter, Held, Seen};
use crate::packet::{DropCause, InTransit, Packet, PacketId, bits};
use crate::quick_start::Router;
use crate::red::Red;
use crate::transit::Transit;
use std::collections::VecDeque;
use std::sync::Arc;
use truckee_channel::random::stream;
use truckee_channel::{CROSS_TRAFFIC, Capacity, CapacityTrace, Channel, Fate, Loss, Packet as Sighting};
use truckee_scenario::Scenario;
use truckee_scenario::model::{Direction, Limit, Queue};
use truckee_scenario::outcome::Drops;
use truckee_tcp::{Nanos, Time};

/// What a link counts of the time that is measured.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Counts {
    /// Packets that came within that time and were accepted.
    pub packets: u64,
    pub bytes: u64,
    /// Time spent transmitting.
    pub busy: Nanos,
    /// ∫ packets waiting dt, ns.
    pub waited: f64,
    pub marks: u64,
    pub acks_filtered: u64,
}

/// What became of a packet that was offered to a link.
#[derive(Debug, Clone, Copy)]
pub enum Offered {
    /// It arrives at the far end, and perhaps once more.
    Accepted { departure: Time, arrival: Time, copy: Option<Time> },
    /// It is lost at this time.
    Dropped(DropCause, Time),
    /// It takes the place of an older ACK that waits: of these packets.
    Supersedes(Held),
}

/// One direction of a link. What every packet needs comes first, in few cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// Whether it takes every packet at its rate and delivers it: no limit, no RED, no channel, no recorded capacity,
    /// no changes, no ACK filter, nobody who asks for a rate.
    plain: bool,
    /// Whether it works.
    pub up: bool,
    /// Whether everything on it comes from one other link in order, so that arrivals here can be worked out when a
    /// packet is accepted there.
    pub fused: bool,
    /// Size of the last packet; what its service took is in `service_time` and `service_remainder`.
    service_bytes: u32,
    service_time: Nanos,
    service_remainder: u64,
    rate: u64,
    delay: Nanos,
    /// When the transmitter will be idle.
    free_at: Time,
    /// Fraction of a nanosecond by which `free_at` is early, in units of 1/rate ns.
    remainder: u64,
    /// Time of its pending event.
    pub armed: Time,
    transit: Transit,
    /// The time that is measured: from the end of the warm-up to the end of the run.
    measured: (Time, Time),
    /// What it has counted.
    pub counts: Counts,
    /// What it has lost within the time that is measured, which the network counts.
    pub drops: Drops,
    special: Box<Special>,
    /// Its name in results.
    pub name: String,
    /// Node it leads to.
    pub to: usize,
}

/// What only some links have.
#[derive(Debug)]
struct Special {
    limit: Limit,
    red: Option<Red>,
    filter: Option<AckFilter>,
    /// Where some flow asks for a rate.
    router: Option<Router>,
    capacity: Option<Capacity>,
    trace: Option<Arc<CapacityTrace>>,
    channel: Option<Channel>,
    /// Whether the channel acts before the queue.
    after_channel: bool,
    /// Whether the schedule of what waits is kept: the queue's discipline, its ACK filter or a change in mid run will
    /// ask for it.
    scheduled: bool,
    /// Start of service and size of packets that had to wait, where `scheduled`. Also those that the channel will lose:
    /// they take their time.
    waiting: VecDeque<(Time, u32)>,
    /// What is accepted from now on does not arrive before this: a link that keeps order does so, too, when its delay
    /// becomes shorter.
    not_before: Time,
    waiting_bytes: u64,
    /// Each change of the number of packets that wait, where somebody wants it.
    lengths: Option<Vec<(Time, u32)>>,
    /// Its books before each packet that was worked out ahead of its coming, by the time at which that comes.
    ahead: Vec<Page>,
}

/// A link's books as they are until something comes.
#[derive(Debug)]
struct Page {
    /// When it comes.
    at: Time,
    counts: Counts,
    free_at: Time,
}

impl Special {
    /// Lets go of what does not wait any longer at `now`.
    fn forget_served(&mut self, now: Time) {
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
    fn note_length(&mut self, now: Time) {
        if let Some(lengths) = &mut self.lengths {
            lengths.push((now, self.waiting.len() as u32));
        }
    }

    /// What the channel, if there is one, does to a packet that it meets at `at`.
    #[inline(always)]
    fn fate(&mut self, at: Time, packet: &Packet, flow: u32) -> Fate {
        let Some(channel) = &mut self.channel else { return Fate::Arrives { extra: 0, copy: None } };
        channel.fate(&Sighting { at, bytes: packet.wire, flow, data: packet.segment.len > 0 })
    }

    /// What the ACK filter, if there is one, makes of a packet.
    fn see(&mut self, now: Time, packet: &Packet) -> Seen {
        self.forget_served(now);
        let waiting = self.waiting.len();
        self.filter.as_mut().map_or(Seen::Other, |filter| filter.see(packet, waiting))
    }
}

fn cause_of(loss: Loss) -> DropCause {
    match loss {
        Loss::Error => DropCause::Channel,
        Loss::Outage => DropCause::Outage,
    }
}

const BITS_NS: u64 = 8 * 1_000_000_000;

impl Link {
    /// An idle link that leads to node `to`; `name` names its random streams, `changes` is whether its rate, delay or
    /// state will change in mid run; `router` is there where flows ask for rates.
    pub fn new(
        direction: &Direction,
        name: &str,
        to: usize,
        scenario: &Scenario,
        changes: bool,
        router: Option<Router>,
    ) -> Self {
        let seed = scenario.seed;
        let (limit, red) = match &direction.queue {
            Queue::DropTail { limit } => (*limit, None),
            Queue::Red(red) => (red.limit, Some(Red::new(red, stream(seed, &format!("{name}/red"))))),
        };
        let channel = Channel::new(
            &direction.channel,
            truckee_channel::random::stream_seed(seed, &format!("{name}/channel")),
        );
        let transit = Transit::new(channel.keeps_order());
        let capacity = direction.channel.capacity().map(|trace| Capacity::new(trace.clone()));
        let channel = (!channel.is_clean()).then_some(channel);
        let filter = direction.ack_filter.then(AckFilter::default);
        let scheduled = limit != Limit::None || red.is_some() || filter.is_some() || changes;
        Self {
            plain: !scheduled && channel.is_none() && capacity.is_none() && router.is_none(),
            up: true,
            fused: false,
            service_bytes: 0,
            service_time: 0,
            service_remainder: 0,
            rate: direction.rate,
            delay: direction.delay,
            free_at: 0,
            remainder: 0,
            armed: Time::MAX,
            transit,
            measured: (scenario.warmup, scenario.duration),
            counts: Counts::default(),
            drops: Drops::default(),
            special: Box::new(Special {
                limit,
                red,
                filter,
                router,
                capacity,
                trace: direction.channel.capacity().cloned(),
                channel,
                after_channel: direction.after_channel,
                scheduled,
                waiting: VecDeque::new(),
                not_before: 0,
                waiting_bytes: 0,
                lengths: None,
                ahead: Vec::new(),
            }),
            name: name.to_owned(),
            to,
        }
    }

    /// Keeps each change of its queue's length from now on. It changes nothing of what the link does.
    pub fn record_queue(&mut self) {
        self.plain = false;
        self.special.scheduled = true;
        self.special.lengths = Some(Vec::new());
    }

    /// Each change of the number of packets that waited, up to `end`; `None` where nobody wanted it.
    pub fn take_queue(&mut self, end: Time) -> Option<Vec<(Time, u32)>> {
        self.special.forget_served(end);
        let mut lengths = self.special.lengths.take()?;
        lengths.truncate(lengths.partition_point(|&(t, _)| t <= end));
        Some(lengths)
    }

    /// Notes its books at `now`, before it is offered a packet that comes at `at`: [`Self::close`] may want them back.
    pub fn note_books(&mut self, now: Time, at: Time) {
        let ahead = &mut self.special.ahead;
        if ahead.len() == ahead.capacity() {
            ahead.drain(..ahead.partition_point(|page| page.at <= now));
            ahead.reserve(ahead.len().max(32));
        }
        ahead.push(Page { at, counts: self.counts, free_at: self.free_at });
    }

    /// The run ends at `end`: what was to come later has not come.
    pub fn close(&mut self, end: Time) {
        let ahead = &self.special.ahead;
        if let Some(page) = ahead.get(ahead.partition_point(|page| page.at <= end)) {
            (self.counts, self.free_at) = (page.counts, page.free_at);
        }
    }

    /// Whether packets leave in the order in which they came.
    pub fn keeps_order(&self) -> bool {
        self.transit.keeps_order()
    }

    /// Whether a packet that it has accepted may yet become another.
    pub fn filters_acks(&self) -> bool {
        self.special.filter.is_some()
    }

    /// Offers the packet with this number at `now`; `flow` tells its flow's number for the channel.
    #[inline(always)]
    pub fn offer(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &mut Packet,
        flow: impl FnOnce() -> u32,
    ) -> Offered {
        if self.plain && self.up {
            let start = self.start(now);
            let departure = self.transmit(now, start, packet.wire);
            return Offered::Accepted {
                departure,
                arrival: departure.saturating_add(self.delay),
                copy: None,
            };
        }
        if self.special.filter.is_none() {
            self.offer_with_care::<false>(now, id, packet, flow())
        } else {
            self.offer_with_care::<true>(now, id, packet, flow())
        }
    }

    /// `FILTERS`: whether there is an ACK filter.
    fn offer_with_care<const FILTERS: bool>(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &mut Packet,
        flow: u32,
    ) -> Offered {
        if !self.up {
            return Offered::Dropped(DropCause::Outage, now);
        }
        let early = self.special.after_channel.then(|| self.special.fate(now, packet, flow));
        if let Some(Fate::Lost(loss)) = early {
            return Offered::Dropped(cause_of(loss), now);
        }
        let seen = if FILTERS { self.special.see(now, packet) } else { Seen::Other };
        if let Seen::Supersedes(held) = seen {
            self.counts.acks_filtered += u64::from(self.is_measured(now));
            return Offered::Supersedes(held);
        }
        if !self.admits(now, packet) {
            return Offered::Dropped(DropCause::Queue, now);
        }
        if let Some(router) = &mut self.special.router {
            router.on_packet(now, packet.wire, &mut packet.segment, self.rate);
        }
        let mut place = None;
        if self.free_at > now && self.special.scheduled {
            self.special.waiting.push_back((self.free_at, packet.wire));
            self.special.waiting_bytes += u64::from(packet.wire);
            self.special.note_length(now);
            if FILTERS {
                place = self.special.filter.as_mut().map(AckFilter::take_place);
            }
        }
        let start = self.start(now);
        let departure = match &mut self.special.capacity {
            None => self.transmit(now, start, packet.wire),
            Some(capacity) => {
                let departure = capacity.depart(start, packet.wire);
                self.count(now, start, departure, packet.wire);
                departure
            }
        };
        let fate = match early {
            Some(fate) => fate,
            None => self.special.fate(departure, packet, flow),
        };
        if FILTERS
            && let (Some(filter), Some(place), Seen::Candidate) = (&mut self.special.filter, place, seen)
        {
            filter.hold(packet, place, matches!(fate, Fate::Arrives { .. }).then_some(id));
        }
        let (extra, copy) = match fate {
            Fate::Arrives { extra, copy } => (extra, copy),
            Fate::Lost(loss) => return Offered::Dropped(cause_of(loss), departure),
        };
        let arrival = departure.saturating_add(self.delay);
        Offered::Accepted {
            departure,
            arrival: arrival.saturating_add(extra).max(self.special.not_before),
            copy: copy.map(|after| arrival.saturating_add(after)),
        }
    }

    /// Packet `id`, just accepted, will arrive once more as `copy`.
    pub fn note_copy(&mut self, packet: &Packet, id: PacketId, copy: PacketId) {
        if let Some(filter) = &mut self.special.filter {
            filter.hold_copy(packet, id, copy);
        }
    }

    /// Whether the queue takes the packet; may mark it.
    #[inline(always)]
    fn admits(&mut self, now: Time, packet: &mut Packet) -> bool {
        let measured = self.is_measured(now);
        let special = &mut *self.special;
        if !special.scheduled {
            return true;
        }
        special.forget_served(now);
        let idle = self.free_at <= now;
        if let Some(red) = &mut special.red {
            let per_packet = u64::from(packet.wire) * BITS_NS / self.rate;
            let waiting = special.waiting.len() as u64;
            if red.hits(now, waiting, idle.then_some(self.free_at), per_packet) {
                if !(red.marks() && packet.is(bits::ECN_CAPABLE)) {
                    return false;
                }
                packet.bits |= bits::CONGESTION_EXPERIENCED;
                self.counts.marks += u64::from(measured);
            }
        }
        idle || match special.limit {
            Limit::None => true,
            Limit::Packets(n) => (special.waiting.len() as u64) < n,
            Limit::Bytes(n) => special.waiting_bytes + u64::from(packet.wire) <= n,
        }
    }

    /// Whether what happens at `now` is measured. Nothing happens after the end.
    fn is_measured(&self, now: Time) -> bool {
        now >= self.measured.0
    }

    /// The time from `from` to `to` as far as it is measured.
    #[inline(always)]
    fn measured(&self, from: Time, to: Time) -> Nanos {
        let (first, last) = self.measured;
        if first <= from && to <= last {
            return to - from; // as nearly always
        }
        to.max(first).min(last) - from.max(first).min(last)
    }

    /// When service of a packet that comes at `now` begins.
    #[inline(always)]
    fn start(&mut self, now: Time) -> Time {
        if self.free_at > now {
            // Signed: a conversion of one instruction, where that of all u64 takes eight. No time is above 2^63.
            self.counts.waited += self.measured(now, self.free_at) as i64 as f64;
            self.free_at
        } else {
            self.remainder = 0;
            now
        }
    }

    /// Transmits a packet that came at `at` from `start` on; when that ends.
    #[inline(always)]
    fn transmit(&mut self, at: Time, start: Time, bytes: u32) -> Time {
        let departure = start.saturating_add(self.service_time(bytes));
        self.count(at, start, departure, bytes);
        departure
    }

    /// How long the next packet is in transmission, in whole nanoseconds; the fractions add up over a busy period.
    #[inline(always)]
    fn service_time(&mut self, bytes: u32) -> Nanos {
        if self.service_bytes != bytes {
            let work = u64::from(bytes) * BITS_NS;
            self.service_bytes = bytes;
            self.service_time = work / self.rate;
            self.service_remainder = work % self.rate;
        }
        self.remainder += self.service_remainder;
        let carry = self.remainder >= self.rate;
        self.remainder -= if carry { self.rate } else { 0 };
        self.service_time + u64::from(carry)
    }

    #[inline(always)]
    fn count(&mut self, at: Time, start: Time, departure: Time, bytes: u32) {
        self.free_at = departure;
        let (first, last) = self.measured;
        if first <= at && departure <= last {
            self.counts.packets += 1; // as nearly always
            self.counts.bytes += u64::from(bytes);
            self.counts.busy += departure - start;
        } else {
            self.count_at_an_end(at, start, departure, bytes);
        }
    }

    /// The same where the time that is measured begins or ends meanwhile.
    #[cold]
    fn count_at_an_end(&mut self, at: Time, start: Time, departure: Time, bytes: u32) {
        if self.is_measured(at) {
            self.counts.packets += 1;
            self.counts.bytes += u64::from(bytes);
        }
        self.counts.busy += self.measured(start, departure);
    }

    /// Puts an accepted packet on its way. Returns the new next arrival if that changed.
    #[inline]
    pub fn carry(&mut self, item: InTransit) -> Option<Time> {
        self.transit.add(item)
    }

    /// When the next packet arrives at the far end.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.transit.next_arrival()
    }

    /// Takes the next packet if it has arrived by `now`; and when the one after it will.
    #[inline]
    pub fn arrive(&mut self, now: Time) -> (Option<PacketId>, Option<Time>) {
        self.transit.arrive(now)
    }

    /// Bit/s.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Propagation delay.
    pub fn delay(&self) -> Nanos {
        self.delay
    }

    /// Changes rate or delay from `now` on. What is in transmission or has left keeps its times: a new rate holds from
    /// the next packet on, a new delay for all that is still to leave. What the channel decided stays decided.
    pub fn change(&mut self, now: Time, rate: Option<u64>, delay: Option<Nanos>) {
        let old_delay = self.delay;
        self.rate = rate.unwrap_or(self.rate);
        self.delay = delay.unwrap_or(self.delay);
        self.service_bytes = 0;
        let recorded = self.special.capacity.is_some();
        let moved = if rate.is_some() && !recorded { self.reschedule(now) } else { Vec::new() };
        let items: Vec<InTransit> = std::iter::from_fn(|| self.transit.take()).collect();
        let mut latest = 0;
        for mut item in items {
            if item.departure > now {
                let extra = item.arrival.saturating_sub(item.departure).saturating_sub(old_delay);
                if let Ok(at) = moved.binary_search_by_key(&item.departure, |m| m.0) {
                    item.departure = moved[at].1;
                }
                item.arrival = item.departure.saturating_add(self.delay).saturating_add(extra);
            }
            if self.keeps_order() {
                item.arrival = item.arrival.max(latest);
                latest = item.arrival;
            }
            self.carry(item);
        }
        self.special.not_before = latest;
    }

    /// Works out anew when what waits is served. Returns each old departure with the new one, in order.
    fn reschedule(&mut self, now: Time) -> Vec<(Time, Time)> {
        self.special.forget_served(now);
        self.uncount_waiting(now);
        let old = std::mem::take(&mut self.special.waiting);
        let Some(&(mut start, _)) = old.front() else { return Vec::new() };
        let old_departures = old.iter().skip(1).map(|w| w.0).chain([self.free_at]);
        self.remainder = 0;
        let mut moved = Vec::with_capacity(old.len());
        for (&(_, bytes), departure) in old.iter().zip(old_departures) {
            let end = start.saturating_add(self.service_time(bytes));
            self.counts.waited += self.measured(now, start) as f64;
            self.counts.busy += self.measured(start, end);
            self.special.waiting.push_back((start, bytes));
            moved.push((departure, end));
            start = end;
        }
        self.free_at = start;
        moved
    }

    /// Takes the time that what waits at `now` will wait and be in transmission out of the books.
    fn uncount_waiting(&mut self, now: Time) {
        let Some(&(first, _)) = self.special.waiting.front() else { return };
        self.counts.busy -= self.measured(first, self.free_at);
        let ahead: f64 = self.special.waiting.iter().map(|w| self.measured(now, w.0) as f64).sum();
        self.counts.waited = (self.counts.waited - ahead).max(0.0);
    }

    /// Takes the link down: what waits or travels on it is lost and returned.
    pub fn fail(&mut self, now: Time) -> Vec<PacketId> {
        self.up = false;
        self.special.forget_served(now);
        self.uncount_waiting(now);
        let in_service_until = self.special.waiting.front().map_or(self.free_at, |w| w.0);
        self.counts.busy -= self.measured(now.min(in_service_until), in_service_until);
        self.free_at = self.free_at.min(now);
        self.special.not_before = 0;
        self.special.waiting.clear();
        self.special.waiting_bytes = 0;
        self.special.note_length(now);
        // Opportunities that were given to lost packets are free again.
        self.special.capacity = self.special.trace.clone().map(Capacity::new);
        std::iter::from_fn(|| self.transit.take()).map(|i| i.packet).collect()
    }

    /// Until when its counts go: where a run ends at `end`, before its time, because all flows are done, the link is seen
    /// to finish what it had accepted.
    pub fn counted_until(&self, end: Time) -> Time {
        self.free_at.min(self.measured.1).max(end)
    }
}

/// The flow number that a channel sees of cross traffic.
pub const NO_FLOW: u32 = CROSS_TRAFFIC;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TRAFFIC;
    use truckee_scenario::Document;

    const MS: Nanos = 1_000_000;

    /// One direction of 12 Mbit/s and 10 ms, measured for 100 ms, that changes in mid run: a packet takes 1 ms.
    fn link(channel: &str) -> Link {
        let text = format!(
            r#"
            duration = "100ms"
            link = [{{ between = ["a", "b"], rate = "12Mbit/s", delay = "10ms", queue = {{ size = "5packets" }}, channel = {channel} }}]
            "#
        );
        let scenario = Document::parse("link.toml", &text).unwrap().scenario().unwrap();
        Link::new(&scenario.links[0].forward, "a-b", 1, &scenario, true, None)
    }

    /// Offers `n` packets at once; accepted ones go on their way. How many were not.
    fn fill(link: &mut Link, now: Time, n: u32) -> usize {
        let segment = truckee_tcp::Segment { len: 1460, ..Default::default() };
        let mut packet = Packet {
            segment,
            owner: TRAFFIC,
            generation: 0,
            at: 0,
            wire: 1500,
            bits: 0,
            number: Default::default(),
        };
        let mut lost = 0;
        for id in 0..n {
            match link.offer(now, id, &mut packet, || NO_FLOW) {
                Offered::Accepted { departure, arrival, .. } => {
                    link.carry(InTransit { arrival, departure, packet: id });
                }
                _ => lost += 1,
            }
        }
        lost
    }

    fn arrivals(link: &mut Link) -> Vec<f64> {
        std::iter::from_fn(|| link.transit.take()).map(|i| i.arrival as f64 / MS as f64).collect()
    }

    #[test]
    fn a_new_rate_holds_from_the_next_packet_on() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, 0, 4);
        link.change(MS / 2, Some(24_000_000), None);
        assert_eq!(arrivals(&mut link), [11.0, 11.5, 12.0, 12.5]);
        assert_eq!(link.counts.busy, 5 * MS / 2);
        // They waited 1, 1.5 and 2 ms.
        assert_eq!(link.counts.waited, 4.5 * MS as f64);
    }

    #[test]
    fn what_the_channel_has_lost_takes_its_time_under_a_new_rate_too() {
        let mut link = link("{ kind = \"scripted\", packets = [\"2..3\"] }");
        let lost = fill(&mut link, 0, 4);
        link.change(0, Some(6_000_000), None);
        assert_eq!(arrivals(&mut link), [11.0, 17.0]);
        assert_eq!((lost, link.counts.busy), (2, 7 * MS));
    }

    #[test]
    fn what_is_lost_before_the_queue_takes_no_time_and_no_place() {
        let mut link = link("{ kind = \"scripted\", packets = [\"2..3\"] }");
        link.special.after_channel = true;
        assert_eq!(fill(&mut link, 0, 4), 2);
        assert_eq!(arrivals(&mut link), [11.0, 12.0]);
        assert_eq!((link.counts.packets, link.counts.busy, link.counts.waited), (2, 2 * MS, MS as f64));
    }

    #[test]
    fn under_a_shorter_delay_nothing_overtakes() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, 0, 2);
        link.change(3 * MS / 2, None, Some(MS));
        fill(&mut link, 3 * MS, 1);
        // The first has left already; the others come up behind it.
        assert_eq!(arrivals(&mut link), [11.0, 11.0, 11.0]);
    }

    #[test]
    fn what_is_lost_with_the_link_was_not_transmitted() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, 0, 5);
        assert_eq!(link.fail(3 * MS / 2).len(), 5);
        assert_eq!(link.counts.busy, 3 * MS / 2);
        // One waited 1 ms, three 1.5 ms.
        assert_eq!(link.counts.waited, 5.5 * MS as f64);
        assert_eq!((fill(&mut link, 2 * MS, 1), link.next_arrival()), (1, None));
        link.up = true;
        fill(&mut link, 3 * MS, 1);
        assert_eq!(arrivals(&mut link), [14.0]);
    }

    #[test]
    fn only_what_lies_within_the_time_measured_is_counted() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, 99 * MS, 3);
        assert_eq!((link.counts.busy, link.counts.waited), (MS, 2.0 * MS as f64));
    }
}
