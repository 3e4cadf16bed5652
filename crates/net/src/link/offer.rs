//! What becomes of packets at links of which more is asked than room, and over those without a convoy.

use super::Links;
use super::special::Offered;
use crate::packet::{DropCause, InTransit, Packet, PacketId};
use truckee_tcp::Time;

impl Links {
    /// Offers a packet to a link that [`Self::cross`] does not do for; `flow` is its flow's number for the channel.
    pub fn offer(
        &mut self,
        index: usize,
        now: Time,
        id: PacketId,
        packet: &mut Packet,
        flow: u32,
    ) -> Offered {
        let link = &mut self.links[index];
        let Some(special) = &mut link.special else { return Offered::Dropped(DropCause::Outage, now) };
        if special.active.is_some() {
            return Offered::Waits;
        }
        let wire = &mut self.wires[link.wire as usize];
        match special.filter {
            None => special.offer::<false>(wire, &mut link.transmitter, self.measured, now, id, packet, flow),
            Some(_) => {
                special.offer::<true>(wire, &mut link.transmitter, self.measured, now, id, packet, flow)
            }
        }
    }

    /// Packet `id`, just accepted, will arrive once more as `copy`.
    pub fn note_copy(&mut self, index: usize, packet: &Packet, id: PacketId, copy: PacketId) {
        if let Some(filter) = self.links[index].special.as_mut().and_then(|special| special.filter.as_mut()) {
            filter.hold_copy(packet, id, copy);
        }
    }

    /// Puts a packet on its way over a link without a convoy. Returns the time of its next event if that changed.
    pub fn carry(&mut self, index: usize, item: InTransit) -> Option<Time> {
        let special = self.links[index].special.as_mut()?;
        let next = special.transit.as_mut()?.add(item).filter(|next| *next < special.armed)?;
        special.armed = next;
        Some(next)
    }

    /// An event of a link without a convoy at `now`: the packet that has arrived, if one has, and when the event is to come
    /// again. One left over from before a change dies.
    pub fn arrive(&mut self, index: usize, now: Time) -> (Option<PacketId>, Option<Time>) {
        let Some(special) = &mut self.links[index].special else { return (None, None) };
        let Some(transit) = &mut special.transit else { return (None, None) };
        let (arrived, next) = transit.arrive(now);
        if special.armed != now {
            return (arrived, None);
        }
        special.armed = next.unwrap_or(Time::MAX);
        (arrived, next)
    }
}
