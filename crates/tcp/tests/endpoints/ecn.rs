//! Explicit congestion notification (RFC 3168, section 6.1): mark, echo, reduction, and the end of the echo.

use crate::pair::{Pair, steady};
use truckee_tcp::sender::Parts;
use truckee_tcp::stack::Ecn;
use truckee_tcp::{Ack, Segment, Sender, Seq, Spec, Stack, Time, Window, Witness, flags};

fn marked(segments: &[u64]) -> Pair {
    let mut pair = Pair::preset(&Stack { ecn: Ecn::Classic, ..steady(10) }, "newreno");
    pair.path.marks = segments.iter().copied().collect();
    pair
}

/// Numbers of the segments that carried CWR.
fn reduced_notices(pair: &Pair) -> Vec<u64> {
    pair.sent.iter().filter(|t| t.segment.has(flags::CWR)).map(|t| t.number).collect()
}

#[test]
fn a_mark_halves_the_window_once_and_its_echo_ends_with_cwr() {
    let mut pair = marked(&[3, 6]);
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().ecn_reductions == 1);
    assert_eq!(
        (pair.now, pair.cwnd(), pair.ssthresh()),
        (Time::ms(100), 5.0, 5.0),
        "half of what was in the air"
    );
    pair.finish();
    assert_eq!(pair.books.counts().ecn_reductions, 1);
    assert!(pair.resent().is_empty());
    let notices = reduced_notices(&pair);
    assert_eq!(notices.len(), 1);
    let echoes = pair.acks.iter().filter(|(_, ack)| ack.has(flags::ECE));
    assert!(echoes.clone().all(|(_, ack)| ack.ack > Seq::at(2001) && ack.ack <= Seq::at(notices[0] * 1000)));
    assert!(echoes.count() > 1, "every ACK echoes until CWR comes");
}

#[test]
fn a_mark_in_the_next_window_halves_again() {
    let mut pair = marked(&[3, 20]);
    pair.send_segments(60);
    pair.finish();
    assert_eq!((pair.books.counts().ecn_reductions, reduced_notices(&pair).len()), (2, 2));
}

#[test]
fn a_loss_in_a_window_that_an_echo_has_reduced_is_repaired_without_a_second_reduction() {
    let mut pair = marked(&[3]).lose_segments(&[5]);
    pair.send_segments(60);
    pair.run_to(|p| p.sender.repairing());
    assert_eq!((pair.books.counts().ecn_reductions, pair.ssthresh()), (1, 5.0));
    pair.run_to(|p| !p.sender.repairing());
    assert_eq!(pair.cwnd(), 5.0);
    pair.finish();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![5], 0));
}

#[test]
fn a_loss_in_a_window_that_an_echo_has_reduced_says_nothing_of_the_next_window() {
    let mut pair = marked(&[3, 14]).lose_segments(&[10]);
    pair.send_segments(60);
    pair.finish();
    // 14 was sent after the echo of 3 and before 10 was known to be lost.
    assert_eq!((pair.times_of(14)[0], pair.times_of(10)[1]), (Time::ms(100), Time::ms(200)));
    assert_eq!((pair.books.counts().ecn_reductions, reduced_notices(&pair).len()), (2, 2));
}

#[test]
fn an_echo_of_a_window_that_a_loss_has_reduced_changes_nothing_more() {
    let mut pair = marked(&[8]).lose_segments(&[3]);
    pair.send_segments(60);
    pair.finish();
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().ecn_reductions), (1, 0));
    assert_eq!(reduced_notices(&pair).len(), 1, "CWR follows every reduction");
}

#[test]
fn no_ack_that_echoes_opens_the_window() {
    let mut pair = marked(&[1]);
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().ecn_reductions == 1);
    let cwnd = pair.cwnd();
    pair.run_until(Time::ms(199));
    assert!(pair.acks.iter().filter(|(at, _)| *at < Time::ms(150)).all(|(_, ack)| ack.has(flags::ECE)));
    assert_eq!(pair.cwnd(), cwnd);
    pair.finish();
}

#[test]
fn without_agreement_a_mark_means_nothing() {
    let mut pair = Pair::preset(&steady(10), "newreno");
    pair.path.marks = [3].into();
    pair.send_segments(60);
    pair.finish();
    assert_eq!(pair.books.counts().ecn_reductions, 0);
    assert!(!pair.acks.iter().any(|(_, ack)| ack.has(flags::ECE)));
}

/// As [`marked`], with ECN that is accurate.
fn counted(segments: &[u64]) -> Pair {
    let mut pair = Pair::preset(&Stack { ecn: Ecn::Accurate, ..steady(10) }, "newreno");
    pair.path.marks = segments.iter().copied().collect();
    pair
}

