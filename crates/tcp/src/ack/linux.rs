//! Delayed ACKs as Linux has them: quick ACKs where the sender is taken to be starting, and a delay that follows the data.
//!
//! The first segments, sixteen ACKs at the most, are acknowledged one by one, and so are those after a pause longer than a
//! timeout, and after one that came twice; each ACK counts, a duplicate one too. Then an ACK covers two segments, or waits: for
//! an estimate of the time between segments, from 40 to 200 ms, and no longer than the round trip where that is known; one that
//! is due within a quarter of it when another segment comes goes at once. The estimate goes half the way to 40 ms where
//! segments follow within 20 ms, and to what has passed where that is less than it. There are no quick ACKs for
//! as long as data goes the other way (ping-pong), since that carries them: from an ACK that was carried to one that nothing has
//! carried in time; `ping_pong`: so from the beginning, as an application asks for with TCP_QUICKACK.
//!
//! `reads`: the application reads all that comes at once. Then what is pushed, and what is shorter than a segment, is acknowledged as
//! it is read, unless data goes the other way.
//!
//! An ACK of a buffer that is more than half full ends quick ones.
//!
//! Behind a hole three duplicate ACKs leave at once; later ones are summed up, a twentieth of the round trip long or 1 ms,
//! whichever is shorter.
//!
//! RFC 5681, section 4.2, allows all of it but the summing up, and describes none. Source: Linux 6.18, `tcp_event_data_recv`,
//! `tcp_incr_quickack`, `tcp_dec_quickack_mode`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`; constants `TCP_ATO_MIN`,
//! `TCP_DELACK_MIN`, `TCP_DELACK_MAX`, `TCP_MAX_QUICKACKS`, `tcp_comp_sack_delay_ns`; from memory, and held against the running
//! kernel by what it sends. While the receiver's window opens ([`crate::stack::Autotuning`]) each segment has an ACK (`tcp_grow_window`).

use super::{AckPolicy, AckSink, Manner};
use crate::spec::{Args, Info, Member, SpecError};
use crate::wheel::{self, TICK, Wheel};
use crate::{Arrival, Seq, Span, Time};

/// Quick ACKs at a time, at the most.
const MOST_QUICK: u64 = 16;
/// The shortest delay, and what the estimate begins with.
const SHORTEST: Span = Span::ms(40);
/// The longest.
const LONGEST: Span = Span::ms(200);
/// Duplicate ACKs that leave at once (`TCP_FASTRETRANS_THRESH`), and how long later ones are summed up at the most: this, or
/// the round trip over so many.
const DUPLICATES: u32 = 3;
const SUMMED_UP: Span = Span::ms(1);
const PARTS_OF_ROUND: u64 = 20;
/// What stands for the timeout as long as there is no round-trip time.
const INITIAL_TIMEOUT: Span = Span::s(1);

/// Quick ACKs, then delayed ones.
#[derive(Debug, Clone)]
pub struct Linux {
    quickly: bool,
    /// The application reads what comes at once.
    reads: bool,
    /// Data goes the other way, and carries the ACKs.
    ping_pong: bool,
    /// Quick ACKs still to send.
    quick: u64,
    /// The estimate of the time between segments, ATO, and whether there is one: what comes beyond a hole before anything else may
    /// begin it, and then the first data is no beginning any more.
    delay: Span,
    begun: bool,
    last: Option<Time>,
    srtt: Option<Span>,
    /// Bytes that a full segment is taken to have.
    segment: u32,
    /// When an ACK is due that waits, as it was set and as the host's timer goes off.
    deadline: Option<(Time, Time)>,
    wheel: Option<Wheel>,
    /// Duplicate ACKs since data last came in order, and when those that are summed up leave.
    duplicates: u32,
    summed_up: Option<Time>,
    /// Whether the buffer is more than half full.
    cramped: bool,
}

