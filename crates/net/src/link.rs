//! One direction of a link: a queue, a transmitter, a medium.
//!
//! The transmitter serves first come, first served, so a packet's departure is known when it is accepted, and so is its
//! arrival at the far end: a packet costs one event a hop. A link whose rate or delay changes in mid run works the
//! times of what it holds out anew (`change`). Here is what every packet needs, in one cache line a link; what only some
//! links have, and do, is in `special`.

mod active;
mod change;
mod interface;
mod special;
mod station;

pub use active::Left;
pub use special::{Accepted, Offered, Role};
pub use station::OnHop;

use special::Special;
use truckee_channel::{CROSS_TRAFFIC, Capacity};
use truckee_scenario::model::Direction;
use truckee_scenario::outcome::Drops;
use truckee_tcp::{Span, Time};

/// What a link counts of the time that is measured.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Counts {
    /// Packets that came within that time and were accepted.
    pub packets: u64,
    pub bytes: u64,
    /// Time spent transmitting.
    pub busy: Span,
    /// ∫ packets waiting dt, ns.
    pub waited: f64,
}

/// What a link has lost within the time that is measured, which the network counts, and other rare things.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rare {
    pub drops: Drops,
    pub marks: u64,
    pub acks_filtered: u64,
}

/// The time that is measured: from the end of the warm-up to the end of the run, after which nothing happens.
#[derive(Debug, Clone, Copy)]
struct Measured {
    from: Time,
    to: Time,
    /// Once that time has begun, its end: what is over until then is counted whole. Before, zero.
    whole_until: Time,
}

impl Measured {
    fn new(from: Time, to: Time) -> Self {
        Self { from, to, whole_until: if from == Time::ZERO { to } else { Time::ZERO } }
    }

    fn holds(self, time: Time) -> bool {
        time >= self.from
    }

    /// The part of the time from `from` to `to` that is measured.
    #[inline(always)]
    fn between(self, from: Time, to: Time) -> Span {
        if self.from <= from && to <= self.to {
            return to - from; // as nearly always
        }
        to.max(self.from).min(self.to) - from.max(self.from).min(self.to)
    }
}

/// Rate and delay: shared by all links that are alike and plain.
#[derive(Debug)]
struct Wire {
    rate: u64,
    delay: Span,
    /// How long the last size of packet takes, in whole nanoseconds, and the rest in units of 1/rate ns.
    service_time: Span,
    service_remainder: u64,
    service_bytes: u32,
    /// The convoy of what crosses it, or [`NO_CONVOY`].
    convoy: u32,
    nature: Nature,
}

/// What a link asks of each packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// It takes every packet at its rate and delivers it: no limit, no RED, no channel, no recorded capacity, no changes, no
    /// ACK filter, nobody who asks for a rate or for the length of its queue.
    Plain,
    /// The same behind a queue that holds so many packets.
    DropTail,
    /// The same with a channel that keeps order.
    Noisy,
    /// Anything else.
    Special,
}

/// The link's packets are in a transit of its own.
const NO_CONVOY: u32 = u32::MAX;

/// One direction of a link.
#[derive(Debug)]
#[repr(C, align(64))]
struct Link {
    transmitter: Transmitter,
    special: Option<Box<Special>>,
    wire: u32,
}

const _: () = assert!(size_of::<Link>() == 64);

/// What sends packets one after the other, and its books.
#[derive(Debug, Default)]
struct Transmitter {
    /// When it will be idle.
    free_at: Time,
    /// Fraction of a nanosecond by which `free_at` is early, in units of 1/rate ns.
    remainder: u64,
    counts: Counts,
}

/// A plain link before it has a wire.
const UNWIRED: u32 = u32::MAX;

/// Nanoseconds that a byte takes at 1 bit/s.
pub const BITS_NS: u64 = 8 * 1_000_000_000;

impl Wire {
    fn new(direction: &Direction, nature: Nature) -> Self {
        Self {
            rate: direction.rate,
            delay: direction.delay,
            service_time: Span::ZERO,
            service_remainder: 0,
            service_bytes: 0,
            convoy: NO_CONVOY,
            nature,
        }
    }

    /// Works out how long a packet of so many bytes takes, if the one before was not as long.
    #[inline(always)]
    fn look_up(&mut self, bytes: u32) {
        if self.service_bytes != bytes {
            self.work_out(bytes);
        }
    }

    #[inline(never)]
    fn work_out(&mut self, bytes: u32) {
        let work = u64::from(bytes) * BITS_NS;
        self.service_bytes = bytes;
        self.service_time = Span::ns(work / self.rate);
        self.service_remainder = work % self.rate;
    }
}

