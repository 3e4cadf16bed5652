//! Receivers that lie: what they gain from a sender, and what its defences leave of that.

use crate::pair::{Pair, parts, steady};
use truckee_tcp::{Arg, Spec, Time};

fn pair(recovery: &str, inflation: &str, policy: &Spec) -> Pair {
    let recovery = Spec::named(recovery).with("inflation", Arg::Name(inflation.to_owned()));
    Pair::of(&steady(10), parts(&recovery, &Spec::named("per-ack"), &Spec::named("halve")), policy)
}

fn spoofing(count: f64) -> Spec {
    Spec::named("spoofed-duplicates").with("count", Arg::Number(count))
}

fn optimistic(ahead: f64) -> Spec {
    Spec::named("optimistic").with("ahead", Arg::Number(ahead))
}

/// Segments that have left after three round-trip times.
fn sent(recovery: &str, inflation: &str, policy: &Spec) -> usize {
    let mut pair = pair(recovery, inflation, policy);
    pair.send_segments(2000);
    pair.run_until(Time::ms(450));
    pair.sent.len()
}

#[test]
fn feigned_duplicates_inflate_the_window_at_will_unless_no_more_count_than_are_outstanding() {
    for recovery in ["reno", "newreno"] {
        let honest = sent(recovery, "unlimited", &Spec::named("every"));
        let attacked = sent(recovery, "unlimited", &spoofing(40.0));
        let defended = sent(recovery, "outstanding", &spoofing(40.0));
        assert!(attacked > 5 * honest, "{recovery}: {attacked} segments in place of {honest}");
        assert!(defended < 3 * honest, "{recovery}: {defended} segments in place of {honest}");
    }
}

#[test]
fn the_limit_on_inflation_changes_nothing_for_an_honest_receiver() {
    for recovery in ["reno", "newreno"] {
        for policy in ["every", "delayed"] {
            let resent = |inflation: &str| {
                let mut pair =
                    pair(recovery, inflation, &Spec::named(policy)).lose_segments(&[21, 23, 24, 60]);
                pair.send_segments(150);
                pair.finish();
                (pair.now, pair.resent(), pair.sent.len())
            };
            assert_eq!(resent("unlimited"), resent("outstanding"), "{recovery}, {policy}");
        }
    }
}

#[test]
fn acks_of_what_was_never_sent_do_nothing() {
    let times = |ahead| {
        let mut pair = pair("newreno", "unlimited", &optimistic(ahead));
        pair.send_segments(100);
        pair.finish();
        pair.sent.iter().map(|t| (t.at, t.number)).collect::<Vec<_>>()
    };
    assert_eq!(times(0.0), times(1000.0));
    assert_ne!(times(0.0), times(2.0), "what was sent is another matter");
}

#[test]
fn an_optimistic_receiver_hides_losses_and_does_without_the_bytes() {
    let mut pair = pair("newreno", "unlimited", &optimistic(2.0)).lose_segments(&[21, 23, 60]);
    pair.send_segments(100);
    pair.run_out();
    assert!(pair.resent().is_empty());
    assert_eq!(pair.delivered, 20_000, "what lies beyond the first hole never reaches the application");
}
