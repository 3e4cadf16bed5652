//! What crosses each link, and what estimators have said over time: as data. Not for: working it out, which
//! [`super::observe`] does.

use truckee_tcp::Span;

/// What crosses each link at present.
#[derive(Debug, Default)]
pub struct Load {
    /// Bit/s of cross traffic.
    pub(super) traffic: Vec<f64>,
    /// TCP flows whose data it carries.
    pub(super) flows: Vec<u32>,
}

/// The estimates of one estimator over time.
#[derive(Debug, Clone, Default)]
pub struct EstimateBook {
    pub readings: u64,
    pub sum: f64,
    pub squares: f64,
    /// Sum of the distances to what was available.
    pub errors: f64,
    /// Sums of what was available and used at these readings.
    pub available: f64,
    pub used: f64,
}

/// The readings of a flow.
#[derive(Debug)]
pub struct Readings {
    pub(super) every: Span,
    /// One for the sender's own estimate, then one for each estimator that watches.
    pub books: Vec<EstimateBook>,
    pub names: Vec<String>,
    /// Payload sent when the reading before was taken.
    pub(super) sent: u64,
}

impl Readings {
    pub fn new(names: Vec<String>, every: Span) -> Self {
        Self { every, books: vec![EstimateBook::default(); names.len()], names, sent: 0 }
    }
}

impl EstimateBook {
    pub(super) fn add(&mut self, estimate: f64, available: f64, used: f64) {
        self.readings += 1;
        self.sum += estimate;
        self.squares += estimate * estimate;
        self.errors += (estimate - available).abs();
        self.available += available;
        self.used += used;
    }
}
