//! What a stack of Linux does where no RFC says it, or another than ours: the timeout, the window after a pause.

use crate::pair::{MS, Pair, stack, steady};
use crate::path::Fate;
use truckee_tcp::sender::Parts;
use truckee_tcp::stack::{AfterIdle, Autotuning, RtoVariance};
use truckee_tcp::{Profile, Span, Spec, Stack, Time, preset};

fn of(stack: &Stack) -> Pair {
    Pair::recovery(stack, &Spec::named("rack"))
}

#[test]
fn the_timeout_is_the_round_trip_and_the_least_one_above_it() {
    let linux = Stack { rto_variance: RtoVariance::Linux, min_rto: 200 * MS, ..steady(4) };
    let mut pair = Pair::preset(&linux, "newreno").lose_segments(&[39, 40]);
    pair.send_segments(40);
    pair.finish();
    let times = pair.times_of(39);
    // The timer starts anew with the last ACK that advances, 100 ms after segment 38 has left with it.
    assert_eq!(times[1] - times[0], 100 * MS + 300 * MS);
}

fn window_after_a_pause(after_idle: AfterIdle, pause: u64) -> (f64, f64) {
    let mut pair = of(&Stack { after_idle, min_rto: 200 * MS, ..stack() });
    pair.open();
    pair.write(63_000);
    pair.run_out();
    assert!(pair.cwnd() >= 32.0);
    let (before, now) = (pair.cwnd(), pair.now);
    pair.run_until(Time::at(now.since_start() + pause * MS));
    pair.write(1000);
    (pair.cwnd() / before, pair.ssthresh() / before)
}

#[test]
fn after_a_pause_the_window_is_halved_for_each_timeout_and_ssthresh_remembers_it() {
    // The timeout is above 200 ms, and below 300; the last segment left a round trip before the pause.
    let (cwnd, ssthresh) = window_after_a_pause(AfterIdle::Decay, 150);
    assert_eq!(cwnd, 0.5);
    assert!(ssthresh >= 0.75);
    assert!(window_after_a_pause(AfterIdle::Decay, 60_000).0 < 0.04, "the initial window");
    assert!(window_after_a_pause(AfterIdle::Restart, 150).0 < 0.04);
    assert_eq!(window_after_a_pause(AfterIdle::Keep, 60_000).0, 1.0);
}

/// A sender and a receiver of a profile.
fn under(profile: Profile, name: &str) -> Pair {
    let parts = Parts::under(profile, preset::find(name).expect("a preset")).expect("its parts");
    Pair::of(&profile.stack(Stack::default()), parts, &profile.receiver().expect("a policy"))
}

#[test]
fn a_window_that_a_repair_has_left_is_not_taken_to_be_unused_since_before_it() {
    let mut pair = under(Profile::Linux, "newreno").lose_segments(&[31]);
    pair.open();
    for segments in [10, 20, 8] {
        pair.write(segments * 1448);
        pair.run_out();
    }
    assert_eq!((pair.cwnd(), pair.ssthresh()), (18.0, 18.0));
    // The last ACK that opened it is a timeout ago, of some 300 ms, and the end of the repair is not.
    pair.run_until(pair.now + 140 * MS);
    pair.write(1448);
    assert_eq!(pair.cwnd(), 18.0);
}

#[test]
fn the_ack_after_a_report_that_undoes_a_timeout_opens_a_ports_window() {
    let mut pair = under(Profile::Linux, "newreno");
    pair.open();
    pair.run_out();
    let late = |by| Fate { late: by, ..Fate::default() };
    // The first of ten segments is lost, the others come after the timeout, and the probe is lost; what the timeout sends again comes
    // last. Of what reports the nine only the last comes back.
    pair.path.forward = [Fate::LOST].into();
    pair.path.forward.extend([late(500 * MS); 9]);
    pair.path.forward.extend([Fate::LOST, late(300 * MS)]);
    pair.path.back = [Fate::LOST; 7].into();
    pair.write(10 * 1448);
    pair.run_to(|pair| pair.books.counts().timeouts > 0 && pair.ssthresh() > 1e3);
    assert_eq!(pair.cwnd(), 10.0);
    pair.run_out();
    assert_eq!(pair.cwnd(), 11.0);
}

#[test]
fn what_a_retransmission_repaired_is_timed_in_the_whole_milliseconds_of_timestamps() {
    for (lost, whole) in [(&[][..], false), (&[1][..], true)] {
        let mut pair = under(Profile::Linux, "newreno").lose_segments(lost);
        pair.path.delay = Span::us(50_300);
        pair.send_segments(1);
        pair.finish();
        let rtt = pair.sender.rtt().min().expect("a sample");
        assert_eq!((rtt.ticks(MS) * MS == rtt, rtt.ticks(MS).abs_diff(100) <= 1), (whole, true), "{rtt:?}");
    }
}

