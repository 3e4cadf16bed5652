//! Sequence-number arithmetic: sets of ranges, and the way between 32-bit numbers on the wire and 64-bit ones inside.

/// The 64-bit sequence number that `wire` stands for, given a 64-bit number known to be within 2³¹ of it
/// (RFC 9293, section 3.4: comparison modulo 2³²).
pub fn widen(wire: u32, near: u64) -> u64 {
    let delta = wire.wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(i64::from(delta))
}

/// A set of sequence numbers as disjoint, non-touching ranges `[from, to)` in rising order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    /// The ranges, rising.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that holds `seq`.
    pub fn containing(&self, seq: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|r| r.1 <= seq);
        self.ranges.get(at).copied().filter(|r| r.0 <= seq)
    }

    /// Adds `[from, to)`, merging with what it overlaps or touches.
    pub fn insert(&mut self, from: u64, to: u64) {
        debug_assert!(from < to);
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
    pub fn trim_below(&mut self, seq: u64) {
        let gone = self.ranges.partition_point(|r| r.1 <= seq);
        self.ranges.drain(..gone);
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
    fn widening_goes_to_the_nearest_number() {
        assert_eq!(widen(5, 0xffff_fff0), 0x1_0000_0005);
        assert_eq!(widen(0xffff_fff0, 0x1_0000_0005), 0xffff_fff0);
        assert_eq!(widen(7, 3), 7);
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
                ranges.insert(from, from + len);
                set[from as usize..(from + len) as usize].fill(true);
            }
            ranges.trim_below(below);
            set[..below as usize].fill(false);
            for (seq, &inside) in set.iter().enumerate() {
                prop_assert_eq!(ranges.containing(seq as u64).is_some(), inside);
            }
            prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
