//! Quantiles of times, in as much memory as the times are spread over.
//!
//! The buckets are those of an HDR histogram: exact below 256 ns, above that a 128th of a power of two wide, so that a
//! quantile is wrong by 0.4 % at the most. Only buckets that are not empty are kept: one of a whole range takes some
//! kilobytes, which is too much for each direction of thousands of connections.

use super::room;
use truckee_tcp::Nanos;

/// Buckets between a power of two and the next, as a power of two.
const BITS: u32 = 7;

/// How often which times occurred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Buckets and how many times fell into each, in rising order.
    counts: Vec<(u16, u64)>,
}

impl Quantiles {
    pub(super) fn add(&mut self, time: Nanos) {
        let bucket = bucket(time);
        match self.counts.binary_search_by_key(&bucket, |&(b, _)| b) {
            Ok(at) => self.counts[at].1 += 1,
            Err(at) => self.counts.insert(at, (bucket, 1)),
        }
    }

    /// The time that a share of all is not above; none where there are none.
    pub fn at(&self, share: f64) -> Option<Nanos> {
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

fn bucket(time: Nanos) -> u16 {
    let shift = (u64::BITS - time.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(shift) << BITS) + (time >> shift)) as u16
}

/// The middle of a bucket.
fn middle(bucket: u16) -> Nanos {
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
