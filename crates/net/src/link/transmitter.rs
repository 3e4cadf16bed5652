//! What sends packets one after the other, at which rate and with which delay, and its books.

use truckee_channel::Capacity;
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
pub(super) struct Measured {
    pub(super) from: Time,
    pub(super) to: Time,
}

impl Measured {
    pub(super) fn holds(self, time: Time) -> bool {
        time >= self.from
    }

    /// The part of the time from `from` to `to` that is measured.
    #[inline(always)]
    pub(super) fn between(self, from: Time, to: Time) -> Span {
        if self.from <= from && to <= self.to {
            return to - from; // as nearly always
        }
        to.max(self.from).min(self.to) - from.max(self.from).min(self.to)
    }
}

/// Rate and delay: shared by all links that are alike and plain.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) rate: u64,
    pub(super) delay: Span,
    /// How long the last size of packet takes, in whole nanoseconds, and the rest in units of 1/rate ns.
    pub(super) service_time: Span,
    pub(super) service_remainder: u64,
    pub(super) service_bytes: u32,
    /// The convoy of what crosses it, or [`NO_CONVOY`].
    pub(super) convoy: u32,
    pub(super) nature: Nature,
}

/// What a link asks of each packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// It takes every packet at its rate and delivers it: no limit, no RED, no channel, no recorded capacity, no changes, no
    /// ACK filter, nobody who asks for a rate or for the length of its queue.
    Plain,
    /// The same behind a queue that holds so many packets.
    DropTail,
    /// Anything else.
    Special,
}

/// The link's packets are in a transit of its own.
pub(super) const NO_CONVOY: u32 = u32::MAX;

/// What sends packets one after the other, and its books.
#[derive(Debug, Default)]
pub(super) struct Transmitter {
    /// When it will be idle.
    pub(super) free_at: Time,
    /// Fraction of a nanosecond by which `free_at` is early, in units of 1/rate ns.
    pub(super) remainder: u64,
    pub(super) counts: Counts,
}

pub(super) const BITS_NS: u64 = 8 * 1_000_000_000;

impl Wire {
    pub(super) fn new(direction: &Direction, nature: Nature) -> Self {
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
    pub(super) fn look_up(&mut self, bytes: u32) {
        if self.service_bytes != bytes {
            self.work_out(bytes);
        }
    }

    #[inline(never)]
    pub(super) fn work_out(&mut self, bytes: u32) {
        let work = u64::from(bytes) * BITS_NS;
        self.service_bytes = bytes;
        self.service_time = Span::ns(work / self.rate);
        self.service_remainder = work % self.rate;
    }
}

impl Transmitter {
    /// Serves a packet that comes at `now`; when that ends.
    #[inline(always)]
    pub(super) fn serve(&mut self, wire: &mut Wire, measured: Measured, now: Time, bytes: u32) -> Time {
        if self.free_at > now {
            self.serve_next(wire, measured, now, bytes)
        } else {
            self.serve_now(wire, measured, now, bytes)
        }
    }

    /// The same where it is idle.
    #[inline(always)]
    pub(super) fn serve_now(&mut self, wire: &mut Wire, measured: Measured, now: Time, bytes: u32) -> Time {
        wire.look_up(bytes);
        // A whole packet at 1 bit/s takes less than a week: no sum of a time and that can overflow.
        let departure = now + wire.service_time;
        self.remainder = wire.service_remainder;
        self.count(measured, now, now, departure, bytes);
        departure
    }

    /// The same where it is busy.
    #[inline(always)]
    pub(super) fn serve_next(&mut self, wire: &mut Wire, measured: Measured, now: Time, bytes: u32) -> Time {
        let start = self.start(measured, now);
        let departure = start.saturating_add(self.service_time(wire, bytes));
        self.count(measured, now, start, departure, bytes);
        departure
    }

    /// Serves one that has waited until the one before it ended, `now`: that one's fraction of a nanosecond goes on.
    pub(super) fn serve_waiting(
        &mut self,
        wire: &mut Wire,
        measured: Measured,
        now: Time,
        bytes: u32,
    ) -> Time {
        let departure = now.saturating_add(self.service_time(wire, bytes));
        self.count(measured, now, now, departure, bytes);
        departure
    }

    /// Serves one that comes at `now`, or waited until then, by a recorded capacity.
    #[inline(always)]
    pub(super) fn serve_recorded(
        &mut self,
        capacity: &mut Capacity,
        measured: Measured,
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
    pub(super) fn start(&mut self, measured: Measured, now: Time) -> Time {
        if self.free_at > now {
            // Signed: a conversion of one instruction, where that of all u64 takes eight. No time is above 2^63.
            self.counts.waited += measured.between(now, self.free_at).nanos() as i64 as f64;
            self.free_at
        } else {
            self.remainder = 0;
            now
        }
    }

    /// How long the next packet is in transmission, in whole nanoseconds; the fractions add up over a busy period.
    #[inline(always)]
    pub(super) fn service_time(&mut self, wire: &mut Wire, bytes: u32) -> Span {
        wire.look_up(bytes);
        self.remainder += wire.service_remainder;
        let carry = self.remainder >= wire.rate;
        self.remainder -= if carry { wire.rate } else { 0 };
        wire.service_time + Span::ns(u64::from(carry))
    }

    #[inline(always)]
    pub(super) fn count(&mut self, measured: Measured, at: Time, start: Time, departure: Time, bytes: u32) {
        self.free_at = departure;
        if measured.from <= at && departure <= measured.to {
            self.counts.packets += 1; // as nearly always
            self.counts.bytes += u64::from(bytes);
            self.counts.busy += departure - start;
        } else {
            self.count_at_an_end(measured, at, start, departure, bytes);
        }
    }

    /// The same where the time that is measured begins or ends meanwhile.
    #[cold]
    pub(super) fn count_at_an_end(
        &mut self,
        measured: Measured,
        at: Time,
        start: Time,
        departure: Time,
        bytes: u32,
    ) {
        if measured.holds(at) {
            self.counts.packets += 1;
            self.counts.bytes += u64::from(bytes);
        }
        self.counts.busy += measured.between(start, departure);
    }
}
