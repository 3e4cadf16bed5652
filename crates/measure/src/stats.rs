//! Means with confidence intervals over independent replications.
//!
//! Intervals are two-sided, of 97.5 % confidence by default, by Student's t with n − 1 degrees of freedom. Variants
//! are compared by paired differences over common seeds (the engines give them common random numbers), ratios of
//! means by Fieller's theorem for paired samples.
//!
//! A replication without a value (`None`) is counted as incomplete and left out of the mean; who reads an estimate
//! must look at [`Estimate::incomplete`]. Checks of studies refuse incomplete estimates.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence of all intervals unless told otherwise.
pub const CONFIDENCE: f64 = 0.975;

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Replications with a value.
    pub n: usize,
    /// Replications without one.
    pub incomplete: usize,
    /// Mean of those with a value; `None` without any.
    pub mean: Option<f64>,
    /// Standard deviation (n − 1 in the denominator); `None` below two.
    pub sd: Option<f64>,
    /// Half the width of the mean's confidence interval; `None` below two.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// Of samples in a fixed order, so that rounding is the same every time.
    pub fn of(samples: impl IntoIterator<Item = Option<f64>>, confidence: f64) -> Self {
        let mut incomplete = 0;
        let values: Vec<f64> = samples
            .into_iter()
            .filter_map(|s| {
                incomplete += usize::from(s.is_none());
                s
            })
            .collect();
        let n = values.len();
        let mean = (n > 0).then(|| mean_of(&values));
        let sd = mean.filter(|_| n > 1).map(|m| covariance(&values, m, &values, m).sqrt());
        let half_width = sd.map(|sd| student_t(confidence, n - 1) * sd / (n as f64).sqrt());
        Self { n, incomplete, mean, sd, half_width }
    }

    /// Both ends of the interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (mean, half) = (self.mean?, self.half_width?);
        Some((mean - half, mean + half))
    }

    /// Half-width over the mean's magnitude: what a precision target bounds. 0 where all samples agree.
    pub fn relative_half_width(&self) -> Option<f64> {
        match (self.mean?, self.half_width?) {
            (_, 0.0) => Some(0.0),
            (0.0, _) => None,
            (mean, half) => Some(half / mean.abs()),
        }
    }
}

/// The difference a − b, replication by replication; a pair of which either lacks its value is incomplete.
pub fn paired_difference(pairs: &[(Option<f64>, Option<f64>)], confidence: f64) -> Estimate {
    Estimate::of(pairs.iter().map(|&(a, b)| Some(a? - b?)), confidence)
}

/// A ratio of means with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Pairs with both values.
    pub n: usize,
    /// Pairs without.
    pub incomplete: usize,
    /// Mean of the numerators over mean of the denominators; `None` without pairs or over 0.
    pub ratio: Option<f64>,
    /// Both ends of the interval; `None` below two pairs, or where the denominator cannot be told from 0, so that
    /// the interval has no bounds.
    pub interval: Option<(f64, f64)>,
}

/// Ratio of the means of paired samples, its interval by Fieller's theorem (E. C. Fieller 1954, "Some problems in
/// interval estimation", J. R. Statist. Soc. B 16): all ρ for which the mean of a − ρ·b does not differ from 0.
pub fn ratio_of_means(pairs: &[(Option<f64>, Option<f64>)], confidence: f64) -> Ratio {
    let whole: Vec<(f64, f64)> = pairs.iter().filter_map(|&(a, b)| Some((a?, b?))).collect();
    let (a, b): (Vec<f64>, Vec<f64>) = whole.into_iter().unzip();
    let n = a.len();
    let incomplete = pairs.len() - n;
    if n == 0 {
        return Ratio { n, incomplete, ratio: None, interval: None };
    }
    let (mean_a, mean_b) = (mean_of(&a), mean_of(&b));
    let ratio = (mean_b != 0.0).then(|| mean_a / mean_b);
    let interval = (n > 1).then(|| {
        let scale = student_t(confidence, n - 1).powi(2) / n as f64;
        let aa = mean_a * mean_a - scale * covariance(&a, mean_a, &a, mean_a);
        let ab = mean_a * mean_b - scale * covariance(&a, mean_a, &b, mean_b);
        let bb = mean_b * mean_b - scale * covariance(&b, mean_b, &b, mean_b);
        let root = (ab * ab - aa * bb).max(0.0).sqrt();
        (bb > 0.0).then_some(((ab - root) / bb, (ab + root) / bb))
    });
    Ratio { n, incomplete, ratio, interval: interval.flatten() }
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn covariance(a: &[f64], mean_a: f64, b: &[f64], mean_b: f64) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    sum / (a.len() as f64 - 1.0)
}

