//! Held against numbers worked out by hand.

use super::super::tests::window;
use super::*;
use crate::{Seq, Spec};

fn rule(words: &[(&str, bool)]) -> CubicLinux {
    let spec = words.iter().fold(Spec::named("cubic-linux"), |s, (k, v)| s.with(k, crate::Arg::Flag(*v)));
    CubicLinux::build(&mut Args::new(&spec)).unwrap()
}

fn lose(growth: &mut CubicLinux, kind: LossKind, before: f64, w: &mut Window) {
    growth.on_loss(&Loss { now: Time::ZERO, kind, seq: Seq::FIRST }, before * w.mss, w);
}

/// A loss at so many segments, of which 717/1024 stay.
fn after_loss(growth: &mut CubicLinux, before: u64) -> Window {
    let mut w = window(before as f64, 2.0);
    let kept = (before * BETA / BETA_SCALE) as f64 * w.mss;
    (w.ssthresh, w.cwnd) = (kept, kept);
    lose(growth, LossKind::DupAcks, before as f64, &mut w);
    w
}

/// A round of ACKs of a segment each at this time.
fn round(growth: &mut CubicLinux, at: Time, w: &mut Window) {
    for _ in 0..segments(w) {
        growth.on_ack(&Ack { rtt: Some(Span::ms(100)), ..Ack::of_bytes(at, 1000) }, w);
        growth.after_ack(&Ack::of_bytes(at, 1000), &Air::default(), w);
    }
}

#[test]
fn the_constants_are_the_kernels() {
    assert_eq!(FRIENDLY_SCALE, 15);
    assert_eq!((1u64 << 40) / RTT_SCALE, 2_681_735_677);
    assert_eq!([0, 1, 7, 8, 26, 27, 1_000_000].map(cube_root), [0, 1, 1, 2, 2, 3, 100]);
    assert_eq!(cube_root(u64::MAX), 2_642_245);
}

#[test]
fn k_and_the_target_follow_from_the_reduction() {
    let mut growth = rule(&[]);
    let mut w = after_loss(&mut growth, 1000);
    assert_eq!(w.cwnd, 700_000.0);
    growth.on_ack(&Ack::of_bytes(Time::s(10), 1000), &mut w);
    // ∛(300 · 2⁴⁰/410) = ∛804,520,703,100 = 9300 of 1/1024 s: 9.08 s, where C = 0.4 has 9.09.
    assert_eq!((growth.0.k, growth.0.origin), (9300, 1000));
    // At t = 0 the target is 1000 − 410·9300³/2⁴⁰ = 1000 − 299 (rounded down) = 701: one segment a window.
    assert_eq!(growth.0.cnt, 700);
}

#[test]
fn the_window_is_back_after_k_and_flat_around_it() {
    let mut growth = rule(&[]);
    let mut w = after_loss(&mut growth, 1000);
    let mut cwnds = Vec::new();
    for k in 0..150u64 {
        round(&mut growth, Time::s(1) + k * Span::ms(100), &mut w);
        cwnds.push(segments(&w));
    }
    let curve = |t: f64| 1000.0 + 410.0 / 1024.0 * libm::pow(t - 9300.0 / 1024.0, 3.0);
    for at in [20usize, 50, 90, 120, 149] {
        let (low, high) = (curve(at as f64 / 10.0 - 0.1), curve(at as f64 / 10.0 + 0.3));
        let found = cwnds[at] as f64;
        assert!(found >= low - 3.0 && found <= high + 3.0, "round {at}: {found}, expected {low} to {high}");
    }
}

#[test]
fn without_a_maximum_a_segment_takes_no_more_than_twenty_and_never_less_than_two() {
    let mut growth = rule(&[]);
    let mut w = window(100.0, 100.0);
    growth.on_ack(&Ack::of_bytes(Time::s(1), 1000), &mut w);
    assert_eq!((growth.0.cnt, growth.0.k), (20, 0));
    // Ten seconds on the target is 100 + 400 segments: a fourth of a segment's worth, but two it takes.
    growth.on_ack(&Ack::of_bytes(Time::s(11), 1000), &mut w);
    assert_eq!(growth.0.cnt, 2);
}

#[test]
fn a_small_window_goes_along_with_reno() {
    // From 14 to 20 segments K is 2.46 s; over 160 ms the function rises by one. Reno's equal adds one for 15/8 windows.
    let reached = |friendly: bool| {
        let mut growth = rule(&[("tcp_friendliness", friendly)]);
        let mut w = after_loss(&mut growth, 20);
        for k in 0..8 {
            let ack = Ack::of_bytes(Time::s(1) + k * Span::ms(20), 1000);
            (0..segments(&w)).for_each(|_| growth.on_ack(&ack, &mut w));
        }
        segments(&w)
    };
    assert_eq!(reached(false), 15, "eight rounds of 20 ms are next to nothing to the cubic function");
    // Eight rounds of 14 to 17 ACKs are three or four steps of 15/8 windows.
    assert!((16..=18).contains(&reached(true)), "{}", reached(true));
}

#[test]
fn a_loss_below_the_last_maximum_gives_way_and_a_timeout_forgets_it() {
    let mut growth = rule(&[]);
    after_loss(&mut growth, 100);
    assert_eq!(growth.0.last_max, 100);
    let mut w = after_loss(&mut growth, 80);
    assert_eq!(growth.0.last_max, 80 * 1741 / 2048);
    after_loss(&mut growth, 90);
    assert_eq!(growth.0.last_max, 90);
    lose(&mut growth, LossKind::Timeout, 80.0, &mut w);
    assert_eq!((growth.0.last_max, growth.0.delay_min), (0, None));
    let mut rigid = rule(&[("fast_convergence", false)]);
    after_loss(&mut rigid, 100);
    after_loss(&mut rigid, 80);
    assert_eq!(rigid.0.last_max, 80);
}

