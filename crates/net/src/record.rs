//! What a flow or a source counts while a run goes on, and how it becomes part of the outcome.

use crate::packet::DropCause;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use truckee_scenario::outcome::{Delay, Drops, FlowSeries};
use truckee_tcp::books::{Counts, Judged};
use truckee_tcp::detect::{Detected, Phase, Watch};
use truckee_tcp::{Books, Span, Time, cache};

/// Delays: exact moments, percentiles within half a per cent.
///
/// The histogram is log-linear, as HdrHistogram's: 128 bins for each doubling, in microseconds. It is our own for its
/// size: of a thousand flows each packet would find a library's in a cache further away. A few delays are a list; of many
/// only the range of bins that occurs is kept, in a byte each, and in `spilt` what these do not hold.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Delays {
    sum: f64,
    squares: f64,
    kept: Kept,
    /// Where a bin has been full.
    spilt: Option<Box<Spilt>>,
}

#[derive(Debug, Clone)]
enum Kept {
    /// The bins of so many delays, up to [`FEW`], and room for more.
    List { len: u16, bins: Box<[u16]> },
    /// How many are in each bin from `first` on, less what is spilt.
    Bins { first: u16, counts: Box<[u8]> },
}

impl Default for Kept {
    fn default() -> Self {
        Self::List { len: 0, bins: Box::default() }
    }
}

/// Bins that have been full, with how often.
#[derive(Debug, Clone, Default)]
struct Spilt {
    times: BTreeMap<u16, u64>,
}

/// Most delays in a list: as many bins as are seldom too few for a path's delays.
const FEW: usize = 128;

/// By how many the list grows: of many flows the room that doubling leaves unused is much.
const MORE: usize = 32;

/// The range of bins begins and ends at multiples of this.
const STEP: usize = 32;

