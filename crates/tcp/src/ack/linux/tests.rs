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

    /// A segment behind a hole that comes then.
    fn beyond(&self, ms: u64) -> Arrival {
        Arrival {
            rcv_nxt: Seq::at(self.nxt),
            unacked: 0,
            in_order: false,
            urgent: true,
            end: Seq::at(self.nxt + 5000),
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(ms), 1000)
        }
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
    // Behind a hole: four quick ones are left, three leave at once, the next is held for 1 ms, and as long as the host may take.
    let beyond = bench.beyond(20);
    for _ in 0..7 {
        bench.policy.on_segment(&beyond, &mut bench.sink);
        assert_eq!(bench.sink.pop(), Some(beyond.rcv_nxt));
    }
    bench.policy.on_segment(&beyond, &mut bench.sink);
    bench.policy.on_segment(&Arrival { now: Time::us(20_500), ..beyond }, &mut bench.sink);
    assert_eq!((bench.sink.pop(), bench.policy.deadline()), (None, Some(Time::us(21_100))));
    bench.policy.on_timer(Time::us(21_100), beyond.rcv_nxt, &mut bench.sink);
    assert_eq!((bench.sink.pop(), bench.policy.deadline()), (Some(beyond.rcv_nxt), None));
    assert!(!bench.at(22) && bench.at(23), "no quick ones are left");
}

#[test]
fn what_is_summed_up_leaves_where_a_third_block_begins_which_is_told_of_with_the_next() {
    let mut bench = Bench::new();
    (0..16).for_each(|k| _ = bench.at(k));
    let beyond = bench.beyond(20);
    bench.policy.on_block(beyond.rcv_nxt, &mut bench.sink);
    assert!(bench.sink.is_empty(), "nothing was summed up");
    (0..4).for_each(|_| bench.policy.on_segment(&beyond, &mut bench.sink));
    assert_eq!(std::iter::from_fn(|| bench.sink.pop()).count(), 3);
    bench.policy.on_block(beyond.rcv_nxt, &mut bench.sink);
    assert_eq!(bench.sink.pop(), Some(beyond.rcv_nxt));
    bench.policy.on_segment(&beyond, &mut bench.sink);
    assert_eq!((bench.sink.pop(), bench.policy.deadline()), (None, None));
    bench.policy.on_segment(&Arrival { now: Time::ms(30), ..beyond }, &mut bench.sink);
    assert_eq!((bench.sink.pop(), bench.policy.deadline()), (None, Some(Time::us(31_100))));
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
    assert_eq!(bench.policy.deadline(), Some(Time::ms(90 + 80 / 2 + 74)), "80/2 + 74, the time between them");
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
    bench.policy.on_data(Time::ms(0));
    assert!(!bench.at(1));
    bench.policy.on_timer(Time::ms(41), Seq::at(bench.nxt), &mut bench.sink);
    assert_eq!(bench.sink.pop(), Some(Seq::at(bench.nxt)));
    bench.acked = bench.nxt;
    assert!(bench.at(50));
}

#[test]
fn reading_two_short_segments_lets_an_ack_go_where_data_goes_the_other_way() {
    let mut bench = Bench::new();
    (0..16).for_each(|k| _ = bench.at(k));
    bench.policy.on_data(Time::ms(16));
    for (ms, at_once) in [(17, false), (18, true), (19, false)] {
        bench.nxt += 100;
        let arrival = Arrival {
            rcv_nxt: Seq::at(bench.nxt),
            unacked: bench.nxt - bench.acked,
            pushed: true,
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(ms), 100)
        };
        bench.policy.on_segment(&arrival, &mut bench.sink);
        let ack = bench.sink.pop();
        assert_eq!(ack.is_some(), at_once, "at {ms} ms");
        bench.acked = ack.map_or(bench.acked, Seq::number);
    }
}

#[test]
fn data_that_leaves_later_than_the_estimate_is_no_reply() {
    for (ms, reply) in [(39, true), (40, false)] {
        let mut bench = Bench::new();
        assert!(bench.at(0));
        bench.policy.on_data(Time::ms(ms));
        assert_eq!(bench.at(50), !reply, "after {ms} ms");
    }
}

