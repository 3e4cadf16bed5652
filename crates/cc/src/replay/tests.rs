use super::*;
use crate::{Kind, find, flags};
use truckee_tcp::Time;

const SEGMENT: u64 = 1 << 32;
const MSS: u32 = 1000;

/// An ACK of a segment while the window limits the sender and nothing is repaired.
fn ack(k: u32, window: u64, after: u64) -> Event {
    let time = Time::ms(u64::from(k));
    Event {
        time,
        sent_at: time,
        estimate: 0,
        window,
        window_after: after,
        connection: 0,
        local_port: 1,
        remote_port: 2,
        una: k * MSS,
        nxt: (k + 1) * MSS,
        newly: MSS,
        delivered: MSS,
        rtt_us: 20_000,
        sent: MSS,
        flight: MSS,
        mss: MSS,
        srtt_us: 20_000,
        rtt_min_us: 20_000,
        ssthresh: u32::MAX >> 1,
        ssthresh_after: u32::MAX >> 1,
        cwnd: (window >> 32) as u32,
        kind: Kind::Ack,
        state: 0,
        flags: flags::LIMITED,
        verdict: 0,
    }
}

/// Limited slow start in the port's fixed point, from ten segments to so many, where K is counted by this.
fn limited(most: u64, divisor: impl Fn(u64) -> u64) -> Vec<Event> {
    let mut window = 10 * SEGMENT;
    let mut events = vec![Event { kind: Kind::Init, newly: 0, delivered: 0, ..ack(0, window, window) }];
    while window < most * SEGMENT {
        let after = window + if window <= 100 * SEGMENT { SEGMENT } else { SEGMENT / divisor(window) };
        events.push(ack(events.len() as u32, window, after));
        window = after;
    }
    events
}

#[test]
fn a_window_that_rounding_leaves_just_below_a_threshold_is_within() {
    let port = find("tk_limited_ss").unwrap().port().unwrap();
    // Steps of a third, a fifth and so on, cut off at 2^-32, end a little below 200, 300 and so on.
    let report = replay(&port, &limited(900, |window| window / (50 * SEGMENT))).unwrap().remove(0);
    assert!(report.within() && report.acks > 5000, "{report:?}");
}

#[test]
fn a_window_that_changes_its_step_a_segment_too_early_is_not() {
    let port = find("tk_limited_ss").unwrap().port().unwrap();
    let early = limited(900, |window| (window + SEGMENT) / (50 * SEGMENT));
    let report = replay(&port, &early).unwrap().remove(0);
    assert!(!report.within(), "{report:?}");
}

#[test]
fn the_least_round_trip_is_the_handshakes_only_until_data_have_brought_one() {
    let port = find("tk_limited_ss").unwrap().port().unwrap();
    let least_after_data = |us| {
        let mut events = limited(20, |window| window / (50 * SEGMENT));
        events[0].rtt_min_us = 15_000;
        events[1..].iter_mut().for_each(|event| event.rtt_min_us = us);
        replay(&port, &events).unwrap().remove(0).within()
    };
    assert!(least_after_data(20_000) && !least_after_data(15_000));
}
