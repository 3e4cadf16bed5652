//! What waits at a station of a medium, in any of the house's queues. Not for: the books, which are a link's.

use super::transmitter::BITS_NS;
use crate::packet::{DropCause, Packet, PacketId, bits};
use std::collections::VecDeque;
use truckee_channel::queue::{ActiveQueue, Limit, Red, Seen};
use truckee_channel::random::stream_seed;
use truckee_scenario::model::Queue;
use truckee_tcp::{Span, Time};

/// A packet, and the station that it goes to next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnHop {
    pub id: PacketId,
    /// By its place on the medium.
    pub to: u32,
}

/// What a station's queue is told of a packet beside it.
#[derive(Debug, Clone, Copy)]
pub struct Coming {
    /// What tells flows apart.
    pub flow: u64,
    /// Packets that the station has taken over and not begun to send: they wait as well.
    pub ready: usize,
    /// Bit/s, for a queue that reckons with how long a packet takes.
    pub rate: u64,
}

/// What a queue says of a packet that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Taken,
    /// And marked.
    Marked,
    Refused,
}

/// The queue of a station.
#[derive(Debug)]
pub struct StationQueue {
    waiting: Waiting,
    red: Option<Red>,
    limit: Limit,
    /// Since when nothing waits.
    empty_since: Option<Time>,
    /// Until when the packets that wait are in the books.
    noted: Time,
    /// What was dropped in one call.
    dropped: Vec<OnHop>,
}

#[derive(Debug)]
enum Waiting {
    /// With the size of each, and of all.
    Fifo(VecDeque<(OnHop, u32)>, u64),
    Active(Box<ActiveQueue<OnHop>>),
}

impl StationQueue {
    /// An empty one, whose random streams are called by `name`.
    pub fn new(queue: &Queue, seed: u64, name: &str) -> Self {
        let fifo = || Waiting::Fifo(VecDeque::new(), 0);
        let (waiting, red) = match queue {
            Queue::DropTail { .. } => (fifo(), None),
            Queue::Red(config) => (fifo(), Some(Red::new(config, seed, name))),
            Queue::Active(config) => {
                let seed = stream_seed(seed, &format!("{name}/queue"));
                (Waiting::Active(Box::new(ActiveQueue::new(config, seed))), None)
            }
        };
        Self {
            waiting,
            red,
            limit: queue.limit(),
            empty_since: Some(Time::ZERO),
            noted: Time::ZERO,
            dropped: Vec::new(),
        }
    }

    /// How many packets wait.
    pub fn len(&self) -> usize {
        match &self.waiting {
            Waiting::Fifo(fifo, _) => fifo.len(),
            Waiting::Active(queue) => queue.packets(),
        }
    }

    /// Since when what waits is not in the books; from now on it is.
    pub fn note(&mut self, now: Time) -> Time {
        let since = self.noted;
        self.noted = self.noted.max(now);
        since
    }

    /// A packet comes, and may be marked. Adds to `lost` what is dropped for it, itself not if it is refused.
    pub fn offer(
        &mut self,
        now: Time,
        hop: OnHop,
        packet: &mut Packet,
        coming: &Coming,
        lost: &mut Vec<(PacketId, DropCause)>,
    ) -> Answer {
        let mut answer = Answer::Taken;
        match &mut self.waiting {
            Waiting::Fifo(fifo, bytes) => {
                let waiting = (fifo.len() + coming.ready) as u64;
                let takes = || Span::ns(u64::from(packet.wire) * BITS_NS / coming.rate);
                if let Some(red) = &mut self.red
                    && red.hits(now, waiting, self.empty_since, takes())
                {
                    if !(red.marks() && packet.is(bits::ECN_CAPABLE)) {
                        return Answer::Refused;
                    }
                    packet.bits |= bits::CONGESTION_EXPERIENCED;
                    answer = Answer::Marked;
                }
                if waiting > 0 && !self.limit.has_room(waiting, *bytes, packet.wire) {
                    return Answer::Refused;
                }
                fifo.push_back((hop, packet.wire));
                *bytes += u64::from(packet.wire);
            }
            Waiting::Active(queue) => {
                let ecn = packet.is(bits::ECN_CAPABLE);
                let seen = Seen { bytes: packet.wire, flow: coming.flow, ecn };
                queue.offer(now, seen, hop, &mut self.dropped);
                lost.extend(self.dropped.drain(..).map(|hop| (hop.id, DropCause::Queue)));
            }
        }
        self.empty_since = None;
        answer
    }

    /// The packet that is next, and whether it carries a mark from here on. Adds to `lost` what is dropped at the head.
    pub fn take(&mut self, now: Time, lost: &mut Vec<(PacketId, DropCause)>) -> Option<(OnHop, bool)> {
        let taken = match &mut self.waiting {
            Waiting::Fifo(fifo, bytes) => fifo.pop_front().map(|(hop, size)| {
                *bytes -= u64::from(size);
                (hop, false)
            }),
            Waiting::Active(queue) => {
                let served = queue.serve(now, &mut self.dropped);
                lost.extend(self.dropped.drain(..).map(|hop| (hop.id, DropCause::Queue)));
                served.map(|served| (served.packet, served.marked))
            }
        };
        if self.len() == 0 {
            self.empty_since = Some(now);
        }
        taken
    }
}
