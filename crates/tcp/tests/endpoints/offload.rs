//! Bursts as they leave a stack with offload, and what it keeps in the host's own queue.

use crate::pair::{MS, MSS, Pair, parts, product, steady};
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::sender::State;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Segment, Sender, Seq, Span, Spec, Stack, Time, flags};

const HEADERS: u32 = 40;

/// SACK, per ACK and halving, alone: 20 segments' window from the first on.
fn alone(stack: Stack) -> Sender {
    let [recovery, growth, response] = ["sack", "per-ack", "halve"].map(Spec::named);
    let mut sender = Sender::new(&stack, parts(&recovery, &growth, &response));
    sender.open(Time::ZERO, &mut ());
    sender.write(1_000_000);
    sender
}

/// How many segments leave at this time.
fn leave(sender: &mut Sender, now: Time) -> usize {
    std::iter::from_fn(|| sender.poll_transmit(now, &mut ())).count()
}

/// How many leave when all up to this segment are acknowledged.
fn acknowledged(sender: &mut Sender, now: Time, segments: u64) -> usize {
    let ack = Seq::FIRST + segments * u64::from(MSS);
    let segment = Segment { ack, flags: flags::ACK, window: 1 << 24, ..Segment::default() };
    sender.on_segment(now, &segment, &mut ());
    leave(sender, now)
}

#[test]
fn a_paced_window_leaves_in_bursts_of_a_millisecond() {
    let start = AnyStart::build(&Spec::named("slow-start")).expect("a start").0;
    let pacing = AnyPacing::build(&Spec::named("linux")).expect("pacing").0;
    let [recovery, growth, response] = ["sack", "per-ack", "halve"].map(Spec::named);
    let stack = Stack { handshake: true, tso: true, ..steady(400) };
    let parts = product(&recovery, &growth, &response, start, pacing);
    let mut pair = Pair::of(&stack, parts, &Spec::named("every"));
    pair.send_segments(300);
    pair.finish();
    // 1.2 · 400,000 B in 100 ms are 4687 B in 1/1024 s: four segments, each 833 µs. The first eight are not spaced, and the burst
    // with the tenth is the first that is followed by its time.
    let times: Vec<Time> = pair.sent.iter().filter(|t| t.segment.len > 0).map(|t| t.at).collect();
    let bursts: Vec<&[Time]> = times.chunk_by(|a, b| a == b).collect();
    assert_eq!(bursts[0].len(), 12);
    let lengths: Vec<usize> = bursts[1..].iter().map(|burst| burst.len()).collect();
    assert_eq!(lengths, [4; 72]);
    for pair in bursts.windows(2) {
        let apart = pair[1][0] - pair[0][0];
        assert!(apart.abs_diff(Span::ns(833_333)) <= Span::ns(4), "{apart:?}");
    }
}

#[test]
fn what_is_less_than_a_burst_waits_for_the_next_ack_where_that_is_due() {
    let of = |tso| {
        let mut sender = alone(Stack { tso, ..steady(20) });
        let mut left = vec![leave(&mut sender, Time::ZERO)];
        for k in 0..5 {
            left.push(acknowledged(&mut sender, Time::ms(100) + k * Span::us(200), 1 + k));
        }
        (left, sender.window().cwnd)
    };
    let (plain, cwnd) = of(false);
    assert_eq!(plain, [20, 1, 1, 1, 1, 1]);
    // A burst is of two segments at 240 kB/s. The first ACK comes after a pause, and nothing waits.
    let (bursts, grown) = of(true);
    assert_eq!(bursts, [20, 1, 0, 2, 0, 2]);
    assert_eq!(grown, cwnd, "waiting is no reason not to open the window");
}

#[test]
fn nothing_waits_for_an_ack_that_is_more_than_a_millisecond_away() {
    let mut sender = alone(Stack { tso: true, ..steady(20) });
    leave(&mut sender, Time::ZERO);
    assert_eq!(acknowledged(&mut sender, Time::ms(100), 20), 20, "all of the window is free");
    // What left at 100 ms is due at 200 ms.
    assert_eq!(acknowledged(&mut sender, Time::ms(150), 21), 1);
    assert_eq!(acknowledged(&mut sender, Time::us(150_200), 22), 1);
}

