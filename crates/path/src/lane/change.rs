//! Lanes whose rate or delay changes in mid run, or that fail.

use super::super::transit::{InTransit, PacketId};
use super::Lane;
use truckee_channel::{Capacity, Span, Time};

impl Lane {
    /// Changes rate or delay from `now` on. What is in transmission or has left keeps its times: a new rate holds from
    /// the next packet on, a new delay for all that is still to leave. What the channel decided stays decided.
    pub fn change(&mut self, now: Time, rate: Option<u64>, delay: Option<Span>) {
        let old_delay = self.delay;
        self.rate = rate.unwrap_or(self.rate);
        self.delay = delay.unwrap_or(self.delay);
        if rate.is_some() {
            self.remainder = 0; // it was of the old rate
        }
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
        self.note_waiting(now);
        if let Some(queue) = &mut self.active {
            queue.clear(&mut self.dropped);
        }
        self.note_length(now);
        // Opportunities that were given to lost packets are free again.
        self.capacity = self.trace.clone().map(Capacity::new);
        let mut lost: Vec<PacketId> = std::iter::from_fn(|| self.transit.take()).map(|i| i.packet).collect();
        lost.extend(self.dropped.drain(..).map(|waiting| waiting.packet));
        self.counts.outage_drops += lost.len() as u64;
        lost
    }
}
