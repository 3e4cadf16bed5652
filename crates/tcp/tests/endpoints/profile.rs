//! ns-2's rules, one knob at a time, each beside the RFCs'. Ten segments a round, 100 ms a round, unless said otherwise.

use crate::pair::{MS, Pair, stack, steady};
use crate::path::Fate;
use truckee_tcp::sender::Parts;
use truckee_tcp::stack::{ReduceFrom, RtoSamples};
use truckee_tcp::{Arg, Profile, Span, Spec, Stack, Time, preset};

/// Runs `name` until it has noticed a loss.
fn noticed(stack: &Stack, name: &str, lost: &[u64]) -> Pair {
    let mut pair = Pair::preset(stack, name).lose_segments(lost);
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().fast_retransmits + p.books.counts().timeouts == 1);
    pair
}

#[test]
fn a_loss_takes_half_of_the_flight_or_of_the_window() {
    // Four segments are all there is to send: the window of ten is not used.
    for (reduce_from, ssthresh) in [(ReduceFrom::Flight, 2.0), (ReduceFrom::Window, 5.0)] {
        let stack = Stack { reduce_from, ..steady(10) };
        let mut pair = Pair::preset(&stack, "newreno").lose_segments(&[1]);
        pair.send_segments(4);
        pair.run_to(|p| p.books.counts().fast_retransmits == 1);
        assert_eq!(pair.ssthresh(), ssthresh, "{reduce_from:?}");
        pair.finish();
    }
}

#[test]
fn a_timeout_in_a_repair_halves_the_window_without_its_inflation() {
    let stack = Stack { reduce_from: ReduceFrom::Window, ..steady(10) };
    let mut pair = Pair::preset(&stack, "newreno").lose_segments(&[5, 5]);
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().timeouts == 1);
    let left = pair.ssthresh();
    assert!((2.5..2.7).contains(&left), "half of the five that the fast retransmit left: {left}");
    pair.finish();
}

#[test]
fn ssthresh_is_whole_segments_and_a_window_halved_is_not() {
    for (whole_ssthresh, expected) in [(false, (5.5, 5.5)), (true, (5.0, 5.5))] {
        let stack = Stack { whole_ssthresh, reduce_from: ReduceFrom::Window, ..steady(11) };
        let pair = noticed(&stack, "tahoe", &[1]);
        assert_eq!(pair.ssthresh(), expected.0);
        let mut pair = Pair::recovery(&stack, &Spec::named("reno")).lose_segments(&[1]);
        pair.send_segments(60);
        pair.run_to(|p| p.sender.repairing());
        assert_eq!((pair.ssthresh(), pair.cwnd() - 3.0), expected, "{whole_ssthresh}");
    }
}

#[test]
fn a_segment_that_times_out_again_keeps_ssthresh_or_lowers_it_to_two() {
    for (repeated_reduction, ssthresh) in [(false, 5.0), (true, 2.0)] {
        let stack = Stack { repeated_reduction, ..steady(10) };
        let lost: Vec<u64> = (1..=10).chain([1]).collect();
        let mut pair = Pair::preset(&stack, "newreno").lose_segments(&lost);
        pair.send_segments(10);
        pair.run_to(|p| p.books.counts().timeouts == 2);
        assert_eq!(pair.ssthresh(), ssthresh, "{repeated_reduction}");
        pair.finish();
    }
}

#[test]
fn a_window_that_is_not_used_grows_only_where_nobody_asks() {
    for (validate_window, cwnd) in [(true, 20.0), (false, 22.0)] {
        let stack = Stack { validate_window, ..stack() };
        let stack = Stack { initial_window: truckee_tcp::Size::Segments(20.0), ..stack };
        let mut pair = Pair::preset(&stack, "newreno");
        pair.send_segments(2);
        pair.finish();
        assert_eq!(pair.cwnd(), cwnd, "two of twenty segments are used");
    }
}

#[test]
fn one_segment_a_window_is_timed_and_none_where_something_is_sent_again() {
    // The first segment of each round is timed; that of the second ACK, which is late, is not.
    let srtt = |rto_samples| {
        let mut pair = Pair::preset(&Stack { rto_samples, ..steady(2) }, "newreno");
        pair.path.back = [Span::ZERO, 80 * MS].map(|late| Fate { late, ..Fate::default() }).into();
        pair.send_segments(2);
        pair.finish();
        pair.sender.rtt().smoothed()
    };
    assert_eq!(srtt(RtoSamples::EveryAck), Some(110 * MS));
    assert_eq!(srtt(RtoSamples::OneAWindow), Some(100 * MS));
    let stack = Stack { rto_samples: RtoSamples::OneAWindow, ..steady(10) };
    let pair = noticed(&stack, "newreno", &[1]);
    assert_eq!(pair.sender.rtt().smoothed(), None, "the timed segment is the one that was lost");
}

