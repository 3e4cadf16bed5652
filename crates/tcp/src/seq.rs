//! Sequence numbers: a type of their own, sets of ranges of them, and the way between 32-bit numbers on the wire and 64-bit
//! ones inside.

use smallvec::SmallVec;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A sequence number, or an acknowledgement number: a place in the stream of one direction, of 64 bits, which never wraps.
/// SYN is number 0, the first byte of data number 1; FIN takes one, too.
///
/// The difference of two places is a length, and a place and a length are a place:
///
/// ```
/// use truckee_tcp::Seq;
/// let (una, nxt) = (Seq::at(1001), Seq::at(3001));
/// assert_eq!(nxt - una, 2000);
/// assert_eq!(una + 2000, nxt);
/// ```
///
/// Two places have no sum, none has a multiple or a share, and neither a number of bytes nor a time is one. What does not
/// make sense does not compile:
///
/// ```compile_fail,E0308
/// # use truckee_tcp::Seq;
/// let sum = Seq::at(1001) + Seq::at(3001);
/// ```
/// ```compile_fail,E0369
/// # use truckee_tcp::Seq;
/// let twice = Seq::at(1001) * 2;
/// ```
/// ```compile_fail,E0308
/// # use truckee_tcp::{Departure, Seq, Time};
/// let sent = Departure::of_bytes(Time::ZERO, 1000);
/// let all_acknowledged = sent.seq <= sent.in_flight; // a place is not an amount
/// ```
/// ```compile_fail,E0605
/// # use truckee_tcp::Seq;
/// let window = Seq::at(3001) as f64;
/// ```
///
/// Lengths stay plain numbers. They may hold SYN and FIN, which are no bytes, and nearly all of them are reckoned with as
/// `f64`, where a window is kept ([`crate::Window`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Seq(u64);

impl Seq {
    /// The SYN's; below all data.
    pub const ZERO: Self = Self(0);
    /// That of the first byte of data.
    pub const FIRST: Self = Self(1);
    /// Above all data.
    pub const MAX: Self = Self(u64::MAX);

    /// The place so many numbers after the SYN.
    #[inline(always)]
    pub const fn at(number: u64) -> Self {
        Self(number)
    }

    /// How many numbers after the SYN it is.
    #[inline(always)]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Its lower half: what a header has of it, where the connection's numbers begin with 0.
    #[inline(always)]
    pub const fn on_wire(self) -> u32 {
        self.0 as u32
    }

    /// The place `len` numbers later, [`Seq::MAX`] if that lies beyond it.
    #[inline(always)]
    pub const fn saturating_add(self, len: u64) -> Self {
        Self(self.0.saturating_add(len))
    }

    /// The place `len` numbers earlier, the SYN's if that lies before it.
    #[inline(always)]
    pub const fn earlier(self, len: u64) -> Self {
        Self(self.0.saturating_sub(len))
    }

    /// The length from `earlier` to here, none if that is later.
    #[inline(always)]
    pub const fn saturating_sub(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// How far it lies after `other`; before it, where that is negative. They are within 2⁶³ of each other.
    #[inline(always)]
    pub const fn offset_from(self, other: Self) -> i64 {
        self.0.wrapping_sub(other.0) as i64
    }

    /// The place so far after this one, or before it; within the numbers that there are.
    #[inline(always)]
    pub const fn saturating_offset(self, by: i64) -> Self {
        Self(self.0.saturating_add_signed(by))
    }
}

impl Add<u64> for Seq {
    type Output = Self;
    #[inline(always)]
    fn add(self, len: u64) -> Self {
        Self(self.0 + len)
    }
}

impl Sub<u64> for Seq {
    type Output = Self;
    #[inline(always)]
    fn sub(self, len: u64) -> Self {
        Self(self.0 - len)
    }
}

impl AddAssign<u64> for Seq {
    #[inline(always)]
    fn add_assign(&mut self, len: u64) {
        self.0 += len;
    }
}

impl Sub for Seq {
    type Output = u64;
    #[inline(always)]
    fn sub(self, earlier: Self) -> u64 {
        self.0 - earlier.0
    }
}

truckee_time::ordered!(Seq);

/// As a number, as what is written of events has it.
impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The 64-bit sequence number that `wire` stands for, given a 64-bit number known to be within 2³¹ of it
/// (RFC 9293, section 3.4: comparison modulo 2³²).
pub fn widen(wire: u32, near: Seq) -> Seq {
    let delta = wire.wrapping_sub(near.on_wire()) as i32;
    near.saturating_offset(i64::from(delta))
}

/// A set of sequence numbers as disjoint, non-touching ranges `[from, to)` in rising order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges {
    /// Mostly there is one: that needs no room elsewhere.
    ranges: SmallVec<[(Seq, Seq); 1]>,
}

