//! Recovery by selective acknowledgements (RFC 6675), and the blocks it lives on (RFC 2018).

use crate::pair::{MS, Pair, steady};
use crate::path::Fate;
use truckee_tcp::outstanding::marks;
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::{Arg, Segment, Seq, Size, Spec, SpecError, Stack, Time, flags};

fn sack() -> Pair {
    Pair::preset(&steady(10), "sack")
}

#[test]
fn all_holes_are_repaired_in_one_round_trip() {
    let mut pair = sack().lose_segments(&[3, 4, 5]);
    pair.send_segments(40);
    pair.finish();
    assert_eq!([3, 4, 5].map(|number| pair.times_of(number)[1]), [Time::ms(100); 3]);
    assert_eq!(pair.resent(), [3, 4, 5]);
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
}

#[test]
fn recovery_ends_with_the_window_that_the_response_set() {
    let mut pair = sack().lose_segments(&[3]);
    pair.send_segments(40);
    pair.run_to(|p| p.sender.repairing());
    assert_eq!((pair.cwnd(), pair.ssthresh()), (5.0, 5.0), "no inflation: pipe does its work");
    pair.run_to(|p| !p.sender.repairing());
    assert_eq!(pair.cwnd(), 5.0);
    pair.finish();
}

/// A repair that brings the window down in proportion to what is delivered (RFC 9937), of twenty segments a round.
fn proportional(bound: &str) -> Pair {
    let word = |word: &str| Arg::Name(word.to_owned());
    let recovery = Spec::named("sack").with("reduction", word("proportional")).with("bound", word(bound));
    Pair::recovery(&Stack { limited_transmit: true, ..steady(20) }, &recovery)
}

#[test]
fn a_proportional_reduction_lets_a_segment_out_for_every_other_that_has_come() {
    for bound in ["safe-ack", "conservative", "slow-start"] {
        // The ACKs come 1 ms apart, so that what leaves on each can be told.
        let mut pair = proportional(bound).lose_segments(&[1]);
        pair.path.forward = (0..20).map(|k| Fate { late: k * MS, ..Fate::default() }).collect();
        pair.send_segments(100);
        pair.run_until(Time::ms(125));
        let sent: Vec<_> =
            (101..=119).map(|ms| pair.numbers_within(Time::ms(ms), Time::ms(ms + 1)).len()).collect();
        assert_eq!(sent, [1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1], "{bound}");
        pair.run_to(|p| !p.sender.repairing());
        assert_eq!((pair.cwnd(), pair.ssthresh(), pair.resent()), (10.0, 10.0, vec![1]), "{bound}");
        pair.finish();
    }
}

#[test]
fn a_bound_is_refused_where_the_reduction_is_at_once() {
    let spec = Spec::named("sack").with("bound", Arg::Name("slow-start".to_owned()));
    assert!(matches!(AnyRecovery::build(&spec), Err(SpecError::BadValue { param, .. }) if param == "bound"));
}

#[test]
fn after_a_burst_of_losses_a_proportional_reduction_sends_no_burst() {
    let burst: Vec<_> = (1..=15).collect();
    for (bound, each) in [("safe-ack", 1), ("conservative", 1), ("slow-start", 2)] {
        let mut pair = proportional(bound).lose_segments(&burst);
        pair.path.forward = (0..20).map(|k| Fate { late: k * MS, ..Fate::default() }).collect();
        pair.send_segments(100);
        pair.run_until(Time::ms(125));
        let sent: Vec<_> =
            (115..=119).map(|ms| pair.numbers_within(Time::ms(ms), Time::ms(ms + 1)).len()).collect();
        assert_eq!(sent, [1, 1, each, each, each], "{bound}: two by limited transmit, then repairs");
        pair.finish();
        assert_eq!(pair.books.counts().timeouts, 0, "{bound}");
    }
}

/// Ten segments a round; a timeout is looked at.
fn looking() -> Pair {
    Pair::recovery(&steady(10), &Spec::named("sack").with("frto", Arg::Flag(true)))
}

/// All of the second round is late by more than the timer waits, and what is sent again waits behind it.
fn delayed(mut pair: Pair) -> Pair {
    let late = |ms: u64| Fate { late: ms * MS, ..Fate::default() };
    pair.path.forward = [vec![late(0); 10], vec![late(1500); 10], vec![late(600)]].concat().into();
    pair.send_segments(60);
    pair
}

