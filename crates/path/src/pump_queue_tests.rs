//! Queues with a rule, under the loop's virtual clock: each against what its source says of it.

use super::*;
use crate::segment::made::tcp6;
use truckee_scenario::outcome::LinkOutcome;

/// A packet of 1500 B takes 1 ms.
fn link(queue: &str) -> String {
    format!(
        r#"
        duration = "10s"
        link = [{{ between = ["a", "b"], rate = "12Mbit/s", delay = "50ms", queue = {queue} }}]
        flow = [{{ from = "a", to = "b", sender = "reno" }}]
        "#
    )
}

/// A segment of 1500 B with this first byte, from this port.
fn segment(source: u16, seq: u32) -> Vec<u8> {
    tcp4(0, 1, &Tcp { source, destination: FLOW_PORT, seq, ack: 0, flags: ACK, len: 1460 })
}

/// One each `every`, the k-th beginning with byte 1460·k.
fn load(every: Span, count: u32) -> Vec<(Time, Vec<u8>)> {
    (0..count).map(|k| (Time::ZERO + every * u64::from(k), segment(40_000, 1460 * k))).collect()
}

fn run(queue: &str, coming: Vec<(Time, Vec<u8>)>, stalls: &[(Time, Span)], stop: Time) -> (Machine, Books) {
    let mut machine = Machine::new([coming, Vec::new()], stalls, stop);
    let books = machine.run(&link(queue), false);
    (machine, books)
}

/// When segments of [`load`] were dropped.
fn drops(books: &Books, count: u32) -> Vec<Time> {
    let lost = |k: u32| books.flows[0].fate(40_000, u64::from(1460 * k) + 1, Time::MAX);
    let mut at: Vec<Time> = (0..count).filter_map(lost).map(|drop| drop.at).collect();
    at.sort_unstable();
    at
}

fn there(books: &Books) -> &LinkOutcome {
    &books.links[0]
}

/// Frames of segments that say they may be marked, over either protocol.
fn capable(every: Span, count: u32) -> Vec<(Time, Vec<u8>)> {
    let tcp =
        |k| Tcp { source: 40_000, destination: FLOW_PORT, seq: 1460 * k, ack: 0, flags: ACK, len: 1460 };
    let frame = |k: u32| {
        let mut frame = if k.is_multiple_of(2) { tcp4(0, 1, &tcp(k)) } else { tcp6(0, 1, &tcp(k)) };
        frame[1] |= if k.is_multiple_of(2) { 0b10 } else { 0b10 << 4 };
        frame
    };
    (0..count).map(|k| (Time::ZERO + every * u64::from(k), frame(k))).collect()
}

#[test]
fn codel_drops_after_an_interval_and_then_by_its_law() {
    // Twice as much as can be sent: RFC 8289, sections 3.3 and 5.
    let (_, books) =
        run("{ kind = \"codel\", size = \"100000packets\" }", load(MS / 2, 4000), &[], Time::s(3));
    let at = drops(&books, 4000);
    // The wait passes 5 ms after some 10; what has waited for longer all through an interval of 100 ms is dropped.
    assert!((Time::ms(110)..Time::ms(112)).contains(&at[0]), "{:?}", at[0]);
    let mut due = at[0];
    for (k, at) in at.iter().enumerate().skip(1).take(60) {
        due += Span::truncated((100 * MS).as_f64() / (k as f64).sqrt());
        assert!((due..=due + MS).contains(at), "drop {k} at {at:?}, due at {due:?}: at the next departure");
    }
    assert_eq!(there(&books).queue_drops, at.len() as u64);
}

#[test]
fn a_stall_of_the_machine_is_no_wait_in_a_queue() {
    // Forty at once, and the machine stands still for longer than CoDel's interval as soon as it has read them.
    let burst = |at: u64| (0..40).map(move |_| (Time::ms(at), segment(40_000, at as u32)));
    let coming: Vec<_> = [0, 400, 800].into_iter().flat_map(burst).collect();
    let stalls: Vec<_> = [0, 400, 800].map(|at| (Time::ms(at) + MS, 250 * MS)).into();
    let (machine, books) = run("{ kind = \"codel\" }", coming, &stalls, Time::s(2));
    assert_eq!((there(&books).queue_drops, machine.left.len()), (0, 120));
    // The k-th of a burst waited k ms, whenever the machine came to see to it.
    let mean = there(&books).mean_wait_s;
    assert!((mean - 0.0195).abs() < 1e-4, "{mean}");
    assert!(books.late.latest > 150 * MS);
}