impl Ranges {
    /// The ranges, rising.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.ranges
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that holds `seq`.
    pub fn containing(&self, seq: Seq) -> Option<(Seq, Seq)> {
        let at = self.ranges.partition_point(|r| r.1 <= seq);
        self.ranges.get(at).copied().filter(|r| r.0 <= seq)
    }

    /// Adds `[from, to)`, merging with what it overlaps or touches.
    pub fn insert(&mut self, from: Seq, to: Seq) {
        debug_assert!(from < to);
        // Nearly always it continues the last one, or begins another behind it.
        match self.ranges.last_mut() {
            Some(last) if from >= last.0 && from <= last.1 => return last.1 = last.1.max(to),
            Some(last) if from > last.1 => return self.ranges.push((from, to)),
            _ => {}
        }
        let first = self.ranges.partition_point(|r| r.1 < from);
        let last = self.ranges.partition_point(|r| r.0 <= to);
        if first == last {
            self.ranges.insert(first, (from, to));
        } else {
            let merged = (from.min(self.ranges[first].0), to.max(self.ranges[last - 1].1));
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
    }

    /// Forgets everything below `seq`.
    pub fn trim_below(&mut self, seq: Seq) {
        let gone = self.ranges.partition_point(|r| r.1 <= seq);
        self.ranges.drain(..gone);
        if self.ranges.is_empty() {
            self.ranges.shrink_to_fit(); // most are empty nearly always
        }
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(seq);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_and_lengths_reckon_as_their_kinds_do() {
        let (una, nxt) = (Seq::FIRST, Seq::at(3001));
        assert_eq!((nxt - una, una + 3000, nxt - 3000), (3000, nxt, una));
        assert_eq!((una.saturating_sub(nxt), nxt.saturating_sub(una)), (0, 3000));
        assert_eq!((una.offset_from(nxt), nxt.saturating_offset(-3000)), (-3000, una));
        assert_eq!((una.earlier(2), Seq::MAX.saturating_add(1)), (Seq::ZERO, Seq::MAX));
        assert_eq!((una.max(nxt), una.min(nxt), Seq::at(1 << 32 | 7).on_wire()), (nxt, una, 7));
    }

    #[test]
    fn a_place_is_no_larger_than_a_number_and_looks_like_one() {
        assert_eq!((size_of::<Seq>(), size_of::<Option<Seq>>()), (8, size_of::<Option<u64>>()));
        assert_eq!(format!("{:?}", (Seq::at(1001), Some(Seq::MAX))), "(1001, Some(18446744073709551615))");
    }

    #[test]
    fn widening_goes_to_the_nearest_number() {
        assert_eq!(widen(5, Seq::at(0xffff_fff0)), Seq::at(0x1_0000_0005));
        assert_eq!(widen(0xffff_fff0, Seq::at(0x1_0000_0005)), Seq::at(0xffff_fff0));
        assert_eq!(widen(7, Seq::at(3)), Seq::at(7));
    }

    proptest! {
        #[test]
        fn ranges_are_the_set_they_were_built_from(
            inserts in prop::collection::vec((0u64..200, 1u64..30), 0..40),
            below in 0u64..200,
        ) {
            let mut ranges = Ranges::default();
            let mut set = [false; 240];
            for (from, len) in inserts {
                ranges.insert(Seq::at(from), Seq::at(from + len));
                set[from as usize..(from + len) as usize].fill(true);
            }
            ranges.trim_below(Seq::at(below));
            set[..below as usize].fill(false);
            for (seq, &inside) in set.iter().enumerate() {
                prop_assert_eq!(ranges.containing(Seq::at(seq as u64)).is_some(), inside);
            }
            prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
