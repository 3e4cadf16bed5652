//! What is asked of a run beside its outcome.

use truckee_scenario::Cancel;
use truckee_scenario::outcome::Vantage;

/// What a run records beside its outcome, and who may end it early.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether to record time series.
    pub series: bool,
    /// Where to record every packet of the flows, and the time series too; nowhere unless asked for.
    pub packets: Option<Vantage>,
    /// The run ends early, without an outcome, when this is wished.
    pub cancel: Option<Cancel>,
}
