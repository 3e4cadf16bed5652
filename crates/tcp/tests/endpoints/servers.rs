//! Servers against a receiver that divides its ACKs: the published rounds, and who gains, gains nothing or loses.

use crate::pair::{MS, Pair, stack};
use truckee_tcp::sender::{MIN_SEGMENT, Parts};
use truckee_tcp::{Seq, Size, Span, Spec, Stack, Time, preset};

const MSS: u32 = 1460;
/// One way, as [`Pair`] has it.
const DELAY: Span = Span::ms(50);

/// A server in its own stack, against a receiver that acknowledges every segment once, so far.
fn server(name: &str) -> Pair {
    within(name, Stack { mss: MSS, ..stack() })
}

fn within(name: &str, base: Stack) -> Pair {
    let preset = preset::find(name).expect("a preset");
    let parts = Parts::of(preset).expect("a preset's parts");
    Pair::of(&preset.stack(base), parts, &Spec::named("every"))
}

/// Segments and ACKs of each of the first rounds.
fn rounds(pair: &Pair, count: usize) -> (Vec<u64>, Vec<u64>) {
    let rounds = pair.books.rounds();
    rounds.iter().take(count).map(|round| (round.segments, round.acks)).unzip()
}

/// Rounds of a long file whose ACKs are divided after the first segment's.
fn rounds_after_the_first_ack(name: &str, parts: u64, count: usize) -> (Vec<u64>, Vec<u64>) {
    let mut pair = server(name);
    pair.send_segments(1000);
    pair.run_until(Time::at(DELAY));
    pair.path.divide = parts;
    pair.finish();
    rounds(&pair, count)
}

/// Rounds of a long file whose ACKs are all divided.
fn rounds_from_the_start(name: &str, parts: u64, count: usize) -> (Vec<u64>, Vec<u64>) {
    let mut pair = server(name);
    pair.path.divide = parts;
    pair.send_segments(1000);
    pair.finish();
    rounds(&pair, count)
}

#[test]
fn an_rfc2581_server_follows_table_3_1_of_taba() {
    let rounds = |parts, count| rounds_after_the_first_ack("rfc2581", parts, count);
    assert_eq!(rounds(1, 4), (vec![1, 3, 6, 12], vec![1, 3, 6, 12]));
    assert_eq!(rounds(2, 4), (vec![1, 3, 9, 27], vec![1, 6, 18, 54]));
    assert_eq!(rounds(3, 3), (vec![1, 3, 12], vec![1, 9, 36]));
    assert_eq!(rounds(4, 3), (vec![1, 3, 15], vec![1, 12, 60]));
}

#[test]
fn an_rfc2581_server_holds_64_kib_and_no_more() {
    let mut pair = server("rfc2581");
    pair.send_segments(1000);
    pair.finish();
    let largest = pair.books.rounds().iter().map(|round| round.segments).max();
    assert_eq!(largest, Some(44), "64 KiB are 44 segments and a part of one");
}

#[test]
fn a_capped_server_follows_table_3_2_of_taba_within_two_segments() {
    let third = |parts| {
        let (segments, acks) = rounds_from_the_start("capped", parts, 3);
        assert_eq!((segments[0], segments[1]), (2, 2 + 2 * parts), "{parts} parts");
        assert_eq!((acks[0], acks[1]), (2 * parts, segments[1] * parts));
        segments[2]
    };
    let ours = [1, 2, 3, 4, 5].map(third);
    assert_eq!(ours, [8, 18, 24, 30, 36]);
    let published: [u64; 5] = [8, 18, 22, 28, 36];
    assert!(ours.iter().zip(published).all(|(ours, theirs)| ours.abs_diff(theirs) <= 2));
}

#[test]
fn servers_that_count_bytes_do_not_mind_division() {
    for (name, first) in [("abc", 3), ("iw10", 10)] {
        let undivided = rounds_from_the_start(name, 1, 5).0;
        assert_eq!(undivided, [1, 2, 4, 8, 16].map(|k| k * first), "{name}");
        for parts in 2..=12 {
            assert_eq!(rounds_from_the_start(name, parts, 5).0, undivided, "{name}, {parts} parts");
        }
    }
}

#[test]
fn a_harmed_server_sends_smaller_segments_in_smaller_windows() {
    let mut pair = server("harmed");
    pair.path.divide = 2;
    pair.send_segments(1000);
    // Three segments come, each acknowledged by halves of 730 bytes: as many more of those as bytes came.
    pair.run_until(Time::at(2 * DELAY));
    assert_eq!((pair.sender.window().mss, pair.sender.window().cwnd), (730.0, 3.0 * 730.0 + 3.0 * 1460.0));
    // Their halves are 365, and so on down to the least.
    pair.run_until(Time::at(4 * DELAY));
    assert_eq!(pair.sender.window().mss, 365.0);
    pair.finish();
    assert_eq!(pair.sender.window().mss, f64::from(MIN_SEGMENT));
    assert!(
        pair.sent
            .iter()
            .all(|t| t.segment.len >= MIN_SEGMENT || t.segment.end() > Seq::at(1000 * u64::from(MSS)))
    );
}

#[test]
fn division_delays_a_harmed_server_and_no_other() {
    let time = |name: &str, parts| {
        let mut pair = server(name);
        pair.path.divide = parts;
        pair.send_segments(370);
        pair.finish();
        (pair.now, pair.books.counts().segments)
    };
    for parts in [2, 4, 12] {
        let (whole, divided) = (time("harmed", 1), time("harmed", parts));
        assert!(divided.0 > whole.0 && divided.1 > 2 * whole.1, "{parts}: {divided:?} after {whole:?}");
        assert_eq!(time("abc", parts), time("abc", 1));
        assert!(time("rfc2581", parts).0 < time("rfc2581", 1).0);
        assert!(time("capped", parts).0 < time("capped", 1).0);
    }
    assert_eq!(time("harmed", 1), time("abc", 1), "without division they are one");
}

#[test]
fn short_segments_acknowledged_whole_shrink_nothing() {
    for policy in ["every", "delayed"] {
        let preset = preset::find("harmed").expect("a preset");
        let parts = Parts::of(preset).expect("a preset's parts");
        let mut pair = Pair::of(&preset.stack(stack()), parts, &Spec::named(policy));
        pair.open();
        for bytes in [300, 2500, 1, 10_000, 777] {
            pair.write(bytes);
            pair.run_until(pair.now + 1000 * MS);
        }
        pair.deliver_all();
        assert_eq!(pair.sender.window().mss, 1000.0, "{policy}");
    }
}

#[test]
fn a_segment_that_shrank_in_the_air_is_sent_again_as_it_was() {
    let mut pair = server("harmed").lose_segments(&[2]);
    pair.path.divide = 4;
    pair.send_segments(30);
    pair.finish();
    let again: Vec<_> = pair.sent.iter().filter(|t| t.again).collect();
    assert!(!again.is_empty());
    for transmission in again {
        let first =
            pair.sent.iter().find(|t| t.segment.seq == transmission.segment.seq).expect("sent before");
        assert_eq!(transmission.segment.len, first.segment.len);
    }
}

#[test]
fn a_stack_below_the_least_segment_keeps_its_own() {
    let mut pair = within("harmed", stack_of(100));
    pair.path.divide = 5;
    pair.send_segments(50);
    pair.finish();
    assert_eq!(pair.sender.window().mss, 100.0);
}

fn stack_of(mss: u32) -> Stack {
    Stack { mss, send_buffer: Some(Size::Bytes(64 << 10)), ..stack() }
}
