//! Opening and closing, losses among them, idle times, and windows smaller than a segment.

use crate::pair::{MS, Pair, stack};
use crate::path::Fate;
use truckee_tcp::sender::State;
use truckee_tcp::{Segment, Seq, Size, Span, Spec, Stack, Time, flags};

fn opened(initial_window: f64) -> Stack {
    Stack { handshake: true, initial_window: Size::Segments(initial_window), ..stack() }
}

fn flagged(pair: &Pair, flag: u8) -> Vec<u64> {
    pair.sent.iter().filter(|t| t.segment.has(flag)).map(|t| t.at.ticks(MS)).collect()
}

#[test]
fn data_follows_the_handshake_with_the_initial_window() {
    let mut pair = Pair::preset(&opened(4.0), "newreno");
    pair.send_segments(10);
    pair.finish();
    assert_eq!(pair.numbers_within(Time::ZERO, Time::ms(200)), [1, 2, 3, 4]);
    assert_eq!((pair.times_of(1)[0], pair.sender.rtt().min()), (Time::ms(100), Some(100 * MS)));
    assert!(pair.receiver.finished());
}

#[test]
fn the_handshake_is_a_sample_but_not_the_least_of_those_of_data() {
    let mut pair = Pair::preset(&opened(4.0), "newreno");
    let slow = Fate { late: 10 * MS, ..Fate::default() }; // a segment takes longer to serialise than a SYN
    pair.path.forward = std::iter::once(Fate::default()).chain([slow; 10]).collect();
    pair.send_segments(10);
    let rtts = |pair: &Pair| (pair.sender.rtt().smoothed(), pair.sender.window().rtt_min);
    pair.run_until(Time::ms(105));
    assert_eq!(rtts(&pair), (Some(100 * MS), Some(100 * MS)), "there is no other yet");
    pair.finish();
    assert_eq!(pair.sender.window().rtt_min, Some(110 * MS));
}

#[test]
fn a_lost_syn_or_syn_ack_leaves_an_initial_window_of_one_and_an_rto_of_three_seconds() {
    for (forward, back) in [(&[0][..], &[][..]), (&[], &[0])] {
        let mut pair = Pair::preset(&opened(4.0), "newreno").lose_forward(forward).lose_back(back);
        pair.send_segments(10);
        pair.run_until(Time::ms(1100));
        assert_eq!(flagged(&pair, flags::SYN), [0, 1000]);
        assert_eq!(
            (pair.numbers_within(Time::ZERO, Time::ms(1200)), pair.sender.rtt().rto()),
            (vec![1], 3000 * MS)
        );
        pair.finish();
    }
}

#[test]
fn syns_back_off() {
    let mut pair = Pair::preset(&opened(4.0), "newreno").lose_forward(&[0, 1, 2, 3]);
    pair.send_segments(1);
    pair.finish();
    assert_eq!(flagged(&pair, flags::SYN), [0, 1000, 3000, 7000, 15_000]);
}

#[test]
fn duplicates_of_the_handshake_do_no_harm() {
    let copied = Fate { copies: 3, ..Fate::default() };
    let mut pair = Pair::preset(&opened(4.0), "newreno");
    pair.path.forward = [copied].into();
    pair.path.back = [copied; 4].into();
    pair.send_segments(20);
    pair.finish();
    assert!(pair.resent().is_empty());
    assert_eq!(pair.books.counts().fast_retransmits, 0);
}

#[test]
fn a_syn_ack_is_acknowledged_alone_where_no_data_waits_and_again_where_it_comes_again() {
    let mut pair = Pair::preset(&opened(4.0), "newreno");
    pair.open();
    let syn_ack =
        Segment { ack: Seq::FIRST, window: 65_535, flags: flags::SYN | flags::ACK, ..Segment::default() };
    for at in [10 * MS, 20 * MS] {
        pair.sender.on_segment(Time::at(at), &syn_ack, &mut ());
        let ack = pair.sender.poll_transmit(Time::at(at), &mut ()).expect("an ACK").segment;
        assert_eq!((ack.seq, ack.seq_len(), ack.flags), (Seq::FIRST, 0, flags::ACK));
        assert_eq!(pair.sender.poll_transmit(Time::at(at), &mut ()), None);
    }
}

#[test]
fn the_last_ack_of_the_handshake_may_be_lost() {
    let mut pair = Pair::preset(&opened(4.0), "newreno").lose_forward(&[1]);
    pair.open();
    pair.run_until(Time::ms(500));
    assert_eq!(pair.sender.state(), State::Established);
    pair.write(3000);
    pair.sender.close();
    pair.finish();
    assert_eq!(pair.books.counts().timeouts, 0);
}

#[test]
fn an_empty_file_is_a_syn_and_a_fin() {
    for lost in [&[][..], &[1], &[1, 2]] {
        let mut pair = Pair::preset(&opened(4.0), "newreno").lose_forward(lost);
        pair.send_file(0);
        pair.finish();
        assert!(pair.receiver.finished());
        assert_eq!((flagged(&pair, flags::FIN).len(), pair.books.counts().segments), (1 + lost.len(), 0));
    }
}

