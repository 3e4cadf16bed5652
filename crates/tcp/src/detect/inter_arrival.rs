//! The detector of TCP Taba: slow start shows as gaps of almost a round-trip time between bursts.
//!
//! Over the last `block` = 20 gaps between segments, MinFloat and MaxFloat are the smallest and the largest. If they are
//! about equal (within `equal` = 10 %, a choice) the stream is even: avoidance. Otherwise, if MaxFloat ≥ β·RTT with
//! β = 0.6, slow start; else avoidance. The RTT is the receiver's own: its first sample, then
//! RTT ← 7/8·RTT + 1/8·sample. Until the first block is full the sender is taken to be in slow start, from its second
//! segment on; a full block without any sample of the RTT says avoidance, since nothing tells a gap from a pause.
//! Source: Cheskis 2006, section 2.4 (its srtt is worked out and not used).

use super::{Phase, SlowStartDetector};
use crate::ack::Arrival;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Nanos, Time};
use std::collections::VecDeque;

/// Looks at the largest and the smallest gap of a block.
#[derive(Debug, Clone)]
pub struct InterArrival {
    block: usize,
    beta: f64,
    equal: f64,
    last: Option<Time>,
    /// The gaps of the block, oldest first; so many at most.
    gaps: VecDeque<Nanos>,
    rtt: Option<f64>,
    segments: u64,
}

impl Member for InterArrival {
    const INFO: Info = Info {
        name: "inter-arrival",
        summary: "takes gaps of almost a round-trip time within the last 20 for slow start",
        formula: "slow start if MaxFloat ≥ β·RTT and not MinFloat ≈ MaxFloat, over 20 gaps; β = 0.6",
        source: "Cheskis 2006 (TCP Taba), section 2.4",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let beta = args.number("beta", 0.6, 0.001..=0.999)?;
        let block = args.count("block", 20, 2..=10_000)? as usize;
        let equal = args.number("equal", 0.1, 0.0..=1.0)?;
        Ok(Self { block, beta, equal, last: None, gaps: VecDeque::new(), rtt: None, segments: 0 })
    }
}

impl SlowStartDetector for InterArrival {
    fn on_segment(&mut self, arrival: &Arrival) {
        self.segments += 1;
        if let Some(sample) = arrival.rtt {
            let sample = sample as f64;
            self.rtt = Some(self.rtt.map_or(sample, |rtt| 0.875 * rtt + 0.125 * sample));
        }
        if let Some(last) = self.last.replace(arrival.now) {
            if self.gaps.len() == self.block {
                self.gaps.pop_front();
            }
            self.gaps.push_back(arrival.now.saturating_sub(last));
        }
    }

    fn phase(&self) -> Phase {
        if self.gaps.len() < self.block {
            return if self.segments > 1 { Phase::SlowStart } else { Phase::Avoidance };
        }
        let (min, max) = self.gaps.iter().fold((Nanos::MAX, 0), |(min, max), &g| (min.min(g), max.max(g)));
        let even = (max - min) as f64 <= self.equal * max as f64;
        match self.rtt {
            Some(rtt) if !even && max as f64 >= self.beta * rtt => Phase::SlowStart,
            _ => Phase::Avoidance,
        }
    }
}
