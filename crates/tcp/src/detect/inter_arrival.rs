//! The detector of TCP Taba: slow start shows as gaps of almost a round-trip time between bursts.
//!
//! Over the last `block` = 20 gaps between segments, MinFloat and MaxFloat are the smallest and the largest. If they are
//! about equal (within `equal` = 10 %, a choice) the stream is even: avoidance. Otherwise, if MaxFloat ≥ β·RTT with
//! β = 0.6, slow start; else avoidance. The RTT is the receiver's own: its first sample, then
//! RTT ← 7/8·RTT + 1/8·sample. Until the first block is full the sender is taken to be in slow start, from its second
//! segment on; a full block without any sample of the RTT says avoidance, since nothing tells a gap from a pause.
//! Source: Cheskis 2006, section 2.4 (its srtt is worked out and not used).

use super::{Floats, Phase, SlowStartDetector};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Span, Time};
use std::collections::VecDeque;

/// Looks at the largest and the smallest gap of a block.
#[derive(Debug, Clone)]
pub struct InterArrival {
    block: u64,
    beta: f64,
    equal: f64,
    last: Option<Time>,
    gap: Span,
    min: Extreme,
    max: Extreme,
    rtt: Option<f64>,
    segments: u64,
}

/// The extreme of the last gaps: those that may yet be the extreme of a block, oldest and most extreme first, each with
/// its ordinal. A gap enters and leaves once, so that a segment costs the same however long the block is.
#[derive(Debug, Clone, Default)]
struct Extreme {
    candidates: VecDeque<(u64, Span)>,
}

impl Extreme {
    /// Gap number `ordinal` joins, and gaps of `block` before leave; `beaten`: whether a gap can be the extreme no more.
    fn push(&mut self, ordinal: u64, gap: Span, block: u64, beaten: impl Fn(Span) -> bool) {
        while self.candidates.back().is_some_and(|&(_, older)| beaten(older)) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((ordinal, gap));
        if self.candidates.front().is_some_and(|&(first, _)| first + block <= ordinal) {
            self.candidates.pop_front();
        }
    }

    fn value(&self) -> Span {
        self.candidates.front().map_or(Span::ZERO, |&(_, gap)| gap)
    }
}

/// With the published constants.
impl Default for InterArrival {
    fn default() -> Self {
        Self {
            block: 20,
            beta: 0.6,
            equal: 0.1,
            last: None,
            gap: Span::ZERO,
            min: Extreme::default(),
            max: Extreme::default(),
            rtt: None,
            segments: 0,
        }
    }
}

impl Member for InterArrival {
    const INFO: Info = Info {
        name: "inter-arrival",
        summary: "takes gaps of almost a round-trip time within the last 20 for slow start",
        formula: "slow start if MaxFloat ≥ β·RTT and not MinFloat ≈ MaxFloat, over 20 gaps; β = 0.6",
        source: "Cheskis 2006 (TCP Taba), section 2.4",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let usual = Self::default();
        let beta = args.number("beta", usual.beta, 0.001..=0.999)?;
        let block = args.count("block", usual.block, 2..=10_000)?;
        let equal = args.number("equal", usual.equal, 0.0..=1.0)?;
        Ok(Self { block, beta, equal, ..usual })
    }
}

impl SlowStartDetector for InterArrival {
    fn on_segment(&mut self, arrival: &Arrival) {
        self.segments += 1;
        if let Some(sample) = arrival.rtt {
            let sample = sample.as_f64();
            self.rtt = Some(self.rtt.map_or(sample, |rtt| 0.875 * rtt + 0.125 * sample));
        }
        if let Some(last) = self.last.replace(arrival.now) {
            let (ordinal, gap) = (self.segments, arrival.now.saturating_sub(last));
            self.gap = gap;
            self.min.push(ordinal, gap, self.block, |older| older >= gap);
            self.max.push(ordinal, gap, self.block, |older| older <= gap);
        }
    }

    fn phase(&self) -> Phase {
        if self.segments <= self.block {
            return if self.segments > 1 { Phase::SlowStart } else { Phase::Avoidance };
        }
        let (min, max) = (self.min.value(), self.max.value());
        let even = (max - min).as_f64() <= self.equal * max.as_f64();
        match self.rtt {
            Some(rtt) if !even && max.as_f64() >= self.beta * rtt => Phase::SlowStart,
            _ => Phase::Avoidance,
        }
    }

