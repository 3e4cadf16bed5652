//! What a flow or a source counts while a run goes on, and how it becomes part of the outcome.

use crate::packet::DropCause;
use std::ops::Range;
use truckee_scenario::outcome::{Delay, Drops, FlowSeries};
use truckee_tcp::detect::{Detected, Phase};
use truckee_tcp::sender::{Counts, Judged};
use truckee_tcp::{Nanos, Receiver, Sender, Time};

/// Delays: exact moments, percentiles within half a per cent.
///
/// The histogram is log-linear, as HdrHistogram's: 128 bins for each doubling, in microseconds. It is our own for its
/// size: of a thousand flows each packet would find a library's in a cache further away. Only the range of bins that
/// occurs is kept.
#[derive(Debug, Default)]
pub struct Delays {
    sum: f64,
    squares: f64,
    /// Number of the first bin that is kept.
    first: usize,
    bins: Vec<u32>,
}

/// The range of bins begins and ends at multiples of this.
const STEP: usize = 32;

/// Bins for each doubling are 2 to this power.
const PRECISION: u32 = 7;

/// The bin of a delay in microseconds.
#[inline]
fn bin(us: u64) -> usize {
    let shift = (u64::BITS - us.leading_zeros()).saturating_sub(PRECISION + 1);
    ((shift as usize) << PRECISION) + (us >> shift) as usize
}

/// The middle of a bin, microseconds.
fn middle(bin: usize) -> f64 {
    let shift = (bin >> PRECISION).saturating_sub(1);
    let from = (bin - (shift << PRECISION)) as f64;
    let width = libm::exp2(shift as f64);
    from * width + (width - 1.0) / 2.0
}

impl Delays {
    /// Takes in one delay.
    #[inline]
    pub fn add(&mut self, delay: Nanos) {
        let real = delay as i64 as f64; // signed: one instruction in place of eight
        self.sum += real;
        self.squares += real * real;
        let bin = bin((delay + 500) / 1000);
        match self.bins.get_mut(bin.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => {
                self.reach(bin..bin + 1);
                self.bins[bin - self.first] += 1;
            }
        }
    }

    /// Makes the range that is kept include these bins.
    #[cold]
    fn reach(&mut self, range: Range<usize>) {
        let (mut from, mut to) = (range.start / STEP * STEP, range.end.next_multiple_of(STEP));
        if !self.bins.is_empty() {
            (from, to) = (from.min(self.first), to.max(self.first + self.bins.len()));
        }
        let mut bins = vec![0; to - from];
        let at = self.first.saturating_sub(from);
        bins[at..at + self.bins.len()].copy_from_slice(&self.bins);
        (self.first, self.bins) = (from, bins);
    }

    /// Takes in all of another.
    pub fn merge(&mut self, other: &Delays) {
        self.sum += other.sum;
        self.squares += other.squares;
        if !other.bins.is_empty() {
            self.reach(other.first..other.first + other.bins.len());
            let from = other.first - self.first;
            self.bins[from..].iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
        }
    }

    /// The delay in seconds that a share of all does not exceed.
    fn quantile(&self, share: f64, count: u64) -> Option<f64> {
        let rank = libm::ceil(share * count as f64).max(1.0) as u64;
        let mut below = 0;
        let bin = self.bins.iter().position(|&n| {
            below += u64::from(n);
            below >= rank
        })?;
        Some(middle(self.first + bin) / 1e6)
    }

    /// The distribution in seconds.
    pub fn outcome(&self) -> Delay {
        let count: u64 = self.bins.iter().map(|&n| u64::from(n)).sum();
        if count == 0 {
            return Delay::default();
        }
        let n = count as f64;
        let mean = self.sum / n;
        let variance = (self.squares / n - mean * mean).max(0.0);
        Delay {
            mean: Some(mean / 1e9),
            sd: Some(libm::sqrt(variance) / 1e9),
            p50: self.quantile(0.5, count),
            p99: self.quantile(0.99, count),
        }
    }
}