/// The lengths of what leaves when all up to this number are acknowledged with such a window.
fn lengths(sender: &mut Sender, now: Time, acked: u64, window: u32) -> Vec<u32> {
    let segment = Segment { ack: Seq::FIRST + acked, flags: flags::ACK, window, ..Segment::default() };
    sender.on_segment(now, &segment, &mut ());
    std::iter::from_fn(|| sender.poll_transmit(now, &mut ())).map(|out| out.segment.len).collect()
}

#[test]
fn no_second_small_segment_goes_to_the_edge_of_the_window() {
    for (eager, second) in [(false, &[][..]), (true, &[300][..])] {
        let mut sender = alone(Stack { tso: true, ..steady(20) });
        if eager {
            sender.set_nagle(false);
        }
        leave(&mut sender, Time::ZERO);
        assert_eq!(lengths(&mut sender, Time::ms(100), 20_000, 3500), [1000, 1000, 1000, 500]);
        let more = lengths(&mut sender, Time::ms(200), 21_000, 3800);
        assert_eq!((more[0], &more[1..]), (1000, second), "{eager}");
    }
}

#[test]
fn what_lies_in_the_hosts_queue_holds_the_next_burst_back() {
    let mut sender = alone(Stack { small_queues: true, ..steady(20) });
    assert!(sender.minds_queue());
    leave(&mut sender, Time::ZERO);
    // The queue takes a millisecond a segment. Two segments of 1000 bytes are the least that may lie there: one more than they
    // take, headers included.
    let mut now = Time::ms(100);
    let ack = Seq::FIRST + 20 * u64::from(MSS);
    let segment = Segment { ack, flags: flags::ACK, window: 1 << 24, ..Segment::default() };
    sender.on_segment(now, &segment, &mut ());
    let mut free = now;
    let mut sent = Vec::new();
    while sent.len() < 8 {
        while let Some(out) = sender.poll_transmit(now, &mut ()) {
            free = free.max(now) + MS;
            sender.note_queued(out.segment.len + HEADERS, free);
            sent.push(now);
        }
        now = sender.release().expect("held back");
    }
    let expected = [100, 100, 101, 102, 103, 104, 105, 106].map(Time::ms);
    assert_eq!(sent, expected);
}

#[test]
fn a_stack_without_it_is_not_asked() {
    assert!(!alone(steady(20)).minds_queue());
    assert!(!alone(Stack { tso: true, ..steady(20) }).minds_queue());
}

#[test]
fn every_sender_gets_everything_across_in_bursts() {
    for name in ["newreno-paced", "bbr", "bbr1", "cubic-linux", "vegas", "tahoe"] {
        let stack = Stack { handshake: true, tso: true, small_queues: true, ..steady(10) };
        let mut pair = Pair::preset(&stack, name).lose_segments(&[5, 6, 30, 40, 40, 100]);
        pair.send_segments(100);
        pair.finish();
    }
}

#[test]
fn what_a_write_sends_at_once_has_no_fin_and_what_waits_has() {
    let fins = |segments: u32| {
        let [recovery, growth, response] = ["sack", "per-ack", "halve"].map(Spec::named);
        let stack = Stack { handshake: true, tso: true, ..steady(20) };
        let mut pair = Pair::of(&stack, parts(&recovery, &growth, &response), &Spec::named("every"));
        pair.open();
        pair.run_to(|pair| pair.sender.state() == State::Established);
        pair.write_and_close(u64::from(segments * MSS));
        pair.finish();
        let fins = pair.sent.iter().filter(|t| t.segment.has(flags::FIN));
        fins.map(|t| (t.segment.len, t.segment.has(flags::PSH))).collect::<Vec<_>>()
    };
    assert_eq!(fins(5), [(0, false)], "all leave as they are written, and the application closes after that");
    assert_eq!(fins(30), [(MSS, true)], "twenty do, and ten wait");
    assert_eq!(fins(31), [(MSS, true)], "pushed where it leaves by itself, too");
}
