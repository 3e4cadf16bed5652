//! Accumulated ACKs, corrected: few ACKs while the path is full, delayed ACKs whenever the sender has to grow.
//!
//! Published [accumulated](super::Accumulated) ACKs cost throughput where round trips are long: they stop the sender's
//! clock, they slow its growth down, and a steady rate is no sign that it has nothing left to gain. Here:
//!
//! 1. ACKs are delayed, one per two segments, unless the path is *full*: over the last round trip data came as fast as
//!    it ever comes within a burst ([`Fullness`]).
//! 2. While it is full an ACK covers `burst` segments: what a round trip brings over `acks_per_rtt`, at most `most`, and
//!    once anything was lost at most `most_after_loss`.
//! 3. From the start, and from each loss, ACKs stay delayed until the path is full, and `patience` times as long again;
//!    after a loss for `quiet` at least. A path that passes an eighth more later was not full.
//! 4. An ACK that waits for `burst` leaves after two such shares of a round trip, a delayed one after `timeout`, both
//!    at once when the window leaves no room for one more segment, when out of order, filling a hole, or FIN.
//! 5. Where the path just ceases to be full while an ACK covers more than two segments, and nothing was lost, the sender
//!    suffers, as Vegas does, which takes the wait for a queue: half of that burst is the limit from then on, and twice
//!    the limit after each 16 full rounds. A rate that falls further at once was the sender's own will.
//! 6. The round trip is the shortest that the receiver has seen; without any, ACKs are delayed.
//!
//! Why: a sender that counts ACKs grows by their number, so that each ACK saved before the path is full is rate lost;
//! on a full path there is no rate to be gained. The patience lets slow start end as it would have ended, and later lets
//! the window grow so far into the queue that a loss at random does not take it below the path's capacity. Losses are
//! taken from what is urgent; reordering and duplicates count as losses, and cost only ACKs. Each ACK lets its burst go at
//! once; where a queue overflows, a retransmission that comes behind a burst finds it full again, and the repair ends in a
//! timeout: CUBIC over 400 to 600 ms lost 10 to 15 % of its rate to bursts of 16 or more, none to bursts of 4. So long
//! bursts are for paths that lose nothing. The quiet is for senders that
//! cause losses to find out about the path, as BBR does every two to three seconds and some round trips where queues are
//! short: they want the ACKs. Source: our own.

mod fullness;

use fullness::{Fullness, Round};

use super::held::Held;
use super::{AckPolicy, AckSink, Manner};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Arrival, Seq, Span, Time};

/// Segments that a delayed ACK covers.
const DELAYED: u64 = 2;

/// Full rounds after which the limit of a burst is doubled.
const RISE: u64 = 16;

/// Accumulates while the path is full.
#[derive(Debug, Clone)]
pub struct AccumulatedFull {
    acks_per_rtt: u64,
    /// The longest burst, and that of a path that has lost something.
    most: u64,
    most_after_loss: u64,
    patience: u64,
    quiet: Span,
    timeout: Span,
    fullness: Fullness,
    /// When the last segment came that was urgent: a loss, most likely.
    lost: Option<Time>,
    /// When that was, or when the first segment came: from here the sender grows.
    grows_from: Option<Time>,
    /// When the path was first full after it, and at what peak.
    full_from: Option<(Time, u64)>,
    /// The largest burst that the sender seems to bear, at most `most`; full rounds since it was last changed.
    limit: u64,
    full_rounds: u64,
    /// Segments that an ACK covers at present.
    burst: u64,
    held: Held,
}

impl Member for AccumulatedFull {
    const INFO: Info = Info {
        name: "accumulated-full",
        summary: "one ACK for many segments while the path is full, delayed ACKs while the sender has to grow",
        formula: "full: ACK per segments of an RTT/acks_per_rtt; else per 2; from the start and each loss per 2 until full, and patience times as long again; after a loss for quiet at least",
        source: "our own, after Jeong, Kim and Lohwasser 2006",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let acks_per_rtt = args.count("acks_per_rtt", 32, 1..=10_000)?;
        let most = args.count("most", 64, DELAYED..=100_000)?;
        Ok(Self {
            acks_per_rtt,
            most,
            most_after_loss: args.count("most_after_loss", 4, DELAYED..=100_000)?.min(most),
            patience: args.count("patience", 3, 0..=1000)?,
            quiet: args.time("quiet", Span::s(6), Span::ZERO..=Span::s(3600))?,
            timeout: args.time("timeout", Span::ms(200), Span::ms(1)..=Span::ms(500))?,
            fullness: Fullness::default(),
            lost: None,
            grows_from: None,
            full_from: None,
            limit: most,
            full_rounds: 0,
            burst: DELAYED,
            held: Held::default(),
        })
    }
}

