//! The way out of a node into a medium: a queue, from which the station takes packets over, one or as many as an aggregate
//! has, when it can. When they leave it, and whether they arrive, the medium says.

use super::special::{Role, Special};
use super::station::{Answer, Coming, OnHop, StationQueue};
use super::transmitter::{Measured, Nature, Transmitter, Wire};
use super::{Link, Links};
use crate::packet::{DropCause, Packet, PacketId, Pool, bits};
use truckee_scenario::model::{Direction, Queue};
use truckee_tcp::{Span, Time};

impl Special {
    /// Enters in the books for how long packets have waited for the station to take them over.
    pub fn note_station(&mut self, transmitter: &mut Transmitter, measured: &Measured, now: Time) {
        let Some(queue) = &mut self.station else { return };
        let since = queue.note(now);
        let waiting = queue.len();
        if waiting > 0 && now > since {
            transmitter.counts.waited += waiting as f64 * measured.between(since, now).as_f64();
        }
    }

    /// The same after a change of how many wait.
    fn note_station_length(&mut self, now: Time) {
        if let (Some(queue), Some(lengths)) = (&self.station, &mut self.lengths) {
            lengths.push((now, queue.len() as u32));
        }
    }
}

impl Links {
    /// Adds the way out of a station, whose random streams are called by `name`. `rate`: what data goes at, for those
    /// who ask.
    pub fn add_station(&mut self, queue: &Queue, rate: u64, seed: u64, role: Role, name: &str) {
        let direction = Direction {
            rate,
            delay: Span::ZERO,
            queue: queue.clone(),
            ack_filter: false,
            after_channel: false,
            channel: Default::default(),
        };
        self.wires.push(Wire::new(&direction, Nature::Special));
        let special = Special::of_station(StationQueue::new(queue, seed, name), role);
        let wire = (self.wires.len() - 1) as u32;
        self.links.push(Link { transmitter: Transmitter::default(), special: Some(Box::new(special)), wire });
    }

    /// A packet comes to the way out of a station, which has so many ready; `flow` tells flows apart. Adds to `lost` what
    /// is dropped for it.
    pub fn hand_over(
        &mut self,
        (index, now): (usize, Time),
        hop: OnHop,
        packet: &mut Packet,
        (ready, flow): (usize, u64),
        lost: &mut Vec<(PacketId, DropCause)>,
    ) {
        let link = &mut self.links[index];
        let rate = self.wires[link.wire as usize].rate;
        let Some(special) = link.special.as_deref_mut() else { return };
        special.note_station(&mut link.transmitter, &self.measured, now);
        let Some(queue) = &mut special.station else { return };
        let answer = queue.offer(now, hop, packet, &Coming { flow, ready, rate }, lost);
        if answer == Answer::Refused {
            return lost.push((hop.id, DropCause::Queue));
        }
        if let Some(router) = &mut special.router {
            router.on_packet(now, packet, rate);
        }
        if self.measured.holds(now) {
            special.rare.marks += u64::from(answer == Answer::Marked);
            link.transmitter.counts.packets += 1;
            link.transmitter.counts.bytes += u64::from(packet.wire);
        }
        special.note_station_length(now);
    }

    /// Whether anything waits at the way out of a station.
    #[inline]
    pub fn has_waiting(&self, index: usize) -> bool {
        let station = self.links[index].special.as_ref().and_then(|special| special.station.as_ref());
        station.is_some_and(|queue| queue.len() > 0)
    }

    /// The packet that a station takes over next. Adds to `lost` what is dropped at the queue's head.
    pub fn take_over(
        &mut self,
        (index, now): (usize, Time),
        packets: &mut Pool,
        lost: &mut Vec<(PacketId, DropCause)>,
    ) -> Option<OnHop> {
        let link = &mut self.links[index];
        let special = link.special.as_deref_mut()?;
        if special.station.as_ref()?.len() == 0 {
            return None;
        }
        special.note_station(&mut link.transmitter, &self.measured, now);
        let (hop, marked) = special.station.as_mut()?.take(now, lost)?;
        if marked {
            packets[hop.id].bits |= bits::CONGESTION_EXPERIENCED;
            special.rare.marks += u64::from(self.measured.holds(now));
        }
        special.note_station_length(now);
        Some(hop)
    }
}
