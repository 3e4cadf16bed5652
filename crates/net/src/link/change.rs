//! Links whose rate or delay changes in mid run, or that fail; and closing a link's books.

use super::special::Special;
use super::transmitter::{Measured, Transmitter, Wire};
use super::{Links, Page};
use crate::packet::{InTransit, PacketId};
use truckee_channel::Capacity;
use truckee_tcp::{Span, Time};

impl Links {
    /// Changes rate or delay from `now` on. What is in transmission or has left keeps its times: a new rate holds from
    /// the next packet on, a new delay for all that is still to leave. What the channel decided stays decided. Returns when
    /// the next packet arrives.
    pub fn change(
        &mut self,
        index: usize,
        now: Time,
        rate: Option<u64>,
        delay: Option<Span>,
    ) -> Option<Time> {
        let link = &mut self.links[index];
        let wire = &mut self.wires[link.wire as usize];
        let old_delay = wire.delay;
        wire.rate = rate.unwrap_or(wire.rate);
        wire.delay = delay.unwrap_or(wire.delay);
        wire.service_bytes = 0;
        let special = link.special.as_mut()?;
        let recorded = special.capacity.is_some();
        if rate.is_some() {
            link.transmitter.remainder = 0; // it was of the old rate
        }
        let moved = if rate.is_some() && !recorded {
            special.reschedule(wire, &mut link.transmitter, self.measured, now)
        } else {
            Vec::new()
        };
        let transit = special.transit.as_mut()?;
        let items: Vec<InTransit> = std::iter::from_fn(|| transit.take()).collect();
        let mut latest = Time::ZERO;
        for mut item in items {
            if item.departure > now {
                let extra = item.arrival.saturating_sub(item.departure).saturating_sub(old_delay);
                if let Ok(at) = moved.binary_search_by_key(&item.departure, |m| m.0) {
                    item.departure = moved[at].1;
                }
                item.arrival = item.departure.saturating_add(wire.delay).saturating_add(extra);
            }
            if transit.keeps_order() {
                item.arrival = item.arrival.max(latest);
                latest = item.arrival;
            }
            transit.add(item);
        }
        special.not_before = latest;
        let next = transit.next_arrival()?;
        special.armed = next;
        Some(next)
    }

    /// Takes a link up again.
    pub fn restore(&mut self, index: usize) {
        if let Some(special) = &mut self.links[index].special {
            special.up = true;
        }
    }

    /// Takes a link down: what waits or travels on it is lost and returned.
    pub fn fail(&mut self, index: usize, now: Time) -> Vec<PacketId> {
        let link = &mut self.links[index];
        let Some(special) = &mut link.special else { return Vec::new() };
        let transmitter = &mut link.transmitter;
        special.up = false;
        special.forget_served(now);
        special.uncount_waiting(transmitter, self.measured, now);
        let in_service_until = special.waiting.front().map_or(transmitter.free_at, |w| w.0);
        transmitter.counts.busy -= self.measured.between(now.min(in_service_until), in_service_until);
        transmitter.free_at = transmitter.free_at.min(now);
        special.not_before = Time::ZERO;
        special.waiting.clear();
        special.waiting_bytes = 0;
        special.note_length(now);
        // Opportunities that were given to lost packets are free again.
        special.capacity = special.trace.clone().map(Capacity::new);
        let mut lost = Vec::new();
        if let Some(transit) = &mut special.transit {
            lost.extend(std::iter::from_fn(|| transit.take()).map(|item| item.packet));
        }
        lost.extend(special.empty_active(transmitter, self.measured, now));
        lost
    }

    /// Notes a link's books at `now`, before it is offered a packet that comes at `at`: [`Self::close`] may want them back.
    pub fn note_books(&mut self, index: usize, now: Time, at: Time) {
        let ahead = &mut self.ahead;
        if ahead.len() == ahead.capacity() {
            ahead.retain(|page| page.at > now);
            ahead.reserve(ahead.len().max(32));
        }
        let Transmitter { counts, free_at, .. } = self.links[index].transmitter;
        ahead.push(Page { at, link: index as u32, counts, free_at });
    }

    /// The run ends at `end`: what was to come later has not come.
    pub fn close(&mut self, end: Time) {
        // The last page to be restored of a link is that before the first packet that has not come.
        for page in std::mem::take(&mut self.ahead).iter().rev().filter(|page| page.at > end) {
            let transmitter = &mut self.links[page.link as usize].transmitter;
            (transmitter.counts, transmitter.free_at) = (page.counts, page.free_at);
        }
        for link in &mut self.links {
            if let Some(special) = &mut link.special {
                special.note_active(&mut link.transmitter, self.measured, end);
            }
        }
    }

    /// Each change of the number of packets that waited at a link, up to `end`; `None` where nobody wanted it.
    pub fn take_queue(&mut self, index: usize, end: Time) -> Option<Vec<(Time, u32)>> {
        let special = self.links[index].special.as_mut()?;
        special.forget_served(end);
        let mut lengths = special.lengths.take()?;
        lengths.truncate(lengths.partition_point(|&(t, _)| t <= end));
        Some(lengths)
    }
}

impl Special {
    /// Works out anew when what waits is served. Returns each old departure with the new one, in order.
    fn reschedule(
        &mut self,
        wire: &mut Wire,
        transmitter: &mut Transmitter,
        measured: Measured,
        now: Time,
    ) -> Vec<(Time, Time)> {
        self.forget_served(now);
        self.uncount_waiting(transmitter, measured, now);
        let old = std::mem::take(&mut self.waiting);
        let Some(&(mut start, _)) = old.front() else { return Vec::new() };
        let old_departures = old.iter().skip(1).map(|w| w.0).chain([transmitter.free_at]);
        let mut moved = Vec::with_capacity(old.len());
        for (&(_, bytes), departure) in old.iter().zip(old_departures) {
            let end = start.saturating_add(transmitter.service_time(wire, bytes));
            transmitter.counts.waited += measured.between(now, start).as_f64();
            transmitter.counts.busy += measured.between(start, end);
            self.waiting.push_back((start, bytes));
            moved.push((departure, end));
            start = end;
        }
        transmitter.free_at = start;
        moved
    }