impl AccumulatedFull {
    /// How long an ACK waits at most.
    fn longest(&self) -> Span {
        let share = || 2 * self.fullness.rtt().unwrap_or(self.timeout) / self.acks_per_rtt;
        if self.burst > DELAYED { share().clamp(Span::ns(1), self.timeout) } else { self.timeout }
    }

    /// A round ends now.
    fn judge(&mut self, now: Time, round: Round) {
        let before = std::mem::replace(&mut self.burst, DELAYED);
        if !round.full {
            if before > DELAYED && round.almost {
                (self.limit, self.full_rounds) = ((before / 2).max(DELAYED), 0);
            }
            return;
        }
        self.full_rounds += 1;
        if self.full_rounds.is_multiple_of(RISE) {
            self.limit = (2 * self.limit).min(self.most);
        }
        let full_from = self.full_since(now, round.peak);
        let growth = full_from.saturating_sub(self.grows_from.unwrap_or(full_from));
        let patient = now.saturating_sub(full_from) >= growth.saturating_mul(self.patience);
        if patient && self.lost.is_none_or(|lost| now.saturating_sub(lost) >= self.quiet) {
            self.burst = (round.segments / self.acks_per_rtt).clamp(DELAYED, self.limit);
        }
    }

    /// Since when the path, full now, has been full. One that has since passed clearly more was not: the first windows of
    /// slow start are no burst yet, and every round seems full.
    fn full_since(&mut self, now: Time, peak: u64) -> Time {
        match self.full_from {
            Some((since, then)) if peak <= then + then / 8 => since,
            _ => {
                self.full_from = Some((now, peak));
                now
            }
        }
    }
}

