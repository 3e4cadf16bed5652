//! What is asked of a run beside its outcome.

use truckee_scenario::outcome::Vantage;

/// What a run records beside its outcome.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether to record time series.
    pub series: bool,
    /// Where to record every packet of the flows, and the time series too; nowhere unless asked for.
    pub packets: Option<Vantage>,
}