/// What a byte does not hold.
const FULL: u64 = 1 << 8;

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
    /// Has the processor fetch what a delay will need.
    #[inline(always)]
    pub fn prefetch(&self, delay: Span) {
        let bin = bin((delay + Span::ns(500)).ticks(Span::us(1)));
        match &self.kept {
            Kept::Bins { first, counts } => {
                if let Some(count) = counts.get(bin.wrapping_sub(usize::from(*first))) {
                    cache::prefetch(count);
                }
            }
            Kept::List { len, bins } => {
                if let Some(next) = bins.get(usize::from(*len)) {
                    cache::prefetch(next);
                }
            }
        }
    }

    /// Takes in one delay.
    #[inline(always)]
    pub fn add(&mut self, delay: Span) {
        let real = delay.nanos() as i64 as f64; // signed: one instruction in place of eight
        self.sum += real;
        self.squares += real * real;
        let bin = bin((delay + Span::ns(500)).ticks(Span::us(1)));
        match &mut self.kept {
            Kept::Bins { first, counts } => match counts.get_mut(bin.wrapping_sub(usize::from(*first))) {
                Some(count) if *count < u8::MAX => *count += 1,
                _ => self.add_to(bin, 1),
            },
            Kept::List { .. } => self.add_to_list(bin),
        }
    }

    /// Adds one to the list, or makes bins of it.
    #[inline(never)]
    fn add_to_list(&mut self, bin: usize) {
        let Kept::List { len, bins } = &mut self.kept else { return };
        let at = usize::from(*len);
        if at == FEW {
            return self.add_to(bin, 1);
        }
        if at == bins.len() {
            let mut longer = vec![0; at + MORE].into_boxed_slice();
            longer[..at].copy_from_slice(bins);
            *bins = longer;
        }
        bins[at] = bin as u16;
        *len += 1;
    }

    /// Adds so many to a bin.
    #[cold]
    fn add_to(&mut self, bin: usize, count: u64) {
        self.kept.sort_in(bin);
        let Kept::Bins { first, counts } = &mut self.kept else { return };
        reach(first, counts, bin);
        let count_at = &mut counts[bin - usize::from(*first)];
        let sum = u64::from(*count_at) + count;
        *count_at = (sum % FULL) as u8;
        if sum >= FULL {
            *self.spilt.get_or_insert_default().times.entry(bin as u16).or_default() += sum / FULL;
        }
    }

    /// Takes in all of another.
    pub fn merge(&mut self, other: &Delays) {
        self.sum += other.sum;
        self.squares += other.squares;
        if self.kept.is_empty() {
            (self.kept, self.spilt) = (other.kept.clone(), other.spilt.clone());
            return;
        }
        other.counts().for_each(|(bin, count)| self.add_to(bin, count));
    }

    /// The bins that hold any, with how many, in order unless they are a list.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let (list, first, counts): (&[u16], u16, &[u8]) = match &self.kept {
            Kept::List { len, bins } => (&bins[..usize::from(*len)], 0, &[]),
            Kept::Bins { first, counts } => (&[], *first, counts),
        };
        let spilt = self.spilt.as_ref();
        let in_bin = move |(&n, at): (&u8, u16)| {
            let full = spilt.and_then(|spilt| spilt.times.get(&at)).copied().unwrap_or(0);
            Some((usize::from(at), u64::from(n) + full * FULL)).filter(|(_, n)| *n > 0)
        };
        list.iter().map(|&bin| (usize::from(bin), 1)).chain(counts.iter().zip(first..).filter_map(in_bin))
    }

    /// The delay in seconds that a share of all does not exceed.
    fn quantile(&self, share: f64, count: u64) -> Option<f64> {
        let rank = libm::ceil(share * count as f64).max(1.0) as u64;
        let mut below = 0;
        let (bin, _) = self.counts().find(|&(_, n)| {
            below += n;
            below >= rank
        })?;
        Some(middle(bin) / 1e6)
    }

    /// The distribution in seconds.
    pub fn outcome(&mut self) -> Delay {
        if let Kept::List { len, bins } = &mut self.kept {
            bins[..usize::from(*len)].sort_unstable();
        }
        let count: u64 = self.counts().map(|(_, n)| n).sum();
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

impl Kept {
    fn is_empty(&self) -> bool {
        matches!(self, Self::List { len: 0, .. })
    }

    /// Makes bins of a list, where it is one; of an empty one those about this bin.
    fn sort_in(&mut self, bin: usize) {
        let Self::List { len, bins } = self else { return };
        let list = &bins[..usize::from(*len)];
        let least = list.iter().min().map_or(bin, |bin| usize::from(*bin));
        let most = list.iter().max().map_or(bin, |bin| usize::from(*bin));
        let first = least / STEP * STEP;
        let mut counts = vec![0; (most + 1).next_multiple_of(STEP) - first].into_boxed_slice();
        list.iter().for_each(|bin| counts[usize::from(*bin) - first] += 1);
        *self = Self::Bins { first: first as u16, counts };
    }
}

/// Makes the range that is kept include a bin.
fn reach(first: &mut u16, counts: &mut Box<[u8]>, bin: usize) {
    let start = usize::from(*first);
    let kept = start..start + counts.len();
    if !kept.contains(&bin) {
        let from = start.min(bin / STEP * STEP);
        let to = kept.end.max((bin + 1).next_multiple_of(STEP));
        let mut wider = vec![0; to - from].into_boxed_slice();
        wider[start - from..][..counts.len()].copy_from_slice(counts);
        (*first, *counts) = (from as u16, wider);
    }
}

/// What a receiver's application has got.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Deliveries {
    /// Bytes.
    pub bytes: u64,
    /// When the last of them came.
    pub last: Time,
    /// The longest time between two of them, after the warm-up.
    pub stall: Span,
    /// Delays of the segments, after the warm-up.
    pub delays: Delays,
}