#[test]
fn fq_codel_sends_a_sparse_flow_s_packet_next() {
    // RFC 8290, section 4.2: a queue that has just come goes before those that take turns.
    let mut coming = load(MS / 2, 2000);
    coming.extend((0..18).map(|k| (Time::ms(50 * k + 3), segment(50_000, k as u32))));
    coming.sort_by_key(|(at, _)| *at);
    let wait = |queue: &str| {
        let (machine, _) = run(queue, coming.clone(), &[], Time::s(3));
        let port = |frame: &[u8]| u16::from_be_bytes([frame[20], frame[21]]);
        let sparse = machine.left.iter().filter(|(_, _, frame)| port(frame) == 50_000);
        let late = |(at, k): (Time, u64)| at - clock(Time::ms(50 * k + 3)) - 51 * MS;
        let waits: Vec<Span> = sparse.map(|(_, at, _)| *at).zip(0..).map(late).collect();
        (waits.len(), waits.into_iter().max().unwrap())
    };
    let (came, most) = wait("{ kind = \"fq-codel\" }");
    assert!(came == 18 && most <= MS + 2 * SOON, "{came}, {most:?}: behind the packet in transmission");
    let (_, most) = wait("{ kind = \"codel\", size = \"10240packets\" }");
    assert!(most > 100 * MS, "{most:?} in one queue for both");
}

#[test]
fn pie_lets_a_burst_pass_and_then_holds_the_wait_at_its_target() {
    // RFC 8033, section 4.4: nothing is dropped for 150 ms; then the wait falls to some 15 ms.
    let (machine, books) = run("{ kind = \"pie\" }", load(MS * 4 / 5, 10_000), &[], Time::s(9));
    let at = drops(&books, 10_000);
    assert!(at[0] > Time::ms(150) && at[0] < Time::ms(400), "{:?}", at[0]);
    let sent = |seq: u32| Time::ZERO + (MS * 4 / 5) * u64::from(seq / 1460);
    let late = machine.arrivals().into_iter().filter(|(at, _)| *at > Time::s(5));
    let waits: Vec<f64> = late.map(|(at, seq)| (at - sent(seq) - 51 * MS).seconds()).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((0.010..0.020).contains(&mean), "{mean}");
}

#[test]
fn red_holds_its_average_between_the_thresholds() {
    let queue = "{ kind = \"red\", size = \"1000packets\", min = \"10packets\", max = \"50packets\" }";
    let (_, books) = run(queue, load(MS * 20 / 21, 9_000), &[], Time::s(9));
    let outcome = there(&books);
    assert!((10.0..50.0).contains(&outcome.mean_queue_packets), "{}", outcome.mean_queue_packets);
    // What is too much is dropped: one in 21, less what is in the queue.
    assert!((340..=430).contains(&outcome.queue_drops), "{}", outcome.queue_drops);
}

#[test]
fn what_may_be_marked_is_marked_in_its_header_and_arrives() {
    for queue in [
        "{ kind = \"codel\", ecn = true }",
        "{ kind = \"fq-codel\" }",
        "{ kind = \"red\", size = \"1000packets\", ecn = true }",
    ] {
        // Five in four for a quarter of a second.
        let coming = capable(MS * 4 / 5, 312);
        let sent: Vec<Vec<u8>> = coming.iter().map(|(_, frame)| frame.clone()).collect();
        let (machine, books) = run(queue, coming, &[], Time::s(2));
        assert_eq!((there(&books).queue_drops, machine.left.len()), (0, sent.len()), "{queue}");
        let is_marked = |frame: &[u8]| match frame[0] >> 4 {
            4 => frame[1] & 3 == 3,
            _ => frame[1] >> 4 & 3 == 3,
        };
        let marked: Vec<&Vec<u8>> = machine.left.iter().map(|(.., f)| f).filter(|f| is_marked(f)).collect();
        assert_eq!(marked.len() as u64, there(&books).ecn_marks, "{queue}");
        assert!(marked.len() > 1, "{queue}: {}", marked.len());
        let untouched = machine.left.iter().filter(|(.., frame)| !is_marked(frame));
        assert!(untouched.into_iter().all(|(.., frame)| sent.contains(frame)), "{queue}");
        // The same of those that may not be: lost.
        let (_, books) = run(queue, load(MS * 4 / 5, 312), &[], Time::s(2));
        assert!(there(&books).queue_drops > 1 && there(&books).ecn_marks == 0, "{queue}");
    }
}
