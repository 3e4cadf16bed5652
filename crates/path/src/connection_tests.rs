use super::*;
use crate::Cause;
use crate::delays::Delays;
use crate::truth::Dropped;

fn connection(isn: u32) -> Connection {
    Connection::new(40_000, isn, Time::ZERO)
}

#[test]
fn numbers_unwrap_across_the_end_of_their_range() {
    let mut one = connection(u32::MAX - 999);
    assert_eq!(one.unwrap(u32::MAX - 999), Some(0));
    assert_eq!(one.unwrap(u32::MAX - 998), Some(1));
    one.send(Time::ns(1), 1, 2001);
    assert_eq!(one.unwrap(1000), Some(2000));
    assert_eq!(one.unwrap(u32::MAX), Some(999));
    assert_eq!(one.unwrap(u32::MAX - 1999), None, "before the connection");
}

#[test]
fn long_transfers_unwrap_as_of_their_time() {
    let isn = 123_456;
    let mut one = connection(isn);
    // 12 GiB in stretches of 64 MiB, one each ms.
    let step = 64 << 20;
    for k in 0..192u64 {
        one.send(Time::ns(k), 1 + k * step, 1 + (k + 1) * step);
    }
    for k in 0..192u64 {
        let seq = 1 + k * step + 5;
        let raw = isn.wrapping_add(seq as u32);
        assert_eq!(one.unwrap_at(raw, Time::ns(k)), Some(seq), "{k}");
        assert_eq!(one.unwrap_at(raw, Time::ns(k + 3)), Some(seq), "{k}, later");
    }
    assert_eq!(one.unwrap(isn.wrapping_add((1 + 191 * step) as u32)), Some(1 + 191 * step));
}

#[test]
fn what_is_below_the_highest_is_sent_again_by_byte() {
    let mut one = connection(0);
    assert_eq!(one.send(Time::ZERO, 1, 1001).again, 0);
    assert_eq!(one.send(Time::ns(1), 1001, 2001).again, 0);
    assert_eq!(one.send(Time::ns(2), 1001, 2001).again, 1000);
    assert_eq!(one.send(Time::ns(3), 1501, 2501).again, 500);
    assert_eq!(one.high, 2501);
}

#[test]
fn delays_run_from_the_first_transmission_to_delivery_in_order() {
    let (mut one, mut delays) = (connection(0), Delays::default());
    for k in 0..4 {
        one.send(Time::ns(k * 1000), 1 + k * 100, 101 + k * 100);
    }
    one.send(Time::us(100), 1, 101);
    let mut arrive = |at, from: u64| one.arrive(at, from, from + 100, |delay| delays.add(delay));
    assert_eq!(arrive(Time::us(50), 101), Delivered::default());
    assert_eq!(arrive(Time::us(52), 301), Delivered::default());
    assert_eq!(arrive(Time::us(200), 1), Delivered { bytes: 200, pause: None });
    assert_eq!(arrive(Time::us(201), 1), Delivered::default(), "a second copy");
    assert_eq!(arrive(Time::us(205), 201), Delivered { bytes: 200, pause: Some(Span::us(5)) });
    let mean = delays.outcome().mean.unwrap() * 1e9;
    assert!((mean - (200_000.0 + 199_000.0 + 203_000.0 + 202_000.0) / 4.0).abs() < 1e-3, "{mean}");
}

#[test]
fn round_trip_times_are_of_segments_that_were_sent_once_and_waited_for_none_that_was_not() {
    let mut one = connection(0);
    one.send(Time::ZERO, 1, 101);
    one.send(Time::ns(10), 101, 201);
    one.send(Time::ns(20), 201, 301);
    one.send(Time::ns(30), 1, 101);
    assert_eq!(one.acknowledge(Time::ns(50), 101), None, "it was sent twice");
    assert_eq!(one.acknowledge(Time::ns(60), 301), Some(Span::ns(40)), "the newest one's");
    assert_eq!(one.acknowledge(Time::ns(70), 301), None, "a duplicate");
    one.send(Time::ns(80), 301, 401);
    one.send(Time::ns(90), 401, 501);
    one.send(Time::ns(130), 301, 401);
    assert_eq!(one.acknowledge(Time::ns(150), 501), None, "the newest has waited for a hole to be filled");
    assert!(one.outstanding.is_empty());
}

#[test]
fn rounds_are_windows_and_the_acks_for_them() {
    let mut one = connection(0);
    let mut high = 1;
    let mut send = |one: &mut Connection, n: u64| {
        for _ in 0..n {
            one.send(Time::ZERO, high, high + 100);
            high += 100;
        }
    };
    send(&mut one, 2);
    one.acknowledge(Time::ns(1), 101);
    send(&mut one, 2);
    one.acknowledge(Time::ns(1), 201);
    send(&mut one, 2);
    for k in 3..=6 {
        one.acknowledge(Time::ns(2), 1 + 100 * k);
    }
    let rounds: Vec<(u64, u64)> = one.rounds().iter().map(|r| (r.segments, r.acks)).collect();
    assert_eq!(rounds, [(2, 2), (4, 4)]);
}

#[test]
fn whatever_order_segments_come_in_each_byte_is_delivered_once() {
    use proptest::prelude::*;
    let segments = prop::collection::vec((0..30u64, 1..5u64), 1..80);
    proptest!(|(segments in segments)| {
        let mut one = connection(0);
        let mut there = [false; 40];
        let mut delivered = 0;
        for (from, len) in segments {
            delivered += one.arrive(Time::ZERO, 1 + from, 1 + from + len, |_| {}).bytes;
            (from..from + len).for_each(|byte| there[byte as usize] = true);
            let in_order = there.iter().take_while(|t| **t).count() as u64;
            prop_assert_eq!(delivered, in_order);
            prop_assert_eq!(one.next, in_order + 1);
        }
    });
}

#[test]
fn a_retired_connection_still_tells_the_truth() {
    let mut one = connection(0);
    one.send(Time::ns(5), 1, 101);
    let drop = Dropped { at: Time::ns(6), cause: Cause::Outage };
    one.truth.lost(Time::ns(5), 1, 101, drop);
    one.retire();
    assert_eq!(one.truth.of(50, Time::ns(10)), Some(drop));
}
