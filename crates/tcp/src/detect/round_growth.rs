//! Slow start shows in how much more comes each round trip; growth rules leave no other trace at the receiver.
//!
//! A round ends with the first segment that answers an ACK sent since the round began: now − sample ≥ start. What comes
//! in a round is then the sender's window, however the path has spread it: a queue that grows makes rounds longer, not
//! smaller. In slow start a round brings twice as much as the one before, ×1.5 with delayed ACKs; in avoidance one
//! segment more. So:
//!
//! - A round grows that brings `growth` = 1.2 times the largest so far, and a segment more. ×1.2 lies just below what is
//!   left of slow start with delayed ACKs when half of them are lost, ×1.25. `patience` = 2 rounds running that do not
//!   grow end slow start: in windows of a few segments a held ACK hides a round's growth. A round that grows takes it up
//!   again.
//! - A silence of more than `silence` = 2 round trips is a timeout: slow start, and rounds are compared anew.
//! - A segment that fills a hole and can answer an ACK that showed it (a late one cannot) is a repair: avoidance. From
//!   there on two rounds running, each half as large again as the one before it, are slow start: Tahoe's, or NewReno's
//!   after a timeout amid partial ACKs. Avoidance does not do that twice, nor does the burst that ends a repair.
//!
//! Where segments bring no samples (no timestamps) a round lasts the handshake's round trip or, without that, the
//! longest gap before the first 20 segments. A sender in slow start that fills a queue then looks like one in avoidance.
//! Source: our own; rounds as BBR counts them (draft-ietf-ccwg-bbr).

use super::{Phase, SlowStartDetector};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Seq, Time};

/// Segments in whose gaps a first burst and the round trip after it show, if nothing else tells the round trip.
const YOUNG: u32 = 20;
/// Growth of slow start with delayed ACKs.
const BY_HALF: f64 = 1.5;

/// Compares what rounds bring.
#[derive(Debug, Clone)]
pub struct RoundGrowth {
    growth: f64,
    silence: f64,
    patience: u32,
    last: Option<Time>,
    segments: u32,
    /// Round-trip time, ns; 0: not known.
    rtt: f64,
    sampled: bool,
    /// When the present round began, and what it has brought, bytes.
    start: Time,
    bytes: u64,
    /// What a round is held against, bytes: the largest since the last timeout; after a repair, the one before.
    reference: u64,
    repaired: bool,
    /// Rounds running that grew, and that did not.
    grown: u32,
    flat: u32,
    /// Largest segment, bytes.
    segment: u32,
    /// End of the newest data, and when data before it was first missed.
    highest: Seq,
    hole: Option<Time>,
    phase: Phase,
}

impl Member for RoundGrowth {
    const INFO: Info = Info {
        name: "round-growth",
        summary: "takes rounds that bring more and more for slow start, silences for timeouts, filled holes for repairs",
        formula: "2 rounds running < growth · the largest before, or a repair: avoidance; growth = 1.2; a gap > 2 RTT: slow start",
        source: "this project; rounds after draft-ietf-ccwg-bbr",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            growth: args.number("growth", 1.2, 1.01..=1.99)?,
            silence: args.number("silence", 2.0, 1.0..=100.0)?,
            patience: args.count("patience", 2, 1..=100)? as u32,
            last: None,
            segments: 0,
            rtt: 0.0,
            sampled: false,
            start: Time::ZERO,
            bytes: 0,
            reference: 0,
            repaired: false,
            grown: 0,
            flat: 0,
            segment: 0,
            highest: Seq::ZERO,
            hole: None,
            phase: Phase::SlowStart,
        })
    }
}

impl RoundGrowth {
    /// Whether the segment can answer an ACK sent at `since` or later.
    fn answers(&self, arrival: &Arrival, since: Time) -> bool {
        match arrival.rtt {
            Some(rtt) => arrival.now.earlier(rtt) >= since,
            None => self.rtt > 0.0 && arrival.now.saturating_sub(since).as_f64() >= self.rtt,
        }
    }

    fn restart(&mut self) {
        (self.reference, self.repaired, self.grown, self.flat) = (0, false, 0, 0);
        self.hole = None;
        self.phase = Phase::SlowStart;
    }

