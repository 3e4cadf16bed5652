//! What varies about a path: shadowing and fading.
//!
//! Both are constant for a block of time and drawn anew for the next one, each pair of stations from its own numbers,
//! which are found by pair and block and not by turn: what a pair meets does not depend on the traffic, is the same both
//! ways, and needs no memory. The blocks of different pairs begin at different times.

use super::decibels::from_db;
use crate::error::between;
use crate::{ConfigError, Span, Time};
use truckee_channel::random::{normal_quantile, split_mix};

/// Log-normal shadowing (Rappaport, 4.9.2): a normal number of decibels for each pair of stations, kept for the
/// correlation time and then drawn anew; a block in place of the exponential decay of Gudmundson (1991). Draws beyond
/// four standard deviations are cut there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shadowing {
    /// Standard deviation in dB; 4 to 12 is usual.
    pub sigma_db: f64,
    /// How long it stays.
    pub correlation: Span,
}

/// Block fading: the power of the sum of many paths, kept for the coherence time, with mean 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    /// Rice's factor: the power of the direct path over that of all others. At 0 there is none: Rayleigh.
    pub k: f64,
    /// How long it stays: about 9/(16π·f_D) with the Doppler shift f_D = v/λ (Rappaport, 5.4.3).
    pub coherence: Span,
}

/// Beyond so many standard deviations shadowing is cut.
const CUT: f64 = 4.0;
/// Peaks of fading beyond 10 dB above the mean (one in 22,000 of Rayleigh's) are not followed to stations that are out
/// of reach without them.
const PEAK: f64 = 10.0;

/// How often a factor of power doubles for each of its decibels.
const OCTAVES: f64 = std::f64::consts::LOG2_10 / 10.0;

impl Shadowing {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        between("shadowing's sigma in dB", self.sigma_db, 0.0, 30.0)?;
        between("shadowing's correlation time in s", self.correlation.seconds(), 1e-6, 1e9)
    }
}

impl Fading {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        between("fading's Rice factor", self.k, 0.0, 1e6)?;
        between("fading's coherence time in s", self.coherence.seconds(), 1e-6, 1e9)
    }
}

/// Two stations, whichever way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair(u64);

impl Pair {
    /// Of two stations' numbers.
    pub fn new(a: u32, b: u32) -> Self {
        Self(u64::from(a.min(b)) << 32 | u64::from(a.max(b)))
    }
}

/// Draws of shadowing and fading.
#[derive(Debug, Clone, Copy)]
pub struct Variation {
    shadowing: Option<Shadowing>,
    fading: Option<Fading>,
    shadow_seed: u64,
    fade_seed: u64,
}

/// The block that `at` lies in, and when the next one begins.
fn block(seed: u64, pair: Pair, length: Span, at: Time) -> (u64, Time) {
    let (length, at) = (length.nanos(), at.nanos());
    let offset = split_mix(seed ^ split_mix(pair.0)) % length;
    // The end of time has no next block.
    let Some(since) = at.checked_add(offset) else { return (u64::MAX / length, Time::MAX) };
    let number = since / length;
    let next = (number + 1).checked_mul(length).map(|next| next - offset);
    (number, next.map_or(Time::MAX, Time::ns))
}

