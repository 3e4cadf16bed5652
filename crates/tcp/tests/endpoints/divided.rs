//! A receiver that divides its ACKs, with senders: how rounds grow, what it costs, and that repairs do not suffer.

use crate::pair::{MS, Pair, parts, stack, steady};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::sender::Parts;
use truckee_tcp::{Arg, Size, Spec, Stack, preset};

fn division(n: u64) -> Spec {
    Spec::named("division").with("n", Arg::Number(n as f64))
}

fn pair(growth: &str, policy: &Spec) -> Pair {
    Pair::of(&stack(), parts(&Spec::named("newreno"), &Spec::named(growth), &Spec::named("halve")), policy)
}

/// Segments of each of the first rounds, from an initial window of one.
fn rounds(growth: &str, policy: &Spec, count: usize) -> Vec<u64> {
    let mut pair = pair(growth, policy);
    pair.send_segments(300);
    pair.finish();
    pair.books.rounds().iter().take(count).map(|round| round.segments).collect()
}

#[test]
fn a_round_has_the_segments_of_the_last_and_one_for_each_of_its_acks() {
    assert_eq!(rounds("per-ack", &division(1), 5), [1, 2, 4, 8, 16]);
    assert_eq!(rounds("per-ack", &division(2), 4), [1, 3, 9, 27]);
    assert_eq!(rounds("per-ack", &division(4), 3), [1, 5, 25]);
    let first = division(4).with("first", Arg::Number(3.0));
    assert_eq!(rounds("per-ack", &first, 3), [1, 5, 5 + 2 * 4 + 3], "three ACKs are divided");
}

#[test]
fn taba_leaves_the_first_ack_whole_and_divides_until_congestion_avoidance() {
    let taba = |n: f64| Spec::named("taba").with("n", Arg::Number(n));
    assert_eq!(rounds("per-ack", &taba(2.0), 4), [1, 2, 6, 18]);
    assert_eq!(rounds("per-ack", &taba(3.0), 4), [1, 2, 8, 32]);
}

#[test]
fn taba_follows_table_3_1_with_an_rfc2581_server() {
    for (n, published) in [(1, [1, 3, 6]), (2, [1, 3, 9]), (3, [1, 3, 12]), (4, [1, 3, 15])] {
        let server = preset::find("rfc2581").expect("a preset");
        let taba = Spec::named("taba").with("n", Arg::Number(f64::from(n)));
        let mut pair = Pair::of(&server.stack(stack()), Parts::of(server).expect("its parts"), &taba);
        pair.send_segments(300);
        pair.finish();
        let rounds = pair.books.rounds();
        assert_eq!([rounds[0].segments, rounds[1].segments, rounds[2].segments], published, "n = {n}");
        assert_eq!([rounds[0].acks, rounds[1].acks], [1, 3 * n as u64], "n = {n}");
    }
}

#[test]
fn who_counts_bytes_does_not_mind() {
    for (n, first) in [1, 2, 3, 12].into_iter().flat_map(|n| [(n, 1), (n, 4)]) {
        let stack = Stack { initial_window: Size::Segments(first as f64), ..stack() };
        let growth = Spec::named("byte-counting");
        let parts = parts(&Spec::named("newreno"), &growth, &Spec::named("halve"));
        let mut pair = Pair::of(&stack, parts, &division(n));
        pair.send_segments(300);
        pair.finish();
        let rounds: Vec<_> = pair.books.rounds().iter().take(4).map(|round| round.segments).collect();
        assert_eq!(rounds, [1, 2, 4, 8].map(|k| k * first), "{n} parts");
    }
}

#[test]
fn a_partial_ack_stays_whole_so_that_newreno_sends_only_again_what_is_lost() {
    for n in [1, 4, 12] {
        let recovery = Spec::named("newreno");
        let parts = parts(&recovery, &Spec::named("per-ack"), &Spec::named("halve"));
        let mut pair = Pair::of(&steady(20), parts, &division(n)).lose_segments(&[21, 23, 27]);
        pair.send_segments(100);
        pair.finish();
        assert_eq!(pair.resent(), [21, 23, 27], "{n} parts");
    }
}

#[test]
fn it_sends_n_acks_for_each_segment_in_order_and_no_more() {
    for n in [1, 2, 12, 1000] {
        let mut pair = pair("byte-counting", &division(n));
        pair.send_segments(300);
        pair.finish();
        assert_eq!(pair.acks.len() as u64, 300 * n);
        assert_eq!(pair.receiver.acks(), 300 * n);
    }
}

#[test]
fn n_may_change_while_the_connection_runs() {
    let mut pair = pair("byte-counting", &division(4));
    pair.send_segments(300);
    let mut before = 0;
    for (number, n) in [(50, 4), (100, 1), (150, 7)] {
        pair.receiver.set_policy(AnyAckPolicy::build(&division(n)).expect("division").0);
        pair.run_until(pair.now + 250 * MS);
        let acks = pair.receiver.acks() - before;
        assert!(acks > 0 && acks.is_multiple_of(n), "{acks} ACKs after {number}");
        before = pair.receiver.acks();
    }
    pair.finish();
}
