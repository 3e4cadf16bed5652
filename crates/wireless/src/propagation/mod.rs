//! How strong a frame arrives: path loss by distance, and what varies about it. Not for: what a receiver makes of it.
//!
//! Gains are factors of power, not decibels, wherever they are multiplied; settings are in decibels.

mod decibels;
mod variation;

use crate::ConfigError;
use crate::error::between;
pub(crate) use decibels::from_db;
pub use variation::{Fading, Pair, Shadowing, Variation};

/// Speed of light, metres a second.
const LIGHT: f64 = 299_792_458.0;

/// A place, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Position {
    /// To the east, say.
    pub x: f64,
    /// To the north.
    pub y: f64,
    /// Above ground: where the antenna is.
    pub z: f64,
}

impl Position {
    /// A place with the antenna 1.5 m above ground, as ns-2 has it.
    pub fn on_ground(x: f64, y: f64) -> Self {
        Self { x, y, z: 1.5 }
    }

    /// Metres to another place.
    pub fn distance(&self, other: &Self) -> f64 {
        let (x, y, z) = (self.x - other.x, self.y - other.y, self.z - other.z);
        libm::sqrt(x * x + y * y + z * z)
    }

    /// Whether all coordinates are finite.
    pub fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

/// How power falls with distance. Antennas have a gain of 1. Whoever is nearer than a metre, be it at the same place,
/// counts as a metre away: the formulas are those of the far field.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum PathLoss {
    /// (λ/4πd)² (Friis 1946).
    #[default]
    FreeSpace,
    /// Over flat ground: free space up to the crossover distance 4πh₁h₂/λ, and h₁²h₂²/d⁴ beyond, with h the heights of
    /// the antennas (T. Rappaport, Wireless Communications, 2nd ed., 4.6).
    TwoRay,
    /// Free space up to `reference` metres, and beyond it a loss of 10·`exponent` dB for each tenfold distance
    /// (Rappaport, 4.9.1).
    LogDistance {
        /// 2 in free space, 2.7 to 3.5 in a town, 4 to 6 in buildings.
        exponent: f64,
        /// Metres; usually 1.
        reference: f64,
    },
}

impl PathLoss {
    /// The factor of power from one place to the other at `frequency` Hz.
    pub fn gain(&self, frequency: f64, a: &Position, b: &Position) -> f64 {
        let d = a.distance(b).max(1.0);
        let wavelength = LIGHT / frequency;
        let free = |d: f64| {
            let ratio = wavelength / (4.0 * std::f64::consts::PI * d);
            // Metre waves and longer are still near at a metre: nothing arrives stronger than it was sent.
            (ratio * ratio).min(1.0)
        };
        match *self {
            PathLoss::FreeSpace => free(d),
            PathLoss::TwoRay => {
                let heights = a.z.max(0.0) * b.z.max(0.0);
                if d <= 4.0 * std::f64::consts::PI * heights / wavelength {
                    return free(d);
                }
                (heights * heights / (d * d * d * d)).min(free(d))
            }
            PathLoss::LogDistance { reference, .. } if d <= reference => free(d),
            PathLoss::LogDistance { exponent, reference } => free(reference) * power(reference / d, exponent),
        }
    }
}

/// `base` to the `exponent`, by products where that is a whole number, as it mostly is.
fn power(base: f64, exponent: f64) -> f64 {
    let whole = exponent as u8;
    if f64::from(whole) == exponent {
        return (0..whole).fold(1.0, |power, _| power * base);
    }
    libm::pow(base, exponent)
}

/// Everything between two antennas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Propagation {
    /// Carrier, in Hz.
    pub frequency: f64,
    /// By distance.
    pub path_loss: PathLoss,
    /// By what stands between.
    pub shadowing: Option<Shadowing>,
    /// By many paths.
    pub fading: Option<Fading>,
}

impl Default for Propagation {
    /// Free space at 2.412 GHz (channel 1).
    fn default() -> Self {
        Self { frequency: 2.412e9, path_loss: PathLoss::FreeSpace, shadowing: None, fading: None }
    }
}

