//! What a stack of Linux does where no RFC says it, or another than ours: the timeout, the window after a pause.

use crate::pair::{MS, Pair, stack, steady};
use truckee_tcp::sender::Parts;
use truckee_tcp::stack::{AfterIdle, RtoVariance};
use truckee_tcp::{Profile, Spec, Stack, Time, preset};

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
fn a_profile_of_today_repairs_a_burst_a_lost_repair_and_a_tail_without_its_timer() {
    for name in ["newreno", "cubic", "bbr"] {
        let mut pair = under(Profile::Linux, name).lose_segments(&[20, 21, 22, 22, 60]);
        pair.send_segments(60);
        pair.finish();
        assert_eq!(pair.books.counts().timeouts, 0, "{name}");
    }
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
