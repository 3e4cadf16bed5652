//! Accumulated ACKs: while data comes at a steady rate one ACK covers many segments, and how many is learnt.
//!
//! Two modes. *Delayed*: an ACK per two segments. *Accumulated*: one per `burst`. Once an `interval` of 200 ms, or a
//! round trip where that is longer, the rate of arrival is worked out; a change by less than `threshold` = 5 % from
//! the rate before means accumulated mode, any other delayed mode. In both an ACK leaves at once when so many segments
//! wait, `timeout` = 200 ms after the first that waits, when the window leaves no room for one more segment, and when a
//! segment is out of order, fills a hole, came before or carries FIN, which also ends accumulated mode.
//!
//! [`Learner`] says what `burst` is. Source: Jeong, Kim and Lohwasser 2006, chapter 3; in its kernel version the
//! interval is 100 ms. **Choices**: rates are worked out when segments come, from those that came since the last time,
//! so that an idle path needs no timer; the round trip is the receiver's samples smoothed as in RFC 6298, and where it
//! has none the interval alone counts; "no room" is where the paper has "exceeds the window", since a sender that
//! sends full segments only stops before the window is full.

mod learner;

pub use learner::Learner;

use super::held::Held;
use super::{AckPolicy, AckSink, Manner};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Seq, Span, Time};

/// Segments an ACK covers in delayed mode.
const DELAYED: u64 = 2;

/// Accumulates while the rate is steady.
#[derive(Debug, Clone)]
pub struct Accumulated {
    interval: Span,
    threshold: f64,
    timeout: Span,
    accumulating: bool,
    learner: Learner,
    /// The receiver's round-trip time, smoothed.
    srtt: Option<Span>,
    /// When the interval at hand began; none before the first segment.
    began: Option<Time>,
    /// Bytes that have come in it.
    bytes: u64,
    /// The rate in the interval before, bytes per second.
    rate: Option<f64>,
    held: Held,
}

impl Member for Accumulated {
    const INFO: Info = Info {
        name: "accumulated",
        summary: "one ACK for many segments while data comes at a steady rate, and it learns for how many",
        formula: "ACK per burst segments while the rate of 200 ms (or an RTT) is within 5 % of the one before, else per 2; burst + 1 after 20 steady rates, − 1 when the rate suffers",
        source: "Jeong, Kim and Lohwasser 2006, chapter 3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let interval = args.time("interval", Span::ms(200), Span::ms(1)..=Span::s(60))?;
        let threshold = args.number("threshold", 0.05, 0.0..=1.0)?;
        if threshold == 0.0 || threshold == 1.0 {
            return Err(args.bad("threshold", &threshold, "a number between 0 and 1, neither of them"));
        }
        let learn_after = args.count("learn_after", 20, 1..=10_000)?;
        let relearn = args.time("relearn", Span::s(10), Span::ZERO..=Span::s(3600))?;
        let timeout = args.time("timeout", Span::ms(200), Span::ms(1)..=Span::ms(500))?;
        let forgets = args.choice("maximum", &["ever", "sampling"])? == "sampling";
        Ok(Self {
            interval,
            threshold,
            timeout,
            accumulating: false,
            learner: Learner::new(threshold, learn_after, relearn, forgets),
            srtt: None,
            began: None,
            bytes: 0,
            rate: None,
            held: Held::default(),
        })
    }
}

impl Accumulated {
    /// Segments that an ACK covers at present.
    fn covers(&self) -> u64 {
        if self.accumulating { self.learner.burst() } else { DELAYED }
    }

    /// Counts a segment, and ends the interval if it is over.
    fn meter(&mut self, segment: &Arrival) {
        if let Some(sample) = segment.rtt {
            self.srtt = Some(self.srtt.map_or(sample, |srtt| srtt - srtt / 8 + sample / 8));
        }
        let Some(began) = self.began else {
            self.began = Some(segment.now); // what came before this moment is unknown, and so is its rate
            return;
        };
        self.bytes += u64::from(segment.bytes);
        let span = segment.now.saturating_sub(began);
        if span >= self.interval.max(self.srtt.unwrap_or(Span::ZERO)) {
            self.end_interval(segment.now, self.bytes as f64 * 1e9 / span.as_f64());
        }
    }

    fn end_interval(&mut self, now: Time, rate: f64) {
        self.learner.on_rate(now, rate, self.accumulating);
        let before = self.rate.replace(rate);
        self.accumulating = before.is_some_and(|before| (rate - before).abs() < self.threshold * before);
        self.began = Some(now);
        self.bytes = 0;
    }
}

