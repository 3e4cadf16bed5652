//! Detectors that watch a receiver and change nothing, and books of verdicts held against the sender's true phase.

use super::{AnyDetector, Floats, Phase, SlowStartDetector};
use crate::ack::AckPolicy;
use crate::{Arrival, Span, Time, Witness};

/// How a detector has judged. The truth of a segment is the phase in which it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detected {
    /// Segments sent in slow start.
    pub slow_start: u64,
    /// Of them, those on whose arrival the verdict was slow start.
    pub slow_start_right: u64,
    /// Segments sent in congestion avoidance or the repair of a loss.
    pub avoidance: u64,
    /// Of them, those on whose arrival the verdict was avoidance.
    pub avoidance_right: u64,
    /// How often the verdict turned to slow start while segments of avoidance came.
    pub false_alarms: u64,
    /// Ends of slow start.
    pub ends: u64,
    /// Of them, those noticed before the next slow start.
    pub ends_noticed: u64,
    /// Sum of the times from the arrival of the first segment of avoidance to the verdict.
    pub end_delays: Span,
    /// Returns to slow start, after a timeout.
    pub starts: u64,
    /// Of them, those noticed before they ended.
    pub starts_noticed: u64,
    /// Sum of the times from the arrival of the first segment of slow start to the verdict.
    pub start_delays: Span,
}

impl Detected {
    /// Every count of events with that of another.
    fn zip(&mut self, other: &Self, f: fn(u64, u64) -> u64) {
        let pairs = [
            (&mut self.slow_start, other.slow_start),
            (&mut self.slow_start_right, other.slow_start_right),
            (&mut self.avoidance, other.avoidance),
            (&mut self.avoidance_right, other.avoidance_right),
            (&mut self.false_alarms, other.false_alarms),
            (&mut self.ends, other.ends),
            (&mut self.ends_noticed, other.ends_noticed),
            (&mut self.starts, other.starts),
            (&mut self.starts_noticed, other.starts_noticed),
        ];
        pairs.into_iter().for_each(|(mine, others)| *mine = f(*mine, others));
    }
}

impl std::ops::AddAssign for Detected {
    fn add_assign(&mut self, other: Self) {
        self.zip(&other, |a, b| a + b);
        self.end_delays += other.end_delays;
        self.start_delays += other.start_delays;
    }
}

impl std::ops::SubAssign for Detected {
    fn sub_assign(&mut self, past: Self) {
        self.zip(&past, |a, b| a - b);
        self.end_delays -= past.end_delays;
        self.start_delays -= past.start_delays;
    }
}

/// Keeps the book of one detector over one connection.
#[derive(Debug, Clone, Default)]
pub struct Book {
    pub(crate) detected: Detected,
    truth: Option<Phase>,
    verdict: Option<Phase>,
    /// When the present true phase began, as long as that has not been noticed.
    unnoticed: Option<Time>,
}

impl Book {
    /// How it has judged until now.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// A segment has come at `now`, sent in `truth`, and the detector now says `verdict`.
    pub fn enter(&mut self, now: Time, truth: Phase, verdict: Phase) {
        let d = &mut self.detected;
        let right = u64::from(truth == verdict);
        match truth {
            Phase::SlowStart => {
                (d.slow_start, d.slow_start_right) = (d.slow_start + 1, d.slow_start_right + right)
            }
            Phase::Avoidance => {
                (d.avoidance, d.avoidance_right) = (d.avoidance + 1, d.avoidance_right + right)
            }
        }
        if self.truth.is_some_and(|before| before != truth) {
            match truth {
                Phase::SlowStart => d.starts += 1,
                Phase::Avoidance => d.ends += 1,
            }
            self.unnoticed = Some(now);
        } else if truth == Phase::Avoidance
            && verdict == Phase::SlowStart
            && self.verdict == Some(Phase::Avoidance)
        {
            d.false_alarms += 1;
        }
        if truth == verdict
            && let Some(since) = self.unnoticed.take()
        {
            match truth {
                Phase::SlowStart => {
                    (d.starts_noticed, d.start_delays) =
                        (d.starts_noticed + 1, d.start_delays + (now - since))
                }
                Phase::Avoidance => {
                    (d.ends_noticed, d.end_delays) = (d.ends_noticed + 1, d.end_delays + (now - since))
                }
            }
        }
        self.truth = Some(truth);
        self.verdict = Some(verdict);
    }
}

