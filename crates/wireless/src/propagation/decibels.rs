//! Decibels.

/// A factor of power from decibels; milliwatts from dBm.
#[inline]
pub(crate) fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}
