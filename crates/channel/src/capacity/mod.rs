//! A link whose rate is a recorded one: packets leave at the delivery opportunities of a trace, with the semantics of
//! the mahimahi link shell (Netravali et al., USENIX ATC 2015). Not for: the queue in front of it, which belongs to the
//! link; nor for reading files (`trace.rs`).

mod trace;

pub use trace::TraceError;

use crate::{CapacityTrace, ChannelConfig, Effect, Span, Time};
use std::sync::Arc;

/// Bytes an opportunity carries.
const OPPORTUNITY: u64 = 1500;

/// How far into its repetition an opportunity with that time stamp lies.
fn at_stamp(ms: u32) -> Span {
    Span::ms(u64::from(ms))
}

impl ChannelConfig {
    /// The recorded capacity that takes the place of the link's rate: the first one of the effects.
    pub fn capacity(&self) -> Option<&Arc<CapacityTrace>> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Trace(trace) => Some(trace),
            _ => None,
        })
    }
}

impl CapacityTrace {
    /// The time after which it repeats: its last time stamp, as in mahimahi. A last stamp of 0, which no file may have,
    /// counts as one millisecond.
    pub fn duration(&self) -> Span {
        at_stamp(self.opportunities_ms.last().copied().unwrap_or(0).max(1))
    }

    /// Mean rate over its duration, bit/s.
    pub fn mean_rate(&self) -> f64 {
        let bits = 8.0 * OPPORTUNITY as f64 * self.opportunities_ms.len() as f64;
        bits / (self.duration().as_f64() * 1e-9)
    }
}

/// The transmitter of a link with a recorded capacity.
///
/// An opportunity carries 1500 bytes at its instant. Several small packets share one, a large packet takes several and
/// has left with the last of them. What an opportunity could have carried is lost when no packet is ready. Opportunity i
/// of a trace that lasts P comes at tᵢ, P + tᵢ, 2P + tᵢ and so on, time 0 being the start of the run.
///
/// One difference to mahimahi: there a packet that arrives in the very millisecond of an opportunity may or may not
/// catch it; here, where time is in nanoseconds, it does if it is ready at that instant.
#[derive(Debug, Clone)]
pub struct Capacity {
    trace: Arc<CapacityTrace>,
    period: Span,
    /// The next unused opportunity: which repetition, and which of its opportunities.
    cycle: u64,
    index: usize,
    /// When the last used opportunity came, and the bytes it still has room for.
    open: Time,
    room: u64,
}

impl Capacity {
    /// Starts `trace` at time 0. A trace without opportunities never delivers anything.
    pub fn new(trace: Arc<CapacityTrace>) -> Self {
        let period = trace.duration();
        Self { trace, period, cycle: 0, index: 0, open: Time::ZERO, room: 0 }
    }

    /// When a packet of `bytes` whose service may begin at `ready` has left entirely: at `ready` or later, and not
    /// before the packet of the call before. A packet of no bytes counts as one of one byte. [`Time::MAX`] if never.
    pub fn depart(&mut self, ready: Time, bytes: u32) -> Time {
        if self.trace.opportunities_ms.is_empty() {
            return Time::MAX;
        }
        let mut bytes = u64::from(bytes.max(1));
        if ready <= self.open {
            let fits = self.room.min(bytes);
            self.room -= fits;
            bytes -= fits;
            if bytes == 0 {
                return self.open;
            }
        }
        self.skip_to(ready);
        let needed = bytes.div_ceil(OPPORTUNITY);
        self.advance(needed - 1);
        self.open = self.time_of_next();
        self.room = needed * OPPORTUNITY - bytes;
        self.advance(1);
        self.open
    }

    fn time_of_next(&self) -> Time {
        let stamp = at_stamp(self.trace.opportunities_ms[self.index]);
        Time::at(self.period.saturating_mul(self.cycle)).saturating_add(stamp)
    }

    fn advance(&mut self, opportunities: u64) {
        let length = self.trace.opportunities_ms.len() as u64;
        let index = self.index as u64 + opportunities;
        self.cycle = self.cycle.saturating_add(index / length);
        self.index = (index % length) as usize;
    }

