//! Quantiles of times, or of any whole numbers, in as much memory as they are spread over.
//!
//! The buckets are those of an HDR histogram: exact below 256, above that a 128th of a power of two wide, so that a
//! quantile is wrong by 0.4 % at the most. Only buckets that are not empty are kept: one of a whole range takes some
//! kilobytes, which is too much for each direction of thousands of connections.

use super::memory::room;

/// Buckets between a power of two and the next, as a power of two.
const BITS: u32 = 7;

/// How often which values occurred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Buckets and how many values fell into each, in rising order.
    counts: Vec<(u16, u64)>,
}

impl Quantiles {
    pub(super) fn add(&mut self, value: u64) {
        self.add_weighted(value, 1);
    }

    /// A value that counts as so many.
    pub(crate) fn add_weighted(&mut self, value: u64, weight: u64) {
        let bucket = bucket(value);
        match self.counts.binary_search_by_key(&bucket, |&(b, _)| b) {
            Ok(at) => self.counts[at].1 += weight,
            Err(at) => self.counts.insert(at, (bucket, weight)),
        }
    }

    /// The value that a share of all is not above; none where there are none.
    pub fn at(&self, share: f64) -> Option<u64> {
        let all: u64 = self.counts.iter().map(|&(_, n)| n).sum();
        let wanted = (share * all as f64).ceil().max(1.0) as u64;
        let mut passed = 0;
        let reached = |&&(_, n): &&(u16, u64)| {
            passed += n;
            passed >= wanted
        };
        self.counts.iter().find(reached).or(self.counts.last()).map(|&(b, _)| middle(b))
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        room::<(u16, u64)>(self.counts.capacity())
    }
}

fn bucket(value: u64) -> u16 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(shift) << BITS) + (value >> shift)) as u16
}

/// The middle of a bucket.
fn middle(bucket: u16) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    let first = u64::from(bucket - (shift << BITS)) << shift;
    first + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quantile_is_the_time_that_so_many_are_not_above() {
        let mut quantiles = Quantiles::default();
        assert_eq!(quantiles.at(0.5), None);
        (1..=100).for_each(|time| quantiles.add(time));
        assert_eq!(
            [0.0, 0.01, 0.5, 0.95, 1.0].map(|share| quantiles.at(share)),
            [1, 1, 50, 95, 100].map(Some)
        );
    }

    #[test]
    fn a_value_counts_by_its_weight() {
        let mut quantiles = Quantiles::default();
        quantiles.add_weighted(7, 10);
        quantiles.add_weighted(3, 9);
        assert_eq!((quantiles.at(0.5), quantiles.at(0.47)), (Some(7), Some(3)));
    }

    proptest! {
        #[test]
        fn a_bucket_holds_what_is_near_its_middle(time: u64) {
            let found = middle(bucket(time));
            prop_assert!(found.abs_diff(time) <= time >> (BITS + 1), "{time}: {found}");
        }

        #[test]
        fn buckets_rise_with_what_they_hold(a: u64, b: u64) {
            prop_assert!(a <= b || bucket(a) >= bucket(b));
        }
    }
}