#[test]
fn a_timeout_by_delay_alone_is_undone_and_nothing_more_is_sent_again() {
    let mut pair = delayed(looking());
    pair.run_to(|p| p.books.counts().timeouts == 1);
    assert_eq!(pair.cwnd(), 1.0);
    pair.run_to(|p| p.books.counts().undone == 1);
    assert!(pair.cwnd() >= 10.0, "{}", pair.cwnd());
    pair.finish();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![11], 1));
    let mut plain = delayed(sack());
    plain.finish();
    assert_eq!((plain.books.counts().timeouts, plain.books.counts().undone), (1, 0));
    assert!(plain.resent().len() > 5, "{:?}", plain.resent());
}

#[test]
fn a_timeout_after_a_loss_is_repaired_all_the_same() {
    let second_round: Vec<_> = (11..=20).collect();
    for segments in [60, 20] {
        // With new data to send, and without.
        let mut pair = looking().lose_segments(&second_round);
        pair.send_segments(segments);
        pair.finish();
        let counts = pair.books.counts();
        assert_eq!((pair.resent(), counts.timeouts, counts.undone), (second_round.clone(), 1, 0));
    }
}

#[test]
fn a_loss_at_the_tail_is_rescued_without_the_timer() {
    let mut pair = sack().lose_segments(&[2, 10]);
    pair.send_segments(10);
    pair.finish();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![2, 10], 0));
}

#[test]
fn a_repair_in_the_air_is_not_rescued() {
    let mut pair = Pair::preset(&steady(4), "sack").lose_segments(&[1]);
    pair.send_segments(4);
    pair.finish();
    assert_eq!(pair.resent(), [1]);
}

#[test]
fn an_ack_that_advances_and_shows_a_gap_starts_the_repair() {
    // Of nine ACKs the last comes: it covers the first segment and reports eight above the second.
    let mut pair = sack().lose_segments(&[2]).lose_back(&[0, 1, 2, 3, 4, 5, 6, 7]);
    pair.send_segments(10);
    pair.finish();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![2], 0));
    assert_eq!(pair.times_of(2)[1], Time::ms(100));
}

/// The receiver's ACK of everything below `ack`, with a block.
fn reporting(ack: u64, from: u64, to: u64) -> Segment {
    let ack = Seq::at(ack);
    let mut segment =
        Segment { seq: Seq::FIRST, ack, window: 16 << 20, flags: flags::ACK, ..Segment::default() };
    segment.sack.push(ack, Seq::at(from), Seq::at(to));
    segment
}

/// What a sender sends at once when it hears an ACK.
fn answer(pair: &mut Pair, now: Time, ack: Segment) -> Vec<u64> {
    pair.sender.on_segment(now, &ack, &mut pair.books);
    std::iter::from_fn(|| pair.sender.poll_transmit(now, &mut pair.books))
        .map(|s| s.segment.seq.number())
        .collect()
}

/// A repair of the first of ten segments, which has sent four new ones; its end is 10,001.
fn repairing_the_first() -> Pair {
    let mut pair = sack();
    pair.send_segments(40);
    assert_eq!(answer(&mut pair, Time::ms(100), reporting(1, 1001, 4001)), [1]);
    let new = answer(&mut pair, Time::ms(101), reporting(1, 1001, 10_001));
    assert_eq!(new, [10_001, 11_001, 12_001, 13_001]);
    pair
}

#[test]
fn the_ack_that_ends_a_repair_starts_the_next_one_where_it_shows_a_gap() {
    let mut pair = repairing_the_first();
    let sent = answer(&mut pair, Time::ms(200), reporting(10_001, 11_001, 14_001));
    assert_eq!(sent[0], 10_001, "no three more duplicates");
    assert_eq!(pair.books.counts().fast_retransmits, 2);
}

#[test]
fn a_new_repair_does_not_send_again_what_the_last_one_has_in_the_air() {
    let mut pair = repairing_the_first();
    // Before the repair of 1 is acknowledged, 11 is known to be lost, and sent again.
    assert_eq!(answer(&mut pair, Time::ms(199), reporting(1, 11_001, 14_001))[0], 10_001);
    assert!(!answer(&mut pair, Time::ms(200), reporting(10_001, 11_001, 15_001)).contains(&10_001));
    assert_eq!(pair.books.counts().fast_retransmits, 2, "but it was another window's loss");
}

#[test]
fn what_was_reported_long_ago_is_no_sample_of_the_round_trip_time() {
    let mut pair = Pair::preset(&steady(2), "sack");
    pair.send_segments(10); // 1 and 2 leave at once
    let plain =
        |ack| Segment { seq: Seq::FIRST, ack, window: 16 << 20, flags: flags::ACK, ..Segment::default() };
    pair.sender.on_segment(Time::ms(100), &plain(Seq::at(1001)), &mut pair.books);
    assert_eq!(
        pair.sender.poll_transmit(Time::ms(100), &mut pair.books).map(|s| s.segment.seq),
        Some(Seq::at(2001))
    );
    pair.sender.on_segment(Time::ms(200), &reporting(1001, 2001, 3001), &mut pair.books);
    pair.sender.on_segment(Time::ms(210), &plain(Seq::at(3001)), &mut pair.books); // 2 has come at last
    assert_eq!(pair.books.last_rtt(), Some(210 * MS));
}