/// The quantile of Student's t that a two-sided interval of this confidence reaches to.
fn student_t(confidence: f64, degrees: usize) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees as f64) {
        Ok(t) => t.inverse_cdf(0.5 + confidence / 2.0),
        // Not reached: callers have at least two samples.
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs().max(1.0)
    }

    #[test]
    fn student_t_has_the_values_of_the_tables() {
        assert!(near(student_t(0.95, 4), 2.776445));
        assert!(near(student_t(0.99, 29), 2.756386));
        assert!((student_t(0.975, 29) - 2.3638).abs() < 1e-3);
    }

    #[test]
    fn the_mean_comes_with_its_interval() {
        let e = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0].map(Some), 0.95);
        assert_eq!((e.n, e.incomplete, e.mean), (5, 0, Some(3.0)));
        assert!(near(e.sd.unwrap(), 1.5811388));
        assert!(near(e.half_width.unwrap(), 2.776445 * 1.5811388 / 5f64.sqrt()));
        assert!(near(e.relative_half_width().unwrap(), e.half_width.unwrap() / 3.0));
    }

    #[test]
    fn missing_values_are_counted_and_never_averaged() {
        let e = Estimate::of([Some(1.0), None, Some(3.0), None], CONFIDENCE);
        assert_eq!((e.n, e.incomplete, e.mean), (2, 2, Some(2.0)));
        let none = Estimate::of([None, None], CONFIDENCE);
        assert_eq!((none.n, none.incomplete, none.mean, none.interval()), (0, 2, None, None));
        let one = Estimate::of([Some(4.0)], CONFIDENCE);
        assert_eq!((one.mean, one.sd, one.half_width), (Some(4.0), None, None));
    }

    #[test]
    fn pairing_takes_the_common_noise_away() {
        let noise = [0.3, -1.2, 2.5, 0.1, -0.7];
        let pairs: Vec<_> = noise.iter().map(|e| (Some(10.0 + e), Some(9.0 + e))).collect();
        let d = paired_difference(&pairs, CONFIDENCE);
        assert!(near(d.mean.unwrap(), 1.0) && d.half_width.unwrap() < 1e-9);
        let holed = paired_difference(&[(Some(1.0), None), (Some(2.0), Some(1.0))], CONFIDENCE);
        assert_eq!((holed.n, holed.incomplete), (1, 1));
    }

    #[test]
    fn a_ratio_whose_denominator_may_be_zero_has_no_interval() {
        let pairs: Vec<_> = [(1.0, -1.0), (1.1, 1.0), (0.9, 0.1)].map(|(a, b)| (Some(a), Some(b))).into();
        let r = ratio_of_means(&pairs, CONFIDENCE);
        assert!(r.ratio.is_some() && r.interval.is_none());
    }

    #[test]
    fn proportional_samples_have_an_exact_ratio() {
        let pairs: Vec<_> = [1.0, 2.0, 4.0, 3.0].map(|b| (Some(2.0 * b), Some(b))).into();
        let r = ratio_of_means(&pairs, 0.5);
        let (low, high) = r.interval.unwrap();
        assert!(near(r.ratio.unwrap(), 2.0) && near(low, 2.0) && near(high, 2.0), "{r:?}");
    }

    proptest! {
        #[test]
        fn the_ends_of_a_ratio_are_where_the_difference_is_just_not_zero(
            pairs in proptest::collection::vec((90.0f64..110.0, 40.0f64..60.0), 3..30)
        ) {
            let both: Vec<_> = pairs.iter().map(|&(a, b)| (Some(a), Some(b))).collect();
            let r = ratio_of_means(&both, CONFIDENCE);
            if let Some((low, high)) = r.interval {
                prop_assert!(low <= r.ratio.unwrap() && r.ratio.unwrap() <= high);
                for end in [low, high] {
                    let d = Estimate::of(pairs.iter().map(|&(a, b)| Some(a - end * b)), CONFIDENCE);
                    prop_assert!((d.mean.unwrap().abs() - d.half_width.unwrap()).abs() < 1e-4, "{d:?}");
                }
            }
        }
    }
}