    /// Takes the time that what waits at `now` will wait and be in transmission out of the books.
    fn uncount_waiting(&mut self, transmitter: &mut Transmitter, measured: Measured, now: Time) {
        let Some(&(first, _)) = self.waiting.front() else { return };
        transmitter.counts.busy -= measured.between(first, transmitter.free_at);
        let ahead: f64 = self.waiting.iter().map(|w| measured.between(now, w.0).as_f64()).sum();
        transmitter.counts.waited = (transmitter.counts.waited - ahead).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{NO_FLOW, Offered, Role};
    use crate::packet::Packet;
    use truckee_scenario::Document;

    const MS: Span = Span::ms(1);

    /// One direction of 12 Mbit/s and 10 ms, measured for 100 ms, that changes in mid run: a packet takes 1 ms.
    fn link(channel: &str) -> Links {
        let text = format!(
            r#"
            duration = "100ms"
            link = [{{ between = ["a", "b"], rate = "12Mbit/s", delay = "10ms", queue = {{ size = "5packets" }}, channel = {channel} }}]
            "#
        );
        let scenario = Document::parse("link.toml", &text).unwrap().scenario().unwrap();
        let mut links = Links::of(&scenario);
        let role = Role { changes: true, ..Role::default() };
        links.add(&scenario.links[0].forward, scenario.seed, role, || scenario.link_name(0));
        links
    }

    /// Offers `n` packets at once; accepted ones go on their way. How many were not.
    fn fill(links: &mut Links, now: Time, n: u32) -> usize {
        let mut packet = Packet::datagram(now, 0, 0, 1500);
        let mut lost = 0;
        for id in 0..n {
            match links.offer(0, now, id, &mut packet, NO_FLOW) {
                Offered::Accepted(accepted) => {
                    let (arrival, departure) = (accepted.arrival, accepted.departure);
                    links.carry(0, InTransit { arrival, departure, packet: id });
                }
                _ => lost += 1,
            }
        }
        lost
    }

    fn special(links: &mut Links) -> &mut Special {
        links.links[0].special.as_mut().unwrap()
    }

    fn arrivals(links: &mut Links) -> Vec<f64> {
        let transit = special(links).transit.as_mut().unwrap();
        std::iter::from_fn(|| transit.take()).map(|i| i.arrival.as_f64() / MS.as_f64()).collect()
    }

    #[test]
    fn a_new_rate_holds_from_the_next_packet_on() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, Time::ZERO, 4);
        link.change(0, Time::at(MS / 2), Some(24_000_000), None);
        assert_eq!(arrivals(&mut link), [11.0, 11.5, 12.0, 12.5]);
        assert_eq!(link.counts(0).busy, 5 * MS / 2);
        // They waited 1, 1.5 and 2 ms.
        assert_eq!(link.counts(0).waited, 4.5 * MS.as_f64());
    }

    #[test]
    fn what_the_channel_has_lost_takes_its_time_under_a_new_rate_too() {
        let mut link = link("{ kind = \"scripted\", packets = [\"2..3\"] }");
        let lost = fill(&mut link, Time::ZERO, 4);
        link.change(0, Time::ZERO, Some(6_000_000), None);
        assert_eq!(arrivals(&mut link), [11.0, 17.0]);
        assert_eq!((lost, link.counts(0).busy), (2, 7 * MS));
    }

    #[test]
    fn what_is_lost_before_the_queue_takes_no_time_and_no_place() {
        let mut link = link("{ kind = \"scripted\", packets = [\"2..3\"] }");
        special(&mut link).after_channel = true;
        assert_eq!(fill(&mut link, Time::ZERO, 4), 2);
        assert_eq!(arrivals(&mut link), [11.0, 12.0]);
        assert_eq!(
            (link.counts(0).packets, link.counts(0).busy, link.counts(0).waited),
            (2, 2 * MS, MS.as_f64())
        );
    }

    #[test]
    fn under_a_shorter_delay_nothing_overtakes() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, Time::ZERO, 2);
        link.change(0, Time::at(3 * MS / 2), None, Some(MS));
        fill(&mut link, Time::ms(3), 1);
        // The first has left already; the others come up behind it.
        assert_eq!(arrivals(&mut link), [11.0, 11.0, 11.0]);
    }

    #[test]
    fn what_is_lost_with_the_link_was_not_transmitted() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, Time::ZERO, 5);
        assert_eq!(link.fail(0, Time::at(3 * MS / 2)).len(), 5);
        assert_eq!(link.counts(0).busy, 3 * MS / 2);
        // One waited 1 ms, three 1.5 ms.
        assert_eq!(link.counts(0).waited, 5.5 * MS.as_f64());
        assert_eq!((fill(&mut link, Time::ms(2), 1), arrivals(&mut link)), (1, vec![]));
        link.restore(0);
        fill(&mut link, Time::ms(3), 1);
        assert_eq!(arrivals(&mut link), [14.0]);
    }

    #[test]
    fn only_what_lies_within_the_time_measured_is_counted() {
        let mut link = link("{ kind = \"none\" }");
        fill(&mut link, Time::ms(99), 3);
        assert_eq!((link.counts(0).busy, link.counts(0).waited), (MS, 2.0 * MS.as_f64()));
    }
}