/// What the flags of a segment count (RFC 9768, section 3.2).
fn ace(segment: &Segment) -> u64 {
    [flags::AE, flags::CWR, flags::ECE].iter().fold(0, |n, &flag| 2 * n + u64::from(segment.has(flag)))
}

#[test]
fn an_accurate_receiver_counts_marks_in_every_ack_and_the_window_comes_down_once_a_round() {
    let mut pair = counted(&[3, 5, 6, 40]);
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().ecn_reductions == 1);
    assert_eq!((pair.now, pair.cwnd()), (Time::ms(100), 5.0));
    pair.finish();
    let counts: Vec<u64> = pair.acks.iter().map(|(_, ack)| ace(ack)).collect();
    assert_eq!(counts[..7], [5, 5, 6, 6, 7, 0, 0], "from 5 on, modulo 8");
    assert_eq!(counts.last(), Some(&1));
    assert_eq!(pair.books.counts().ecn_reductions, 2, "one for each round with marks");
    // Its segments tell the count of what comes to it: nothing.
    assert!(pair.sent.iter().all(|t| ace(&t.segment) == 5));
}

/// Hears how many packets are told to have come marked.
#[derive(Default)]
struct Told(Vec<u64>);

impl Witness for Told {
    fn on_ack(&mut self, ack: &Ack, _w: &Window) {
        self.0.push(ack.ecn_marked);
        assert_eq!(ack.ecn_echo, ack.ecn_marked > 0);
    }
}

/// An ACK of so many segments, whose flags tell of so many marks so far.
fn telling(segments: u64, marks: u64) -> Segment {
    let count = 5 + marks;
    let bit = |weight: u64, flag: u8| if count & weight == 0 { 0 } else { flag };
    let flags = flags::ACK | bit(4, flags::AE) | bit(2, flags::CWR) | bit(1, flags::ECE);
    Segment { ack: Seq::at(segments * 1000 + 1), flags, window: 1 << 24, ..Segment::default() }
}

#[test]
fn marks_are_all_told_though_acks_are_lost_and_twice_told_of_none() {
    let stack = Stack { ecn: Ecn::Accurate, ..steady(20) };
    let preset = truckee_tcp::preset::find("newreno").unwrap();
    let mut sender = Sender::new(&stack, Parts::of(preset).unwrap());
    let mut told = Told::default();
    sender.open(Time::ZERO, &mut told);
    sender.write(100_000);
    while sender.poll_transmit(Time::ZERO, &mut told).is_some() {}
    // Of 1; of 2 to 6, all of them marked; again, an old one, as a SYN-ACK; of nine more, one of them marked, or all.
    let syn_ack = Segment { flags: flags::SYN | flags::ACK | flags::CWR, ..telling(6, 0) };
    for ack in [telling(1, 0), telling(6, 5), telling(6, 5), telling(3, 2), syn_ack, telling(15, 6)] {
        sender.on_segment(Time::ms(100), &ack, &mut told);
    }
    assert_eq!(told.0, [0, 5, 0, 9], "nine have come, and the counter may have gone round");
}

#[test]
fn a_delayed_ack_waits_neither_for_a_first_mark_nor_for_a_second() {
    let stack = Stack { ecn: Ecn::Accurate, ..steady(10) };
    let parts = crate::pair::parts(&Spec::named("newreno"), &Spec::named("per-ack"), &Spec::named("halve"));
    let mut pair = Pair::of(&stack, parts, &Spec::named("delayed"));
    pair.path.marks = [1].into();
    pair.open();
    pair.write(1000);
    pair.run_until(Time::ms(60));
    assert_eq!(pair.acks.len(), 1, "one segment, marked, and its ACK at once");
}

#[test]
fn the_handshake_shows_whether_both_ends_count() {
    let stack = |ecn| Stack { ecn, handshake: true, ..steady(10) };
    let mut pair = Pair::preset(&stack(Ecn::Accurate), "newreno");
    pair.path.marks = [3].into();
    pair.send_segments(30);
    pair.finish();
    assert_eq!(ace(&pair.sent[0].segment), 7, "the SYN asks");
    assert_eq!(ace(&pair.acks[0].1), 2, "the SYN-ACK grants, and says that the SYN was not ECN-capable");
    assert_eq!((pair.books.counts().ecn_reductions, ace(&pair.acks.last().unwrap().1)), (1, 6));

    // The peer has classic ECN alone.
    let mut pair = Pair::preset(&stack(Ecn::Accurate), "newreno");
    let every = truckee_tcp::ack::AnyAckPolicy::build(&Spec::named("every")).unwrap().0;
    pair.receiver = truckee_tcp::Receiver::new(&stack(Ecn::Classic), every, false);
    pair.path.marks = [3].into();
    pair.send_segments(30);
    pair.finish();
    assert_eq!(ace(&pair.acks[0].1), 1);
    assert_eq!((pair.books.counts().ecn_reductions, reduced_notices(&pair)[1..].len()), (1, 1));
}