#[test]
fn fin_travels_with_the_last_byte_where_it_can() {
    let mut pair = Pair::preset(&opened(4.0), "newreno");
    pair.send_file(2500);
    pair.finish();
    let last = pair.sent.last().unwrap().segment;
    assert_eq!((last.seq, last.len, last.has(flags::FIN)), (Seq::at(2001), 500, true));
    let closing: Vec<_> = pair.acks.iter().filter(|(_, ack)| ack.has(flags::FIN)).map(|a| a.1.ack).collect();
    assert_eq!(closing, [Seq::at(2502)], "the receiver closes with the ACK of it");
}

#[test]
fn fin_goes_alone_after_all_is_acknowledged() {
    let mut pair = Pair::preset(&opened(4.0), "newreno");
    pair.open();
    pair.write(1000);
    pair.deliver_all();
    pair.sender.close();
    pair.run_until(pair.now);
    pair.write(0); // lets the sender speak
    pair.finish();
    let last = pair.sent.last().unwrap().segment;
    assert_eq!((last.seq, last.len, last.has(flags::FIN)), (Seq::at(1001), 0, true));
}

#[test]
fn a_lost_fin_or_a_lost_ack_of_it_is_repaired_by_the_timer() {
    for (forward, back) in [(&[1][..], &[][..]), (&[], &[1])] {
        let mut pair = Pair::preset(&opened(4.0), "newreno").lose_forward(forward).lose_back(back);
        pair.send_file(100);
        pair.finish();
        assert_eq!(flagged(&pair, flags::FIN), [100, 1100]);
    }
}

#[test]
fn a_connection_without_handshake_ends_without_fin() {
    let mut pair = Pair::preset(&stack(), "newreno");
    pair.send_file(2500);
    pair.finish();
    assert!(flagged(&pair, flags::SYN | flags::FIN).is_empty());
}

#[test]
fn what_fits_into_less_than_a_segment_is_sent_in_smaller_ones() {
    let small = Size::Bytes(300);
    for stack in [Stack { rwnd: small, ..opened(4.0) }, Stack { send_buffer: Some(small), ..opened(4.0) }] {
        let mut pair = Pair::preset(&stack, "newreno");
        pair.send_file(1000);
        pair.finish();
        let sizes: Vec<_> = pair.sent.iter().filter(|t| t.segment.len > 0).map(|t| t.segment.len).collect();
        assert_eq!(sizes, [300, 300, 300, 100]);
    }
}

#[test]
fn a_fin_at_the_edge_of_the_window_can_be_sent_again() {
    for preset in ["tahoe", "newreno", "sack"] {
        let stack = Stack { rwnd: Size::Bytes(500), ..opened(4.0) };
        let mut pair = Pair::preset(&stack, preset).lose_segments(&[1]);
        pair.send_file(500);
        pair.finish();
        assert_eq!(flagged(&pair, flags::FIN), [100, 1100], "{preset}");
    }
}

#[test]
fn what_was_not_sent_when_the_application_gave_up_is_never_sent() {
    let mut pair = Pair::preset(&opened(2.0), "newreno");
    pair.open();
    pair.sender.write(10_000);
    pair.run_until(Time::ms(150));
    pair.sender.close_unsent();
    while pair.sender.state() != State::Finished {
        let next = pair.now + MS;
        pair.write(0);
        pair.run_until(next);
        assert!(pair.now < Time::s(5), "it finishes");
    }
    assert_eq!(pair.delivered, 2000);
}

/// Twenty segments, a pause, and how many segments leave at once after it.
fn burst_after(pause: Span) -> usize {
    let mut pair = Pair::preset(&opened(2.0), "newreno");
    pair.open();
    pair.write(20_000);
    pair.deliver_all();
    let at = pair.now + pause;
    pair.run_until(at);
    pair.write(20_000);
    let burst = pair.numbers_within(at, at + Span::ns(1)).len();
    pair.deliver_all();
    burst
}

#[test]
fn after_an_idle_rto_the_window_starts_anew() {
    assert!(burst_after(500 * MS) > 8);
    assert_eq!(burst_after(2000 * MS), 2);
}

#[test]
fn the_timer_rests_while_the_connection_idles() {
    let mut pair = Pair::of(
        &opened(2.0),
        crate::pair::parts(&Spec::named("sack"), &Spec::named("per-ack"), &Spec::named("halve")),
        &Spec::named("delayed"),
    );
    pair.open();
    for _ in 0..3 {
        pair.write(1500);
        pair.deliver_all();
        assert_eq!((pair.sender.deadline(), pair.receiver.deadline()), (None, None));
        pair.run_until(pair.now + 100_000 * MS);
    }
    assert_eq!(pair.books.counts().timeouts, 0);
}