    fn floats(&self) -> Option<Floats> {
        let rtt = self.rtt.map(Span::truncated);
        (self.segments > 1).then(|| Floats {
            gap: self.gap,
            min: self.min.value(),
            max: self.max.value(),
            rtt,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Phase::{Avoidance, SlowStart};

    /// Blocks of four gaps, in ns; the first segment comes at 1000 and brings the sample of the round-trip time, if any.
    fn after(gaps: &[u64], rtt: Option<u64>) -> Phase {
        let spec = crate::Spec::named("inter-arrival").with("block", crate::Arg::Number(4.0));
        let mut args = Args::new(&spec);
        let mut detector = InterArrival::build(&mut args).unwrap();
        let mut now = Time::ns(1000);
        detector.on_segment(&Arrival { rtt: rtt.map(Span::ns), ..Arrival::of_bytes(now, 1000) });
        for &gap in gaps {
            now += Span::ns(gap);
            detector.on_segment(&Arrival::of_bytes(now, 1000));
        }
        detector.phase()
    }

    #[test]
    fn the_second_segment_begins_slow_start_and_the_first_full_block_ends_the_guess() {
        assert_eq!(after(&[], Some(100)), Avoidance);
        assert_eq!(after(&[10], Some(100)), SlowStart);
        assert_eq!(after(&[10, 10, 10], Some(100)), SlowStart, "three gaps of four");
        assert_eq!(after(&[10, 10, 10, 10], Some(100)), Avoidance);
    }

    #[test]
    fn a_gap_of_beta_round_trips_within_the_block_is_slow_start() {
        assert_eq!(after(&[1, 1, 60, 1], Some(100)), SlowStart, "MaxFloat = β·RTT");
        assert_eq!(after(&[1, 1, 59, 1], Some(100)), Avoidance);
        assert_eq!(after(&[60, 1, 1, 1, 1], Some(100)), Avoidance, "the gap has left the block");
        assert_eq!(after(&[80, 1, 70, 1, 1], Some(100)), SlowStart, "the largest has left, the next has not");
    }

    #[test]
    fn equal_gaps_are_avoidance_however_long() {
        assert_eq!(after(&[100, 91, 90, 95], Some(100)), Avoidance, "within 10 %");
        assert_eq!(after(&[100, 91, 89, 95], Some(100)), SlowStart);
        assert_eq!(after(&[1, 100, 100, 100, 100], Some(100)), Avoidance, "the short gap has left the block");
    }

    #[test]
    fn a_full_block_without_a_round_trip_time_is_avoidance() {
        assert_eq!(after(&[1, 1, 1000], None), SlowStart);
        assert_eq!(after(&[1, 1, 1000, 1], None), Avoidance);
    }

    #[test]
    fn the_round_trip_time_is_smoothed_by_eighths() {
        let mut detector = InterArrival::build(&mut Args::new(&crate::Spec::named("inter-arrival"))).unwrap();
        for sample in [800, 1600].map(Span::ns) {
            detector.on_segment(&Arrival { rtt: Some(sample), ..Arrival::of_bytes(Time::ns(1), 1000) });
        }
        assert_eq!(detector.rtt, Some(900.0));
    }

    #[test]
    fn the_extremes_are_those_of_the_last_block() {
        let mut detector = InterArrival::build(&mut Args::new(&crate::Spec::named("inter-arrival"))).unwrap();
        let gaps: Vec<Span> = (0..500u64).map(|k| Span::ns(1 + k * k * 7919 % 1009)).collect();
        detector.on_segment(&Arrival::of_bytes(Time::ZERO, 1000));
        let mut now = Time::ZERO;
        for (k, &gap) in gaps.iter().enumerate() {
            now += gap;
            detector.on_segment(&Arrival::of_bytes(now, 1000));
            let block = &gaps[k.saturating_sub(19)..=k];
            let extremes = (block.iter().min().copied(), block.iter().max().copied());
            assert_eq!((Some(detector.min.value()), Some(detector.max.value())), extremes);
            let seen = detector.floats().unwrap();
            assert_eq!((seen.gap, Some(seen.min), Some(seen.max)), (gap, extremes.0, extremes.1));
        }
    }
}