impl Propagation {
    /// That no setting is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        between("frequency in Hz", self.frequency, 1e6, 1e12)?;
        if let PathLoss::LogDistance { exponent, reference } = self.path_loss {
            between("path loss exponent", exponent, 0.0, 10.0)?;
            between("reference distance in m", reference, 1.0, 1e6)?;
        }
        if let Some(shadowing) = self.shadowing {
            shadowing.check()?;
        }
        if let Some(fading) = self.fading {
            fading.check()?;
        }
        Ok(())
    }

    /// How far a power reaches: metres on the ground at which what is sent with `sent` dBm falls to `received` dBm, by
    /// path loss alone; infinite if it never does within 10,000 km.
    pub fn range(&self, sent: f64, received: f64) -> f64 {
        let needed = from_db(received - sent);
        let origin = Position::on_ground(0.0, 0.0);
        let gain = |d: f64| self.path_loss.gain(self.frequency, &origin, &Position::on_ground(d, 0.0));
        let (mut near, mut far) = (1.0, 1e7);
        if gain(far) >= needed {
            return f64::INFINITY;
        }
        if gain(near) < needed {
            return 0.0;
        }
        while far - near > 1e-6 * far {
            let middle = (near + far) / 2.0;
            if gain(middle) >= needed { near = middle } else { far = middle }
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(model: PathLoss, frequency: f64, d: f64) -> f64 {
        model.gain(frequency, &Position::on_ground(0.0, 0.0), &Position::on_ground(d, 0.0))
    }

    fn near(measured: f64, expected: f64, share: f64) {
        assert!((measured / expected - 1.0).abs() < share, "measured {measured}, expected {expected}");
    }

    #[test]
    fn free_space_loses_40_db_in_the_first_metre_of_2_4_ghz() {
        // 20·log10(4π·f/c) = 40.052 dB at 2.4 GHz.
        near(-10.0 * libm::log10(gain(PathLoss::FreeSpace, 2.4e9, 1.0)), 40.052, 1e-4);
        near(gain(PathLoss::FreeSpace, 2.4e9, 100.0) * 1e4, gain(PathLoss::FreeSpace, 2.4e9, 1.0), 1e-12);
    }

    #[test]
    fn two_rays_meet_the_ranges_of_ns_2() {
        // WaveLAN at 914 MHz and 0.28183815 W: 3.652e-10 W at 250 m and 1.559e-11 W at 550 m are its thresholds. They
        // lie beyond the crossover, 4π·1.5²·914e6/c = 86.2 m.
        let power = 0.281_838_15;
        near(power * gain(PathLoss::TwoRay, 914e6, 250.0), 3.652e-10, 1e-3);
        near(power * gain(PathLoss::TwoRay, 914e6, 550.0), 1.559e-11, 1e-3);
        assert_eq!(gain(PathLoss::TwoRay, 914e6, 86.0), gain(PathLoss::FreeSpace, 914e6, 86.0));
        // The two laws meet there.
        near(gain(PathLoss::TwoRay, 914e6, 86.3), gain(PathLoss::FreeSpace, 914e6, 86.3), 0.02);
    }

    #[test]
    fn ten_times_the_distance_loses_ten_times_the_exponent() {
        let model = PathLoss::LogDistance { exponent: 3.2, reference: 1.0 };
        near(gain(model, 5e9, 50.0) / gain(model, 5e9, 500.0), libm::pow(10.0, 3.2), 1e-12);
        assert_eq!(gain(model, 5e9, 1.0), gain(PathLoss::FreeSpace, 5e9, 1.0));
    }

    #[test]
    fn one_place_for_two_is_a_metre() {
        for model in
            [PathLoss::FreeSpace, PathLoss::TwoRay, PathLoss::LogDistance { exponent: 3.0, reference: 1.0 }]
        {
            assert_eq!(gain(model, 2.4e9, 0.0), gain(model, 2.4e9, 1.0));
            assert!(gain(model, 1e6, 0.0) <= 1.0);
        }
    }

    #[test]
    fn ranges_are_where_the_power_falls_to_the_threshold() {
        let ns2 = Propagation { frequency: 914e6, path_loss: PathLoss::TwoRay, ..Propagation::default() };
        let dbm = |watts: f64| 10.0 * libm::log10(watts * 1e3);
        near(ns2.range(dbm(0.281_838_15), dbm(3.652e-10)), 250.0, 1e-3);
        assert_eq!(ns2.range(0.0, 10.0), 0.0);
        assert_eq!(Propagation::default().range(300.0, -100.0), f64::INFINITY);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let with = |path_loss, frequency| Propagation { path_loss, frequency, ..Propagation::default() };
        let message = |p: Propagation| p.check().unwrap_err().to_string();
        assert_eq!(
            message(with(PathLoss::FreeSpace, 0.0)),
            "frequency in Hz: 0 is not between 1000000 and 1000000000000"
        );
        let log = PathLoss::LogDistance { exponent: f64::NAN, reference: 1.0 };
        assert_eq!(message(with(log, 2.4e9)), "path loss exponent: NaN is not between 0 and 10");
    }
}