/// Detectors that watch.
#[derive(Debug, Clone, Default)]
pub struct Watchers {
    all: Vec<(AnyDetector, Book)>,
}

impl Watchers {
    /// These detectors.
    pub fn new(detectors: Vec<AnyDetector>) -> Self {
        Self { all: detectors.into_iter().map(|detector| (detector, Book::default())).collect() }
    }

    /// A segment with data has come that was sent in `truth`.
    pub fn on_segment(&mut self, arrival: &Arrival, truth: Phase) {
        for (detector, book) in &mut self.all {
            detector.on_segment(arrival);
            book.enter(arrival.now, truth, detector.phase());
        }
    }

    /// What each says, in their order.
    pub fn phases(&self) -> impl Iterator<Item = Phase> + '_ {
        self.all.iter().map(|(detector, _)| detector.phase())
    }

    /// What the first looks at that looks at gaps.
    pub fn floats(&self) -> Option<Floats> {
        self.all.iter().find_map(|(detector, _)| detector.floats())
    }

    /// How each has judged, in their order.
    pub fn detected(&self) -> impl Iterator<Item = &Detected> {
        self.all.iter().map(|(_, book)| &book.detected)
    }
}

/// What detectors say at one receiver, held against the truth.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// The phase in which the segment at hand was sent.
    pub truth: Phase,
    /// Where there is any detector.
    detectors: Option<Box<Detectors>>,
}

#[derive(Debug, Clone, Default)]
struct Detectors {
    /// Of the one that the policy goes by, if it goes by one.
    own: Option<Book>,
    watchers: Option<Watchers>,
}

impl Watch {
    /// With these detectors beside the policy's own.
    pub fn with(watchers: Option<Watchers>) -> Self {
        let detectors = watchers.map(|all| Box::new(Detectors { own: None, watchers: Some(all) }));
        Self { truth: Phase::Avoidance, detectors }
    }

    /// Those who watch.
    pub fn watchers(&self) -> Option<&Watchers> {
        self.detectors.as_ref()?.watchers.as_ref()
    }

    /// How the detector that the policy goes by has judged; nothing is counted as long as it goes by none.
    pub fn detected(&self) -> Option<&Detected> {
        self.detectors.as_ref()?.own.as_ref().map(|book| &book.detected)
    }
}

impl Witness for Watch {
    #[inline]
    fn hears_arrivals(&self) -> bool {
        self.watchers().is_some()
    }

    #[inline(always)]
    fn on_arrival(&mut self, arrival: &Arrival, policy: &dyn AckPolicy) {
        if let Some(watchers) = self.detectors.as_mut().and_then(|detectors| detectors.watchers.as_mut()) {
            watchers.on_segment(arrival, self.truth);
        }
        if let Some(verdict) = policy.phase() {
            let own = &mut self.detectors.get_or_insert_default().own;
            own.get_or_insert_default().enter(arrival.now, self.truth, verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Phase::{Avoidance, SlowStart};

    #[test]
    fn delays_run_from_the_first_segment_of_the_new_phase_to_the_verdict() {
        let mut book = Book::default();
        let seen = [
            (0, SlowStart, SlowStart),
            (10, SlowStart, SlowStart),
            (20, Avoidance, SlowStart),
            (35, Avoidance, Avoidance),
            (40, Avoidance, SlowStart),
            (45, Avoidance, Avoidance),
            (50, SlowStart, Avoidance),
            (60, Avoidance, Avoidance),
        ];
        seen.into_iter().for_each(|(now, truth, verdict)| book.enter(Time::ns(now), truth, verdict));
        let expected = Detected {
            slow_start: 3,
            slow_start_right: 2,
            avoidance: 5,
            avoidance_right: 3,
            false_alarms: 1,
            ends: 2,
            ends_noticed: 2,
            end_delays: Span::ns(15),
            starts: 1,
            starts_noticed: 0,
            start_delays: Span::ZERO,
        };
        assert_eq!(book.detected, expected);
    }
}