impl Transmitter {
    /// Serves a packet that comes at `now`; when that ends.
    #[inline(always)]
    fn serve(&mut self, wire: &mut Wire, measured: &Measured, now: Time, bytes: u32) -> Time {
        if self.free_at > now {
            self.serve_next(wire, measured, now, bytes)
        } else {
            self.serve_now(wire, measured, now, bytes)
        }
    }

    /// The same where it is idle.
    #[inline(always)]
    fn serve_now(&mut self, wire: &mut Wire, measured: &Measured, now: Time, bytes: u32) -> Time {
        wire.look_up(bytes);
        // A whole packet at 1 bit/s takes less than a week: no sum of a time and that can overflow.
        let departure = now + wire.service_time;
        self.remainder = wire.service_remainder;
        self.count(measured, now, now, departure, bytes);
        departure
    }

    /// The same where it is busy.
    #[inline(always)]
    fn serve_next(&mut self, wire: &mut Wire, measured: &Measured, now: Time, bytes: u32) -> Time {
        let start = self.start(measured, now);
        let departure = start.saturating_add(self.service_time(wire, bytes));
        self.count(measured, now, start, departure, bytes);
        departure
    }

    /// Serves one that has waited until the one before it ended, `now`: that one's fraction of a nanosecond goes on.
    fn serve_waiting(&mut self, wire: &mut Wire, measured: &Measured, now: Time, bytes: u32) -> Time {
        let departure = now.saturating_add(self.service_time(wire, bytes));
        self.count(measured, now, now, departure, bytes);
        departure
    }

    /// Serves one that comes at `now`, or waited until then, by a recorded capacity.
    #[inline(always)]
    fn serve_recorded(
        &mut self,
        capacity: &mut Capacity,
        measured: &Measured,
        now: Time,
        bytes: u32,
    ) -> Time {
        let start = self.start(measured, now);
        let departure = capacity.depart(start, bytes);
        self.count(measured, now, start, departure, bytes);
        departure
    }

    /// When service of a packet that comes at `now` begins.
    #[inline(always)]
    fn start(&mut self, measured: &Measured, now: Time) -> Time {
        if self.free_at > now {
            // Signed: a conversion of one instruction, where that of all u64 takes eight. No time is above 2^63.
            let counted = if self.free_at <= measured.whole_until {
                self.free_at - now
            } else {
                measured.between(now, self.free_at)
            };
            self.counts.waited += counted.nanos() as i64 as f64;
            self.free_at
        } else {
            self.remainder = 0;
            now
        }
    }

    /// How long the next packet is in transmission, in whole nanoseconds; the fractions add up over a busy period.
    #[inline(always)]
    fn service_time(&mut self, wire: &mut Wire, bytes: u32) -> Span {
        wire.look_up(bytes);
        self.remainder += wire.service_remainder;
        let carry = self.remainder >= wire.rate;
        self.remainder -= if carry { wire.rate } else { 0 };
        wire.service_time + Span::ns(u64::from(carry))
    }

    #[inline(always)]
    fn count(&mut self, measured: &Measured, at: Time, start: Time, departure: Time, bytes: u32) {
        self.free_at = departure;
        if departure <= measured.whole_until {
            self.counts.packets += 1; // as nearly always
            self.counts.bytes += u64::from(bytes);
            self.counts.busy += departure - start;
        } else {
            self.count_at_an_end(measured, at, start, departure, bytes);
        }
    }

    /// The same where the time that is measured begins or ends meanwhile.
    #[cold]
    fn count_at_an_end(&mut self, measured: &Measured, at: Time, start: Time, departure: Time, bytes: u32) {
        if measured.holds(at) {
            self.counts.packets += 1;
            self.counts.bytes += u64::from(bytes);
        }
        self.counts.busy += measured.between(start, departure);
    }
}

/// What comes of a packet at a link that is not special.
#[derive(Debug, Clone, Copy)]
pub enum Crossing {
    /// It arrives at the far end then, in this convoy.
    Arrives(Time, u32),
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

    /// Passes a packet of so many bytes that comes at `now` on over a link that asks no more of it.
    #[inline(always)]
    pub fn cross(&mut self, index: usize, now: Time, bytes: u32) -> Crossing {
        let link = &mut self.links[index];
        let wire = &mut self.wires[link.wire as usize];
        match wire.nature {
            Nature::Plain | Nature::DropTail => {}
            Nature::Noisy => return Crossing::Noisy,
            Nature::Special => return Crossing::Special,
        }
        let arrival = if link.transmitter.free_at <= now {
            link.transmitter.serve_now(wire, &self.measured, now, bytes) + wire.delay
        } else {
            if let (Nature::DropTail, Some(special)) = (wire.nature, &mut link.special)
                && !special.queue.admit(now, link.transmitter.free_at)
            {
                return Crossing::Full;
            }
            link.transmitter.serve_next(wire, &self.measured, now, bytes).saturating_add(wire.delay)
        };
        Crossing::Arrives(arrival, wire.convoy)
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