/// What a receiver's application has got.
#[derive(Debug, Default)]
pub struct Deliveries {
    /// Bytes.
    pub bytes: u64,
    /// When the last of them came.
    pub last: Time,
    /// The longest time between two of them, after the warm-up.
    pub stall: Nanos,
    /// Delays of the segments, after the warm-up.
    pub delays: Delays,
}

impl Deliveries {
    /// Takes in all of another.
    pub fn merge(&mut self, other: &Deliveries) {
        self.bytes += other.bytes;
        self.last = self.last.max(other.last);
        self.stall = self.stall.max(other.stall);
        self.delays.merge(&other.delays);
    }
}

/// The entry of a drop's cause.
pub fn of_cause(drops: &mut Drops, cause: DropCause) -> &mut u64 {
    match cause {
        DropCause::Queue => &mut drops.queue,
        DropCause::Channel => &mut drops.channel,
        DropCause::Outage => &mut drops.outage,
    }
}

/// Sums over a flow's connections, at some moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    pub counts: Counts,
    pub bytes_delivered: u64,
    pub segments_received: u64,
    pub acks: u64,
    pub connections: u64,
    pub rtt_min: Option<Nanos>,
}

impl Totals {
    /// Takes in a connection's sender and receiver.
    pub fn add(&mut self, c: &Counts, rtt_min: Option<Nanos>, segments_received: u64, acks: u64) {
        let t = &mut self.counts;
        t.segments += c.segments;
        t.bytes += c.bytes;
        t.retransmitted_segments += c.retransmitted_segments;
        t.retransmitted_bytes += c.retransmitted_bytes;
        t.timeouts += c.timeouts;
        t.fast_retransmits += c.fast_retransmits;
        t.ecn_reductions += c.ecn_reductions;
        t.judged += c.judged;
        t.rtt_samples += c.rtt_samples;
        t.rtt_sum += c.rtt_sum;
        t.cwnd_time += c.cwnd_time;
        t.rounds += c.rounds;
        t.slow_start_end = t.slow_start_end.or(c.slow_start_end);
        self.segments_received += segments_received;
        self.acks += acks;
        self.rtt_min = self.rtt_min.into_iter().chain(rtt_min).min();
    }

    /// What has been added since an earlier moment. The smallest RTT and the end of slow start are of the whole run.
    pub fn since(mut self, past: &Totals) -> Totals {
        let (t, p) = (&mut self.counts, &past.counts);
        t.segments -= p.segments;
        t.bytes -= p.bytes;
        t.retransmitted_segments -= p.retransmitted_segments;
        t.retransmitted_bytes -= p.retransmitted_bytes;
        t.timeouts -= p.timeouts;
        t.fast_retransmits -= p.fast_retransmits;
        t.ecn_reductions -= p.ecn_reductions;
        t.judged -= p.judged;
        t.rtt_samples -= p.rtt_samples;
        t.rtt_sum -= p.rtt_sum;
        t.cwnd_time -= p.cwnd_time;
        t.rounds -= p.rounds;
        self.bytes_delivered -= past.bytes_delivered;
        self.segments_received -= past.segments_received;
        self.acks -= past.acks;
        self.connections -= past.connections;
        self
    }
}

/// How those have judged who watch a flow, in their order, and the detector that its receiver goes by.
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    pub predictors: Vec<Judged>,
    pub detectors: Vec<Detected>,
    pub own_detector: Detected,
}

impl Verdicts {
    /// Of so many.
    pub fn of(predictors: usize, detectors: usize) -> Self {
        Self {
            predictors: vec![Judged::default(); predictors],
            detectors: vec![Detected::default(); detectors],
            own_detector: Detected::default(),
        }
    }

    /// Takes in those of a connection's ends.
    pub fn add(&mut self, sender: &Sender, receiver: &Receiver) {
        let observers = sender.observers().into_iter().flat_map(|o| o.judged());
        self.predictors.iter_mut().zip(observers).for_each(|(sum, one)| *sum += *one);
        let watchers = receiver.watchers().into_iter().flat_map(|w| w.detected());
        self.detectors.iter_mut().zip(watchers).for_each(|(sum, one)| *sum += *one);
        if let Some(own) = receiver.detected() {
            self.own_detector += *own;
        }
    }