    /// A round has ended.
    fn judge(&mut self) {
        let factor = if self.repaired { BY_HALF } else { self.growth };
        let grew = self.bytes as f64 >= factor * self.reference as f64
            && self.bytes >= self.reference + u64::from(self.segment);
        (self.grown, self.flat) = if grew { (self.grown + 1, 0) } else { (0, self.flat + 1) };
        let enough = if self.repaired { 2 } else { 1 };
        match self.phase {
            Phase::SlowStart if self.flat >= self.patience => self.phase = Phase::Avoidance,
            Phase::Avoidance if self.grown >= enough => {
                self.phase = Phase::SlowStart;
                self.repaired = false;
            }
            _ => {}
        }
        self.reference = if self.repaired { self.bytes } else { self.reference.max(self.bytes) };
    }

    /// Data goes missing, or what was missing comes again.
    fn follow_holes(&mut self, arrival: &Arrival) {
        if arrival.end.earlier(u64::from(arrival.bytes)) > self.highest {
            self.hole.get_or_insert(arrival.now);
        } else if arrival.end <= self.highest && self.hole.is_some_and(|since| self.answers(arrival, since)) {
            self.hole = None;
            (self.repaired, self.grown) = (true, 0);
            self.phase = Phase::Avoidance;
        }
        self.highest = self.highest.max(arrival.end);
        if arrival.rcv_nxt >= self.highest {
            self.hole = None; // late segments fill holes too
        }
    }
}

impl SlowStartDetector for RoundGrowth {
    fn on_segment(&mut self, arrival: &Arrival) {
        let now = arrival.now;
        self.segments = self.segments.saturating_add(1);
        self.segment = self.segment.max(arrival.bytes);
        let gap = match self.last.replace(now) {
            Some(last) => now.saturating_sub(last).as_f64(),
            None => {
                (self.start, self.highest) = (now, arrival.end);
                0.0
            }
        };
        let silent = self.rtt > 0.0 && gap > self.silence * self.rtt;
        if silent || self.answers(arrival, self.start) {
            if silent {
                self.restart()
            } else {
                self.judge()
            }
            (self.start, self.bytes) = (now, 0);
        }
        self.bytes += u64::from(arrival.bytes);
        if let Some(sample) = arrival.rtt.map(|sample| sample.as_f64()) {
            self.rtt = if self.sampled { 0.875 * self.rtt + 0.125 * sample } else { sample };
            self.sampled = true;
        } else if !self.sampled && self.segments <= YOUNG {
            self.rtt = self.rtt.max(gap);
        }
        self.follow_holes(arrival);
    }

    fn phase(&self) -> Phase {
        self.phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Spec};
    use Phase::{Avoidance, SlowStart};

    const RTT: Span = Span::us(100);

    /// The detector, and a path on which segments of 1000 bytes come in bursts.
    struct Bursts {
        detector: RoundGrowth,
        now: Time,
        rtt: Option<Span>,
        next: u64,
    }

    impl Bursts {
        fn new(rtt: Option<Span>) -> Self {
            let detector = RoundGrowth::build(&mut Args::new(&Spec::named("round-growth"))).unwrap();
            Self { detector, now: Time::at(RTT), rtt, next: 1 }
        }

        fn segment(&mut self, seq: u64) {
            let arrival =
                Arrival { end: Seq::at(seq + 1000), rtt: self.rtt, ..Arrival::of_bytes(self.now, 1000) };
            self.detector.on_segment(&arrival);
        }

        /// One round trip on, so many segments of new data; the verdict after each burst.
        fn come(&mut self, bursts: &[u64]) -> Vec<Phase> {
            bursts.iter().map(|&segments| self.burst(segments)).collect()
        }

        fn burst(&mut self, segments: u64) -> Phase {
            for n in 0..segments {
                self.segment(self.next);
                self.next += 1000;
                self.now += Span::ns(u64::from(n + 1 < segments));
            }
            self.now += RTT - Span::ns(segments - 1);
            self.detector.phase()
        }
    }

    #[test]
    fn two_rounds_running_that_do_not_grow_end_slow_start() {
        // A burst's first segment judges the round before it.
        let mut path = Bursts::new(Some(RTT));
        assert_eq!(
            path.come(&[4, 8, 8, 16, 16, 17]),
            [SlowStart; 6],
            "one round stands still, and then the next"
        );
        assert_eq!(path.come(&[18]), [Avoidance], "16 and 17 against 16");
        assert_eq!(path.come(&[19, 22, 23]), [Avoidance; 3]);
        assert_eq!(path.come(&[35, 35]), [Avoidance, SlowStart], "35 against 23");
    }