impl AckPolicy for AccumulatedFull {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        if segment.urgent {
            self.fullness.interrupt();
            self.lost = Some(segment.now);
            self.most = self.most_after_loss;
            self.limit = self.limit.min(self.most);
            self.grows_from = self.lost;
            self.full_from = None;
            self.burst = DELAYED;
        } else if let Some(round) = self.fullness.on_segment(segment) {
            self.judge(segment.now, round);
        }
        self.grows_from.get_or_insert(segment.now);
        let due = segment.urgent || !segment.leaves_room();
        let longest = self.longest();
        self.held.another(segment, self.burst, due, || longest, out);
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
        Some(self.burst)
    }

    fn manner(&self) -> Option<Manner> {
        Some(Manner { covers: self.burst, wait: self.longest(), minds_window: true, ..Manner::EVERY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::bench::Bench;
    use crate::{Arg, Spec};

    impl Bench<AccumulatedFull> {
        /// With four ACKs per round trip of 1000, and after losses no fewer than before.
        fn patient(patience: f64) -> Self {
            let spec = Spec::named("accumulated-full")
                .with("acks_per_rtt", Arg::Number(4.0))
                .with("patience", Arg::Number(patience))
                .with("most_after_loss", Arg::Number(64.0))
                .with("quiet", Arg::Time(Span::ZERO));
            let policy = AccumulatedFull::build(&mut Args::new(&spec)).expect("valid arguments");
            let mut bench = Self::new(policy);
            bench.rtt = Some(Span::ns(1000));
            bench
        }

        /// A round of so many segments 10 ns apart, and an idle rest of it; the burst after it.
        fn round(&mut self, segments: u64) -> Option<u64> {
            for _ in 1..segments {
                self.receive(10, false);
            }
            self.receive(1000 - 10 * (segments - 1), false);
            self.policy.burst()
        }
    }

    #[test]
    fn delayed_acks_until_the_path_is_full_and_patience_times_as_long_again() {
        let mut bench = Bench::patient(3.0);
        bench.receive(1000, false);
        let bursts: Vec<_> = [25, 50, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]
            .iter()
            .filter_map(|&segments| bench.round(segments))
            .collect();
        // Full from the end of the third round on; three times three rounds more.
        assert_eq!(bursts, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 25]);
    }

    #[test]
    fn a_path_that_passes_more_later_was_not_full() {
        let mut bench = Bench::patient(1.0);
        bench.receive(1000, false);
        // Four segments a round trip: eight in a row come no faster than a round does.
        (0..12).for_each(|_| _ = bench.receive(250, false));
        assert_eq!(
            bench.policy.burst(),
            Some(2),
            "a burst of one segment would be for delayed ACKs to cover"
        );
        assert!(bench.policy.full_from.is_some_and(|(since, _)| since <= Time::ns(3000)));
        assert_eq!(
            [100, 100, 100].map(|n| bench.round(n)),
            [Some(2), Some(2), Some(2)],
            "full anew, and patient"
        );
        assert!(bench.policy.full_from.is_some_and(|(since, _)| since >= Time::ns(5000)));
    }

    #[test]
    fn once_anything_was_lost_bursts_are_short() {
        let spec = Spec::named("accumulated-full")
            .with("acks_per_rtt", Arg::Number(4.0))
            .with("patience", Arg::Number(0.0))
            .with("quiet", Arg::Time(Span::ZERO));
        let mut bench = Bench::patient(0.0);
        bench.policy = AccumulatedFull::build(&mut Args::new(&spec)).expect("valid arguments");
        bench.receive(1000, false);
        assert_eq!(bench.round(100), Some(25));
        bench.receive(10, true);
        bench.receive(10, false);
        let bursts: Vec<_> = (0..40).filter_map(|_| bench.round(100)).collect();
        assert_eq!(bursts, [4; 40], "nor do they grow again");
    }

    #[test]
    fn a_burst_that_the_sender_suffers_from_is_halved_and_rises_again_slowly() {
        let mut bench = Bench::patient(0.0);
        bench.receive(1000, false);
        assert_eq!([100, 97, 100].map(|n| bench.round(n)), [Some(25), Some(2), Some(12)]);
        assert_eq!(
            [97, 97, 100].map(|n| bench.round(n)),
            [Some(2), Some(2), Some(6)],
            "halved once, not twice"
        );
        assert_eq!(
            [90, 100].map(|n| bench.round(n)),
            [Some(2), Some(6)],
            "so much at once is the sender's will"
        );
        let bursts: Vec<_> = (0..15).filter_map(|_| bench.round(100)).collect();
        assert_eq!((bursts[12], bursts[13], bursts[14]), (6, 12, 12), "the 16th full round");
        assert_eq!(
            bench.receive(10, true).map(|_| bench.policy.limit),
            Some(12),
            "a loss says nothing of it"
        );
    }

    #[test]
    fn what_is_urgent_is_acknowledged_at_once_and_starts_the_patience_anew() {
        let mut bench = Bench::patient(1.0);
        bench.receive(1000, false);
        assert_eq!([100, 100].map(|n| bench.round(n)), [Some(2), Some(25)]);
        assert_eq!(bench.receive(10, false), None, "the last of the round waits already");
        assert_eq!((bench.receive(10, true), bench.policy.deadline()), (Some(3), None));
        assert_eq!(bench.policy.burst(), Some(2));
        bench.receive(10, false); // the first after it begins a round
        assert_eq!([75, 100].map(|n| bench.round(n)), [Some(2), Some(2)]);
        assert_eq!(bench.round(100), Some(2), "2010 of growth, and 1000 since");
        assert_eq!([100, 100].map(|n| bench.round(n)), [Some(2), Some(25)]);
    }

    #[test]
    fn after_a_loss_there_is_quiet_for_a_while_however_full_the_path_is() {
        let mut bench = Bench::patient(0.0);
        bench.policy.quiet = Span::ns(2500);
        bench.receive(1000, false);
        assert_eq!(bench.round(100), Some(25), "not from the start on");
        bench.receive(10, true);
        bench.receive(10, false);
        assert_eq!([100, 100, 100].map(|n| bench.round(n)), [Some(2), Some(2), Some(25)]);
    }

    #[test]
    fn an_accumulated_ack_waits_for_two_shares_of_a_round_trip_and_a_delayed_one_for_the_timeout() {
        let mut bench = Bench::patient(0.0);
        bench.receive(1000, false);
        assert_eq!(bench.policy.deadline(), Some(Time::ns(1000) + Span::ms(200)));
        assert_eq!((bench.round(100), bench.policy.deadline()), (Some(25), Some(Time::ns(2000 + 500))));
        bench.receive(10, false);
        let mut sink = AckSink::default();
        bench.policy.on_timer(Time::ns(2499), bench.rcv_nxt, &mut sink);
        assert_eq!(sink.pop(), None, "too early");
        bench.policy.on_timer(Time::ns(2500), bench.rcv_nxt, &mut sink);
        assert_eq!((sink.pop(), bench.policy.deadline()), (Some(bench.rcv_nxt), None));
    }

    #[test]
    fn a_burst_is_bounded_by_its_limit_and_by_the_window() {
        let mut bench = Bench::patient(0.0);
        bench.policy.limit = 10;
        bench.receive(1000, false);
        assert_eq!(bench.round(100), Some(10));
        bench.window = 3000;
        let covered: Vec<_> = (0..9).filter_map(|_| bench.receive(10, false)).collect();
        assert!(covered.iter().all(|&n| n <= 3) && covered.contains(&3), "{covered:?}");
    }

    #[test]
    fn without_a_round_trip_time_acks_are_delayed() {
        let mut bench = Bench::patient(0.0);
        bench.rtt = None;
        let covered: Vec<_> = (0..2000).filter_map(|_| bench.receive(10, false)).collect();
        assert_eq!(covered, [2; 1000]);
    }
}