    /// What has been added since an earlier moment.
    pub fn since(mut self, past: &Self) -> Self {
        self.predictors.iter_mut().zip(&past.predictors).for_each(|(all, one)| *all -= *one);
        self.detectors.iter_mut().zip(&past.detectors).for_each(|(all, one)| *all -= *one);
        self.own_detector -= past.own_detector;
        self
    }
}

/// The books of one flow. What most flows do not have is apart.
#[derive(Debug, Default)]
pub struct FlowBook {
    /// Of the connections that have ended, and what does not belong to one.
    pub ended: Option<Box<Totals>>,
    /// How those who watch have judged in the connections that have ended, where anybody watches.
    pub verdicts: Option<Box<Verdicts>>,
    /// How things stood at the end of the warm-up.
    pub warm: Option<Box<Standing>>,
    /// Segments with data that were lost, after the warm-up.
    pub drops: Drops,
    /// The same of what the receiver sends.
    pub ack_drops: Drops,
    /// The last entry of each in the series of phases: the truth, the receiver's own detector, those who watch.
    pub phases: Vec<Option<Phase>>,
    pub started: Option<Time>,
    pub finished: Option<Time>,
    /// Time series, where they are wanted.
    pub series: Option<Box<FlowSeries>>,
}

/// What all connections of a flow have counted, at some moment.
#[derive(Debug)]
pub struct Standing {
    pub totals: Totals,
    pub verdicts: Option<Box<Verdicts>>,
}

/// The books of one traffic entry.
#[derive(Debug, Default)]
pub struct TrafficBook {
    pub sent: u64,
    pub delivered: u64,
    pub bytes: u64,
    pub drops: Drops,
    pub delays: Delays,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_delays_however_long() {
        let mut delays = Delays::default();
        (1..=1000).for_each(|k| delays.add(k * 1_000_000));
        let outcome = delays.outcome();
        let near = |x: Option<f64>, expected: f64| (x.unwrap() / expected - 1.0).abs() < 0.005;
        assert!(near(outcome.p50, 0.5) && near(outcome.p99, 0.99), "{outcome:?}");
        assert!(near(outcome.sd, 1.0 / 12f64.sqrt()), "{outcome:?}");
        assert!((outcome.mean.unwrap() - 0.5005).abs() < 1e-12, "{outcome:?}");
    }

    #[test]
    fn every_bin_holds_what_lies_within_half_a_per_cent_of_its_middle() {
        for us in (0..5000).chain((5000..1_000_000_000).step_by(99_991)).chain([u64::MAX >> 1]) {
            let off = (middle(bin(us)) - us as f64).abs();
            assert!(off <= us as f64 * 0.005, "{us} us: {}", middle(bin(us)));
        }
        assert!((1..100_000).all(|us| bin(us) - bin(us - 1) <= 1), "no bin is left out");
    }

    #[test]
    fn merged_delays_are_those_of_both() {
        let (mut low, mut high, mut all) = (Delays::default(), Delays::default(), Delays::default());
        for k in 1..=100 {
            low.add(k * 1000);
            high.add(k * 1_000_000);
            all.add(k * 1000);
            all.add(k * 1_000_000);
        }
        low.merge(&high);
        assert_eq!((low.outcome().p50, low.outcome().p99), (all.outcome().p50, all.outcome().p99));
    }

    #[test]
    fn only_what_occurs_takes_room() {
        let mut delays = Delays::default();
        (100..200).rev().for_each(|ms| delays.add(ms * 1_000_000));
        assert!(delays.bins.len() <= 192 && delays.bins.capacity() == delays.bins.len());
        delays.add(0);
        delays.add(Nanos::MAX >> 1);
        assert_eq!(delays.bins.iter().sum::<u32>(), 102);
    }

    #[test]
    fn without_samples_there_is_no_delay() {
        assert_eq!(Delays::default().outcome(), Delay::default());
    }
}
