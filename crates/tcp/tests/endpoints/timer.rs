//! The retransmission timer (RFC 6298), Karn's rule, and timestamps (RFC 7323).

use crate::pair::{MS, Pair, stack, steady};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::{Receiver, Segment, Seq, Span, Spec, Stack, Time, flags};

#[test]
fn the_timeout_doubles_up_to_64_seconds() {
    let mut pair = Pair::preset(&stack(), "newreno").lose_segments(&[1; 9]);
    pair.send_segments(1);
    pair.finish();
    let seconds: Vec<_> = pair.times_of(1).iter().map(|at| at.ticks(1000 * MS)).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255]);
}

#[test]
fn an_ack_of_a_retransmission_is_no_sample_and_keeps_the_back_off() {
    let mut pair = Pair::preset(&stack(), "newreno").lose_segments(&[1]);
    pair.send_segments(3);
    pair.run_until(Time::ms(1100));
    assert_eq!((pair.books.counts().rtt_samples, pair.sender.rtt().rto()), (0, 2000 * MS));
    pair.run_until(Time::ms(1200));
    assert_eq!(pair.sender.rtt().smoothed(), Some(100 * MS));
    assert_eq!(pair.sender.rtt().rto(), 1000 * MS, "the first sample ends the back-off");
    pair.finish();
}

#[test]
fn timestamps_measure_retransmissions_too() {
    let mut pair = Pair::preset(&Stack { timestamps: true, ..stack() }, "newreno").lose_segments(&[1]);
    pair.send_segments(3);
    pair.run_until(Time::ms(1100));
    assert_eq!((pair.books.counts().rtt_samples, pair.sender.rtt().smoothed()), (1, Some(100 * MS)));
    pair.finish();
}

#[test]
fn timestamps_measure_a_steady_path_as_steady() {
    let mut pair = Pair::preset(&Stack { timestamps: true, ..steady(4) }, "newreno");
    pair.send_segments(40);
    pair.finish();
    let counts = pair.books.counts();
    // A timestamp of 0 would mean none, so what leaves at time 0 says 1.
    assert!(counts.rtt_samples * 100 * MS - counts.rtt_sum <= Span::ns(4));
    assert_eq!(counts.rtt_samples, 40);
}

#[test]
fn a_path_without_delay_at_time_zero_can_be_measured() {
    for timestamps in [false, true] {
        let mut pair = Pair::preset(&Stack { timestamps, min_rto: Span::ZERO, ..stack() }, "newreno");
        pair.path.delay = Span::ZERO;
        pair = pair.lose_segments(&[7]);
        pair.send_segments(50);
        pair.finish();
        assert!(pair.sender.rtt().min().is_some_and(|rtt| rtt <= Span::ns(1)), "{timestamps}");
    }
}

#[test]
fn timeouts_fall_on_ticks_of_a_coarse_clock() {
    let mut pair = Pair::preset(&Stack { clock: 500 * MS, ..stack() }, "newreno").lose_segments(&[2]);
    pair.send_segments(2);
    pair.finish();
    // Sent at 100 ms; the one sample is a tick, so RTO = 500 + max(500, 4·250) = 1500 ms; due at 1600.
    assert_eq!(pair.times_of(2), [100, 2000].map(Time::ms));
}

#[test]
fn a_segment_that_times_out_again_keeps_ssthresh() {
    let mut pair = Pair::preset(&steady(10), "tahoe-nofr").lose_segments(&[1, 1, 1]);
    pair.send_segments(20);
    pair.run_to(|p| p.books.counts().timeouts == 1);
    assert_eq!((pair.cwnd(), pair.ssthresh()), (1.0, 5.0));
    pair.run_to(|p| p.books.counts().timeouts == 3);
    assert_eq!((pair.cwnd(), pair.ssthresh()), (1.0, 5.0));
    pair.finish();
    assert_eq!(pair.books.counts().judged.spurious, 1, "one loss event");
}

