//! What every predictor must do, and the ways in which their own tests feed them.

use super::*;
use crate::estimate::AnyEstimator;
use crate::{Arg, LossKind, Seq, Span, Spec, SpecError};
use proptest::prelude::*;

const LOSS: Loss = Loss { now: Time::ZERO, kind: LossKind::DupAcks, seq: Seq::FIRST };

/// An ACK with this RTT and a window of ten segments with this RTTmin, both in milliseconds.
pub(super) fn rtt(ms: u64, min: u64) -> (Ack, Window) {
    let ack = Ack { rtt: Some(Span::ms(ms)), ..Ack::of_bytes(Time::ns(1), 1000) };
    (ack, Window { rtt_min: Some(Span::ms(min)), ..crate::growth::tests::window(10.0, 5.0) })
}

/// What a predictor answers after each of these RTTs, all in milliseconds.
pub(super) fn judge(name: &str, args: &[(&str, Arg)], min: u64, rtts: &[u64]) -> Vec<Cause> {
    let spec = args.iter().fold(Spec::named(name), |spec, (name, arg)| spec.with(name, arg.clone()));
    let (mut predictor, _) = AnyPredictor::build(&spec).unwrap();
    let mut after = |&ms: &u64| {
        let (ack, w) = rtt(ms, min);
        predictor.on_ack(&ack, &w);
        predictor.verdict(&LOSS)
    };
    rtts.iter().map(&mut after).collect()
}

#[test]
fn before_any_ack_every_judging_member_says_congestion() {
    for member in AnyPredictor::MEMBERS.iter().filter(|m| !["always-wireless", "random"].contains(&m.name)) {
        let (predictor, _) = AnyPredictor::build(&Spec::named(member.name)).unwrap();
        assert_eq!(predictor.verdict(&LOSS), Cause::Congestion, "{}", member.name);
    }
}

#[test]
fn only_the_ideal_one_reads_the_truth() {
    for member in AnyPredictor::MEMBERS {
        let (mut predictor, _) = AnyPredictor::build(&Spec::named(member.name)).unwrap();
        let mut verdict = |truth| {
            predictor.reveal(Truth::Fate(Some(truth)));
            predictor.verdict(&LOSS)
        };
        let differs = verdict(Cause::Congestion) != verdict(Cause::Wireless);
        assert_eq!(differs, member.name == "ideal", "{}", member.name);
    }
}

#[test]
fn a_parameter_that_contradicts_or_is_out_of_range_is_refused_by_name_with_what_would_do() {
    let number = Arg::Number;
    let refused = [
        ("vegas", "alpha", number(4.0), "at most beta, which is 3"),
        ("vegas", "beta", number(-1.0), "0 to 1000000"),
        ("vegas-single", "threshold", number(-1.0), "0 to 1000000"),
        ("spike", "beta", number(0.6), "at most alpha, which is 0.5"),
        ("spike", "alpha", number(1.5), "0 to 1"),
        ("flip-flop", "eta", number(9.0), "0 to l, which is 8"),
        ("flip-flop", "l", number(0.0), "1 to 64"),
        ("flip-flop", "l", number(65.0), "1 to 64"),
        ("flip-flop", "eta", number(1.5), "0 to 64"),
        ("ncpld", "tick", Arg::Time(Span::ZERO), "0.000000001 s to 1 s"),
        ("random", "seed", number(-1.0), "0 to 4294967295"),
    ];
    for (name, param, value, range) in refused {
        let error = AnyPredictor::build(&Spec::named(name).with(param, value)).unwrap_err();
        assert!(
            matches!(&error, SpecError::BadValue { member, param: p, expected, .. }
                if member == name && p == param && expected.contains(range)),
            "{error}"
        );
    }
    let nested = Spec::named("ncpld").with("estimator", Arg::Name("ncpld".into()));
    let error = AnyPredictor::build(&nested).unwrap_err();
    assert!(matches!(error, SpecError::UnknownMember { family: "bandwidth estimator", .. }), "{error}");
}

proptest! {
    #[test]
    fn no_member_panics_whatever_it_hears(
        acks in prop::collection::vec(
            (0u64..1 << 50, prop::option::of(0u64..1 << 50), prop::option::of(0u64..1 << 50), any::<u64>(), 0u8..8),
            1..60,
        ),
        cwnd in prop_oneof![Just(1000.0), 1.0f64..1e15],
        clock in prop_oneof![Just(0), 1u64..1 << 32].prop_map(Span::ns),
    ) {
        let nested = AnyEstimator::MEMBERS.iter().map(|estimator| {
            Spec::named("ncpld").with("estimator", Arg::Name(estimator.name.to_owned()))
        });
        for spec in AnyPredictor::MEMBERS.iter().map(|member| Spec::named(member.name)).chain(nested) {
            let (mut predictor, _) = AnyPredictor::build(&spec).unwrap();
            let mut now = Time::ZERO;
            for &(gap, rtt, rtt_min, bytes, kind) in &acks {
                now += Span::ns(gap);
                let (rtt, rtt_min) = (rtt.map(Span::ns), rtt_min.map(Span::ns));
                let w = Window {
                    cwnd, clock, rtt_min, flight: bytes >> 1, ..crate::growth::tests::window(10.0, 5.0)
                };
                match kind {
                    0 => predictor.on_timeout(now),
                    1 => predictor.on_sent(&Departure::of_bytes(now, bytes as u32)),
                    _ => predictor.on_ack(&Ack { rtt, ..Ack::of_bytes(now, bytes) }, &w),
                }
                let at = Loss { now, seq: Seq::at(bytes), ..LOSS };
                prop_assert_eq!(predictor.verdict(&at), predictor.verdict(&at));
            }
        }
    }
}
