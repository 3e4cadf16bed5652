use super::*;
use crate::ack::AnyAckPolicy;
use crate::{Arg, Receiver, Segment, Size, Spec, flags};

const MSS: u64 = 1448;

/// The next data, up to there.
fn next(now: Time, bytes: u32, echo: Option<Time>, rcv_nxt: Seq) -> Came {
    Came {
        now,
        bytes,
        echo,
        rcv_nxt,
        end: rcv_nxt,
        waiting: 0,
        reach: 0,
        beyond: false,
        new: true,
        old: false,
    }
}

/// The windows of an ACK before this is read and of one after, and whether that leaves by itself.
fn told(tuned: &mut Autotuned, came: &Came) -> (u32, u32, bool) {
    let (before, _) = tuned.hear(came);
    let already = tuned.is_read_already(true);
    let (tells, _) = tuned.read(before, Leaves::Before);
    let after = tuned.promise(before).expect("an ACK has left before");
    assert!(!already || (before, false) == (after, tells));
    tells.then(|| tuned.promise(after));
    (before, after, tells)
}

/// Round trips of `window` segments each, as many as come in one; windows at the end of each.
fn rounds(stack: &Stack, segments: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut tuned = Autotuned::of(stack).expect("it is on");
    let (mut rcv_nxt, mut now) = (Seq::FIRST, Time::ms(100));
    let mut round = |n: u64| {
        let mut window = 0;
        for k in 0..n {
            rcv_nxt += MSS;
            // Each echoes an ACK of one round trip before.
            let at = now + Span::us(100 * k);
            let echo = stack.timestamps.then(|| at.earlier(Span::ms(100)));
            let came = next(at, MSS as u32, echo, rcv_nxt);
            window = told(&mut tuned, &came).1;
        }
        now += Span::ms(100);
        u64::from(window)
    };
    segments.into_iter().map(&mut round).collect()
}

fn stack(rule: Autotuning) -> Stack {
    Stack { rwnd_autotuning: rule, mss: MSS as u32, timestamps: true, ..Stack::default() }
}

#[test]
fn a_sender_in_slow_start_is_never_held_up() {
    for rule in [Autotuning::Linux, Autotuning::Linux61] {
        let sent: Vec<u64> = (0..9).map(|round| 10 << round).collect();
        let windows = rounds(&stack(rule), sent.iter().copied());
        for (window, next) in windows.iter().zip(&sent[1..]) {
            assert!(*window >= next * MSS, "{rule:?}: {windows:?} for {sent:?}");
        }
    }
}

#[test]
fn without_timestamps_the_round_trip_is_what_a_window_takes_at_the_least() {
    let mut tuned =
        Autotuned::of(&Stack { timestamps: false, ..stack(Autotuning::Linux) }).expect("it is on");
    let mut rcv_nxt = Seq::FIRST;
    let mut times = Vec::new();
    for k in 0u64..200 {
        rcv_nxt += MSS;
        let now = Time::ms(100 + k);
        let came = next(now, MSS as u32, None, rcv_nxt);
        told(&mut tuned, &came);
        times.extend(tuned.rtt);
    }
    // 45 segments, but for the first, a millisecond apart; later windows are longer.
    assert_eq!((times.first(), times.last()), (Some(&Span::ms(44)), Some(&Span::ms(44))));
}

#[test]
fn the_room_that_reading_makes_is_told_of_only_afterwards() {
    let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    let mut came =
        Came { waiting: 20 * MSS, reach: 30 * MSS, ..next(Time::ms(200), MSS as u32, None, Seq::FIRST) };
    let (before, held) = loop {
        (came.now, came.rcv_nxt) = (came.now + Span::ms(1), came.rcv_nxt + MSS);
        (came.end, came.echo) = (came.rcv_nxt, Some(came.now.earlier(Span::ms(100))));
        let held = tuned.buffer;
        let (before, _) = tuned.hear(&came);
        // The first shows what a packet takes of it, too.
        if tuned.buffer > held && came.rcv_nxt > Seq::FIRST + MSS {
            break (before, held);
        }
        tuned.read(before, Leaves::Before);
        tuned.promise(before);
    };
    let promised = tuned.edge - tuned.at;
    let free = (held - tuned.charge(21 * MSS)).max(promised);
    assert_eq!(u64::from(before), tuned.in_units(free), "of {held}");
    let (tells, after) = tuned.read(before, Leaves::After);
    assert!(!tells && after > before, "{before} before, {after} after");
}

#[test]
fn an_echo_that_a_short_segment_brought_first_is_no_sample() {
    let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    let mut rcv_nxt = Seq::FIRST;
    // The second echoes what the third does: of a full one it would be 30 ms.
    for (ms, bytes, echo) in [(200, MSS, 100), (230, 200, 210), (240, MSS, 210)] {
        rcv_nxt += bytes;
        let came = next(Time::ms(ms), bytes as u32, Some(Time::ms(echo)), rcv_nxt);
        told(&mut tuned, &came);
        assert_eq!(tuned.rtt, Some(Span::ms(100)), "at {ms} ms");
    }
}

#[test]
fn one_that_sends_as_much_in_each_round_trip_gets_twice_that() {
    let sent = [10, 20, 40, 80].into_iter().chain([100; 30]);
    let windows = rounds(&stack(Autotuning::Linux), sent);
    let last = *windows.last().expect("rounds");
    // While they doubled it was six times what came.
    assert!((200 * MSS..500 * MSS).contains(&last), "{windows:?}");
    assert_eq!(last, windows[8], "and no more than it once was given");
}

