//! A lane whose queue decides when a packet leaves it: its departures are not known when packets come, so the lane asks to be
//! called whenever its transmitter is free and something waits.

use super::super::Cause;
use super::super::transit::PacketId;
use super::{AMPLE, Lane, Offer, Offered, Waiting};
use truckee_channel::Time;
use truckee_channel::queue::{Seen, Served};

impl Lane {
    /// Whether its queue decides when packets leave it.
    pub fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// A packet comes to such a lane. Adds to `lost` what is dropped for it, itself perhaps. Returns when [`Self::serve`] is
    /// to be called, if that has become sooner.
    pub fn enqueue(
        &mut self,
        now: Time,
        packet: PacketId,
        offer: Offer,
        lost: &mut Vec<(PacketId, Cause)>,
    ) -> Option<Time> {
        let early = match self.meet(now, &offer) {
            Ok(early) => early,
            Err(cause) => {
                lost.push((packet, cause));
                return None;
            }
        };
        self.note_waiting(now);
        let queue = self.active.as_mut()?;
        let waiting = Waiting { packet, offer, early };
        if queue.bytes() + u64::from(offer.bytes) > AMPLE {
            self.dropped.push(waiting);
        } else {
            let seen = Seen { bytes: offer.bytes, flow: offer.key, ecn: offer.ecn };
            queue.offer(now, seen, waiting, &mut self.dropped);
        }
        let wake = queue.arm(self.free_at.max(now));
        self.book_dropped(lost);
        self.note_length(now);
        wake
    }

    /// The transmitter of such a lane may be free at `now`: what leaves its queue and becomes of it, and when to call again.
    /// Adds to `lost` what is dropped at its head. A call that was asked for before a change dies.
    pub fn serve(
        &mut self,
        now: Time,
        lost: &mut Vec<(PacketId, Cause)>,
    ) -> (Option<(PacketId, Offered)>, Option<Time>) {
        self.note_waiting(now);
        let Some(queue) = self.active.as_mut().filter(|queue| queue.is_due(now)) else { return (None, None) };
        let served = queue.serve(now, &mut self.dropped);
        self.book_dropped(lost);
        self.note_length(now);
        let Some(Served { packet: Waiting { packet, offer, early }, marked, came, .. }) = served else {
            return (None, None);
        };
        if came == now {
            self.remainder = 0; // the transmitter was idle
        }
        self.counts.marks += u64::from(marked);
        let became = self.transmit(now, &offer, early, marked);
        let again = self.active.as_mut().and_then(|queue| queue.arm(self.free_at));
        (Some((packet, became)), again)
    }

    fn book_dropped(&mut self, lost: &mut Vec<(PacketId, Cause)>) {
        self.counts.queue_drops += self.dropped.len() as u64;
        lost.extend(self.dropped.drain(..).map(|waiting| (waiting.packet, Cause::Queue)));
    }

    /// Enters in the books for how long packets have waited in a queue that decides when they leave.
    pub(super) fn note_waiting(&mut self, now: Time) {
        let (first, last) = self.measured;
        if let Some(queue) = &mut self.active {
            self.counts.waited += queue.note(now, |from, to| to.clamp(first, last) - from.clamp(first, last));
        }
    }
}
