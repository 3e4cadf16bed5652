//! What those who were asked have said.

use serde::Serialize;
use truckee_tcp::Time;

/// A loss event, and what was made of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Loss {
    /// When it showed, seconds after the connection's first packet.
    pub t_s: f64,
    /// Sequence number of the segment taken to be lost.
    pub seq: u64,
    /// `dup-acks` or `timeout`.
    pub kind: &'static str,
    /// What it was: `congestion` or `wireless`; none where the capture does not say.
    pub truth: Option<&'static str>,
    /// What each predictor took it for, in their order.
    pub verdicts: Vec<&'static str>,
}

/// What an estimator said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimates {
    /// Its name.
    pub name: String,
    /// Its last word, bit/s.
    pub last_bps: Option<f64>,
    /// Its median over time, bit/s.
    pub median_bps: Option<f64>,
    /// Its mean over time, bit/s: one short gap between segments may rule it.
    pub mean_bps: Option<f64>,
    /// What it said over time: seconds after the connection's first packet, bit/s.
    pub series: Vec<(f64, f64)>,
}

/// How a predictor judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdicts {
    /// Its name.
    pub name: String,
    /// Losses it took for congestion.
    pub congestion: u64,
    /// Losses it took for noise.
    pub wireless: u64,
    /// Of losses that were congestion, how many it judged so; none where the capture does not say.
    pub accuracy_congestion: Option<f64>,
    /// Of losses that were noise, likewise.
    pub accuracy_wireless: Option<f64>,
    /// Of both.
    pub accuracy: Option<f64>,
}

/// What a detector said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phases {
    /// Its name.
    pub name: String,
    /// Share of segments on whose arrival it said slow start.
    pub slow_start_share: f64,
    /// Its turns: seconds after the connection's first packet, and whether it said slow start from then on.
    pub turns: Vec<(f64, bool)>,
}

/// What all of them said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The connection's number.
    pub connection: u64,
    /// Which way the data went: `to-server` or `to-client`.
    pub way: &'static str,
    /// Payload, each byte once, over the time from the first data to the last news of it, bit/s.
    pub throughput_bps: Option<f64>,
    /// Share of the time from the first data on in which nothing was in the air, beyond what the sender needs to answer.
    pub idle_share: Option<f64>,
    /// Share of the segments of new data that are not full.
    pub short_share: Option<f64>,
    /// Whether it is the application that limits, by these two.
    pub application_limits: bool,
    /// The estimators.
    pub estimators: Vec<Estimates>,
    /// The predictors.
    pub predictors: Vec<Verdicts>,
    /// The detectors.
    pub detectors: Vec<Phases>,
    /// The loss events, the first of them.
    pub losses: Vec<Loss>,
    /// What was in the air: seconds after the connection's first packet, bytes.
    pub flight: Vec<(f64, f64)>,
    /// Packets of this direction that the capture's writer notes as dropped: by queues, by noise.
    pub dropped: (u64, u64),
}

/// Seconds after the beginning.
pub(super) fn since(began: Time, now: Time) -> f64 {
    now.saturating_sub(began).seconds()
}