/// Two independent uniform numbers of a pair and a block, in (0, 1).
fn uniforms(seed: u64, pair: Pair, block: u64) -> [f64; 2] {
    let key = split_mix(seed ^ split_mix(pair.0 ^ split_mix(block)));
    [0, 1].map(|n| ((split_mix(key.wrapping_add(n)) >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64))
}

impl Variation {
    /// What is drawn of `seed`. The settings are taken to be [checked](super::Propagation).
    pub fn new(shadowing: Option<Shadowing>, fading: Option<Fading>, seed: u64) -> Self {
        Self {
            shadowing,
            fading,
            shadow_seed: truckee_channel::stream_seed(seed, "wireless shadowing"),
            fade_seed: truckee_channel::stream_seed(seed, "wireless fading"),
        }
    }

    /// By how much the power can be above its mean.
    pub fn most(&self) -> f64 {
        self.shadowing.map_or(1.0, |s| from_db(CUT * s.sigma_db)) * self.fading.map_or(1.0, |_| PEAK)
    }

    /// The factor of power of a pair at a time, and when it changes.
    pub fn gain(&self, pair: Pair, at: Time) -> (f64, Time) {
        let (mut gain, mut until) = (1.0, Time::MAX);
        if let Some(Shadowing { sigma_db, correlation }) = self.shadowing {
            let (number, next) = block(self.shadow_seed, pair, correlation, at);
            let [p, _] = uniforms(self.shadow_seed, pair, number);
            let normal = normal_quantile(p).clamp(-CUT, CUT);
            // As from_db, at a third of the cost: three tenths of a run over shadowed paths were powers.
            gain *= libm::exp2(OCTAVES * sigma_db * normal);
            until = until.min(next);
        }
        if let Some(Fading { k, coherence }) = self.fading {
            let (number, next) = block(self.fade_seed, pair, coherence, at);
            let [a, b] = uniforms(self.fade_seed, pair, number).map(normal_quantile);
            // A direct path of power k/(k + 1), and scattered ones of power 1/(k + 1).
            let (direct, scattered) = (libm::sqrt(k / (k + 1.0)), libm::sqrt(0.5 / (k + 1.0)));
            let (re, im) = (direct + scattered * a, scattered * b);
            gain *= re * re + im * im;
            until = until.min(next);
        }
        (gain, until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(shadowing: Option<Shadowing>, fading: Option<Fading>) -> Vec<f64> {
        let variation = Variation::new(shadowing, fading, 7);
        (0..200u32)
            .flat_map(|i| (0..500u64).map(move |t| (i, t)))
            .map(|(i, t)| variation.gain(Pair::new(i, 1000), Time::ms(10 * t)).0)
            .collect()
    }

    fn mean(x: impl ExactSizeIterator<Item = f64>) -> f64 {
        let n = x.len() as f64;
        x.sum::<f64>() / n
    }

    #[test]
    fn shadowing_is_normal_in_decibels() {
        let shadowing = Shadowing { sigma_db: 6.0, correlation: Span::ms(10) };
        let db: Vec<f64> = gains(Some(shadowing), None).iter().map(|g| 10.0 * libm::log10(*g)).collect();
        let average = mean(db.iter().copied());
        let sd = libm::sqrt(mean(db.iter().map(|x| (x - average) * (x - average))));
        // 100,000 draws: the mean's standard error is 6/√100,000 = 0.019, the deviation's 0.013.
        assert!(average.abs() < 0.08, "{average}");
        assert!((sd - 6.0).abs() < 0.06, "{sd}");
        // The share beyond one standard deviation is 31.7 %.
        let beyond = mean(db.iter().map(|x| f64::from(u8::from(x.abs() > 6.0))));
        assert!((beyond - 0.3173).abs() < 0.006, "{beyond}");
    }

    #[test]
    fn rayleigh_power_is_exponential_and_rice_is_steadier() {
        let rayleigh = gains(None, Some(Fading { k: 0.0, coherence: Span::ms(10) }));
        assert!((mean(rayleigh.iter().copied()) - 1.0).abs() < 0.015);
        for level in [0.1, 1.0, 2.0] {
            let below = mean(rayleigh.iter().map(|&g| f64::from(u8::from(g < level))));
            let expected = 1.0 - libm::exp(-level);
            assert!((below - expected).abs() < 0.007, "{below} {expected}");
        }
        // Variance of Rice's power: (2k + 1)/(k + 1)².
        let k = 5.0;
        let rice = gains(None, Some(Fading { k, coherence: Span::ms(10) }));
        let average = mean(rice.iter().copied());
        let variance = mean(rice.iter().map(|g| (g - average) * (g - average)));
        assert!((average - 1.0).abs() < 0.01, "{average}");
        assert!((variance / ((2.0 * k + 1.0) / ((k + 1.0) * (k + 1.0))) - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn a_gain_holds_for_its_block_and_both_ways() {
        let fading = Fading { k: 0.0, coherence: Span::ms(3) };
        let variation =
            Variation::new(Some(Shadowing { sigma_db: 4.0, correlation: Span::ms(40) }), Some(fading), 1);
        let mut at = Time::ZERO;
        for _ in 0..1000 {
            let (gain, until) = variation.gain(Pair::new(3, 9), at);
            assert!(until > at && until - at <= Span::ms(3));
            assert_eq!(variation.gain(Pair::new(9, 3), until - Span::ns(1)), (gain, until));
            assert_ne!(variation.gain(Pair::new(3, 9), until).0, gain);
            at = until;
        }
        let (_, until) = variation.gain(Pair::new(3, 9), Time::MAX);
        assert_eq!(until, Time::MAX, "the end of time is in some block, too");
    }

    #[test]
    fn pairs_and_blocks_are_unrelated() {
        let variation = Variation::new(None, Some(Fading { k: 0.0, coherence: Span::ms(1) }), 1);
        let x: Vec<f64> = (0..20_000).map(|t| variation.gain(Pair::new(1, 2), Time::ms(t)).0 - 1.0).collect();
        let y: Vec<f64> = (0..20_000).map(|t| variation.gain(Pair::new(1, 3), Time::ms(t)).0 - 1.0).collect();
        // Standard error of a correlation over 20,000: 0.007.
        let across = mean(x.iter().zip(&y).map(|(a, b)| a * b));
        let along = mean(x.windows(2).map(|w| w[0] * w[1]));
        assert!(across.abs() < 0.03 && along.abs() < 0.03, "{across} {along}");
    }
}
