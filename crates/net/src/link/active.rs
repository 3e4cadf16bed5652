//! A link whose queue decides when a packet leaves it: its departures are not known when packets come, so the link asks to
//! be called whenever its transmitter is free and something waits.

use super::Links;
use super::queue::Waiting;
use super::special::{Offered, Special, cause_of};
use super::transmitter::{Measured, Transmitter};
use crate::packet::{DropCause, Packet, PacketId, Pool, bits};
use truckee_channel::Fate;
use truckee_channel::queue::{Seen, Served};
use truckee_tcp::Time;

/// What leaves a queue at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    pub packet: PacketId,
    pub became: Offered,
}

impl Special {
    /// Enters in the books for how long packets have waited.
    pub fn note_active(&mut self, transmitter: &mut Transmitter, measured: Measured, now: Time) {
        let Some(active) = &mut self.active else { return };
        let waiting = active.queue.packets();
        if waiting > 0 && now > active.noted {
            transmitter.counts.waited += waiting as f64 * measured.between(active.noted, now).as_f64();
        }
        active.noted = now;
    }

    /// The same after a change of how many wait.
    fn note_active_length(&mut self, now: Time) {
        if let (Some(active), Some(lengths)) = (&self.active, &mut self.lengths) {
            lengths.push((now, active.queue.packets() as u32));
        }
    }

    /// Takes all out that waits.
    pub fn empty_active(
        &mut self,
        transmitter: &mut Transmitter,
        measured: Measured,
        now: Time,
    ) -> Vec<PacketId> {
        self.note_active(transmitter, measured, now);
        let Some(active) = &mut self.active else { return Vec::new() };
        let mut lost = Vec::new();
        active.queue.clear(&mut lost);
        active.armed = Time::MAX;
        self.note_active_length(now);
        lost.into_iter().map(|waiting| waiting.id).collect()
    }
}

impl Links {
    /// Whether a link's queue decides when packets leave it.
    pub fn is_active(&self, index: usize) -> bool {
        self.links[index].special.as_ref().is_some_and(|special| special.active.is_some())
    }

    /// A packet comes to such a link; `flow` is its flow's number for the channel, `key` tells flows apart. Adds to `lost`
    /// what is dropped for it. Returns when [`Self::serve`] is to be called, if that has become sooner.
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue(
        &mut self,
        index: usize,
        now: Time,
        id: PacketId,
        packet: &mut Packet,
        (flow, key): (u32, u64),
        lost: &mut Vec<(PacketId, DropCause)>,
    ) -> Option<Time> {
        let link = &mut self.links[index];
        let wire = &self.wires[link.wire as usize];
        let special = link.special.as_mut()?;
        if !special.up {
            lost.push((id, DropCause::Outage));
            return None;
        }
        let early = special.after_channel.then(|| special.fate(now, packet, flow));
        if let Some(Fate::Lost(loss)) = early {
            lost.push((id, cause_of(loss)));
            return None;
        }
        special.note_active(&mut link.transmitter, self.measured, now);
        if let Some(router) = &mut special.router {
            router.on_packet(now, packet, wire.rate);
        }
        let active = special.active.as_mut()?;
        let seen = Seen { bytes: packet.wire, flow: key, ecn: packet.is(bits::ECN_CAPABLE) };
        active.queue.offer(now, seen, Waiting { id, flow, early }, &mut active.dropped);
        lost.extend(active.dropped.drain(..).map(|waiting| (waiting.id, DropCause::Queue)));
        let wake = active.arm(link.transmitter.free_at.max(now));
        special.note_active_length(now);
        wake
    }

    /// The transmitter of such a link may be free at `now`: what leaves its queue, and when to call again. Adds to `lost`
    /// what is dropped at its head. A call that was asked for before a change dies.
    pub fn serve(
        &mut self,
        index: usize,
        now: Time,
        packets: &mut Pool,
        lost: &mut Vec<(PacketId, DropCause)>,
    ) -> (Option<Left>, Option<Time>) {
        let link = &mut self.links[index];
        let wire = &mut self.wires[link.wire as usize];
        let Some(special) = &mut link.special else { return (None, None) };
        special.note_active(&mut link.transmitter, self.measured, now);
        let Some(active) = &mut special.active else { return (None, None) };
        if active.armed != now {
            return (None, None);
        }
        active.armed = Time::MAX;
        let served = active.queue.serve(now, &mut active.dropped);
        lost.extend(active.dropped.drain(..).map(|waiting| (waiting.id, DropCause::Queue)));
        special.note_active_length(now);
        let Some(Served { packet: Waiting { id, flow, early }, marked, came, .. }) = served else {
            return (None, None);
        };
        if marked {
            packets[id].bits |= bits::CONGESTION_EXPERIENCED;
            special.rare.marks += u64::from(self.measured.holds(now));
        }
        let packet = &packets[id];
        let transmitter = &mut link.transmitter;
        let departure = match &mut special.capacity {
            None if came < now => transmitter.serve_waiting(wire, self.measured, now, packet.wire),
            None => transmitter.serve_now(wire, self.measured, now, packet.wire),
            Some(capacity) => transmitter.serve_recorded(capacity, self.measured, now, packet.wire),
        };
        let fate = match early {
            Some(fate) => fate,
            None => special.fate(departure, packet, flow),
        };
        let became = special.leave(wire, departure, fate);
        let again = special.active.as_mut().and_then(|active| active.arm(departure));
        (Some(Left { packet: id, became }), again)
    }
}
