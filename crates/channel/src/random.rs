//! Random streams and the draws made from them: the same numbers on every platform, for ever.
//!
//! The generator is xoshiro256++ by name (Blackman & Vigna 2021), and everything above it is written here rather than
//! taken from a library that may change its method: integers become floats by a fixed rule, transcendental functions
//! come from `libm`. Not for: secrets.

use crate::Span;
pub use crate::quantile::normal_quantile;
pub use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The seed of one component's stream: FNV-1a (64 bit) of its name, combined with the run's seed by the finaliser of
/// SplitMix64 (Steele, Lea & Flood 2014) so that neighbouring seeds and similar names give unrelated streams.
///
/// Components of a run are told apart by name and not by order, so that adding one leaves the others as they were.
pub fn stream_seed(run_seed: u64, component: &str) -> u64 {
    split_mix(fnv_1a(component.as_bytes()) ^ split_mix(run_seed))
}

/// The random stream of one component of a run.
pub fn stream(run_seed: u64, component: &str) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(stream_seed(run_seed, component))
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): neighbouring numbers become unrelated ones. For draws that are
/// found by their place (a pair of stations, a block of time) and not by their turn.
#[inline]
pub fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Uniform in [0, 1): the upper 53 bits of a draw.
#[inline]
pub fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// True with probability `p`: never at 0 (or NaN), always at 1.
#[inline]
pub fn chance(rng: &mut impl Rng, p: f64) -> bool {
    uniform(rng) < p
}

/// A whole number, uniform in [0, max] (multiply and shift; the bias is below max/2^64).
#[inline]
pub fn up_to(rng: &mut impl Rng, max: u64) -> u64 {
    ((u128::from(rng.next_u64()) * (u128::from(max) + 1)) >> 64) as u64
}

/// An exponential time of mean `mean`, to the nearest nanosecond.
#[inline]
pub fn exponential(rng: &mut impl Rng, mean: Span) -> Span {
    nanos(-libm::log(1.0 - uniform(rng)) * mean.as_f64())
}

/// A Rayleigh time of mean `mean`, to the nearest nanosecond: the length of a vector of two independent centred normal
/// components of standard deviation `mean`·√(2/π).
#[inline]
pub fn rayleigh(rng: &mut impl Rng, mean: Span) -> Span {
    let sigma = mean.as_f64() * libm::sqrt(2.0 / std::f64::consts::PI);
    nanos(sigma * libm::sqrt(-2.0 * libm::log(1.0 - uniform(rng))))
}

/// A Pareto time: at least `scale`, P(X > x) = (scale/x)^shape. Its mean, scale·shape/(shape − 1), is finite for a shape
/// above 1.
#[inline]
pub fn pareto(rng: &mut impl Rng, scale: Span, shape: f64) -> Span {
    nanos(libm::pow(1.0 - uniform(rng), -1.0 / shape) * scale.as_f64())
}

/// A normal time, 0 where the draw is negative.
#[inline]
pub fn normal(rng: &mut impl Rng, mean: Span, sd: Span) -> Span {
    let (radius, cosine) = polar(rng);
    nanos(mean.as_f64() + sd.as_f64() * radius * cosine)
}

/// A normal number of mean 0 and standard deviation 1.
#[inline]
pub fn standard_normal(rng: &mut impl Rng) -> f64 {
    let (radius, cosine) = polar(rng);
    radius * cosine
}

/// The factors of a normal number (Box & Muller 1958).
#[inline]
fn polar(rng: &mut impl Rng) -> (f64, f64) {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform(rng)));
    let angle = 2.0 * std::f64::consts::PI * uniform(rng);
    (radius, libm::cos(angle))
}

