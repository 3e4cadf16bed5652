//! What every estimator must do, and the ways in which their own tests feed them.

use super::*;
use crate::{Arg, PathTruth, Spec, SpecError};
use proptest::prelude::*;

/// What an estimator is told beside arrivals: a window of ten segments and a round-trip time of 100 ms.
pub(super) fn window() -> Window {
    crate::growth::tests::window(10.0, 5.0)
}

fn build(name: &str, args: &[(&str, Arg)]) -> AnyEstimator {
    let spec = args.iter().fold(Spec::named(name), |spec, (name, arg)| spec.with(name, arg.clone()));
    AnyEstimator::build(&spec).unwrap().0
}

/// The estimate after each of these events (time, bytes), each a departure and an ACK.
pub(super) fn feed(name: &str, args: &[(&str, Arg)], events: &[(Time, u64)]) -> Vec<Option<f64>> {
    let mut estimator = build(name, args);
    let mut after = |&(now, bytes): &(Time, u64)| {
        estimator.on_sent(&Departure::of_bytes(now, bytes as u32));
        estimator.on_ack(&Ack::of_bytes(now, bytes), &window());
        estimator.bits_per_second()
    };
    events.iter().map(&mut after).collect()
}

/// What is found of 1000 bytes at gaps of 1 ms and 2 ms in turn, in the mean over the last thousand ACKs of many.
pub(super) fn alternating(name: &str, args: &[(&str, Arg)]) -> f64 {
    let mut now = Time::ZERO;
    let mut next = |k: u64| {
        now += Span::ms(1 + k % 2);
        (now, 1000)
    };
    let events: Vec<_> = (0..200_000).map(&mut next).collect();
    let rates = feed(name, args, &events);
    rates[rates.len() - 1000..].iter().map(|rate| rate.unwrap()).sum::<f64>() / 1000.0
}

#[test]
fn every_member_finds_a_constant_rate() {
    // 1500 bytes at 10 Mbit/s, over a path that is just full: all that any member goes by says the same.
    let rtt = Span::ms(100);
    let w = Window { mss: 1500.0, cwnd: 125_000.0, ..window() };
    assert_eq!((w.srtt, w.rtt_min), (Some(rtt), Some(rtt)));
    for member in AnyEstimator::MEMBERS {
        let mut estimator = build(member.name, &[]);
        assert_eq!(estimator.bits_per_second(), None);
        estimator.reveal(Truth::Path(PathTruth { available: 10e6, rtt }));
        for k in 0..5000 {
            let now = Time::at(rtt + k * Span::us(1200));
            estimator.on_sent(&Departure::of_bytes(now, 1500));
            // Every tenth segment left right behind the one before it, which makes a pair.
            let sent = now - rtt - if k % 10 == 9 { Span::us(1200) } else { Span::ZERO };
            estimator.on_ack(&Ack { rtt: Some(rtt), sent: Some(sent), ..Ack::of_bytes(now, 1500) }, &w);
        }
        let rate = estimator.bits_per_second().unwrap();
        assert!((rate / 10e6 - 1.0).abs() < 0.01, "{}: {rate}", member.name);
    }
}

#[test]
fn only_the_oracle_reads_the_truth_and_only_at_an_ack() {
    for member in AnyEstimator::MEMBERS {
        let says = |available| {
            let mut estimator = build(member.name, &[]);
            estimator.reveal(Truth::Path(PathTruth { available, rtt: Span::ms(1) }));
            for k in 0..100 {
                estimator.on_sent(&Departure::of_bytes(Time::ms(k), 1500));
                let ack = Ack { rtt: Some(Span::ms(50)), ..Ack::of_bytes(Time::ms(k), 1500) };
                estimator.on_ack(&ack, &window());
            }
            (estimator.bits_per_second(), estimator.rtt_min())
        };
        assert_eq!(says(1e6) != says(2e6), member.name == "oracle", "{}", member.name);
    }
}

#[test]
fn a_parameter_out_of_range_is_refused_by_name_with_the_range() {
    let number = Arg::Number;
    let refused = [
        ("westwood-1", "beta", number(1.0)),
        ("ewma", "weight", number(1.0)),
        ("ewma", "weight", number(f64::NAN)),
        ("tibet", "alpha", number(-0.1)),
        ("tibet", "alpha", number(1.0)),
        ("tibet", "t0", Arg::Time(Span::ZERO)),
        ("tibet", "on", Arg::Name("both".into())),
        ("westwood-2", "tau", Arg::Time(Span::ZERO)),
        ("westwood-3", "n", number(-1.0)),
        ("westwood-3", "cwnd", number(f64::INFINITY)),
        ("csfq", "k", Arg::Time(Span::ZERO)),
        ("packet-pair", "closeness", number(1.0)),
        ("vegas-rate", "rate", Arg::Name("guessed".into())),
    ];
    for (name, param, value) in refused {
        let error = AnyEstimator::build(&Spec::named(name).with(param, value)).unwrap_err();
        assert!(
            matches!(&error, SpecError::BadValue { member, param: p, expected, .. }
                if member == name && p == param && (expected.contains(" to ") || expected.contains("one of"))),
            "{error}"
        );
    }
}

/// Something that happens to a sender: how long after the last, what, and how many bytes. Times in ns.
#[derive(Debug, Clone)]
struct Event {
    gap: u64,
    kind: u8,
    bytes: u64,
    rtt: Option<u64>,
}

fn event() -> impl Strategy<Value = Event> {
    let gap = prop_oneof![Just(0), 1u64..1000, 0u64..1 << 33, 0u64..1 << 50];
    let bytes = prop_oneof![Just(0), 1u64..3000, 0u64..1 << 40, Just(u64::MAX)];
    (gap, 0u8..6, bytes, prop::option::of(0u64..1 << 40)).prop_map(|(gap, kind, bytes, rtt)| Event {
        gap,
        kind,
        bytes,
        rtt,
    })
}

proptest! {
    #[test]
    fn every_member_stays_finite(
        events in prop::collection::vec(event(), 1..80),
        seen in prop::option::of(0u64..1 << 40),
        cwnd in prop_oneof![Just(1000.0), 1.0f64..1e15],
    ) {
        let seen = seen.map(Span::ns);
        let w = Window { srtt: seen, rtt_min: seen.map(|rtt| rtt / 2), cwnd, ..window() };
        for member in AnyEstimator::MEMBERS {
            let mut estimator = build(member.name, &[]);
            let mut now = Time::ns(1 << 41);
            for Event { gap, kind, bytes, rtt } in events.clone() {
                now += Span::ns(gap);
                let rtt = rtt.map(Span::ns);
                let ack = Ack { rtt, sent: rtt.map(|rtt| now - rtt), ..Ack::of_bytes(now, bytes) };
                match kind {
                    0 => estimator.on_sent(&Departure::of_bytes(now, bytes as u32)),
                    1 => estimator.advance(now),
                    2 => estimator.on_ack(&Ack { duplicate: true, newly_acked: 0, ..ack }, &w),
                    // A capture's clock may run back.
                    3 => estimator.on_ack(&Ack { now: now - Span::ns(bytes % (1 << 30)), ..ack }, &w),
                    _ => estimator.on_ack(&ack, &w),
                }
                let rate = estimator.bits_per_second().unwrap_or(0.0);
                prop_assert!(rate.is_finite() && rate >= 0.0, "{}: {}", member.name, rate);
            }
        }
    }
}