impl Member for Linux {
    const INFO: Info = Info {
        name: "linux",
        summary: "quick ACKs at the beginning, after a pause and out of order; then one per two segments, or after 40 to 200 ms",
        formula: "min(16, window/2 segments) quick ones; then more than a segment, or ATO: halfway to 40 ms or to the time between segments, ≤ RTT",
        source: "Linux 6.18, tcp_event_data_recv, tcp_send_delayed_ack; RFC 5681, section 4.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            quickly: args.flag("quick", true)?,
            reads: args.flag("reads", true)?,
            ping_pong: args.flag("ping_pong", false)?,
            quick: 0,
            delay: SHORTEST,
            begun: false,
            last: None,
            srtt: None,
            segment: 0,
            deadline: None,
            wheel: None,
            duplicates: 0,
            summed_up: None,
            cramped: false,
        })
    }
}

impl Linux {
    /// The sender is taken to start: half a window of quick ACKs, sixteen at the most, two at the least.
    fn be_quick(&mut self, window: u32) {
        if self.quickly {
            let half = u64::from(window / (2 * self.segment.max(1)));
            self.quick = self.quick.max(half.clamp(2, MOST_QUICK));
        }
    }

    /// What has passed since the segment before tells how long to wait for the next.
    fn hear(&mut self, arrival: &Arrival) {
        if let Some(rtt) = arrival.rtt {
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| (7 * srtt + rtt) / 8));
        }
        self.segment = self.segment.max(arrival.bytes);
        let timeout = self.srtt.map_or(INITIAL_TIMEOUT, |srtt| srtt + LONGEST);
        let now = self.tick(arrival.now);
        let last = self.last.replace(now).unwrap_or(now);
        if !std::mem::replace(&mut self.begun, true) {
            self.be_quick(arrival.window);
            return self.delay = SHORTEST;
        }
        let passed = now.saturating_sub(last);
        if passed <= SHORTEST / 2 {
            self.delay = self.part(self.delay, 2) + SHORTEST / 2;
        } else if passed < self.delay {
            self.delay = (self.part(self.delay, 2) + passed).min(timeout);
        } else if passed > timeout {
            self.be_quick(arrival.window);
        }
    }

    /// Whether reading what has come lets an ACK go.
    fn is_read(&self, arrival: &Arrival) -> bool {
        let ends = arrival.pushed || arrival.bytes < self.segment;
        self.reads && !self.ping_pong && arrival.in_order && ends
    }

    /// A time as the estimate sees it: when the present tick began, where there are ticks.
    fn tick(&self, now: Time) -> Time {
        self.wheel.map_or(now, |wheel| wheel.tick_began(now))
    }

    /// One part of so many of a time, in whole ticks where there are ticks.
    fn part(&self, span: Span, parts: u64) -> Span {
        let part = span / parts;
        if self.wheel.is_some() { part.nanos() / TICK.nanos() * TICK } else { part }
    }

    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.ping_pong
    }

    /// How long an ACK waits at the most.
    fn patience(&self) -> Span {
        let round = self.srtt.map_or(LONGEST, |srtt| srtt.max(SHORTEST));
        let longest = self.delay.min(round).min(LONGEST);
        if self.wheel.is_some() { wheel::ticks(longest) * TICK } else { longest }
    }

    fn send(&mut self, number: Seq, out: &mut AckSink) {
        self.pass();
        self.leave(number, out);
    }

    /// An ACK leaves, which counts among the quick ones.
    fn pass(&mut self) {
        self.settle();
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                (self.delay, self.begun) = (SHORTEST, true); // tcp_dec_quickack_mode
            }
        }
    }

    /// An ACK leaves: no more quick ones where the buffer fills (`__tcp_select_window`).
    fn settle(&mut self) {
        if self.cramped {
            self.quick = 0;
        }
    }

    fn leave(&mut self, number: Seq, out: &mut AckSink) {
        (self.deadline, self.summed_up) = (None, None);
        out.ack(number);
    }

    /// Data beyond a hole has come.
    fn beyond(&mut self, arrival: &Arrival, out: &mut AckSink) {
        if self.duplicates < DUPLICATES {
            self.duplicates += 1;
            self.send(arrival.rcv_nxt, out);
        } else if self.summed_up.is_none() {
            let part = self.srtt.map_or(SUMMED_UP, |srtt| srtt / PARTS_OF_ROUND);
            self.summed_up = Some(arrival.now + part.min(SUMMED_UP));
        }
    }
}

