//! Is the path full? Whether data comes over whole round trips as fast as it comes within bursts.
//!
//! The *peak* is the largest rate of a burst: of eight segments in a row or, where that is twice as many, of an eighth of
//! what a round brings, so that neither jitter nor arrivals in batches make it. It is what the bottleneck passes when it has
//! something to pass.
//!
//! A round, the time from one segment to the first that comes a round trip later, is full if its rate is within 1/64 of
//! the peak. A sender whose window is smaller than the path leaves gaps: its rounds are not full, and fewer gaps a
//! round later do not deceive a comparison with the peak, as they would one with the round before. Whoever shares the
//! bottleneck with others finds it full only if their packets do not come between its own. The peak is forgotten by
//! 1/16 segment per round trip, slower than any window grows, so that a path that has become slower is found full again
//! some day. Integers only.

use crate::{Arrival, Seq, Span, Time};

/// Segments of which the rate of a burst is taken, at least; and which part of a round they are.
const BURST: u64 = 8;
const BURSTS_A_ROUND: u64 = 8;
/// A round is full if it is short of the peak by one part in so many at most.
const SHORT: u64 = 64;
/// It is almost full if it is short by so many such parts at most.
const ALMOST: u64 = 3;
/// One segment per round trip is forgotten in so many rounds.
const FORGET: u64 = 16;

/// A moment, and the sequence number up to which data had come by then.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    at: Time,
    seq: Seq,
}

impl Mark {
    /// Bytes per second from this moment to another.
    fn rate_until(&self, later: &Mark) -> u64 {
        let lasted = later.at.saturating_sub(self.at).max(Span::ns(1));
        (later.seq - self.seq).saturating_mul(1_000_000_000) / lasted.nanos()
    }

    /// Whether that is above `rate`: without a division, which is dear.
    fn is_faster(&self, later: &Mark, rate: u64) -> bool {
        let lasted = later.at.saturating_sub(self.at);
        u128::from(later.seq - self.seq) * 1_000_000_000 > u128::from(rate) * u128::from(lasted.nanos())
    }
}

/// What a round was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Whether it was full.
    pub full: bool,
    /// Whether it was short of the peak by no more than three times what a full one may be.
    pub almost: bool,
    /// Segments that came per round trip.
    pub segments: u64,
    /// The peak that it was held against, bytes per second.
    pub peak: u64,
}

/// Compares the rate of rounds with that of bursts.
#[derive(Debug, Clone, Default)]
pub struct Fullness {
    /// The shortest round trip seen.
    rtt: Option<Span>,
    /// The largest rate of a burst, bytes per second.
    peak: u64,
    /// When burst and round began.
    burst: Mark,
    round: Mark,
    /// When they end: with this sequence number, and at this time.
    burst_end: Seq,
    round_end: Time,
    /// The largest segment, bytes.
    size: u32,
    /// How many segments a burst is, by what the rounds so far have brought.
    length: u64,
    /// Whether they have begun.
    running: bool,
}

impl Fullness {
    /// A segment has come, in order. At the end of a round: what it was. Mostly nothing ends, and nothing is written.
    #[inline]
    pub fn on_segment(&mut self, segment: &Arrival) -> Option<Round> {
        if let Some(sample) = segment.rtt {
            self.shorten(sample);
        }
        if segment.rcv_nxt >= self.burst_end || segment.now >= self.round_end || segment.bytes > self.size {
            return self.end(segment);
        }
        None
    }

    /// Something ends, or nothing has begun yet.
    fn end(&mut self, segment: &Arrival) -> Option<Round> {
        let now = Mark { at: segment.now, seq: segment.rcv_nxt };
        self.size = self.size.max(segment.bytes);
        if !self.running {
            self.running = true;
            self.begin_burst(now);
            self.begin_round(now);
            return None;
        }
        if now.seq >= self.burst_end && now.at > self.burst.at {
            if self.burst.is_faster(&now, self.peak) {
                self.peak = self.burst.rate_until(&now);
            }
            self.begin_burst(now);
        }
        (now.at >= self.round_end).then(|| self.end_round(now))
    }

    fn shorten(&mut self, sample: Span) {
        let rtt = self.rtt.map_or(sample, |rtt| rtt.min(sample)).max(Span::ns(1));
        self.rtt = Some(rtt);
        self.round_end = self.round_end.min(self.round.at.saturating_add(rtt));
    }

    fn begin_burst(&mut self, now: Mark) {
        self.burst = now;
        self.burst_end = now.seq + self.length.max(BURST) * u64::from(self.size);
    }

    fn begin_round(&mut self, now: Mark) {
        self.round = now;
        self.round_end = self.rtt.map_or(Time::MAX, |rtt| now.at.saturating_add(rtt));
    }

    fn end_round(&mut self, now: Mark) -> Round {
        let lasted = now.at.saturating_sub(self.round.at).max(Span::ns(1));
        let rate = self.round.rate_until(&now);
        let within = |parts: u64| self.peak > 0 && rate >= self.peak - parts * (self.peak / SHORT);
        let (full, almost) = (within(1), within(ALMOST));
        let came = (now.seq - self.round.seq) / u64::from(self.size.max(1));
        let segments = self.rtt.unwrap_or(lasted).saturating_mul(came).ticks(lasted);
        let peak = self.peak;
        self.peak -= self.peak / (FORGET * segments.max(1));
        if segments / BURSTS_A_ROUND >= 2 * self.length.max(BURST) {
            // The peak of shorter bursts says more of jitter than of the bottleneck.
            (self.length, self.peak) = (segments / BURSTS_A_ROUND, 0);
            self.begin_burst(now);
        }
        self.begin_round(now);
        Round { full, almost, segments, peak }
    }

