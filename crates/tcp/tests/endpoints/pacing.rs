//! Pacing and starts: when segments leave, not only how many.

use crate::pair::{MS, MSS, Pair, product, stack, steady};
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Arg, Size, Span, Spec, Stack, Time};

/// SACK, per ACK and halving with this start and this pacing, against a receiver that acknowledges every segment.
fn pair(stack: &Stack, start: &Spec, pacing: &Spec) -> Pair {
    let start = AnyStart::build(start).expect("a start").0;
    let pacing = AnyPacing::build(pacing).expect("pacing").0;
    let [recovery, growth, response] = ["sack", "per-ack", "halve"].map(Spec::named);
    Pair::of(stack, product(&recovery, &growth, &response, start, pacing), &Spec::named("every"))
}

fn ordinary() -> Spec {
    Spec::named("slow-start")
}

fn handshaking(segments: f64) -> Stack {
    Stack { handshake: true, initial_window: Size::Segments(segments), ..stack() }
}

/// Times between the departures of new data within `[from, to)`.
fn gaps(pair: &Pair, from: Time, to: Time) -> Vec<Span> {
    let times: Vec<Time> =
        pair.sent.iter().filter(|t| t.segment.len > 0 && t.at >= from && t.at < to).map(|t| t.at).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_paced_window_is_spread_over_the_round_trip() {
    let mut pair = pair(&Stack { handshake: true, ..steady(20) }, &ordinary(), &Spec::named("per-window"));
    pair.send_segments(60);
    // 20 segments of 1040 B at 1.2 · 20,000 B a round trip of 100 ms: one each 4.33 ms, from the end of the handshake.
    pair.finish();
    let first = gaps(&pair, Time::ms(100), Time::ms(195));
    assert_eq!(first.len(), 19);
    assert!(first.iter().all(|gap| gap.abs_diff(Span::ns(4_333_333)) <= Span::ns(1)), "{first:?}");
    let all = gaps(&pair, Time::ms(100), Time::ms(400));
    assert!(all.iter().all(|&gap| gap >= 3 * MS), "no burst in later rounds either: {all:?}");
}

#[test]
fn unpaced_the_same_window_leaves_at_once() {
    let mut pair = pair(&Stack { handshake: true, ..steady(20) }, &ordinary(), &Spec::named("none"));
    pair.send_segments(60);
    pair.finish();
    assert_eq!(gaps(&pair, Time::ZERO, Time::ms(195)), [Span::ZERO; 19]);
}

#[test]
fn paced_retransmissions_and_fin_get_out_and_the_connection_ends() {
    for name in ["newreno-paced", "bbr"] {
        let stack = Stack { handshake: true, initial_window: Size::Segments(10.0), ..stack() };
        let mut pair = Pair::preset(&stack, name).lose_segments(&[5, 6, 30, 40, 40]);
        pair.send_segments(100);
        pair.finish();
        let mut resent = pair.resent();
        resent.sort_unstable();
        assert_eq!(resent.iter().filter(|&&n| n == 40).count(), 2, "{name}: {resent:?}");
        assert!(resent.starts_with(&[5, 6, 30]), "{name}: {resent:?}");
    }
}

#[test]
fn jump_start_sends_all_that_waits_evenly_over_the_first_round_trip() {
    let mut pair = pair(&handshaking(2.0), &Spec::named("jump-start"), &Spec::named("none"));
    pair.send_segments(50);
    pair.finish();
    let first = gaps(&pair, Time::ms(100), Time::ms(200));
    assert_eq!(first.len(), 49, "all of it within a round trip");
    assert!(first.iter().all(|gap| gap.abs_diff(2 * MS) <= Span::ns(1)), "{first:?}");
    assert_eq!(pair.sender.window().ssthresh, f64::from(50 * MSS));
}

#[test]
fn a_connection_that_opens_late_has_not_been_idle() {
    let mut pair = pair(&handshaking(2.0), &Spec::named("jump-start"), &Spec::named("none"));
    pair.run_until(Time::s(100));
    pair.send_segments(50);
    pair.finish();
    assert_eq!(gaps(&pair, Time::ms(100_100), Time::ms(100_200)).len(), 49);
}

#[test]
fn jump_start_without_a_handshake_is_the_ordinary_start() {
    let sent = |start: &str| {
        let mut pair = pair(&stack(), &Spec::named(start), &Spec::named("none"));
        pair.send_segments(50);
        pair.finish();
        pair.sent.iter().map(|t| (t.at, t.number)).collect::<Vec<_>>()
    };
    assert_eq!(sent("jump-start"), sent("slow-start"));
}

#[test]
fn quick_start_paces_what_the_path_grants_for_one_round_trip() {
    let start = Spec::named("quick-start").with("rate", Arg::Rate(6e6));
    let mut pair = pair(&handshaking(2.0), &start, &Spec::named("none"));
    pair.send_segments(200);
    pair.finish();
    // Granted: 5.12 Mbit/s, 640 kB/s, so a segment of 1040 B each 1.625 ms, 61 in 100 ms.
    let first = gaps(&pair, Time::ms(100), Time::ms(200));
    assert_eq!(first.len(), 60);
    assert!(first.iter().all(|gap| gap.abs_diff(Span::us(1625)) <= Span::ns(1)), "{first:?}");
}

#[test]
fn a_loss_of_what_was_granted_falls_back_to_slow_start_from_the_initial_window() {
    let start = Spec::named("quick-start").with("rate", Arg::Rate(6e6));
    let mut pair = pair(&handshaking(2.0), &start, &Spec::named("none")).lose_segments(&[20]);
    pair.send_segments(200);
    pair.run_to(|pair| !pair.resent().is_empty());
    assert_eq!(pair.cwnd(), 2.0);
    let repaired = pair.sender.outstanding().max();
    pair.run_to(|pair| pair.sender.outstanding().una() > repaired);
    assert!(pair.ssthresh() > 20.0 && pair.cwnd() < 6.0, "{} {}", pair.cwnd(), pair.ssthresh());
    pair.finish();
}

#[test]
fn a_packet_pair_needs_two_acks_apart() {
    let mut pair = pair(&handshaking(4.0), &Spec::named("packet-pair"), &Spec::named("none"));
    let before = pair.ssthresh();
    pair.send_segments(40);
    pair.finish();
    assert_eq!(pair.ssthresh(), before, "a path of any rate spaces nothing");
}

#[test]
fn linux_spaces_by_payload_from_the_tenth_segment_on() {
    let mut pair = pair(&Stack { handshake: true, ..steady(20) }, &ordinary(), &Spec::named("linux"));
    pair.send_segments(60);
    pair.finish();
    // Ten leave at once; then 1000 B at 1.2 · 20,000 B a round trip of 100 ms: one each 4.17 ms, from the end of the handshake.
    let first = gaps(&pair, Time::ms(100), Time::ms(195));
    assert_eq!(first[..9], [Span::ZERO; 9]);
    assert_eq!(first.len(), 19);
    let spaced = |gap: &Span| gap.abs_diff(Span::ns(4_166_666)) <= Span::ns(1);
    assert!(first[9..].iter().all(spaced), "{first:?}");
}

#[test]
fn linux_makes_good_what_was_late_by_half_of_a_gap() {
    let mut pair = pair(&Stack { handshake: true, ..steady(40) }, &ordinary(), &Spec::named("linux"));
    pair.open();
    pair.run_until(Time::ms(100));
    pair.write(12_000);
    pair.run_until(Time::ms(150));
    pair.write(4000);
    // 1000 B at 1.2 · 40,000 B a round trip: 2.083 ms; what leaves after a pause is followed after half of that.
    let later = gaps(&pair, Time::ms(150), Time::ms(190));
    assert_eq!(later.len(), 0, "the others are held back");
    pair.deliver_all();
    let later = gaps(&pair, Time::ms(150), Time::ms(190));
    let expected = [1_041_667, 2_083_333, 2_083_333].map(Span::ns);
    assert!(later.iter().zip(expected).all(|(gap, e)| gap.abs_diff(e) <= Span::ns(1)), "{later:?}");
    assert_eq!(later.len(), 3);
}