impl AckPolicy for Linux {
    fn on_segment(&mut self, arrival: &Arrival, out: &mut AckSink) {
        let twice = !arrival.in_order && arrival.end <= arrival.rcv_nxt;
        self.cramped = arrival.cramped;
        if arrival.in_order {
            self.hear(arrival);
            self.duplicates = 0;
        } else if twice {
            self.be_quick(arrival.window);
            (self.delay, self.begun) = (SHORTEST, true);
        }
        if arrival.opens && self.quickly {
            self.quick |= 1; // tcp_grow_window
        }
        // What was acknowledged before is answered beside all that (`tcp_send_dupack`).
        if twice && arrival.end < arrival.rcv_nxt.earlier(arrival.unacked) {
            self.settle();
            return self.leave(arrival.rcv_nxt, out);
        }
        let full = arrival.unacked > u64::from(self.segment);
        if full || self.is_quick() || self.is_read(arrival) || twice || (arrival.urgent && arrival.in_order) {
            self.send(arrival.rcv_nxt, out);
        } else if !arrival.in_order {
            self.beyond(arrival, out);
        } else {
            let (now, patience) = (self.tick(arrival.now), self.patience());
            let soon = self.deadline.is_some_and(|(set, _)| set <= now + self.part(patience, 4));
            if soon {
                self.send(arrival.rcv_nxt, out);
            } else {
                let at = now + patience;
                let anew = (at, self.wheel.map_or(at, |wheel| wheel.goes_off(arrival.now, patience)));
                self.deadline = Some(self.deadline.map_or(anew, |before| before.min(anew)));
            }
        }
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        if self.summed_up.is_some_and(|at| at <= now) {
            self.send(rcv_nxt, out);
        } else if self.deadline.is_some_and(|(_, at)| at <= now) {
            // Nothing has followed in time: longer next time; nor has anything carried it (`tcp_delack_timer_handler`).
            self.delay = match std::mem::take(&mut self.ping_pong) {
                true => SHORTEST,
                false => (2 * self.delay).min(self.srtt.map_or(INITIAL_TIMEOUT, |srtt| srtt + LONGEST)),
            };
            self.send(rcv_nxt, out);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline.map(|(_, at)| at).into_iter().chain(self.summed_up).min()
    }

    fn on_carried(&mut self, _: Seq) {
        // Where nothing has come nothing was answered (`tcp_event_data_sent`).
        self.ping_pong |= self.last.is_some();
        (self.deadline, self.summed_up) = (None, None);
    }

    fn on_opened(&mut self, _: Seq) {
        self.pass();
        (self.deadline, self.summed_up) = (None, None);
    }

    fn on_refused(&mut self, number: Seq) {
        // No quick one, where none was about to leave (`tcp_send_dupack`, `inet_csk_ack_scheduled`).
        if self.deadline.is_some() {
            return self.on_opened(number);
        }
        self.settle();
        self.summed_up = None;
    }

    fn set_timers(&mut self, wheel: Option<Wheel>) {
        self.wheel = wheel;
    }

    fn manner(&self) -> Option<Manner> {
        let covers = if self.is_quick() { 1 } else { 2 };
        Some(Manner { covers, wait: self.patience(), ..Manner::EVERY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds segments of 1000 bytes at these times, ms; the numbers acknowledged after each, and when an ACK is due.
    struct Bench {
        policy: Linux,
        sink: AckSink,
        nxt: u64,
        acked: u64,
    }

    impl Bench {
        fn new() -> Self {
            let registry = crate::Registry::new();
            let policy = Linux::build(&mut Args::among(&crate::Spec::named("linux"), &registry)).unwrap();
            Self { policy, sink: AckSink::default(), nxt: 1, acked: 1 }
        }

        /// Whether the segment that comes then is acknowledged at once.
        fn at(&mut self, ms: u64) -> bool {
            self.nxt += 1000;
            let arrival = Arrival {
                rcv_nxt: Seq::at(self.nxt),
                unacked: self.nxt - self.acked,
                window: 60_000,
                ..Arrival::of_bytes(Time::ms(ms), 1000)
            };
            self.policy.on_segment(&arrival, &mut self.sink);
            let ack = self.sink.pop();
            self.acked = ack.map_or(self.acked, Seq::number);
            ack.is_some()
        }
    }

    #[test]
    fn the_first_sixteen_are_acknowledged_one_by_one_and_then_every_second() {
        let mut bench = Bench::new();
        let acked: Vec<bool> = (0..20).map(|k| bench.at(k)).collect();
        assert!(acked[..16].iter().all(|quick| *quick));
        assert_eq!(acked[16..], [false, true, false, true]);
    }

    #[test]
    fn duplicate_acks_are_quick_ones_too_and_are_summed_up_after_three_others() {
        let mut bench = Bench::new();
        (0..12).for_each(|k| _ = bench.at(k));
        // Behind a hole: four quick ones are left, three leave at once, the next is held for 1 ms.
        let beyond = Arrival {
            rcv_nxt: Seq::at(bench.nxt),
            unacked: 0,
            in_order: false,
            urgent: true,
            end: Seq::at(bench.nxt + 5000),
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(20), 1000)
        };
        for _ in 0..7 {
            bench.policy.on_segment(&beyond, &mut bench.sink);
            assert_eq!(bench.sink.pop(), Some(beyond.rcv_nxt));
        }
        bench.policy.on_segment(&beyond, &mut bench.sink);
        bench.policy.on_segment(&Arrival { now: Time::us(20_500), ..beyond }, &mut bench.sink);
        assert_eq!((bench.sink.pop(), bench.policy.deadline()), (None, Some(Time::ms(21))));
        bench.policy.on_timer(Time::ms(21), beyond.rcv_nxt, &mut bench.sink);
        assert_eq!((bench.sink.pop(), bench.policy.deadline()), (Some(beyond.rcv_nxt), None));
        assert!(!bench.at(22) && bench.at(23), "no quick ones are left");
    }

    #[test]
    fn a_segment_that_comes_twice_brings_quick_acks_back() {
        let mut bench = Bench::new();
        (0..18).for_each(|k| _ = bench.at(k));
        let again = Arrival {
            rcv_nxt: Seq::at(bench.nxt),
            unacked: 0,
            in_order: false,
            urgent: true,
            end: Seq::at(bench.nxt - 1000),
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(20), 1000)
        };
        bench.policy.on_segment(&again, &mut bench.sink);
        assert!(bench.sink.pop().is_some() && bench.at(21) && bench.at(22));
    }

    #[test]
    fn a_buffer_more_than_half_full_ends_quick_acks() {
        for cramped in [false, true] {
            let mut bench = Bench::new();
            bench.at(0);
            let arrival = Arrival {
                rcv_nxt: Seq::at(bench.nxt),
                in_order: false,
                urgent: true,
                cramped,
                end: Seq::at(30_001),
                window: 60_000,
                ..Arrival::of_bytes(Time::ms(1), 1000)
            };
            bench.policy.on_segment(&arrival, &mut bench.sink);
            assert!(bench.sink.pop().is_some());
            assert_eq!(bench.at(2), !cramped);
        }
    }

    #[test]
    fn what_is_pushed_and_read_is_acknowledged_at_once() {
        for (pushed, reads, at_once) in [(true, true, true), (false, true, false), (true, false, false)] {
            let mut bench = Bench::new();
            (0..16).for_each(|k| _ = bench.at(k));
            bench.policy.reads = reads;
            let arrival = Arrival {
                rcv_nxt: Seq::at(bench.nxt + 1000),
                unacked: 1000,
                window: 60_000,
                pushed,
                ..Arrival::of_bytes(Time::ms(16), 1000)
            };
            bench.policy.on_segment(&arrival, &mut bench.sink);
            assert_eq!(bench.sink.pop().is_some(), at_once, "{pushed} {reads}");
        }
    }

    #[test]
    fn data_beyond_a_hole_that_opens_the_window_is_the_beginning_and_what_fills_the_hole_is_not() {
        let mut bench = Bench::new();
        let beyond = Arrival {
            rcv_nxt: Seq::FIRST,
            unacked: 0,
            in_order: false,
            urgent: true,
            opens: true,
            end: Seq::at(5001),
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(1), 1000)
        };
        bench.policy.on_segment(&beyond, &mut bench.sink);
        assert!(bench.sink.pop().is_some());
        assert!(!bench.at(2) && bench.at(3), "not quick any more");
    }

    #[test]
    fn an_ack_that_is_due_soon_goes_with_the_next_segment() {
        let mut bench = Bench::new();
        (0..17).for_each(|k| _ = bench.at(k));
        assert_eq!(bench.policy.deadline(), Some(Time::ms(16 + 40)));
        bench.policy.reads = false;
        // A quarter of 40 ms before that; a small segment, so that two of them are not more than one full.
        let small = |ms| Arrival {
            rcv_nxt: Seq::at(bench.nxt + 1),
            unacked: 1000,
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(ms), 1)
        };
        let [early, late] = [small(30), small(46)];
        bench.policy.on_segment(&early, &mut bench.sink);
        assert_eq!(bench.sink.pop(), None);
        bench.policy.on_segment(&late, &mut bench.sink);
        assert_eq!(bench.sink.pop(), Some(late.rcv_nxt));
    }

