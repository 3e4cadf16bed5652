//! The programs on real connections: what leaves is what the policies of `truckee-tcp` would have sent.

use super::*;
use truckee_host::doctor::Capability;
use truckee_host::stack::{Settings, of_flow};
use truckee_host::testing::able;
use truckee_host::testing::wire::{ACK, Lossy, SYN, Seen, Wire, unacknowledged};

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use truckee_scenario::model::{Era, KernelStack};
use truckee_tcp::ack::{AckPolicy, AckSink, AnyAckPolicy};
use truckee_tcp::{Arg, Arrival, Seq, Size, Span, Spec, Stack, Time};

const FIN: u8 = 1;
/// A window that nothing here fills, bytes.
const AMPLE: u64 = 16 << 20;
const DELAY: Duration = Duration::from_millis(10);

fn policy(spec: &Spec) -> Policy {
    Policy::of(spec).unwrap()
}

/// A shaper of everything that leaves the receiver's end of a wire.
fn shaper(wire: &Wire, spec: &Spec) -> Shaper {
    let request = Request {
        scope: Scope::Everything,
        devices: Devices::Named(vec!["tk0".into()]),
        namespace: Some(wire.receiver.name().into()),
        policies: vec![policy(spec)],
        most_flows: 64,
    };
    Shaper::start(&request).unwrap()
}

/// The stack of the papers' time, with an ACK for every segment.
fn settings(rwnd: u64) -> Settings {
    // A first window that fills an ACK of every policy here, so that none has to wait for its timer.
    let stack = Stack { rwnd: Size::Bytes(rwnd), initial_window: Size::Segments(10.0), ..Stack::default() };
    let kernel = KernelStack { era: Era::Papers, ..KernelStack::default() };
    of_flow(&kernel, "f", &stack, "newreno", &Spec::named("every")).unwrap()
}

/// Sends so many bytes over a wire with that shaper, and reads them when all are acknowledged; what passed, and what the
/// shaper counted.
fn passed(spec: &Spec, bytes: usize, lost: Lossy) -> (Vec<Seen>, Counts) {
    let settings = settings(AMPLE);
    let wire = Wire::new(&settings, DELAY, lost);
    let shaper = shaper(&wire, spec);
    let _open = wire.send_unread(&settings, bytes);
    shaper.check().unwrap();
    let counts = shaper.stop().unwrap();
    (wire.seen(), counts)
}

/// The numbers of the ACKs that left, from 1 for the first byte of data, window updates left out.
fn acks(seen: &[Seen]) -> Vec<u64> {
    let first = seen.iter().find(|s| s.forth && s.flags & SYN != 0).unwrap().seq;
    let back = seen.iter().filter(|s| !s.forth && s.flags & (ACK | SYN | FIN) == ACK);
    let mut said: Vec<_> = back.map(|s| (s.ack.wrapping_sub(first), s.window)).collect();
    said.dedup_by(|next, last| next.0 == last.0 && next.1 != last.1);
    said.into_iter().map(|(ack, _)| u64::from(ack)).collect()
}

/// What the policy would have sent.
fn defined(spec: &Spec, seen: &[Seen]) -> Vec<u64> {
    let mut policy = AnyAckPolicy::build(spec).unwrap().0;
    let (mut sink, mut out, mut rcv_nxt) = (AckSink::default(), Vec::new(), Seq::FIRST);
    for segment in seen.iter().filter(|s| s.forth && s.payload > 0) {
        let now = segment.at.duration_since(seen[0].at).as_nanos() as u64;
        if let Some(deadline) = policy.deadline().filter(|deadline| *deadline <= Time::ns(now)) {
            policy.on_timer(deadline, rcv_nxt, &mut sink);
            out.extend(std::iter::from_fn(|| sink.pop()));
        }
        rcv_nxt += u64::from(segment.payload);
        let unacked = rcv_nxt - out.last().copied().unwrap_or(Seq::FIRST);
        let mut arrival = Arrival::of_bytes(Time::ns(now), segment.payload);
        (arrival.rcv_nxt, arrival.unacked, arrival.end) = (rcv_nxt, unacked, rcv_nxt);
        policy.on_segment(&arrival, &mut sink);
        out.extend(std::iter::from_fn(|| sink.pop()));
    }
    if let Some(deadline) = policy.deadline() {
        policy.on_timer(deadline, rcv_nxt, &mut sink);
        out.extend(std::iter::from_fn(|| sink.pop()));
    }
    out.into_iter().map(Seq::number).collect()
}

fn number(n: f64) -> Arg {
    Arg::Number(n)
}