#[test]
fn the_timeout_is_counted_in_ticks() {
    // 100 ms are ten ticks. SRTT stays ten, and RTTVAR, in quarters of a tick, is 20, 15, 12, 9: each sample takes a quarter of it,
    // rounded down. The timeout is 10 + RTTVAR·4, in whole ticks.
    let rto_tick = 10 * MS;
    let stack = Stack { rto_tick, min_rto: Span::ns(1), ..steady(1) };
    let rtos: Vec<u64> = (1..=4)
        .map(|segments| {
            let mut pair = Pair::preset(&stack, "newreno");
            pair.send_segments(segments);
            pair.finish();
            pair.sender.rtt().rto().ticks(MS)
        })
        .collect();
    assert_eq!(rtos, [300, 250, 220, 190]);
}

#[test]
fn limited_transmit_releases_what_a_timeout_has_still_to_send_again_where_it_may() {
    for (limited_resends, answered) in [(false, 0), (true, 2)] {
        let stack = Stack { limited_transmit: true, limited_resends, ..steady(10) };
        // 1 is lost, 2 and 3 are so late that their ACKs come after the timeout, the rest is lost.
        let late = Fate { late: 960 * MS, ..Fate::default() };
        let lost = Fate { lost: true, ..Fate::default() };
        let mut pair = Pair::recovery(&stack, &Spec::named("newreno"));
        pair.path.forward = [&[lost, late, late][..], &[lost; 7]].concat().into();
        pair.send_segments(10);
        pair.run_until(Time::ms(1099));
        let again: Vec<u64> = pair.sent[10..].iter().map(|t| t.number).collect();
        assert_eq!((again[0], again.len() - 1), (1, answered), "{again:?}");
        pair.finish();
    }
}

#[test]
fn the_ack_that_ends_a_repair_may_open_the_window() {
    for recovery in ["reno", "newreno"] {
        for (last_ack, cwnd) in [("repairs", 5.0), ("grows", 5.2)] {
            let recovery = Spec::named(recovery).with("last_ack", Arg::Name(last_ack.to_owned()));
            let stack = Stack { validate_window: false, ..steady(10) };
            let mut pair = Pair::recovery(&stack, &recovery).lose_segments(&[5]);
            pair.send_segments(60);
            pair.run_to(|p| p.sender.repairing());
            pair.run_to(|p| !p.sender.repairing());
            assert_eq!(pair.cwnd(), cwnd, "{} {last_ack}", recovery.name);
            pair.finish();
        }
    }
}

#[test]
fn partial_acks_beyond_the_inflation_take_from_the_window_itself() {
    let left = |exit: &str| {
        let recovery = Spec::named("newreno").with("exit", Arg::Name(exit.to_owned()));
        // Only three of the duplicates come, and the partial ACK covers fourteen segments.
        let ordinals: Vec<usize> = (3..18).collect();
        let mut pair = Pair::recovery(&steady(20), &recovery).lose_segments(&[1, 15]).lose_back(&ordinals);
        pair.send_segments(20);
        pair.run_to(|p| p.sender.repairing());
        pair.run_to(|p| !p.sender.repairing());
        pair.cwnd()
    };
    assert_eq!(left("ssthresh"), 10.0);
    assert!(left("deflated") < 10.0, "{}", left("deflated"));
}

fn profiled(name: &str, base: Stack) -> Pair {
    let preset = preset::find(name).expect("a preset");
    let parts = Parts::under(Profile::Ns2, preset).expect("its parts");
    Pair::of(&Profile::Ns2.stack(base), parts, &Spec::named("every"))
}

#[test]
fn sack1_sends_each_hole_once_and_waits_for_the_timer_if_that_is_lost_too() {
    for (lost, timeouts) in [(&[3, 6, 9][..], 0), (&[3, 6, 6], 1)] {
        let mut pair = Pair::recovery(&steady(20), &Spec::named("sack1")).lose_segments(lost);
        pair.send_segments(60);
        pair.finish();
        assert_eq!(pair.books.counts().timeouts, timeouts, "{lost:?}");
        assert!(timeouts > 0 || pair.resent() == lost, "{:?}", pair.resent());
    }
}

#[test]
fn ns_2s_vegas_leaves_a_second_hole_to_the_timer_and_doubles_it() {
    let mut pair = profiled("vegas", steady(10)).lose_segments(&[3, 4, 5]);
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().fast_retransmits == 1);
    assert_eq!(pair.sender.rtt().rto(), 600 * MS, "30 ticks after one sample, doubled");
    pair.finish();
    let mut ours = Pair::preset(&steady(10), "vegas").lose_segments(&[3, 4, 5]);
    ours.send_segments(60);
    ours.finish();
    assert_eq!(ours.books.counts().timeouts, 0);
    assert!(pair.now > ours.now);
}

#[test]
fn every_sender_of_the_profile_brings_a_file_through_losses() {
    for name in ["tahoe", "tahoe-nofr", "reno", "newreno", "sack", "vegas", "newreno-lp", "tibet", "cubic"] {
        let mut pair = profiled(name, steady(10)).lose_segments(&[1, 3, 3, 7, 8, 9, 20, 40, 40, 40]);
        pair.send_segments(60);
        pair.finish();
    }
}
