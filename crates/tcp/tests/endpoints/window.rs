//! How the window opens between losses: initial window, slow start, delayed and divided ACKs, byte counting, limits.

use crate::pair::{MS, Pair, parts, stack, steady};
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::{Segment, Seq, Size, Spec, Stack, Time, flags};

fn growth(name: &str, policy: &str, stack: &Stack) -> Pair {
    Pair::of(
        stack,
        parts(&Spec::named("newreno"), &Spec::named(name), &Spec::named("halve")),
        &Spec::named(policy),
    )
}

/// Segments sent in each of the first rounds of 100 ms.
fn rounds(pair: &Pair, count: u64) -> Vec<usize> {
    (0..count).map(|k| pair.numbers_within(Time::ms(k * 100), Time::ms((k + 1) * 100)).len()).collect()
}

#[test]
fn the_first_burst_is_the_initial_window() {
    for segments in [1.0, 2.0, 3.0, 4.0, 10.0] {
        let stack = Stack { initial_window: Size::Segments(segments), ..stack() };
        let mut pair = Pair::preset(&stack, "newreno");
        pair.send_segments(30);
        assert_eq!(pair.sent.len(), segments as usize);
        pair.finish();
    }
}

#[test]
fn an_initial_window_below_one_segment_is_one_segment() {
    let mut pair = Pair::preset(&Stack { initial_window: Size::Bytes(10), ..stack() }, "newreno");
    pair.send_segments(5);
    assert_eq!((pair.cwnd(), pair.sent.len()), (1.0, 1));
    pair.finish();
}

#[test]
fn a_delayed_ack_holds_a_window_of_one_for_its_timeout() {
    let mut pair = growth("per-ack", "delayed", &stack());
    pair.send_segments(3);
    pair.finish();
    assert_eq!(pair.acks.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [250, 350].map(Time::ms));
}

#[test]
fn delayed_acks_slow_per_ack_growth_down_and_byte_counting_makes_up_for_it() {
    let two = Stack { initial_window: Size::Segments(2.0), ..stack() };
    let mut counted = Vec::new();
    for name in ["per-ack", "byte-counting"] {
        let mut pair = growth(name, "delayed", &two);
        pair.send_segments(200);
        pair.finish();
        counted.push(rounds(&pair, 4));
    }
    // Of three segments the receiver keeps one, and acknowledges it with the first of the next round.
    assert_eq!(counted, [vec![2, 3, 3, 6], vec![2, 4, 8, 16]]);
}

#[test]
fn divided_acks_open_the_window_of_who_counts_acks_and_not_of_who_counts_bytes() {
    for (name, expected) in [("per-ack", [1, 5, 25]), ("byte-counting", [1, 2, 4])] {
        let mut pair = growth(name, "every", &stack());
        pair.path.divide = 4;
        pair.send_segments(200);
        pair.finish();
        assert_eq!(rounds(&pair, 3), expected, "{name}");
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for member in AnyGrowth::MEMBERS {
        let mut pair = growth(member.name, "every", &steady(20));
        pair.open();
        for _ in 0..30 {
            pair.write(1000);
            pair.run_until(pair.now + 100 * MS);
        }
        assert!(pair.cwnd() <= 20.0, "{}: {}", member.name, pair.cwnd());
        pair.deliver_all();
    }
}

#[test]
fn the_peer_window_and_the_send_buffer_bound_what_is_in_the_air() {
    let three = Size::Segments(3.0);
    for stack in [Stack { rwnd: three, ..steady(10) }, Stack { send_buffer: Some(three), ..steady(10) }] {
        let mut pair = Pair::preset(&stack, "newreno");
        pair.send_segments(12);
        pair.finish();
        assert_eq!(rounds(&pair, 4), [3, 3, 3, 3]);
    }
}

#[test]
fn without_scaling_no_window_exceeds_65535_bytes() {
    let stack = Stack { window_scaling: false, ..steady(100) };
    let mut pair = Pair::preset(&stack, "newreno");
    pair.send_segments(300);
    assert_eq!(pair.sent.len(), 65);
    pair.finish();
}

#[test]
fn an_ack_that_changes_the_window_is_no_duplicate() {
    for (step, fast_retransmits) in [(0, 1), (1000, 0)] {
        let mut pair = Pair::preset(&steady(10), "newreno");
        pair.send_segments(40);
        for k in 0..5 {
            let window = (1 << 20) + step * k;
            let ack =
                Segment { seq: Seq::FIRST, ack: Seq::FIRST, window, flags: flags::ACK, ..Segment::default() };
            pair.sender.on_segment(Time::ms(10), &ack, &mut pair.books);
        }
        assert_eq!(pair.books.counts().fast_retransmits, fast_retransmits);
    }
}

#[test]
fn a_window_taken_back_is_probed_by_the_timer_and_used_when_it_opens() {
    let mut pair = Pair::preset(&steady(4), "newreno");
    pair.open();
    pair.sender.write(8000);
    while pair.sender.poll_transmit(Time::ZERO, &mut pair.books).is_some() {}
    let ack = |ack, window| Segment { seq: Seq::FIRST, ack, window, flags: flags::ACK, ..Segment::default() };
    pair.sender.on_segment(Time::ms(10), &ack(Seq::at(1001), 0), &mut pair.books);
    assert_eq!(pair.sender.poll_transmit(Time::ms(10), &mut pair.books), None);
    let due = pair.sender.deadline().unwrap();
    pair.sender.on_timer(due, &mut pair.books);
    assert_eq!(
        pair.sender.poll_transmit(due, &mut pair.books).map(|s| s.segment.seq),
        Some(Seq::at(1001)),
        "the probe"
    );
    assert_eq!(pair.sender.poll_transmit(due, &mut pair.books), None);
    pair.sender.on_segment(due + MS, &ack(Seq::at(2001), 4000), &mut pair.books);
    assert_eq!(
        pair.sender.poll_transmit(due + MS, &mut pair.books).map(|s| s.segment.seq),
        Some(Seq::at(2001))
    );
}