impl Deliveries {
    /// So many bytes have been delivered; `warm`: after the warm-up.
    #[inline(always)]
    pub fn note(&mut self, now: Time, bytes: u64, warm: bool) {
        if warm && self.bytes > 0 {
            self.stall = self.stall.max(now - self.last);
        }
        self.bytes += bytes;
        self.last = now;
    }

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
        DropCause::Collision => &mut drops.collision,
        DropCause::Reach => &mut drops.reach,
        DropCause::Route => &mut drops.route,
        DropCause::Handoff => &mut drops.handoff,
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
    pub rtt_min: Option<Span>,
}

impl Totals {
    /// Takes in a connection's sender and receiver.
    pub fn add(&mut self, c: &Counts, rtt_min: Option<Span>, segments_received: u64, acks: u64) {
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

    /// Takes in those of a connection: of who reads its sender's books, and of who watches its receiver.
    pub fn add(&mut self, books: &Books, watch: &Watch) {
        let observers = books.observers().into_iter().flat_map(|o| o.judged());
        self.predictors.iter_mut().zip(observers).for_each(|(sum, one)| *sum += *one);
        let watchers = watch.watchers().into_iter().flat_map(|w| w.detected());
        self.detectors.iter_mut().zip(watchers).for_each(|(sum, one)| *sum += *one);
        if let Some(own) = watch.detected() {
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
    /// The same of what the receiver sends, where any was.
    pub ack_drops: Option<Box<Drops>>,
    pub started: Option<Time>,
    pub finished: Option<Time>,
    /// Time series, where they are wanted.
    pub series: Option<Box<Recorded>>,
}

/// The time series of a flow.
#[derive(Debug, Default)]
pub struct Recorded {
    pub series: FlowSeries,
    /// The last entry of each in the series of phases: the truth, the receiver's own detector, those who watch.
    pub phases: Vec<Option<Phase>>,
}

impl Deref for Recorded {
    type Target = FlowSeries;
    fn deref(&self) -> &FlowSeries {
        &self.series
    }
}

impl DerefMut for Recorded {
    fn deref_mut(&mut self) -> &mut FlowSeries {
        &mut self.series
    }
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
        (1..=1000).for_each(|k| delays.add(Span::ms(k)));
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
            low.add(Span::us(k));
            high.add(Span::ms(k));
            all.add(Span::us(k));
            all.add(Span::ms(k));
        }
        low.merge(&high);
        assert_eq!((low.outcome().p50, low.outcome().p99), (all.outcome().p50, all.outcome().p99));
    }

    #[test]
    fn only_what_occurs_takes_room() {
        let mut delays = Delays::default();
        (100..110).for_each(|ms| delays.add(Span::ms(ms)));
        assert!(matches!(&delays.kept, Kept::List { len: 10, bins } if bins.len() == MORE));
        (100..300).rev().for_each(|ms| delays.add(Span::ms(ms)));
        assert!(matches!(&delays.kept, Kept::Bins { counts, .. } if counts.len() <= 256));
        delays.add(Span::ZERO);
        delays.add(Span::MAX / 2);
        assert_eq!(delays.counts().map(|(_, n)| n).sum::<u64>(), 212);
    }

    #[test]
    fn a_bin_holds_as_many_as_there_are() {
        let (mut delays, mut twice) = (Delays::default(), Delays::default());
        (0..200_000).for_each(|_| delays.add(Span::ms(50)));
        (0..100_000).for_each(|_| delays.add(Span::ms(90)));
        twice.merge(&delays);
        twice.merge(&delays);
        let counts = |of: &Delays| of.counts().map(|(_, n)| n).collect::<Vec<_>>();
        assert_eq!((counts(&delays), counts(&twice)), (vec![200_000, 100_000], vec![400_000, 200_000]));
        assert!(twice.outcome().p50 < Some(0.051) && twice.outcome().p99 > Some(0.089));
    }

    #[test]
    fn without_samples_there_is_no_delay() {
        assert_eq!(Delays::default().outcome(), Delay::default());
    }
}
