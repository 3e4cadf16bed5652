//! Thinning of long series: no more points than a page can bear, with every extreme kept.
//!
//! A series is cut into buckets of the same number of points, of each of which the lowest and the highest stay, in
//! their order, and so do the first and the last point of all: no spike is lost, however narrow.

/// Indices of at most `most` points of `y` to keep, in order; all where there are no more.
pub(super) fn kept(y: &[f64], most: usize) -> Vec<usize> {
    if y.len() <= most || most < 4 {
        return (0..y.len()).collect();
    }
    let buckets = (most - 2) / 2;
    let inner = y.len() - 2;
    let mut indices = vec![0];
    for bucket in 0..buckets {
        let (from, to) = (1 + bucket * inner / buckets, 1 + (bucket + 1) * inner / buckets);
        let by_height = |a: &usize, b: &usize| y[*a].total_cmp(&y[*b]);
        let ends = [(from..to).min_by(by_height), (from..to).max_by(by_height)];
        let [Some(low), Some(high)] = ends else { continue };
        indices.push(low.min(high));
        if low != high {
            indices.push(low.max(high));
        }
    }
    indices.push(y.len() - 1);
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_series_is_whole() {
        assert_eq!(kept(&[3.0, 1.0, 2.0], 10), [0, 1, 2]);
        assert!(kept(&[], 10).is_empty());
    }

    proptest! {
        #[test]
        fn no_extreme_is_lost(y in prop::collection::vec(-1e6..1e6f64, 1..3000), most in 8usize..400) {
            let indices = kept(&y, most);
            prop_assert!(indices.len() <= most.max(y.len().min(most)));
            prop_assert!(indices.windows(2).all(|w| w[0] < w[1]));
            prop_assert_eq!((indices[0], indices[indices.len() - 1]), (0, y.len() - 1));
            let ends = |y: &mut dyn Iterator<Item = f64>| {
                y.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
            };
            prop_assert_eq!(ends(&mut indices.iter().map(|&k| y[k])), ends(&mut y.iter().copied()));
        }
    }
}
