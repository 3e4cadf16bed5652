//! Is the path full? Whether data comes over whole round trips as fast as it comes within bursts.
//!
//! The *peak* is the largest rate of eight segments in a row: what the bottleneck passes when it has something to pass.
//! A round, the time from one segment to the first that comes a round trip later, is full if its rate is within 1/64 of
//! the peak. A sender whose window is smaller than the path leaves gaps: its rounds are not full, and fewer gaps a
//! round later do not deceive a comparison with the peak, as they would one with the round before. Whoever shares the
//! bottleneck with others finds it full only if their packets do not come between its own. The peak is forgotten by
//! 1/16 segment per round trip, slower than any window grows, so that a path that has become slower is found full again
//! some day. Integers only.

use crate::ack::Arrival;
use crate::{Nanos, Time};

/// Segments of which the rate of a burst is taken.
const BURST: u64 = 8;
/// A round is full if it is short of the peak by one part in so many at most.
const SHORT: u64 = 64;
/// One segment per round trip is forgotten in so many rounds.
const FORGET: u64 = 16;

/// Bytes and segments that have come since a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    began: Time,
    bytes: u64,
    segments: u64,
}

impl Span {
    fn add(&mut self, segment: &Arrival) {
        self.bytes += u64::from(segment.bytes);
        self.segments += 1;
    }

    fn lasted(&self, now: Time) -> Nanos {
        now.saturating_sub(self.began)
    }

    /// Bytes per second.
    fn rate(&self, now: Time) -> u64 {
        self.bytes.saturating_mul(1_000_000_000) / self.lasted(now).max(1)
    }

    fn restart(&mut self, now: Time) {
        *self = Span { began: now, bytes: 0, segments: 0 };
    }
}

/// Compares the rate of rounds with that of bursts.
#[derive(Debug, Clone, Default)]
pub struct Fullness {
    /// The shortest round trip seen.
    rtt: Option<Nanos>,
    /// The largest rate of a burst, bytes per second.
    peak: u64,
    burst: Span,
    round: Span,
    /// Whether spans have begun.
    running: bool,
}

impl Fullness {
    /// A segment has come, in order. At the end of a round: whether it was full, and segments per round trip.
    pub fn on_segment(&mut self, segment: &Arrival) -> Option<(bool, u64)> {
        let now = segment.now;
        if let Some(sample) = segment.rtt {
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)).max(1));
        }
        if !self.running {
            self.running = true;
            self.burst.restart(now);
            self.round.restart(now);
            return None;
        }
        self.burst.add(segment);
        self.round.add(segment);
        if self.burst.segments >= BURST && self.burst.lasted(now) > 0 {
            self.peak = self.peak.max(self.burst.rate(now));
            self.burst.restart(now);
        }
        let rtt = self.rtt?;
        let lasted = self.round.lasted(now);
        (lasted >= rtt).then(|| self.end_round(now, rtt, lasted))
    }

    fn end_round(&mut self, now: Time, rtt: Nanos, lasted: Nanos) -> (bool, u64) {
        let full = self.peak > 0 && self.round.rate(now) >= self.peak - self.peak / SHORT;
        let segments = self.round.segments.saturating_mul(rtt) / lasted;
        self.peak -= self.peak / (FORGET * segments.max(1));
        self.round.restart(now);
        (full, segments)
    }

    /// Something was lost: what follows is measured apart.
    pub fn interrupt(&mut self) {
        self.running = false;
    }

    /// The shortest round trip seen.
    pub fn rtt(&self) -> Option<Nanos> {
        self.rtt
    }
}