#[test]
fn a_profile_of_today_repairs_a_burst_a_lost_repair_and_a_tail_without_its_timer() {
    for name in ["newreno", "cubic", "bbr"] {
        let mut pair = under(Profile::Linux, name).lose_segments(&[20, 21, 22, 22, 60]);
        pair.send_segments(60);
        pair.finish();
        assert_eq!(pair.books.counts().timeouts, 0, "{name}");
    }
}

#[test]
fn a_tail_that_a_repair_has_overtaken_is_repaired_by_what_is_overdue_and_waits_for_no_probe() {
    let mut pair = under(Profile::Linux, "cubic").lose_segments(&[20, 21, 22, 22, 60]);
    pair.send_segments(60);
    pair.finish();
    let last = pair.sent.iter().map(|sent| sent.segment.end()).max();
    let times: Vec<_> =
        pair.sent.iter().filter(|sent| Some(sent.segment.end()) == last).map(|sent| sent.at).collect();
    // The repair of segment 22 takes a round trip, and a quarter of one more is the reordering window.
    assert!(times.len() == 2 && times[1] - times[0] < 150 * MS, "{times:?}");
}

#[test]
fn a_freebsd_waits_for_the_timer_where_a_tail_is_lost_but_not_for_long() {
    let mut pair = under(Profile::FreeBsd, "cubic").lose_segments(&[60]);
    pair.send_segments(60);
    pair.finish();
    assert_eq!(pair.books.counts().timeouts, 1);
    let times = pair.times_of(60);
    assert!(times[1] - times[0] < 300 * MS, "{times:?}");
}

#[test]
fn four_syns_follow_the_first_a_second_apart_before_the_timeout_doubles() {
    let times = |linear_syn_timeouts| {
        let stack = Stack { handshake: true, linear_syn_timeouts, ..stack() };
        let mut pair = of(&stack).lose_forward(&[0, 1, 2, 3, 4, 5, 6]);
        pair.open();
        pair.run_until(Time::s(40));
        let syns = pair.sent.iter().filter(|t| t.segment.has(truckee_tcp::flags::SYN));
        syns.map(|t| t.at.nanos() / 1_000_000_000).collect::<Vec<_>>()
    };
    assert_eq!(times(4), [0, 1, 2, 3, 4, 5, 7, 11], "Linux, tcp_syn_linear_timeouts");
    assert_eq!(times(0)[..6], [0, 1, 3, 7, 15, 31]);
}

#[test]
fn a_tuned_window_opens_with_what_comes_and_holds_up_neither_a_start_nor_a_repair() {
    let through = |rwnd_autotuning| {
        let stack = Stack {
            rwnd_autotuning,
            initial_window: truckee_tcp::Size::Segments(10.0),
            timestamps: true,
            rwnd: truckee_tcp::Size::Bytes(4 << 20),
            ..stack()
        };
        let mut pair = of(&stack).lose_segments(&[400]);
        pair.send_segments(2000);
        pair.finish();
        let windows: Vec<u32> = pair.acks.iter().map(|(_, ack)| ack.window).collect();
        let edges = pair.acks.iter().map(|(_, ack)| ack.ack + u64::from(ack.window));
        assert!(edges.is_sorted() || rwnd_autotuning == Autotuning::Off, "{rwnd_autotuning:?}");
        (pair.now, windows, pair.books.counts().timeouts)
    };
    let (whole, ..) = through(Autotuning::Off);
    for rule in [Autotuning::Linux, Autotuning::Linux61] {
        let (end, windows, timeouts) = through(rule);
        assert_eq!((end, timeouts), (whole, 0), "{rule:?}");
        assert!(windows[0] < 70_000, "{rule:?}: {windows:?}");
        assert!(windows.iter().max() > Some(&500_000), "{rule:?}");
    }
}

#[test]
fn while_the_window_opens_each_segment_has_an_ack() {
    let acks = |rwnd_autotuning| {
        let stack = Stack { rwnd_autotuning, timestamps: true, ..steady(64) };
        let parts = crate::pair::parts(&Spec::named("rack"), &Spec::named("per-ack"), &Spec::named("halve"));
        let mut pair = Pair::of(&stack, parts, &Spec::named("linux"));
        pair.send_segments(400);
        pair.finish();
        pair.acks.len()
    };
    // Sixteen quick ones, then one for two. From the second round trip on the buffer has grown, and each segment opens the window.
    let (whole, tuned) = (acks(Autotuning::Off), acks(Autotuning::Linux));
    assert!(whole <= 230 && tuned >= 330, "{whole}, {tuned}");
}
