//! How much passed when: sums over steps of equal length, which double when there are too many.

use super::memory::room;
use serde::Serialize;
use truckee_tcp::{Span, Time};

/// Steps that are kept.
const MOST: usize = 256;
/// The length that steps have at first.
const SHORTEST: Span = Span::ms(1);

/// Bytes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    began: Option<Time>,
    length: Span,
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
        while since.ticks(self.length) >= MOST as u64 {
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.length = 2 * self.length;
        }
        let at = since.ticks(self.length) as usize;
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
        let step_s = self.length.seconds();
        Some(Report {
            start_s: began.saturating_sub(origin).seconds(),
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
        assert_eq!(steps.report(Time::ZERO), None);
        (0..1000u64).for_each(|k| steps.add(Time::ns(5_000_000 + k * 1_000_000), 100));
        let report = steps.report(Time::ms(2)).unwrap();
        assert_eq!((report.start_s, report.step_s, report.bps.len()), (0.003, 0.004, 250));
        assert!(report.bps.iter().all(|&bps| bps == 800_000.0), "{report:?}");
        // After a silence longer than all before.
        steps.add(Time::s(3600), 100);
        let report = steps.report(Time::ZERO).unwrap();
        assert!((MOST / 2..=MOST).contains(&report.bps.len()), "{}", report.bps.len());
        let all: f64 = report.bps.iter().map(|bps| bps * report.step_s / 8.0).sum();
        assert!((all - 100_100.0).abs() < 1e-6, "{all}");
        assert_eq!(report.points().nth(1).map(|(t, _)| t), Some(report.start_s + report.step_s));
        steps.add(Time::MAX, 1);
        assert!(steps.bytes.len() <= MOST);
    }
}
