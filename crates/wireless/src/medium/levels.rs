//! Powers and their ratios, from decibels to what is reckoned with.

use crate::config::MediumConfig;
use crate::propagation::from_db;

/// In milliwatts and factors, what the configuration has in decibels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    pub noise: f64,
    pub sensitivity: f64,
    pub carrier_sense: f64,
    pub preamble: f64,
    /// Infinite: none.
    pub capture: f64,
}

impl Levels {
    pub fn new(config: &MediumConfig) -> Self {
        Self {
            noise: from_db(config.noise),
            sensitivity: from_db(config.sensitivity),
            carrier_sense: from_db(config.carrier_sense),
            preamble: from_db(config.preamble),
            capture: config.capture.map_or(f64::INFINITY, from_db),
        }
    }
}
