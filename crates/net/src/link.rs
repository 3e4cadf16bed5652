//! One direction of a link: a queue, a transmitter, a medium.
//!
//! The transmitter serves first come, first served, so a packet's departure is known when it is accepted, and so is its
//! arrival at the far end: a packet costs one event a hop. A link whose rate or delay changes in mid run works the
//! times of what it holds out anew (`change`). Here is what every packet needs, in one cache line a link; what only some
//! links have, and do, is in `special`.

mod active;
mod change;
mod interface;
mod offer;
mod queue;
mod setup;
mod special;
mod station;
mod transmitter;

pub use active::Left;
pub use special::{Accepted, Offered, Role};
pub use station::OnHop;
pub use transmitter::{BITS_NS, Counts, Rare};

use special::Special;
use transmitter::{Measured, Nature, Transmitter, Wire};
use truckee_channel::CROSS_TRAFFIC;
use truckee_scenario::outcome::Drops;
use truckee_tcp::{Span, Time, cache};

/// One direction of a link.
#[derive(Debug)]
#[repr(C, align(64))]
struct Link {
    transmitter: Transmitter,
    special: Option<Box<Special>>,
    wire: u32,
}

const _: () = assert!(size_of::<Link>() == 64);

/// Why a packet does not simply arrive at the far end of a link.
#[derive(Debug, Clone, Copy)]
pub enum Detour {
    /// The queue has no room.
    Full,
    /// Ask [`Links::pass_noise`].
    Noisy,
    /// Ask [`Links::offer`].
    Special,
}

/// All links of a network.
#[derive(Debug)]
pub struct Links {
    links: Vec<Link>,
    wires: Vec<Wire>,
    measured: Measured,
    /// Their books before each packet that was worked out ahead of its coming, where a run may end before.
    ahead: Vec<Page>,
}

/// A link's books as they are until a packet comes.
#[derive(Debug)]
struct Page {
    /// When it comes.
    at: Time,
    link: u32,
    counts: Counts,
    free_at: Time,
}

impl Links {
    /// How many.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Passes a packet of so many bytes that comes at `now` on over a link that asks no more of it: when it arrives at the far
    /// end, and in which convoy.
    #[inline(always)]
    pub fn cross(&mut self, index: usize, now: Time, bytes: u32) -> Result<(Time, u32), Detour> {
        let link = &mut self.links[index];
        let wire = &mut self.wires[link.wire as usize];
        match wire.nature {
            Nature::Plain | Nature::DropTail => {}
            Nature::Noisy => return Err(Detour::Noisy),
            Nature::Special => return Err(Detour::Special),
        }
        let arrival = if link.transmitter.free_at <= now {
            link.transmitter.serve_now(wire, &self.measured, now, bytes) + wire.delay
        } else {
            if let (Nature::DropTail, Some(special)) = (wire.nature, &mut link.special)
                && !special.queue.admit(now, link.transmitter.free_at)
            {
                return Err(Detour::Full);
            }
            link.transmitter.serve_next(wire, &self.measured, now, bytes).saturating_add(wire.delay)
        };
        Ok((arrival, wire.convoy))
    }

    /// Has the processor fetch what the next packet will need of a link.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        if let Some(link) = self.links.get(index) {
            cache::prefetch(link);
        }
    }

    /// From now on all is measured.
    pub fn begin_measuring(&mut self) {
        self.measured.whole_until = self.measured.to;
    }

    /// Whether packets leave a link in the order in which they came, as they were when they came.
    pub fn keeps_packets(&self, index: usize) -> bool {
        self.links[index].special.as_ref().is_none_or(|special| special.keeps_packets())
    }

    /// Whether a link works.
    #[inline]
    pub fn is_up(&self, index: usize) -> bool {
        self.links[index].special.as_ref().is_none_or(|special| special.up)
    }

    /// Bit/s.
    pub fn rate(&self, index: usize) -> u64 {
        self.wires[self.links[index].wire as usize].rate
    }

    /// Propagation delay.
    pub fn delay(&self, index: usize) -> Span {
        self.wires[self.links[index].wire as usize].delay
    }

    /// How long a link will take for what waits at `now`, and for what is known to come.
    pub fn backlog(&self, index: usize, now: Time) -> Span {
        self.links[index].transmitter.free_at.saturating_sub(now)
    }

    /// What a link has counted.
    pub fn counts(&self, index: usize) -> Counts {
        self.links[index].transmitter.counts
    }

    /// What a link has lost, and other rare things.
    pub fn rare(&self, index: usize) -> Rare {
        self.links[index].special.as_ref().map_or(Rare::default(), |special| special.rare)
    }

    /// The drops of a link, for whoever counts them.
    pub fn drops_mut(&mut self, index: usize) -> &mut Drops {
        &mut self.links[index].special.get_or_insert_default().rare.drops
    }

    /// Until when a link's counts go: where a run ends at `end`, before its time, because all flows are done, the link is
    /// seen to finish what it had accepted.
    pub fn counted_until(&self, index: usize, end: Time) -> Time {
        self.links[index].transmitter.free_at.min(self.measured.to).max(end)
    }
}

/// The flow number that a channel sees of cross traffic.
pub const NO_FLOW: u32 = CROSS_TRAFFIC;