    /// Lets the opportunities before `ready` pass.
    fn skip_to(&mut self, ready: Time) {
        if self.time_of_next() >= ready {
            return;
        }
        // An opportunity at the end of a repetition belongs to it, not to the next: offsets are in (0, period]. `ready`
        // is above 0 here, since an opportunity lies before it.
        self.cycle = (ready - Span::ns(1)).ticks(self.period);
        let offset = ready.since_start() - self.cycle * self.period;
        let stamps = &self.trace.opportunities_ms;
        self.index = stamps.partition_point(|&stamp| at_stamp(stamp) < offset);
        if self.index == stamps.len() {
            self.advance(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Span = Span::ms(1);

    fn trace(stamps: &[u32]) -> Arc<CapacityTrace> {
        Arc::new(CapacityTrace { name: "test".into(), opportunities_ms: stamps.to_vec() })
    }

    fn capacity(stamps: &[u32]) -> Capacity {
        Capacity::new(trace(stamps))
    }

    /// The same link, opportunity by opportunity.
    struct Naive {
        stamps: Vec<u32>,
        next: u64,
        open: Time,
        room: u64,
    }

    impl Naive {
        fn depart(&mut self, ready: Time, bytes: u32) -> Time {
            let (n, period) = (self.stamps.len() as u64, u64::from(*self.stamps.last().unwrap()) * MS);
            let mut left = u64::from(bytes);
            loop {
                if ready <= self.open && self.room > 0 {
                    let fits = left.min(self.room);
                    left -= fits;
                    self.room -= fits;
                }
                if left == 0 {
                    return self.open;
                }
                self.open =
                    Time::at(self.next / n * period + u64::from(self.stamps[(self.next % n) as usize]) * MS);
                self.next += 1;
                self.room = 1500;
            }
        }
    }

    #[test]
    fn a_constant_trace_carries_its_rate() {
        // One opportunity a millisecond: 12 Mbit/s.
        let mut link = capacity(&[1]);
        assert!((link.trace.mean_rate() - 12e6).abs() < 1e-6);
        let departures: Vec<Time> = (0..1000).map(|_| link.depart(Time::ZERO, 1500)).collect();
        assert_eq!(departures, (1..=1000).map(Time::ms).collect::<Vec<_>>());
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let mut link = capacity(&[1, 2, 3, 4]);
        let departures: Vec<u64> =
            [500, 500, 500, 40, 3000, 1].map(|bytes| link.depart(Time::ZERO, bytes).ticks(MS)).to_vec();
        assert_eq!(departures, [1, 1, 1, 2, 4, 4]);
        // A packet of 9000 bytes over the repetition's end: 1460 bytes of room are gone, 4 × 1500 to the next end.
        assert_eq!(link.depart(Time::at(4 * MS + Span::ns(1)), 9000), Time::ms(10));
    }

    #[test]
    fn opportunities_pass_when_nothing_is_ready() {
        let mut link = capacity(&[0, 10, 10, 20]);
        assert_eq!(link.depart(Time::ms(5), 100), Time::ms(10));
        // The rest of that opportunity is gone, and so is the second one at 10 ms.
        assert_eq!(link.depart(Time::at(10 * MS + Span::ns(1)), 100), Time::ms(20));
        // Ready at the instant of the opportunity: it is caught, and has room for both.
        assert_eq!(link.depart(Time::ms(30), 1500), Time::ms(30));
        assert_eq!(link.depart(Time::ms(30), 1500), Time::ms(30));
        assert_eq!(link.depart(Time::ms(30), 1500), Time::ms(40));
    }

    #[test]
    fn the_last_time_stamp_is_the_period() {
        let mut link = capacity(&[0, 3]);
        let departures: Vec<u64> = (0..6).map(|_| link.depart(Time::ZERO, 1500).ticks(MS)).collect();
        assert_eq!(departures, [0, 3, 3, 6, 6, 9]);
        assert_eq!(link.trace.duration(), 3 * MS);
    }

    #[test]
    fn traces_no_file_may_have_are_survived() {
        assert_eq!(capacity(&[]).depart(Time::ns(5), 1), Time::MAX);
        // All at 0: repeated every millisecond.
        let mut link = capacity(&[0, 0]);
        let departures: Vec<u64> = (0..5).map(|_| link.depart(Time::ZERO, 1500).ticks(MS)).collect();
        assert_eq!(departures, [0, 0, 1, 1, 2]);
        assert_eq!(link.depart(Time::at(10 * MS + Span::ns(1)), 1500), Time::ms(11));
        assert_eq!(trace(&[]).mean_rate(), 0.0);
    }

    #[test]
    fn the_end_of_time_is_survived() {
        let mut link = capacity(&[1, 5, 5]);
        assert_eq!(link.depart(Time::MAX, u32::MAX), Time::MAX);
        assert_eq!(link.depart(Time::MAX, 1), Time::MAX);
    }

    #[test]
    fn the_first_trace_of_a_channel_is_its_capacity() {
        let trace = trace(&[7]);
        let effects = vec![Effect::Bernoulli { per: 0.1 }, Effect::Trace(trace.clone())];
        assert_eq!(ChannelConfig { effects }.capacity(), Some(&trace));
        assert_eq!(ChannelConfig::default().capacity(), None);
    }

    fn stamps() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(0u32..40, 1..30).prop_map(|mut gaps| {
            let mut sum = 0;
            for gap in &mut gaps {
                // Many stamps coincide, as in real traces.
                sum += gap.saturating_sub(25);
                *gap = sum;
            }
            if sum == 0 {
                gaps.push(1);
            }
            gaps
        })
    }

    fn packet_size() -> impl Strategy<Value = u32> {
        prop::sample::select(vec![1, 40, 1500, 1501, 20_000])
    }

    proptest! {
        #[test]
        fn departures_never_fall_and_equal_those_of_the_plain_definition(
            stamps in stamps(),
            packets in prop::collection::vec((0u64..20_000_000, packet_size(), any::<bool>()), 1..100),
        ) {
            let mut link = capacity(&stamps);
            let mut naive = Naive { stamps, next: 0, open: Time::ZERO, room: 0 };
            let (mut arrival, mut last) = (Time::ZERO, Time::ZERO);
            for (gap, bytes, on_the_millisecond) in packets {
                let gap = Span::ns(gap);
                arrival += if on_the_millisecond { gap.ticks(MS) * MS } else { gap };
                // A link serves a packet after the one before it.
                let ready = arrival.max(last);
                let departure = link.depart(ready, bytes);
                prop_assert!(departure >= ready && departure >= last);
                prop_assert_eq!(departure, naive.depart(ready, bytes));
                last = departure;
            }
        }

        #[test]
        fn a_busy_link_carries_the_mean_rate_of_its_trace(stamps in stamps(), bytes in 1u32..5000) {
            let mut link = capacity(&stamps);
            let (mut last, mut sent) = (Time::ZERO, 0u64);
            while last.since_start() < 500 * link.period {
                last = link.depart(last, bytes);
                sent += 8 * u64::from(bytes);
            }
            let rate = sent as f64 / last.seconds();
            // The ends of the measurement may cut off one period's opportunities.
            prop_assert!((rate / link.trace.mean_rate() - 1.0).abs() < 0.005, "{rate}");
        }
    }
}
