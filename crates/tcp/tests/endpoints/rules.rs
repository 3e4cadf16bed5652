//! Vegas, HighSpeed TCP, the limited and the selective slow start, and Santa Cruz in whole connections.

use crate::pair::{MS, Pair, parts, stack, steady};
use truckee_tcp::{Arg, Seq, Size, Span, Spec, Stack, Time};

#[test]
fn vegas_retransmits_on_the_first_duplicate_where_the_segment_is_old() {
    // Two segments, the second 30 ms after the first, of which the first is lost. Round trips have varied little, so
    // that an RTT and 30 ms is more than the fine-grained timeout; NewReno waits for the timer.
    for (preset, resent, timeouts) in [("vegas", 130, 0), ("newreno", 1000, 1)] {
        let mut pair = Pair::preset(&steady(10), preset);
        pair.open();
        (0..40).for_each(|_| {
            pair.write(1000);
            pair.run_until(pair.now + 200 * MS);
        });
        let start = pair.now;
        pair = pair.lose_segments(&[41]);
        pair.write(1000);
        pair.run_until(start + 30 * MS);
        pair.write(1000);
        pair.deliver_all();
        let after = pair.times_of(41)[1] - start;
        assert!(after >= resent * MS && after < (resent + 20) * MS, "{preset}: {} ms", after / MS);
        assert_eq!(pair.books.counts().timeouts, timeouts, "{preset}");
    }
}

#[test]
fn vegas_waits_for_the_third_duplicate_where_the_segment_is_young() {
    let mut pair = Pair::preset(&steady(10), "vegas").lose_segments(&[5]);
    pair.send_segments(40);
    pair.run_to(|p| p.sender.repairing());
    // All ten left at once: at 100 ms the lost one is as old as the RTT, and the timeout above it.
    assert_eq!(
        (pair.now, pair.acks.iter().filter(|(_, ack)| ack.ack == Seq::at(4001)).count()),
        (Time::ms(100), 6)
    );
    assert_eq!((pair.cwnd() - 3.0, pair.ssthresh()), (7.5, 7.5), "a quarter less");
    pair.finish();
    assert_eq!(pair.resent(), [5]);
}

#[test]
fn vegas_decreases_once_for_the_losses_of_one_round() {
    let mut pair = Pair::preset(&steady(12), "vegas").lose_segments(&[3, 6, 9]);
    pair.send_segments(60);
    pair.finish();
    assert_eq!(pair.books.counts().timeouts, 0);
    assert_eq!(pair.resent(), [3, 6, 9]);
    assert!(pair.ssthresh() >= 9.0, "{}", pair.ssthresh());
}

#[test]
fn vegas_opens_by_one_segment_a_round_where_nothing_waits() {
    let mut pair = Pair::preset(&steady(10), "vegas");
    pair.send_segments(200);
    pair.finish();
    let rounds: Vec<usize> =
        (0..5).map(|k| pair.numbers_within(Time::ms(k * 100), Time::ms((k + 1) * 100)).len()).collect();
    // The first ACK begins the first round, which the first of the second ends; each later one adds a part.
    assert_eq!(rounds, [10, 10, 10, 11, 12]);
}

#[test]
fn highspeed_is_newreno_segment_for_segment_up_to_its_low_window() {
    let runs = ["newreno", "hstcp"].map(|preset| {
        let stack = Stack { rwnd: Size::Segments(38.0), ..stack() };
        let mut pair = Pair::preset(&stack, preset).lose_segments(&[70, 75, 200, 200, 500, 501, 502, 900]);
        pair.send_segments(1500);
        pair.finish();
        pair.sent.iter().map(|t| (t.at, t.number)).collect::<Vec<_>>()
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn highspeed_opens_a_large_window_by_more_than_a_segment_a_round() {
    for (preset, opened) in [("newreno", 0.99..1.01), ("hstcp", 3.9..4.2)] {
        let mut pair = Pair::preset(&steady(347), preset);
        pair.send_segments(1500);
        pair.run_until(Time::ms(110));
        let by = pair.cwnd() - 347.0;
        assert!(opened.contains(&by), "{preset}: {by}");
        pair.finish();
    }
}

#[test]
fn limited_slow_start_opens_by_half_of_its_limit_a_round() {
    let growth = Spec::named("limited-slow-start").with("max_ssthresh", Arg::Number(8.0));
    let parts = parts(&Spec::named("newreno"), &growth, &Spec::named("halve"));
    let mut pair = Pair::of(&stack(), parts, &Spec::named("every"));
    pair.send_segments(200);
    pair.finish();
    let rounds: Vec<usize> =
        (0..8).map(|k| pair.numbers_within(Time::ms(k * 100), Time::ms((k + 1) * 100)).len()).collect();
    // The ninth ACK at 8 adds a whole segment, and K steps with the window: four a round, and a little for steps.
    assert_eq!(rounds[..4], [1, 2, 4, 8]);
    for k in 4..8 {
        let grown = rounds[k] - rounds[k - 1];
        assert!((4..=6).contains(&grown), "{rounds:?}");
    }
}

/// A window of ten lost whole, as in a handoff.
fn handoff(preset: &str) -> Pair {
    let mut pair = Pair::preset(&steady(10), preset).lose_segments(&[11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    pair.send_segments(100);
    pair.run_to(|p| p.books.counts().timeouts == 1);
    pair.run_until(pair.now);
    pair
}

#[test]
fn a_handoff_leaves_selective_slow_start_its_window_and_a_longer_one_does_not() {
    for (preset, burst) in [("reno", 1), ("selective-slow-start", 10)] {
        let mut pair = handoff(preset);
        let now = pair.now;
        assert_eq!(pair.numbers_within(now, now + Span::ns(1)).len(), burst, "{preset}");
        pair.finish();
    }
    // What times out a second time is no handoff.
    let mut pair = Pair::preset(&steady(10), "selective-slow-start").lose_segments(&[11, 11]);
    pair.send_segments(11);
    pair.run_to(|p| p.books.counts().timeouts == 2);
    assert_eq!(pair.cwnd(), 1.0);
    pair.finish();
}

#[test]
fn santa_cruz_keeps_its_window_where_a_loss_comes_without_a_queue() {
    // A path without a bottleneck: nothing ever waits.
    let mut pair = Pair::preset(&steady(10), "santa-cruz").lose_segments(&[35]);
    pair.open();
    (0..60).for_each(|_| {
        pair.write(1000);
        pair.run_until(pair.now + 10 * MS);
    });
    pair.deliver_all();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![35], 0));
    assert!(pair.cwnd() >= 10.0, "{}", pair.cwnd());
}