#[test]
fn what_leaves_is_what_the_policy_would_send() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let division = |n: f64| Spec::named("division").with("n", number(n));
    for spec in [
        Spec::named("every"),
        division(4.0),
        division(12.0).with("first", number(3.0)),
        Spec::named("delayed").with("count", number(5.0)),
        division(3.0).with("base", Arg::Spec(Spec::named("delayed").with("count", number(4.0)))),
    ] {
        let (seen, counts) = passed(&spec, 58_400, Lossy(&[]));
        let segments = seen.iter().filter(|s| s.forth && s.payload > 0).count() as u64;
        assert_eq!(counts.seen, segments, "the stack acknowledges every segment");
        assert_eq!(acks(&seen), defined(&spec, &seen), "{spec:?}: {counts:?}");
        assert_eq!(counts.sent, acks(&seen).len() as u64, "{counts:?}");
        assert_eq!((counts.bytes, counts.flows, counts.unheld), (58_400, 1, 0), "{counts:?}");
    }
}

#[test]
fn a_packet_that_lies_about_its_length_spoils_no_segment_size() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let spec = Spec::named("delayed").with("count", number(5.0));
    let settings = settings(AMPLE);
    // Below the header's own, and beyond the packet's end; the stack drops both.
    for length in [8_u16, 19, 60_000] {
        let wire = Wire::new(&settings, DELAY, Lossy(&[]));
        let shaper = shaper(&wire, &spec);
        let mut ends = wire.send_unread(&settings, 14_600);
        wire.forge(|packet| packet[2..4].copy_from_slice(&length.to_be_bytes()));
        Wire::send_more_unread(&mut ends, 58_400);
        let counts = shaper.stop().unwrap();
        let seen = wire.seen();
        assert_eq!(acks(&seen), defined(&spec, &seen), "{length}: {counts:?}");
    }
}

#[test]
fn what_acks_with_sack_blocks_acknowledge_is_counted_too() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let stack = Stack { rwnd: Size::Bytes(AMPLE), initial_window: Size::Segments(10.0), ..Stack::default() };
    let kernel = KernelStack { era: Era::Papers, ..KernelStack::default() };
    let settings = of_flow(&kernel, "f", &stack, "sack", &Spec::named("every")).unwrap();
    // While the second hole is there, the ACK that fills the first has blocks.
    let wire = Wire::new(&settings, DELAY, Lossy(&[20, 22]));
    let shaper = shaper(&wire, &Spec::named("division").with("n", number(4.0)));
    let _open = wire.send_unread(&settings, 100_000);
    let counts = shaper.stop().unwrap();
    assert!(counts.others > 0, "{counts:?}");
    assert_eq!(counts.bytes, 100_000, "{counts:?}");
}

#[test]
fn duplicates_pass_untouched_and_the_ack_that_fills_the_hole_is_whole() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let (seen, counts) = passed(&Spec::named("division").with("n", number(4.0)), 100_000, Lossy(&[20]));
    let acks = acks(&seen);
    let lost = 1 + 19 * u64::from(seen.iter().find(|s| s.forth && s.payload > 0).unwrap().payload);
    let duplicates = acks.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    assert!(duplicates >= 3, "{acks:?}");
    assert!(duplicates <= counts.duplicates && counts.duplicates <= duplicates + 2, "{counts:?}");
    let jump = acks.windows(2).find(|pair| pair[0] == lost && pair[1] > lost).unwrap();
    assert!(jump[1] - jump[0] >= 1000, "not cut: {jump:?}");
    assert_eq!(*acks.last().unwrap(), 100_001);
}

/// The ACKs of new data among these packets: number and window as on the wire.
fn windows(seen: &[Seen]) -> Vec<(u32, u32)> {
    let back = seen.iter().filter(|s| !s.forth && s.flags & (ACK | SYN | FIN) == ACK);
    let mut all: Vec<_> = back.map(|s| (s.ack, s.window)).collect();
    all.dedup_by_key(|(number, _)| *number);
    all
}

#[test]
fn pieces_offer_what_their_ack_offers_and_no_more_where_the_scale_was_not_seen() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let settings = settings(AMPLE);
    let wire = Wire::new(&settings, DELAY, Lossy(&[]));
    let mut ends = wire.send_unread(&settings, 20_000);
    let answer = wire.seen().into_iter().find(|s| !s.forth && s.flags & SYN != 0).unwrap();
    let scale = answer.option(3).unwrap()[0];
    assert!(scale > 0, "nothing is scaled");
    let four = Spec::named("division").with("n", number(4.0));
    let shaper = shaper(&wire, &four);
    let cut = |before: usize, whole: usize| {
        let all = windows(&wire.seen()[before..]);
        assert!(all.len() > whole + 40, "{all:?}");
        all[whole..].chunks_exact(4).map(|piece| [0, 1, 2, 3].map(|k| piece[k])).collect::<Vec<_>>()
    };
    let before = wire.seen().len();
    Wire::send_more_unread(&mut ends, 40_000);
    // Its first ACK tells how far the receiver is.
    for pieces in cut(before, 1) {
        let [first, .., last] = pieces;
        assert!(pieces.iter().all(|(_, window)| *window == last.1), "{pieces:?}");
        assert!((1..1460).contains(&last.0.wrapping_sub(first.0)), "{pieces:?}");
    }
    let before = wire.seen().len();
    drop(wire.send_unread(&settings, 40_000));
    for pieces in cut(before, 0).split_last().unwrap().1 {
        let edges = pieces.map(|(number, window)| u64::from(number) + (u64::from(window) << scale));
        let apart = edges.iter().max().unwrap() - edges.iter().min().unwrap();
        assert!(apart < 1 << scale && pieces[0].1 > pieces[3].1, "{pieces:?}");
    }
    shaper.stop().unwrap();
}