#[test]
fn the_first_window_is_of_whole_segments_and_the_last_what_the_buffer_may_become() {
    let tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    assert_eq!(tuned.edge, Seq::FIRST + 45 * MSS, "65,160 bytes, as Linux' SYN-ACK says");
    let few = Stack { rwnd: Size::Bytes(1 << 20), ..stack(Autotuning::Linux) };
    let windows = rounds(&few, (0..12).map(|round| 10 << round));
    // All of it, but for what a segment takes that has just come.
    assert!(windows.last().is_some_and(|&last| ((1 << 20) - MSS..=1 << 20).contains(&last)));
    let least = Stack { rwnd: Size::Bytes(5000), ..stack(Autotuning::Linux) };
    assert_eq!(rounds(&least, [3]), [3 * MSS], "three segments fit, and no fourth");
}

#[test]
fn what_waited_behind_a_hole_is_not_taken_in_at_once() {
    let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    tuned.begin(Time::ZERO);
    let mut take = |at: u64, end: u64, rcv_nxt: u64| {
        let all = next(Time::ms(at), MSS as u32, Some(Time::ms(at - 100)), Seq::FIRST + MSS * rcv_nxt);
        told(&mut tuned, &Came { end: Seq::FIRST + MSS * end, ..all });
        tuned.taken / MSS
    };
    assert_eq!(take(150, 4, 19), 10, "four have been taken in, fifteen wait");
    assert_eq!(take(240, 20, 20), 10, "and it has begun anew");
    assert_eq!(take(251, 28, 28), 24, "since the fourth");
}

#[test]
fn what_waits_takes_of_the_window_what_its_memory_takes_of_the_buffer() {
    let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    assert_eq!(tuned.charge(10 * MSS), 10 * MSS, "before a segment has shown it");
    tuned.weigh(MSS);
    tuned.largest = MSS as u32;
    // 2304 bytes of memory, of which 160/256 are taken to be payload.
    assert_eq!(tuned.charge(10 * MSS), 14_400);
}

#[test]
fn an_edge_that_was_promised_is_kept() {
    let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    let before = tuned.edge;
    let came = Came {
        now: Time::ms(1),
        bytes: MSS as u32,
        echo: None,
        rcv_nxt: Seq::FIRST,
        end: Seq::FIRST + 61_000,
        waiting: 60_000,
        reach: 61_000,
        beyond: true,
        new: true,
        old: false,
    };
    let (window, _) = tuned.hear(&came);
    let units = (before - Seq::FIRST).next_multiple_of(tuned.unit);
    assert_eq!(u64::from(window), units, "rounded up, as each ACK does it");
}

#[test]
fn an_ack_before_reading_tells_of_less_and_where_that_is_half_or_less_another_after_it() {
    let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
    let mut take = |ms: u64, end: u64, rcv_nxt: u64, waiting: u64| {
        let came = Came {
            now: Time::ms(ms),
            bytes: MSS as u32,
            echo: None,
            rcv_nxt: Seq::FIRST + MSS * rcv_nxt,
            end: Seq::FIRST + MSS * end,
            waiting: MSS * waiting,
            reach: MSS * end.saturating_sub(rcv_nxt),
            beyond: end > rcv_nxt,
            new: true,
            old: false,
        };
        told(&mut tuned, &came)
    };
    for k in 1..=20 {
        take(k, k, k, 0);
    }
    for k in 1..=30 {
        take(20 + k, 21 + k, 20, k);
    }
    let whole = |bytes: u64| bytes.next_multiple_of(1024) as u32;
    // Thirty-one packets of 1440 are not read yet; then the buffer is empty.
    assert_eq!(take(60, 21, 51, 0), (whole(81_920 - 31 * 1440), 81_920, true));
    assert_eq!(take(61, 52, 52, 0).1, 81_920);
    assert!(!take(62, 53, 53, 0).2, "the next alone");
}

#[test]
fn what_data_has_carried_is_promised_as_by_an_ack() {
    let stack = Stack { timestamps: false, handshake: false, ..stack(Autotuning::Linux) };
    let policy =
        AnyAckPolicy::build(&Spec::named("linux").with("ping_pong", Arg::Flag(true))).expect("it is").0;
    let mut receiver = Receiver::new(&stack, policy, true);
    let mut edges = Vec::new();
    let mut take = |ms: u64, number: u64| {
        let seq = Seq::FIRST + MSS * number;
        let segment = Segment { seq, len: MSS as u32, flags: flags::ACK, ..Segment::default() };
        receiver.on_segment(Time::ms(ms), &segment, false, &mut ());
        assert!(receiver.is_silent() || number > 39, "what data carries needs no ACK of its own: {number}");
        let mut carries = Segment::default();
        receiver.carry(Time::ms(ms), &mut carries);
        edges.push(carries.ack + u64::from(carries.window));
        while let Some(ack) = receiver.poll_transmit(Time::ms(ms)) {
            edges.push(ack.ack + u64::from(ack.window));
        }
    };
    (0..40).for_each(|k| take(k, k));
    (0..40).for_each(|k| take(40 + k, 41 + k)); // behind a hole
    assert!(edges.is_sorted(), "{edges:?}");
}

#[test]
fn what_lies_below_the_last_ack_tells_no_round_trip_time() {
    for (old, rtt) in [(false, 58), (true, 50)] {
        let mut tuned = Autotuned::of(&stack(Autotuning::Linux)).expect("it is on");
        tuned.hear(&next(Time::ms(100), MSS as u32, Some(Time::ms(50)), Seq::FIRST + MSS));
        let again = next(Time::ms(180), MSS as u32, Some(Time::ms(66)), Seq::FIRST + MSS);
        tuned.hear(&Came { beyond: true, new: false, old, ..again });
        assert_eq!(tuned.rtt.map(|time| time.nanos() / 1_000_000), Some(rtt), "{old}");
    }
}