#[test]
fn a_recovery_rescues_one_segment() {
    let mut pair = sack().lose_segments(&[1]);
    pair.send_segments(10); // 8, 9 and 10 are still on their way when the window has room for a rescue
    pair.finish();
    assert_eq!(pair.resent(), [1, 10]);
}

#[test]
fn a_block_over_part_of_a_segment_does_not_count() {
    let mut pair = Pair::preset(&steady(4), "sack");
    pair.send_segments(4);
    let mut ack = Segment {
        seq: Seq::FIRST,
        ack: Seq::FIRST,
        window: 16 << 20,
        flags: flags::ACK,
        ..Segment::default()
    };
    ack.sack.push(Seq::FIRST, Seq::at(1501), Seq::at(3501));
    pair.sender.on_segment(Time::ms(100), &ack, &mut pair.books);
    let sacked = (0..4).map(|at| pair.sender.outstanding().get(at).is_some_and(|s| s.is(marks::SACKED)));
    assert_eq!(sacked.collect::<Vec<_>>(), [false, false, true, false]);
    assert_eq!(pair.sender.outstanding().pipe(), 3000);
}

#[test]
fn a_loss_of_the_first_segment_sent_in_recovery_starts_the_next_one() {
    let mut pair = sack().lose_segments(&[1, 11]);
    pair.send_segments(40);
    pair.finish();
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (2, 0));
}

#[test]
fn what_a_recovery_sent_newly_and_lost_is_repaired_within_it() {
    // 20 can only be told lost by what follows it, so the recovery lasts long enough to see 22 lost.
    let mut pair = Pair::preset(&steady(20), "sack").lose_segments(&[1, 20, 22]);
    pair.send_segments(60);
    pair.finish();
    assert_eq!([1, 20, 22].map(|number| pair.times_of(number)[1]), [100, 200, 200].map(Time::ms));
    assert_eq!(pair.books.counts().timeouts, 0);
}

#[test]
fn after_a_timeout_what_was_sacked_is_not_sent_again() {
    let mut pair = Pair::preset(&steady(5), "sack").lose_segments(&[1, 1, 3]);
    pair.send_segments(5);
    pair.finish();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![1, 1, 3], 1));
}

#[test]
fn after_a_timeout_the_window_opens_by_slow_start() {
    let mut pair = sack().lose_segments(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    pair.send_segments(10);
    pair.finish();
    let rounds = [0, 1, 2]
        .map(|k| pair.numbers_within(Time::at((1000 + k * 100) * MS), Time::at((1100 + k * 100) * MS)));
    assert_eq!(rounds, [vec![1], vec![2, 3], vec![4, 5, 6, 7]]);
}

#[test]
fn blocks_fit_into_the_header() {
    for (timestamps, most) in [(false, 4), (true, 3)] {
        let mut pair = Pair::preset(&Stack { timestamps, ..steady(20) }, "sack");
        pair = pair.lose_segments(&[1, 3, 5, 7, 9, 11, 13]);
        pair.send_segments(20);
        pair.finish();
        let blocks = pair.acks.iter().map(|(_, ack)| ack.sack.iter(ack.ack).count()).max();
        assert_eq!(blocks, Some(most));
        assert!(pair.acks.iter().all(|(_, ack)| ack.wire_bytes() <= 80), "60 bytes of TCP header at most");
    }
}

#[test]
fn the_first_block_is_about_the_segment_that_came_last() {
    let mut pair = sack().lose_segments(&[1, 3, 5]);
    pair.send_segments(6);
    pair.run_until(Time::ms(50));
    let first: Vec<_> = pair
        .acks
        .iter()
        .filter_map(|(_, ack)| ack.sack.iter(ack.ack).next().map(|b| (b.0.number(), b.1.number())))
        .collect();
    assert_eq!(first, [(1001, 2001), (3001, 4001), (5001, 6001)]);
    pair.finish();
}

#[test]
fn a_peer_window_of_one_segment_is_repaired_too() {
    let stack = Stack { rwnd: Size::Segments(1.0), ..steady(10) };
    let mut pair = Pair::preset(&stack, "sack").lose_segments(&[2]);
    pair.send_segments(4);
    pair.finish();
    assert_eq!(pair.books.counts().timeouts, 1);
}