    #[test]
    fn small_windows_must_grow_by_a_segment_and_large_ones_by_a_fifth() {
        let verdicts = |bursts: &[u64]| Bursts::new(Some(RTT)).come(bursts);
        assert_eq!(
            verdicts(&[2, 3, 4, 5, 6, 7, 8, 9])[6..],
            [SlowStart, Avoidance],
            "7 against 6, 8 against 7"
        );
        assert_eq!(verdicts(&[100, 120, 144, 173, 172, 300])[5], SlowStart, "172 alone does not grow");
        assert_eq!(verdicts(&[100, 119, 142, 300])[3], Avoidance, "119 against 100, 142 against 119");
    }

    #[test]
    fn rounds_that_a_queue_makes_longer_count_whole() {
        // A saturated path: one segment a microsecond; the window doubles, and so does the round trip.
        let mut path = Bursts::new(None);
        let mut verdicts = Vec::new();
        for window in [100, 200, 400, 800u64] {
            for _ in 0..window {
                path.rtt = Some(Span::us(window));
                path.segment(path.next);
                path.next += 1000;
                path.now += Span::us(1);
            }
            verdicts.push(path.detector.phase());
        }
        assert_eq!(verdicts, [SlowStart; 4]);
    }

    #[test]
    fn a_silence_of_two_round_trips_is_a_timeout() {
        let mut path = Bursts::new(Some(RTT));
        assert_eq!(path.come(&[8, 8, 8, 8]).last(), Some(&Avoidance));
        path.now += RTT;
        assert_eq!(path.come(&[1]), [Avoidance], "two round trips but for the burst's own length");
        path.now += RTT + Span::ns(1);
        assert_eq!(path.come(&[1, 2, 3]), [SlowStart; 3]);
    }

    #[test]
    fn a_repair_is_avoidance_and_a_late_segment_is_not() {
        let mut path = Bursts::new(Some(RTT));
        path.come(&[4, 8]);
        let missing = path.next;
        path.next += 1000;
        assert_eq!(path.come(&[16]), [SlowStart], "data is missing");
        let before = path.now;
        path.now = before - RTT + Span::ns(15);
        path.segment(missing);
        assert_eq!(
            path.detector.phase(),
            SlowStart,
            "too early for an answer to an ACK that showed the hole"
        );
        path.now = before;
        path.segment(missing);
        assert_eq!(path.detector.phase(), Avoidance);
    }

    #[test]
    fn a_hole_that_a_late_segment_fills_is_forgotten() {
        let mut path = Bursts::new(Some(RTT));
        path.come(&[4]);
        for window in [8, 16, 32u64] {
            let missing = path.next;
            path.next += 1000;
            path.burst(window - 1);
            let after = path.now;
            path.now = after - RTT + Span::ns(window);
            let (bytes, rcv_nxt) = (Arrival::of_bytes(path.now, 1000), path.next);
            path.detector.on_segment(&Arrival {
                end: Seq::at(missing + 1000),
                rcv_nxt: Seq::at(rcv_nxt),
                rtt: path.rtt,
                ..bytes
            });
            assert_eq!(path.detector.phase(), SlowStart, "a late segment of {window}");
            path.now = after;
        }
    }

    #[test]
    fn after_a_repair_two_rounds_that_grow_by_half_are_slow_start() {
        let repaired = || {
            let mut path = Bursts::new(Some(RTT));
            path.come(&[4, 8]);
            let missing = path.next;
            path.next += 1000;
            path.come(&[16]);
            path.segment(missing);
            path.now += RTT;
            path
        };
        // The round of the repair alone brought one segment.
        assert_eq!(
            repaired().come(&[2, 4, 8]),
            [Avoidance, Avoidance, SlowStart],
            "Tahoe: 2 against 1, 4 against 2"
        );
        assert_eq!(
            repaired().come(&[1, 1, 10, 11, 12]),
            [Avoidance; 5],
            "NewReno: partial ACKs, then half the window"
        );
    }

    #[test]
    fn without_samples_the_longest_early_gap_is_the_round() {
        let mut path = Bursts::new(None);
        assert_eq!(path.come(&[2, 4, 8, 16, 32]), [SlowStart; 5]);
        assert_eq!(path.detector.rtt, (RTT - Span::ns(1)).as_f64(), "the gap between the first two bursts");
        assert_eq!(path.come(&[32, 32, 33]), [SlowStart, SlowStart, Avoidance]);
    }

    #[test]
    fn segments_that_come_at_one_instant_are_one_burst() {
        let mut path = Bursts::new(Some(RTT));
        for window in [2, 4, 8, 16, 32u64] {
            for _ in 0..window {
                path.segment(path.next);
                path.next += 1000;
            }
            path.now += RTT;
        }
        assert_eq!(path.detector.phase(), SlowStart);
        assert_eq!(path.detector.reference, 16_000);
    }
}
