//! The settings as a kernel's connections show them on the wire.

use super::*;
use crate::doctor::Capability;
use crate::session::Session;
use crate::testing::able;
use crate::testing::wire::{ACK, Lossy, SYN, Seen, Wire};
use std::time::Duration;
use truckee_tcp::stack::Ecn;

const DELAY: Duration = Duration::from_millis(10);
/// Longer than a machine stands still: what one end sends at once is on its way before the first of it is answered.
const LONG: Duration = Duration::from_millis(150);
const MSS: u8 = 2;
const SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const TIMESTAMPS: u8 = 8;

fn papers(stack: &Stack, recovery: &str, receiver: &str) -> Settings {
    flow(Era::Papers, stack, recovery, receiver)
}

/// What passed while so many bytes were sent.
fn passed(settings: &Settings, bytes: usize, lost: Lossy) -> Vec<Seen> {
    let wire = Wire::new(settings, DELAY, lost);
    wire.send(settings, bytes);
    wire.seen()
}

/// Likewise, with the receiver's window held from the first segment on.
fn held(settings: &Settings, bytes: usize) -> Vec<Seen> {
    let wire = Wire::new(settings, DELAY, Lossy(&[]));
    wire.send_held(settings, bytes);
    wire.seen()
}

/// SYN and SYN-ACK.
fn handshake(seen: &[Seen]) -> [&Seen; 2] {
    [true, false].map(|forth| seen.iter().find(|s| s.flags & SYN != 0 && s.forth == forth).unwrap())
}

fn data(seen: &[Seen]) -> impl Iterator<Item = &Seen> {
    seen.iter().filter(|s| s.forth && s.payload > 0)
}

/// The windows that the receiver offered, bytes.
fn windows(seen: &[Seen]) -> Vec<u32> {
    let scale = handshake(seen)[1].option(SCALE).map_or(0, |o| o[0]);
    seen.iter().filter(|s| !s.forth && s.flags & SYN == 0).map(|s| s.window << scale).collect()
}

/// The most bytes that were on their way or unacknowledged.
fn most_in_flight(seen: &[Seen]) -> u32 {
    let first = handshake(seen)[0].seq;
    let (mut una, mut next, mut most) = (0, 0, 0);
    for segment in seen {
        if segment.forth {
            next = next.max(segment.seq.wrapping_sub(first) + segment.payload);
        } else if segment.flags & ACK != 0 {
            una = una.max(segment.ack.wrapping_sub(first));
        }
        most = most.max(next.saturating_sub(una));
    }
    most
}

#[test]
fn sysctls_are_what_was_asked_for() {
    if !able(&[Capability::Tun]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("sysctl")).unwrap();
    let settings = papers(&Stack::default(), "newreno", "every");
    let wanted = merge([("f", End::Sender, &settings), ("g", End::Receiver, &settings)]).unwrap();
    apply(&ns, &wanted).unwrap();
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"));
    let mut held = 0;
    for sysctl in &wanted {
        match ns.enter(|| read(sysctl.name)).unwrap() {
            Ok(text) => {
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(words, sysctl.value, "{}", sysctl.name);
                held += 1;
            }
            Err(_) => assert!(sysctl.may_lack, "{}", sysctl.name),
        }
    }
    assert!(held > 15, "{held} of {}", wanted.len());
    let outside = read("tcp_sack").unwrap();
    assert_eq!(outside.trim(), "1", "the machine's own stack is not ours to set");
}

#[test]
fn a_sysctl_that_the_kernel_lacks_is_an_error_unless_it_may() {
    if !able(&[Capability::Tun]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("lack")).unwrap();
    let lacking =
        |may_lack| Sysctl { name: "tcp_telepathy", value: "1".into(), may_lack, terms: Terms::None };
    apply(&ns, &[lacking(true)]).unwrap();
    let error = apply(&ns, &[lacking(false)]).unwrap_err().to_string();
    assert!(error.contains("net.ipv4.tcp_telepathy to 1") && error.contains(ns.name()), "{error}");
}

#[test]
fn options_are_offered_or_not_as_the_flow_says() {
    if !able(&[Capability::Tun]) {
        return;
    }
    let bare = Stack { window_scaling: false, ..Stack::default() };
    let seen = passed(&papers(&bare, "newreno", "every"), 1000, Lossy(&[]));
    for end in handshake(&seen) {
        assert_eq!(end.option(MSS), Some(&1460_u16.to_be_bytes()[..]));
        assert_eq!(end.options.len(), 1, "{:?}", end.options);
        assert_eq!(end.flags & 0xc0, 0, "no ECN");
    }
    let full = Stack { timestamps: true, ecn: Ecn::Classic, ..Stack::default() };
    let seen = passed(&papers(&full, "sack", "every"), 20_000, Lossy(&[]));
    for end in handshake(&seen) {
        assert_eq!(end.option(MSS), Some(&1472_u16.to_be_bytes()[..]));
        for option in [SCALE, SACK_PERMITTED, TIMESTAMPS] {
            assert!(end.option(option).is_some(), "{option}: {:?}", end.options);
        }
        assert_ne!(end.flags & 0xc0, 0, "ECN");
    }
    assert_eq!(data(&seen).map(|s| s.payload).max(), Some(1460), "the timestamps have room of their own");
}