#[test]
fn another_segment_that_times_out_is_another_loss_even_without_a_sample_between() {
    let mut pair = Pair::preset(&steady(10), "tahoe-nofr").lose_segments(&[1, 2, 2]);
    pair.send_segments(20);
    pair.run_to(|p| p.books.counts().timeouts == 2);
    assert_eq!((pair.books.counts().rtt_samples, pair.books.counts().judged.spurious), (0, 2));
    assert_eq!((pair.cwnd(), pair.ssthresh()), (1.0, 2.0));
    pair.finish();
}

#[test]
fn the_timer_starts_anew_with_each_ack_of_new_data() {
    let mut pair = Pair::preset(&steady(2), "newreno").lose_segments(&[6]);
    pair.send_segments(6);
    pair.finish();
    let last_news =
        pair.acks.iter().filter(|(_, ack)| ack.ack == Seq::at(5001)).map(|&(at, _)| at + 50 * MS).min();
    assert_eq!(Some(pair.times_of(6)[1] - 1000 * MS), last_news);
}

#[test]
fn an_old_duplicate_does_not_age_the_timestamp_echoed() {
    let stack = Stack { timestamps: true, ..stack() };
    let policy = AnyAckPolicy::build(&Spec::named("every")).unwrap().0;
    let mut receiver = Receiver::new(&stack, policy, false);
    let segment =
        |ts_val| Segment { seq: Seq::FIRST, len: 1000, ts_val, flags: flags::ACK, ..Segment::default() };
    let mut echo = |ts_val| {
        receiver.on_segment(Time::us(1), &segment(ts_val), false, &mut ());
        receiver.poll_transmit(Time::us(1)).unwrap().ts_ecr
    };
    assert_eq!([500, 200, 700].map(Time::ns).map(&mut echo), [500, 500, 700].map(Time::ns));
}

#[test]
fn data_that_is_older_than_what_came_at_the_edge_is_refused_and_answered() {
    let stack = Stack { timestamps: true, ..stack() };
    let policy = AnyAckPolicy::build(&Spec::named("every")).unwrap().0;
    let mut receiver = Receiver::new(&stack, policy, false);
    let mut answer = |seq, ts_val| {
        let segment = Segment {
            seq: Seq::at(seq),
            len: 1000,
            ts_val: Time::ms(ts_val),
            flags: flags::ACK,
            ..Segment::default()
        };
        receiver.on_segment(Time::s(1), &segment, false, &mut ());
        let ack = receiver.poll_transmit(Time::s(1)).unwrap();
        (ack.ack, ack.ts_ecr)
    };
    // The second and the third are held up; the second is sent again. So is the sixth, where nothing is missing.
    let came =
        [(1, 10), (3001, 13), (1001, 90), (2001, 12), (2001, 91), (4001, 100), (5001, 99), (5001, 110)];
    let heard = came.map(|(seq, stamp)| answer(seq, stamp));
    let told =
        [(1001, 10), (1001, 10), (2001, 90), (2001, 90), (4001, 91), (5001, 100), (5001, 100), (6001, 110)];
    assert_eq!(heard, told.map(|(ack, echo)| (Seq::at(ack), Time::ms(echo))));
}

#[test]
fn a_delayed_ack_echoes_the_first_segment_it_covers() {
    let stack = Stack { timestamps: true, ..stack() };
    let policy = AnyAckPolicy::build(&Spec::named("delayed")).unwrap().0;
    let mut receiver = Receiver::new(&stack, policy, false);
    for (seq, ts_val) in [(1, 100), (1001, 150)] {
        let segment = Segment {
            seq: Seq::at(seq),
            len: 1000,
            ts_val: Time::ns(ts_val),
            flags: flags::ACK,
            ..Segment::default()
        };
        receiver.on_segment(Time::us(1), &segment, false, &mut ());
    }
    let ack = receiver.poll_transmit(Time::us(1)).unwrap();
    assert_eq!((ack.ack, ack.ts_ecr), (Seq::at(2001), Time::ns(100)));
}
