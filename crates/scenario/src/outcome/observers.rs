//! What those who watch a flow have said, held against what was true.

use super::losses::{Accuracy, LossEvents, share};
use serde::Serialize;
use truckee_tcp::Span;
use truckee_tcp::detect::Detected;

/// What the detector that a receiver goes by is called among those of its observers.
pub const OWN_DETECTOR: &str = "receiver";

/// What the estimate that a sender goes by is called among those of its observers.
pub const OWN_ESTIMATE: &str = "sender";

/// What those found who watched a flow's ends and changed nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Observers {
    /// Loss predictors.
    pub predictors: Vec<PredictorOutcome>,
    /// Bandwidth estimators; first the one that the sender goes by, if it goes by one, called
    /// [`OWN_ESTIMATE`].
    pub estimators: Vec<EstimatorOutcome>,
    /// Slow-start detectors; first the one that the receiver's policy goes by, if it goes by one, called
    /// [`OWN_DETECTOR`].
    pub detectors: Vec<DetectorOutcome>,
}

/// How a slow-start detector judged. The truth of a segment is the phase in which the sender sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct DetectorOutcome {
    /// Its name, with the arguments that are not the defaults.
    pub name: String,
    /// Data segments that came and had been sent in slow start.
    pub slow_start: u64,
    /// Of them, those on whose arrival it said so.
    pub slow_start_judged_right: u64,
    /// Data segments that came and had been sent in congestion avoidance or the repair of a loss.
    pub avoidance: u64,
    /// Of them, those on whose arrival it said so.
    pub avoidance_judged_right: u64,
    /// Shares judged right.
    pub accuracy: DetectorAccuracy,
    /// How often its verdict turned to slow start while segments of avoidance came.
    pub false_alarms: u64,
    /// Ends of slow start.
    pub ends: u64,
    /// Of them, those it noticed before the next slow start.
    pub ends_noticed: u64,
    /// Mean time from the arrival of the first segment of avoidance to its verdict, s; `None`: no end noticed.
    pub end_delay_s: Option<f64>,
    /// Returns to slow start.
    pub starts: u64,
    /// Of them, those it noticed before they ended.
    pub starts_noticed: u64,
    /// Mean time from the arrival of the first segment of slow start to its verdict, s; `None`: no return noticed.
    pub start_delay_s: Option<f64>,
}

impl DetectorOutcome {
    /// What the book of a detector of that name says.
    pub fn of(name: &str, d: &Detected) -> Self {
        let slow_start = share(d.slow_start_right, d.slow_start);
        let avoidance = share(d.avoidance_right, d.avoidance);
        let mean_s = |sum: Span, n: u64| share(sum.nanos(), n).map(|ns| ns / 1e9);
        Self {
            name: name.to_owned(),
            slow_start: d.slow_start,
            slow_start_judged_right: d.slow_start_right,
            avoidance: d.avoidance,
            avoidance_judged_right: d.avoidance_right,
            accuracy: DetectorAccuracy {
                slow_start,
                avoidance,
                all: share(d.slow_start_right + d.avoidance_right, d.slow_start + d.avoidance),
                balanced: slow_start.zip(avoidance).map(|(s, a)| (s + a) / 2.0),
            },
            false_alarms: d.false_alarms,
            ends: d.ends,
            ends_noticed: d.ends_noticed,
            end_delay_s: mean_s(d.end_delays, d.ends_noticed),
            starts: d.starts,
            starts_noticed: d.starts_noticed,
            start_delay_s: mean_s(d.start_delays, d.starts_noticed),
        }
    }
}

/// Shares of segments judged right; `None` where there was none to judge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct DetectorAccuracy {
    /// Of those sent in slow start.
    pub slow_start: Option<f64>,
    /// Of those sent in avoidance.
    pub avoidance: Option<f64>,
    /// Of all.
    pub all: Option<f64>,
    /// Mean of the first two: what a detector that always says the same has at .5.
    pub balanced: Option<f64>,
}

/// How a predictor that watched judged the sender's loss events.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct PredictorOutcome {
    /// Its name, with the arguments that are not the defaults.
    pub name: String,
    /// Loss events by true cause and by its verdict.
    pub loss_events: LossEvents,
    /// Shares judged right.
    pub accuracy: Accuracy,
}

/// What an estimator said over time, read at regular intervals and held against the truth. All rates are of payload.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct EstimatorOutcome {
    /// Its name, with the arguments that are not the defaults.
    pub name: String,
    /// Mean estimate, bit/s; this and what follows are `None` where nothing was read.
    pub mean_bps: Option<f64>,
    /// Standard deviation of the estimate over time, bit/s.
    pub sd_bps: Option<f64>,
    /// Mean of the bandwidth truly available to the flow: what cross traffic leaves of the bottleneck, over the number
    /// of its TCP flows; bit/s.
    pub available_bps: Option<f64>,
    /// Mean of the bandwidth that the flow used, retransmissions included, bit/s.
    pub used_bps: Option<f64>,
    /// Mean distance of estimate and available bandwidth, as a share of the mean available bandwidth.
    pub tracking_error: Option<f64>,
    /// Mean estimate over mean available bandwidth.
    pub over_available: Option<f64>,
    /// Mean estimate over mean used bandwidth.
    pub over_used: Option<f64>,
}