#[test]
fn slow_start_opens_by_all_of_an_ack_up_to_ssthresh_and_the_rest_counts_beyond() {
    let (mut growth, mut w) = (rule(&[]), window(10.0, 14.0));
    growth.on_ack(&Ack::of_bytes(Time::s(1), 10_000), &mut w);
    // Four open the window; six count towards the twenty that a segment takes where no maximum is known.
    assert_eq!((w.cwnd, growth.0.credit), (14_000.0, 6));
}

#[test]
fn idle_time_moves_the_epoch() {
    let mut growth = rule(&[]);
    let mut w = after_loss(&mut growth, 100);
    let sent = |at, in_flight| Departure { in_flight, ..Departure::of_bytes(Time::s(at), 1000) };
    growth.on_sent(&sent(1, 1000), &w);
    growth.on_ack(&Ack::of_bytes(Time::s(1), 1000), &mut w);
    growth.on_sent(&sent(2, 1000), &w);
    assert_eq!(growth.0.epoch, Some(250));
    growth.on_sent(&sent(4, 0), &w);
    assert_eq!(growth.0.epoch, Some(250 + 500));
}

#[test]
fn the_function_is_worked_out_once_a_jiffy_and_where_nothing_moves_each_eighth_of_them() {
    let mut growth = rule(&[]);
    let mut w = after_loss(&mut growth, 1000);
    growth.on_ack(&Ack::of_bytes(Time::s(1), 1000), &mut w);
    growth.on_ack(&Ack::of_bytes(Time::ms(1028), 1000), &mut w);
    assert_eq!(growth.0.last_time, 250, "seven jiffies on the window is what it was");
    growth.on_ack(&Ack::of_bytes(Time::ms(1032), 1000), &mut w);
    assert_eq!(growth.0.last_time, 258);
}

#[test]
fn noise_that_does_not_shrink_the_window_changes_nothing() {
    let mut growth = rule(&[]);
    after_loss(&mut growth, 100);
    let mut w = window(90.0, 90.0);
    lose(&mut growth, LossKind::DupAcks, 90.0, &mut w);
    assert_eq!(growth.0.last_max, 100);
}

#[test]
fn hystart_ends_slow_start_at_a_risen_delay() {
    let (mut growth, mut w) = (rule(&[]), window(20.0, 1e6));
    let mut hear = |growth: &mut CubicLinux, k: u64, rtt| {
        // The first ACK ends what was sent before it.
        let (ack, highest) = (Seq::at(1 + 1000 * k), Seq::at(if k == 1 { 1001 } else { 1_000_000 }));
        let now = Time::s(1) + k * Span::ms(3);
        growth.on_ack(&Ack { ack, highest, rtt: Some(Span::ms(rtt)), ..Ack::of_bytes(now, 1000) }, &mut w);
        w.in_slow_start()
    };
    assert!(hear(&mut growth, 1, 100));
    assert!((2..10).all(|k| hear(&mut growth, k, 130)), "eight are counted");
    assert!(!hear(&mut growth, 10, 130), "and the ninth is above 100 ms and an eighth");
    assert_eq!(w.ssthresh, 29_000.0);
}

#[test]
fn hystart_is_not_told_of_an_ack_that_undoes_a_loss() {
    let (mut growth, mut w) = (rule(&[]), window(20.0, 1e6));
    let mut hear = |growth: &mut CubicLinux, k: u64, rtt, undone: bool| {
        let (ack, highest) = (Seq::at(1 + 1000 * k), Seq::at(if k == 1 { 1001 } else { 1_000_000 }));
        let now = Time::s(1) + k * Span::ms(3);
        if undone {
            growth.on_undo(now, &mut w);
        }
        growth.on_ack(&Ack { ack, highest, rtt: Some(Span::ms(rtt)), ..Ack::of_bytes(now, 1000) }, &mut w);
        w.in_slow_start()
    };
    assert!(hear(&mut growth, 1, 100, false));
    assert!((2..11).all(|k| hear(&mut growth, k, 130, k == 4)), "eight are counted, and one is not");
    assert!(!hear(&mut growth, 11, 130, false));
}

#[test]
fn hystart_is_told_of_the_ack_that_shows_a_loss() {
    let (mut growth, mut w) = (rule(&[]), window(20.0, 1e6));
    let mut hear = |growth: &mut CubicLinux, k: u64, rtt, lost: bool| {
        let (ack, highest) = (Seq::at(1 + 1000 * k), Seq::at(if k == 1 { 1001 } else { 1_000_000 }));
        let now = Time::s(1) + k * Span::ms(3);
        let ack = Ack { ack, highest, rtt: Some(Span::ms(rtt)), ..Ack::of_bytes(now, 1000) };
        if lost {
            let before = w.cwnd;
            w.ssthresh = 0.7 * before;
            growth.on_loss(&Loss { now, kind: LossKind::DupAcks, seq: ack.ack }, before, &mut w);
        } else {
            growth.on_ack(&ack, &mut w);
        }
        growth.after_ack(&ack, &Air::default(), &mut w);
        if lost {
            (w.cwnd, w.ssthresh) = (30_000.0, 1e9); // it was none
        }
        w.in_slow_start()
    };
    assert!(hear(&mut growth, 1, 100, false));
    assert!((2..10).all(|k| hear(&mut growth, k, 130, k == 4)), "eight are counted");
    assert!(!hear(&mut growth, 10, 130, false));
}