#[test]
fn only_an_ack_that_was_due_counts_as_quick() {
    let mut bench = Bench::new();
    for k in 0..15 {
        assert!(bench.at(k));
        // Reading tells of its room when the ACK has left.
        bench.policy.on_opened(Seq::at(bench.nxt));
    }
    assert!(bench.at(15) && !bench.at(16));
}

#[test]
fn the_round_trip_of_an_end_that_sends_nothing_is_the_handshakes() {
    for (sends, wait) in [(false, 60), (true, 70)] {
        let mut bench = Bench::new();
        let policy = &mut bench.policy;
        (policy.reads, policy.sends, policy.begun) = (false, sends, true);
        (policy.srtt, policy.delay) = (Some(Span::ms(60)), LONGEST);
        let arrival = Arrival {
            rcv_nxt: Seq::at(1001),
            unacked: 1000,
            rtt: Some(Span::ms(140)),
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(100), 1000)
        };
        policy.on_segment(&arrival, &mut bench.sink);
        assert_eq!(policy.deadline(), Some(Time::ms(100 + wait)), "{sends}");
    }
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

#[test]
fn at_most_44_are_summed_up() {
    let mut bench = Bench::new();
    (0..16).for_each(|k| _ = bench.at(k));
    let beyond = bench.beyond(20);
    let mut leaves = || {
        bench.policy.on_segment(&beyond, &mut bench.sink);
        bench.sink.pop().is_some()
    };
    let left: Vec<bool> = (0..3 + 44 + 1).map(|_| leaves()).collect();
    assert!(left[..3].iter().all(|left| *left) && left[3..47].iter().all(|left| !left) && left[47]);
}

#[test]
fn before_a_hole_a_second_segment_for_which_the_window_closes_counts_among_the_three() {
    for (narrows, summed_up) in [(false, 3), (true, 2)] {
        let mut bench = Bench::new();
        (0..16).for_each(|k| _ = bench.at(k));
        bench.nxt += 3000;
        // It has filled a hole, and behind it is another.
        let filled = Arrival {
            rcv_nxt: Seq::at(bench.nxt),
            unacked: 3000,
            urgent: true,
            hole: true,
            narrows,
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(17), 1000)
        };
        bench.policy.on_segment(&filled, &mut bench.sink);
        assert!(bench.sink.pop().is_some(), "at once in either case");
        let left = (0..4).take_while(|k| {
            bench.policy.on_segment(&bench.beyond(20 + k), &mut bench.sink);
            bench.sink.pop().is_some()
        });
        assert_eq!(left.count(), summed_up, "{narrows}");
    }
}

#[test]
fn the_answer_to_what_was_acknowledged_before_is_a_quick_one_where_an_ack_was_due() {
    for (waits, quick) in [(false, 16), (true, 15)] {
        let mut bench = Bench::new();
        (0..16).for_each(|k| _ = bench.at(k));
        assert!(!waits || !bench.at(16), "one waits");
        let rcv_nxt = Seq::at(bench.nxt);
        let again = Arrival {
            rcv_nxt,
            unacked: bench.nxt - bench.acked,
            in_order: false,
            urgent: true,
            end: Seq::at(1001),
            window: 60_000,
            ..Arrival::of_bytes(Time::ms(17), 1000)
        };
        bench.policy.on_segment(&again, &mut bench.sink);
        assert_eq!((bench.sink.pop(), bench.policy.quick), (Some(rcv_nxt), quick));
    }
}

#[test]
fn a_pure_ack_lets_an_ack_go_that_is_nearly_due() {
    for (ms, leaves) in [(20, false), (32, true)] {
        let mut bench = Bench::new();
        (0..16).for_each(|k| _ = bench.at(k));
        let number = Seq::at(bench.nxt);
        bench.policy.on_pure_ack(Time::ms(16), number, &mut bench.sink);
        assert!(!bench.at(16) && bench.sink.is_empty(), "it asks for none");
        bench.policy.on_pure_ack(Time::ms(16 + ms), number + 1000, &mut bench.sink);
        assert_eq!(bench.sink.pop().is_some(), leaves, "{ms} of 40");
    }
}