    /// Something was lost: what follows is measured apart.
    pub fn interrupt(&mut self) {
        self.running = false;
        self.burst_end = Seq::ZERO;
    }

    /// The shortest round trip seen.
    pub fn rtt(&self) -> Option<Span> {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1000 bytes, those of a round `gap` ns apart from its beginning on; what the ends of rounds said.
    struct Bench {
        fullness: Fullness,
        now: Time,
        rcv_nxt: Seq,
        almost: bool,
    }

    impl Bench {
        fn new(rtt: Option<u64>) -> Self {
            let mut bench =
                Self { fullness: Fullness::default(), now: Time::ZERO, rcv_nxt: Seq::FIRST, almost: false };
            bench.receive(1000, rtt);
            bench
        }

        fn receive(&mut self, later: u64, rtt: Option<u64>) -> Option<(bool, u64)> {
            self.now += Span::ns(later);
            self.rcv_nxt += 1000;
            let arrival = Arrival {
                rtt: rtt.map(Span::ns),
                rcv_nxt: self.rcv_nxt,
                ..Arrival::of_bytes(self.now, 1000)
            };
            let round = self.fullness.on_segment(&arrival)?;
            self.almost = round.almost;
            Some((round.full, round.segments))
        }

        fn stream(&mut self, segments: u64, gap: u64) -> Vec<(bool, u64)> {
            (0..segments).filter_map(|_| self.receive(gap, None)).collect()
        }
    }

    #[test]
    fn an_unbroken_stream_fills_every_round() {
        assert_eq!(Bench::new(Some(1000)).stream(200, 10), [(true, 100), (true, 100)]);
    }

    #[test]
    fn jitter_makes_no_peak_once_rounds_bring_enough() {
        let mut bench = Bench::new(Some(4000));
        // Eight segments 8 apart, eight 12 apart: 400 a round, of which bursts are 50.
        let gaps = (0..6400).map(|n| if n % 16 < 8 { 8 } else { 12 });
        let rounds: Vec<_> = gaps.filter_map(|gap| bench.receive(gap, None)).collect();
        assert_eq!(rounds[0], (false, 400), "by bursts of eight");
        assert!(rounds.len() >= 15 && rounds[2..].iter().all(|round| round.0), "{rounds:?}");
    }

    #[test]
    fn bursts_with_gaps_between_them_do_not_and_the_peak_is_theirs() {
        let mut bench = Bench::new(Some(1000));
        assert_eq!(bench.stream(49, 10), []);
        assert_eq!(bench.receive(510, None), Some((false, 50)), "half of the round was idle");
        assert_eq!(bench.fullness.peak, 99_875_000_000, "8000 bytes in 80 ns, less 1/16 of a segment in 50");
        assert_eq!(bench.stream(98, 10), []);
        assert_eq!(bench.receive(20, None), Some((true, 99)), "one segment of a hundred is missing");
        assert_eq!(bench.stream(96, 10), []);
        assert_eq!((bench.receive(40, None), bench.almost), (Some((false, 97)), true), "three are");
        assert_eq!(bench.stream(94, 10), []);
        assert_eq!((bench.receive(60, None), bench.almost), (Some((false, 95)), false), "five are");
    }

    #[test]
    fn a_slower_stream_is_held_against_the_peak_of_old_until_that_is_forgotten() {
        let mut bench = Bench::new(Some(1000));
        bench.stream(100, 10);
        let full = |said: Vec<(bool, u64)>| said.iter().position(|s| s.0);
        assert_eq!(full(bench.stream(50 * 100, 20)), None, "evenly spaced, at half the rate");
        assert_eq!(bench.fullness.peak / 1_000_000_000, 88, "(1 − 1/(16·50)) to the power of 100, of 99.9");
        assert_eq!(full(bench.stream(50 * 600, 20)).map(|rounds| rounds / 10), Some(44));
    }

    #[test]
    fn rounds_are_as_long_as_the_shortest_round_trip() {
        let mut bench = Bench::new(Some(1000));
        assert_eq!(bench.receive(400, Some(500)), None);
        assert_eq!(bench.receive(200, Some(2000)), Some((false, 1)), "2 segments in 600 are 1 in 500");
        assert_eq!(bench.fullness.rtt(), Some(Span::ns(500)));
    }

    #[test]
    fn without_a_round_trip_time_there_are_no_rounds() {
        assert_eq!(Bench::new(None).stream(100, 1000), []);
    }

    #[test]
    fn what_comes_after_a_loss_is_measured_apart() {
        let mut bench = Bench::new(Some(1000));
        bench.stream(60, 10);
        bench.fullness.interrupt();
        bench.receive(700, None);
        assert_eq!(bench.stream(100, 10), [(true, 100)], "the pause is in no round");
    }

    #[test]
    fn segments_that_come_at_once_are_no_burst_of_their_own() {
        let mut bench = Bench::new(Some(1000));
        bench.stream(20, 0);
        assert_eq!(bench.fullness.peak, 0);
        bench.receive(200, None);
        assert_eq!(bench.fullness.peak, 105_000_000_000, "21 segments in 200 ns");
    }
}
