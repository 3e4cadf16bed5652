//! One segment in the air, as it is told of and as it is kept.

use crate::{Seq, Time, Transmission};

/// Bits of [`Sent::marks`].
pub mod marks {
    /// Carries FIN behind its payload.
    pub const FIN: u8 = 1;
    /// Was sent more than once.
    pub const RESENT: u8 = 2;
    /// Reported by a SACK block.
    pub const SACKED: u8 = 4;
    /// Taken to be lost (RFC 6675: IsLost), while not sacked.
    pub const LOST: u8 = 8;
    /// A retransmission of it is in the air, while not sacked.
    pub const REPAIR: u8 = 16;
    /// Was overdue once: nothing looks at it again before it has been sent again.
    pub const SEEN: u8 = 32;
}

/// A segment sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// First sequence number not yet acknowledged.
    pub seq: Seq,
    /// Sequence number after it.
    pub end: Seq,
    /// When it was last sent.
    pub sent: Time,
    /// Which transmission that was.
    pub number: Transmission,
    /// Bits of [`marks`].
    pub marks: u8,
    /// Of what has just been sent for the second time: when it was for the first.
    pub first: Option<Time>,
}

impl Sent {
    /// Whether the bit is set.
    pub fn is(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }

    /// Sequence numbers it occupies.
    pub fn span(&self) -> u64 {
        self.end - self.seq
    }

    /// Whether it was sent more than once.
    pub fn is_resent(&self) -> bool {
        self.is(marks::RESENT)
    }
}

/// A [`Sent`] as it is kept, many of them: it begins where the one before ends, the first at the first unacknowledged number.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// The lower half of [`Sent::end`]. A window has less than 2³² bytes.
    pub end: u32,
    pub number: Transmission,
    /// When it was last sent, above [`MARK_BITS`] bits of [`marks`]: no run is longer than 2⁵⁸ ns, 9 years.
    stamp: u64,
}

const MARK_BITS: u32 = 6;

impl Slot {
    #[inline]
    pub fn new(end: Seq, number: Transmission, now: Time, marks: u8) -> Self {
        Self { end: end.on_wire(), number, stamp: now.nanos() << MARK_BITS | u64::from(marks) }
    }

    #[inline]
    pub fn sent(self) -> Time {
        Time::ns(self.stamp >> MARK_BITS)
    }

    #[inline]
    pub fn marks(self) -> u8 {
        self.stamp as u8 & ((1 << MARK_BITS) - 1)
    }

    #[inline]
    pub fn is(self, mark: u8) -> bool {
        self.stamp & u64::from(mark) != 0
    }

    pub fn mark(&mut self, mark: u8) {
        self.stamp |= u64::from(mark);
    }

    pub fn unmark(&mut self, mark: u8) {
        self.stamp &= !u64::from(mark);
    }

    /// When it was sent first, if this is the second time.
    pub fn sent_again(&mut self, now: Time, number: Transmission) -> Option<Time> {
        let first = (!self.is(marks::RESENT)).then_some(self.sent());
        *self = Self {
            number,
            stamp: now.nanos() << MARK_BITS | u64::from(self.marks() | marks::RESENT),
            ..*self
        };
        first
    }
}