#[test]
fn a_steady_stream_is_acknowledged_ever_less_and_the_timer_releases_what_is_left() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let spec = Spec::named("accumulated")
        .with("interval", Arg::Time(Span::ms(50)))
        .with("learn_after", number(1.0))
        .with("threshold", number(0.9));
    let settings = settings(64 << 10);
    let wire = Wire::new(&settings, DELAY, Lossy(&[]));
    let shaper = shaper(&wire, &spec);
    let mut ends = wire.send(&settings, 4_000_000);
    truckee_testing::until("the last ACK", || unacknowledged(&ends.0) == 0);
    // Whether the stream's last segment filled an ACK is chance; one that comes alone does not.
    (0..3).for_each(|_| Wire::send_more_unread(&mut ends, 1));
    let (counts, seen) = (shaper.stop().unwrap(), wire.seen());
    let acks = acks(&seen);
    let most = acks.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(most >= 5 * 1460, "one ACK for {most} bytes at most: {counts:?}");
    assert_eq!(*acks.last().unwrap(), 4_000_004, "{counts:?}");
    assert!(counts.held > 0 && counts.unheld == 0 && counts.unheard == 0, "{counts:?}");
    assert!(counts.time_s.accumulated > 0.0 && counts.time_s.divided == 0.0, "{counts:?}");
    assert!(counts.released > 0, "{counts:?}");
}

#[test]
fn a_policy_that_takes_over_acts_at_once_and_nothing_is_left_behind() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let settings = settings(AMPLE);
    let wire = Wire::new(&settings, DELAY, Lossy(&[]));
    let shaper = shaper(&wire, &Spec::named("every"));
    wire.send_unread(&settings, 20_000);
    let before = shaper.counts().unwrap();
    assert_eq!((before.divided, before.held), (0, 0));
    shaper.change(0, &policy(&Spec::named("division").with("n", number(2.0)))).unwrap();
    assert!(shaper.change(1, &policy(&Spec::named("every"))).is_err());
    wire.send_unread(&settings, 20_000);
    let counts = shaper.stop().unwrap();
    assert!(counts.divided >= 12 && counts.pieces == 2 * counts.divided, "{counts:?}");
    let seen = wire.seen().len();
    wire.send_unread(&settings, 20_000);
    let after = wire.seen();
    let unshaped = after[seen..].iter().filter(|s| !s.forth && s.flags & (ACK | SYN | FIN) == ACK).count();
    assert!(unshaped <= 25, "{unshaped} ACKs after the end");
}

/// Other programs' interfaces come and go: between the list of them and the moment at which one is looked at, or hung on.
#[test]
fn an_interface_that_goes_while_it_is_looked_at_is_passed_over() {
    if !able(&[Capability::Tun, Capability::Tc]) {
        return;
    }
    let settings = settings(AMPLE);
    let wire = Wire::new(&settings, DELAY, Lossy(&[]));
    let name = wire.receiver.name().to_owned();
    let request = Request {
        scope: Scope::Everything,
        devices: Devices::All,
        namespace: Some(name.clone()),
        policies: vec![policy(&Spec::named("every"))],
        most_flows: 64,
    };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let add = "link add tkgo type veth peer name tkgone\nlink del tkgo\n".repeat(200);
            while !ended.load(Ordering::Relaxed) {
                let batch = ["-n", &name, "-force", "-batch", "-"];
                let ip = Command::new("ip").args(batch).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
                let mut ip = ip.unwrap();
                // It takes its pipe with it when it ends early.
                let _ = ip.stdin.take().unwrap().write_all(add.as_bytes());
                ip.wait().unwrap();
            }
        });
        let shaper = Shaper::start(&request);
        let looks = shaper.and_then(|shaper| (0..2000).try_for_each(|_| shaper.look()));
        ended.store(true, Ordering::Relaxed);
        looks.unwrap();
    });
}