    #[test]
    fn an_ack_waits_for_the_time_between_segments_between_40_and_200_ms() {
        let mut bench = Bench::new();
        (0..17).for_each(|k| _ = bench.at(k));
        assert_eq!(bench.policy.deadline(), Some(Time::ms(16 + 40)));
        bench.policy.on_timer(Time::ms(56), Seq::at(bench.nxt), &mut bench.sink);
        assert_eq!(bench.sink.pop(), Some(Seq::at(bench.nxt)));
        bench.acked = bench.nxt;
        assert!(!bench.at(90));
        assert_eq!(
            bench.policy.deadline(),
            Some(Time::ms(90 + 80 / 2 + 74)),
            "80/2 + 74, the time between them"
        );
    }

    #[test]
    fn after_a_pause_longer_than_a_timeout_acks_are_quick_again() {
        let mut bench = Bench::new();
        (0..18).for_each(|k| _ = bench.at(k));
        assert!(!bench.at(30));
        bench.policy.on_timer(Time::ms(70), Seq::at(bench.nxt), &mut bench.sink);
        bench.sink.pop();
        bench.acked = bench.nxt;
        assert!(bench.at(1500) && bench.at(1501));
    }

    #[test]
    fn an_ack_that_data_carries_ends_quick_ones_until_one_waits_in_vain() {
        let mut bench = Bench::new();
        assert!(bench.at(0));
        bench.policy.on_carried(Seq::at(bench.nxt));
        assert!(!bench.at(1));
        bench.policy.on_timer(Time::ms(41), Seq::at(bench.nxt), &mut bench.sink);
        assert_eq!(bench.sink.pop(), Some(Seq::at(bench.nxt)));
        bench.acked = bench.nxt;
        assert!(bench.at(50));
    }

    #[test]
    fn what_comes_twice_makes_acks_quick_and_what_comes_early_does_not() {
        for (end, quick) in [(1001, true), (30_001, false)] {
            let mut bench = Bench::new();
            (0..16).for_each(|k| _ = bench.at(k));
            let rcv_nxt = Seq::at(bench.nxt);
            let apart = Arrival {
                rcv_nxt,
                in_order: false,
                urgent: true,
                end: Seq::at(end),
                window: 60_000,
                ..Arrival::of_bytes(Time::ms(17), 1000)
            };
            bench.policy.on_segment(&apart, &mut bench.sink);
            assert_eq!(bench.sink.pop(), Some(rcv_nxt), "at once in either case");
            assert_eq!(bench.at(18), quick, "{end}");
        }
    }
}
