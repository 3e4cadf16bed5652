//! How much passed when: sums over steps of equal length, which double when there are too many.

use super::{room, seconds};
use serde::Serialize;
use truckee_tcp::{Nanos, Time};

/// Steps that are kept.
const MOST: usize = 256;
/// The length that steps have at first.
const SHORTEST: Nanos = 1_000_000;

/// Bytes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    began: Option<Time>,
    length: Nanos,
    bytes: Vec<u64>,
}

/// A rate over time, as it is reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// When the first step began, seconds after the connection's first packet.
    pub start_s: f64,
    /// How long each step is, seconds.
    pub step_s: f64,
    /// The mean rate of each, bit/s.
    pub bps: Vec<f64>,
}

impl Report {
    /// When each step began, and its rate.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.bps.iter().enumerate().map(|(k, &bps)| (self.start_s + k as f64 * self.step_s, bps))
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self { began: None, length: SHORTEST, bytes: Vec::new() }
    }
}

impl Steps {
    /// Times never fall.
    pub(super) fn add(&mut self, now: Time, bytes: u64) {
        let since = now - *self.began.get_or_insert(now);
        while since / self.length >= MOST as u64 {
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.length *= 2;
        }
        let at = (since / self.length) as usize;
        if at >= self.bytes.len() {
            self.bytes.resize(at + 1, 0);
        }
        self.bytes[at] += bytes;
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        room::<u64>(self.bytes.capacity())
    }

    /// The rates; `origin`: when the connection began. None of a single step: that is the mean.
    pub fn report(&self, origin: Time) -> Option<Report> {
        let began = self.began.filter(|_| self.bytes.len() > 1)?;
        let step_s = seconds(self.length);
        Some(Report {
            start_s: seconds(began.saturating_sub(origin)),
            step_s,
            bps: self.bytes.iter().map(|&bytes| bytes as f64 * 8.0 / step_s).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_as_long_as_they_must_be_and_lose_nothing() {
        let mut steps = Steps::default();
        assert_eq!(steps.report(0), None);
        (0..1000u64).for_each(|k| steps.add(5_000_000 + k * 1_000_000, 100));
        let report = steps.report(2_000_000).unwrap();
        assert_eq!((report.start_s, report.step_s, report.bps.len()), (0.003, 0.004, 250));
        assert!(report.bps.iter().all(|&bps| bps == 800_000.0), "{report:?}");
        // After a silence longer than all before.
        steps.add(3_600_000_000_000, 100);
        let report = steps.report(0).unwrap();
        assert!((MOST / 2..=MOST).contains(&report.bps.len()), "{}", report.bps.len());
        let all: f64 = report.bps.iter().map(|bps| bps * report.step_s / 8.0).sum();
        assert!((all - 100_100.0).abs() < 1e-6, "{all}");
        assert_eq!(report.points().nth(1).map(|(t, _)| t), Some(report.start_s + report.step_s));
        steps.add(Time::MAX, 1);
        assert!(steps.bytes.len() <= MOST);
    }
}