/// Nearest nanosecond; negative times (and NaN) become 0, times beyond the range its end.
pub(crate) fn nanos(x: f64) -> Span {
    Span::truncated(libm::round(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation.
    fn moments(n: u32, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = draw();
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        (mean, libm::sqrt(squares / f64::from(n) - mean * mean))
    }

    fn near(measured: f64, expected: f64, share: f64) {
        assert!((measured / expected - 1.0).abs() < share, "measured {measured}, expected {expected}");
    }

    #[test]
    fn the_mixing_functions_are_the_published_ones() {
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(split_mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn neighbouring_seeds_and_names_give_unrelated_streams() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..200 {
            for link in 0..50 {
                assert!(seen.insert(stream(seed, &format!("link {link}")).next_u64()));
            }
        }
        // Half of the bits differ on average: 32 of 64, with a standard deviation of 4 in one comparison.
        let bits: u32 = (0..1000).map(|s| (stream_seed(s, "a") ^ stream_seed(s + 1, "a")).count_ones()).sum();
        near(f64::from(bits) / 1000.0, 32.0, 0.02);
    }

    #[test]
    fn exponential_times_have_mean_and_deviation_alike() {
        let mut rng = stream(1, "exponential");
        let (mean, sd) = moments(200_000, || exponential(&mut rng, Span::ms(1)).as_f64());
        near(mean, 1e6, 0.01);
        near(sd, 1e6, 0.02);
        assert_eq!(exponential(&mut rng, Span::ZERO), Span::ZERO);
    }

    #[test]
    fn rayleigh_times_have_the_moments_of_the_law() {
        let mut rng = stream(1, "rayleigh");
        let (mean, sd) = moments(200_000, || rayleigh(&mut rng, Span::ms(1)).as_f64());
        near(mean, 1e6, 0.005);
        // Var/E² = 4/π − 1.
        near(sd, 1e6 * libm::sqrt(4.0 / std::f64::consts::PI - 1.0), 0.01);
        let (inverse, _) =
            moments(200_000, || 1e6 / rayleigh(&mut rng, Span::ms(1)).max(Span::ns(1)).as_f64());
        near(inverse, std::f64::consts::PI / 2.0, 0.01);
        assert_eq!(rayleigh(&mut rng, Span::ZERO), Span::ZERO);
    }

    #[test]
    fn normal_times_have_the_moments_asked_for() {
        let mut rng = stream(1, "normal");
        let (mean, sd) = moments(200_000, || normal(&mut rng, Span::ms(100), Span::ms(10)).as_f64());
        near(mean, 1e8, 0.001);
        near(sd, 1e7, 0.01);
        assert_eq!(normal(&mut rng, Span::ns(7), Span::ZERO), Span::ns(7));
    }

    #[test]
    fn normal_times_below_zero_become_zero() {
        let mut rng = stream(2, "normal");
        let zeros = (0..10_000).filter(|_| normal(&mut rng, Span::ZERO, Span::ms(1)) == Span::ZERO).count();
        near(zeros as f64, 5_000.0, 0.04);
        // E[max(0, X)] of a centred normal is sd/√(2π).
        let (mean, _) = moments(200_000, || normal(&mut rng, Span::ZERO, Span::ms(1)).as_f64());
        near(mean, 1e6 / libm::sqrt(2.0 * std::f64::consts::PI), 0.02);
    }

    #[test]
    fn pareto_times_have_the_moments_asked_for() {
        let mut rng = stream(1, "pareto");
        let (scale, shape) = (Span::ms(1), 4.0);
        let mut least = Span::MAX;
        let (mean, _) = moments(200_000, || {
            let x = pareto(&mut rng, scale, shape);
            least = least.min(x);
            x.as_f64()
        });
        near(mean, 1e6 * shape / (shape - 1.0), 0.01);
        assert!(least >= scale);
        assert_eq!(pareto(&mut rng, Span::MAX, 1e-3), Span::MAX, "saturates");
    }

    #[test]
    fn whole_numbers_reach_both_ends() {
        let mut rng = stream(1, "up to");
        let mut count = [0u32; 4];
        for _ in 0..40_000 {
            count[up_to(&mut rng, 3) as usize] += 1;
        }
        count.iter().for_each(|&n| near(f64::from(n), 10_000.0, 0.04));
        assert_eq!(up_to(&mut rng, 0), 0);
        assert!((0..100).any(|_| up_to(&mut rng, u64::MAX) > u64::MAX / 2));
    }
}