#[test]
fn the_first_flight_is_the_initial_window() {
    if !able(&[Capability::Tun]) {
        return;
    }
    for (segments, mss) in [(1, 1460), (2, 536), (3, 1460), (20, 1000)] {
        let stack = Stack { initial_window: Size::Segments(segments.into()), mss, ..Stack::default() };
        let settings = papers(&stack, "newreno", "every");
        let wire = Wire::new(&settings, LONG, Lossy(&[]));
        wire.send(&settings, (2 * segments * mss) as usize);
        let seen = wire.seen();
        let begun = seen.iter().position(|s| s.forth && s.payload > 0).unwrap();
        let first_ack = seen[begun..].iter().position(|s| !s.forth).unwrap();
        let flight: Vec<u32> = seen[begun..begun + first_ack].iter().map(|s| s.payload).collect();
        assert_eq!(flight, vec![mss; segments as usize], "{segments} segments of {mss}");
    }
}

#[test]
fn the_window_is_the_one_of_the_scenario() {
    if !able(&[Capability::Tun]) {
        return;
    }
    for rwnd in [16 << 20, 200_000, 65_535, 14_600] {
        for mss in [1460, 536] {
            let stack = Stack { rwnd: Size::Bytes(rwnd), mss, ..Stack::default() };
            let seen = held(&papers(&stack, "newreno", "every"), 600_000);
            let (windows, want, place) = (windows(&seen), rwnd as u32, format!("{rwnd} in {mss}"));
            // Whole segments of it from the start. It grows by two a segment until it is held for the first time …
            let (early, late) = windows.split_at(windows.len() / 2);
            assert!(windows.iter().all(|w| *w > want - mss - 512), "{place}: {windows:?}");
            assert!(early.iter().all(|w| *w <= want + 32 * mss), "{place}: {early:?}");
            // … and then comes back, as what was offered is used up.
            assert!(late.iter().all(|w| *w <= want + 1024), "{place}: {late:?}");
            assert!(most_in_flight(&seen) <= want + 32 * mss, "{place}");
        }
    }
}

#[test]
fn a_send_buffer_bounds_the_flight() {
    if !able(&[Capability::Tun]) {
        return;
    }
    let stack = Stack { send_buffer: Some(Size::Bytes(65_536)), ..Stack::default() };
    let most = most_in_flight(&held(&papers(&stack, "newreno", "every"), 2_000_000));
    assert!((60_000..=65_536 + 2 * 1460).contains(&most), "{most}");
}

#[test]
fn every_segment_is_acknowledged_or_every_second() {
    if !able(&[Capability::Tun]) {
        return;
    }
    let settings = |era, receiver| {
        let stack = Stack { rwnd: Size::Bytes(65_535), ..Stack::default() };
        flow(era, &stack, "newreno", receiver)
    };
    let share = |wire: &Wire| {
        let seen = wire.seen();
        let acks = seen.iter().filter(|s| !s.forth && s.flags & SYN == 0).count();
        acks as f64 / data(&seen).count() as f64
    };
    // No more than the window has room for.
    let papers = settings(Era::Papers, "every");
    let wire = Wire::new(&papers, DELAY, Lossy(&[]));
    let _open = wire.send_unread(&papers, 60_000);
    assert!((1.0..1.05).contains(&share(&wire)), "{}", share(&wire));
    // Only of a program that reads every second is acknowledged, and each of the first, and those after a pause.
    let today = settings(Era::Today, "delayed");
    let wire = Wire::new(&today, DELAY, Lossy(&[]));
    let _open = wire.send(&today, 1_000_000);
    assert!((0.1..0.9).contains(&share(&wire)), "{}", share(&wire));
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    if !able(&[Capability::Tun]) {
        return;
    }
    for min_rto in [300, 1000] {
        let stack = Stack { min_rto: min_rto * MS, initial_window: Size::Segments(4.0), ..Stack::default() };
        // Four segments, of which the last is lost: no probe, no early retransmit, only the timer.
        let seen = passed(&papers(&stack, "sack", "every"), 4 * 1460, Lossy(&[4]));
        let last = data(&seen).map(|s| s.seq).max().unwrap();
        let sent: Vec<_> = data(&seen).filter(|s| s.seq == last).map(|s| s.at).collect();
        assert_eq!(sent.len(), 2, "once and once more");
        // The kernel adds the smoothed RTT, and restarts the timer at the last ACK, an RTT later.
        let waited = (sent[1] - sent[0]).as_millis() as u64;
        assert!(waited >= min_rto, "{waited} ms of {min_rto}");
    }
}