impl AckPolicy for Accumulated {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        self.meter(segment);
        self.accumulating &= !segment.urgent;
        let most = self.covers();
        let due = segment.urgent || !segment.leaves_room();
        self.held.another(segment, most, due, || self.timeout, out);
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        self.held.on_timer(now, rcv_nxt, out);
    }

    fn deadline(&self) -> Option<Time> {
        self.held.deadline()
    }

    fn on_carried(&mut self, _: Seq) {
        self.held.settle();
    }

    fn burst(&self) -> Option<u64> {
        Some(self.learner.burst())
    }

    fn manner(&self) -> Option<Manner> {
        Some(Manner { covers: self.covers(), wait: self.timeout, minds_window: true, ..Manner::EVERY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::bench::Bench;
    use crate::{Arg, Spec};

    const MS: Span = Span::ms(1);

    fn build(spec: &Spec) -> Result<Accumulated, SpecError> {
        Accumulated::build(&mut Args::new(spec))
    }

    impl Bench<Accumulated> {
        fn of(spec: &Spec) -> Self {
            Self::new(build(spec).expect("valid arguments"))
        }

        /// With a burst that has been learnt, in accumulated mode.
        fn accumulating(burst: u64) -> Self {
            let mut bench = Self::of(&Spec::named("accumulated"));
            bench.policy.learner.set_burst(burst);
            bench.policy.accumulating = true;
            bench
        }

        /// So many segments, that far apart; what ACKs covered.
        fn stream(&mut self, segments: u64, apart: Span) -> Vec<u64> {
            (0..segments).filter_map(|_| self.receive(apart.nanos(), false)).collect()
        }
    }

    #[test]
    fn the_burst_releases_the_ack_in_accumulated_mode_and_two_segments_in_delayed() {
        let mut bench = Bench::accumulating(4);
        assert_eq!(bench.stream(8, MS), [4, 4]);
        bench.policy.accumulating = false;
        assert_eq!(bench.stream(4, MS), [2, 2]);
    }

    #[test]
    fn the_timer_runs_from_the_first_segment_held() {
        let mut bench = Bench::accumulating(4);
        bench.receive(10_000_000, false);
        bench.receive(50_000_000, false);
        assert_eq!(bench.policy.deadline(), Some(Time::ms(210)));
        let mut sink = AckSink::default();
        bench.policy.on_timer(Time::at(210 * MS - Span::ns(1)), bench.rcv_nxt, &mut sink);
        assert_eq!(sink.pop(), None, "too early");
        bench.policy.on_timer(Time::ms(210), bench.rcv_nxt, &mut sink);
        assert_eq!((sink.pop(), bench.policy.deadline()), (Some(Seq::at(2001)), None));
        assert!(bench.policy.accumulating, "which says nothing of the rate");
    }

    #[test]
    fn what_is_urgent_is_acknowledged_at_once_and_ends_accumulated_mode() {
        let mut bench = Bench::accumulating(4);
        assert_eq!(bench.receive(1_000_000, false), None);
        assert_eq!((bench.receive(1_000_000, true), bench.policy.deadline()), (Some(2), None));
        assert_eq!(bench.stream(4, MS), [2, 2]);
        assert_eq!(bench.policy.burst(), Some(4), "what was learnt stays");
    }

    #[test]
    fn a_window_without_room_for_another_segment_releases_the_ack() {
        let mut bench = Bench::accumulating(10);
        bench.window = 3000;
        assert_eq!(bench.stream(6, MS), [3, 3]);
        bench.window = 3999;
        assert_eq!(bench.stream(6, MS), [3, 3]);
    }

    #[test]
    fn a_rate_within_the_threshold_of_the_one_before_accumulates() {
        let mut bench = Bench::of(&Spec::named("accumulated").with("threshold", Arg::Number(0.5)));
        bench.policy.learner.set_burst(4);
        bench.stream(21, 10 * MS); // one to begin with, then 20 in 200 ms
        assert!(!bench.policy.accumulating, "there is nothing to compare with");
        bench.stream(20, 10 * MS);
        assert!(bench.policy.accumulating, "as before");
        bench.stream(11, 20 * MS); // its last segment ends the interval: 100 kB/s become 50 kB/s
        assert!(!bench.policy.accumulating, "a fall by the half is not below the threshold");
        bench.stream(14, 15 * MS);
        assert!(bench.policy.accumulating, "a rise by a third is");
    }

    #[test]
    fn the_interval_is_a_round_trip_where_that_is_longer() {
        let mut bench = Bench::of(&Spec::named("accumulated"));
        bench.rtt = Some(800 * MS);
        bench.receive(0, false);
        bench.rtt = Some(1600 * MS);
        bench.receive(0, false);
        bench.rtt = None;
        assert_eq!(bench.policy.srtt, Some(900 * MS));
        bench.stream(89, 10 * MS);
        assert_eq!(bench.policy.rate, None);
        bench.stream(1, 10 * MS);
        assert_eq!(bench.policy.rate, Some(91_000.0 / 0.9), "the first segment only starts the clock");
        bench.rtt = Some(10 * MS);
        bench.receive(0, false);
        assert_eq!(bench.policy.srtt, Some(Span::us(788_750)));
    }

    #[test]
    fn a_pause_is_part_of_the_rate_that_it_ends() {
        let mut bench = Bench::accumulating(4);
        bench.stream(41, 10 * MS);
        assert!(bench.policy.accumulating);
        bench.stream(1, 1000 * MS);
        assert_eq!(bench.policy.rate, Some(1000.0));
        assert!(!bench.policy.accumulating);
    }

    #[test]
    fn a_steady_stream_is_acknowledged_ever_less() {
        let mut bench = Bench::of(&Spec::named("accumulated"));
        bench.stream(1 + 20 * 20, 10 * MS);
        assert_eq!(bench.policy.burst(), Some(3), "after 20 intervals of 200 ms");
        bench.stream(20 * 20, 10 * MS);
        assert_eq!(bench.policy.burst(), Some(4));
    }

    #[test]
    fn thresholds_of_none_and_all_are_refused() {
        for threshold in [0.0, 1.0, -0.1, 1.1, f64::NAN] {
            let error = build(&Spec::named("accumulated").with("threshold", Arg::Number(threshold)));
            assert!(matches!(error, Err(SpecError::BadValue { .. })), "{threshold}");
        }
    }
}
