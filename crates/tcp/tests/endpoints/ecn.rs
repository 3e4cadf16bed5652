//! Explicit congestion notification (RFC 3168, section 6.1): mark, echo, reduction, and the end of the echo.

use crate::pair::{Pair, steady};
use truckee_tcp::{Seq, Stack, Time, flags};

fn marked(segments: &[u64]) -> Pair {
    let mut pair = Pair::preset(&Stack { ecn: true, ..steady(10) }, "newreno");
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
