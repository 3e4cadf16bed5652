//! Non-congestion packet loss detection: is the round-trip time beyond the knee of the path's load–delay curve?
//!
//! With F the flight in segments and k counting the ACKs that bring an RTT sample:
//! - pipe = ½·RTT_k·(F_k − F_{k−1})/(RTT_k − RTT_{k−1}), where F_k ≠ F_{k−1};
//! - bdp = B·RTTmin in segments, with B from any bandwidth estimator: here TIBET on ACKs unless another is named;
//! - RTT_kp = RTTmin + ½·RTT_k·bdp/pipe; RTT_k > RTT_kp → congestion, otherwise wireless.
//!
//! Source: lp, section 4.1.2, algorithm 4.1.2 (whose equation 4.3 lacks a time), after Samaraweera 1999.
//!
//! Choices: equal RTTs in a row count as growing by the clock's granularity, the paper's enhancement, which the guard
//! in its pseudo-code would undo; where the clock is exact, by `tick` = 1 ms, the finest tick that RFC 7323, section 5.4,
//! gives a clock for timestamps. (Much depends on it: with 1 µs the knee is next to RTTmin and nearly every loss is
//! congestion, with 10 ms it may be out of reach.) RTTmin is the measured one, whatever estimator is inside. A pipe that
//! is not positive leaves the knee where it was. Until there is a knee the answer is congestion.

use super::LossPredictor;
use crate::estimate::{AnyEstimator, BandwidthEstimator};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Arg, Cause, Departure, Loss, Span, Spec, Truth, Window};

/// The knee of the load–delay curve.
#[derive(Debug, Clone)]
pub struct Ncpld {
    estimator: Box<AnyEstimator>,
    tick: Span,
    /// RTT and flight at the last ACK with a sample.
    last: Option<(Span, u64)>,
    /// RTT_kp, ns.
    knee: Option<f64>,
    answer: Cause,
}

impl Member for Ncpld {
    const INFO: Info = Info {
        name: "ncpld",
        summary: "judges by whether the round-trip time is beyond the knee of the load–delay curve",
        formula: "RTT > RTTmin + ½·RTT·B·RTTmin/pipe: congestion; otherwise: wireless; pipe = ½·RTT·ΔF/ΔRTT; B from tibet on ACKs",
        source: "Martignon, NewReno-LP, section 4.1.2; Samaraweera 1999",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let tick = args.time("tick", Span::ms(1), Span::ns(1)..=Span::s(1))?;
        let estimator = args.member("estimator", "tibet", |spec, registry| {
            AnyEstimator::build_among(&on_acks(spec), registry)
        })?;
        Ok(Self { estimator: Box::new(estimator), tick, last: None, knee: None, answer: Cause::Congestion })
    }
}

/// TIBET listens to ACKs here, unless it is told otherwise.
fn on_acks(spec: &Spec) -> Spec {
    let told = spec.name != "tibet" || spec.args.iter().any(|(name, _)| name == "on");
    if told { spec.clone() } else { spec.clone().with("on", Arg::Name("acks".to_owned())) }
}

impl Ncpld {
    /// RTT_kp after an ACK with this sample; none where the ACK does not tell.
    fn knee(&self, rtt: Span, w: &Window) -> Option<f64> {
        let (last_rtt, last_flight) = self.last?;
        let rtt_min = w.rtt_min?.as_f64();
        let bdp = self.estimator.bits_per_second()? / 8.0 * rtt_min / 1e9;
        let more = w.flight as f64 - last_flight as f64;
        let longer = match rtt.as_f64() - last_rtt.as_f64() {
            0.0 if w.clock > Span::ZERO => w.clock.as_f64(),
            0.0 => self.tick.as_f64(),
            longer => longer,
        };
        // Both in bytes: their quotient is the same in segments.
        let pipe = 0.5 * rtt.as_f64() * more / longer;
        (pipe > 0.0).then(|| rtt_min + 0.5 * rtt.as_f64() * bdp / pipe)
    }
}

impl LossPredictor for Ncpld {
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.estimator.on_ack(ack, w);
        let Some(rtt) = ack.rtt else { return };
        self.knee = self.knee(rtt, w).or(self.knee);
        self.last = Some((rtt, w.flight));
        if let Some(knee) = self.knee {
            self.answer = if rtt.as_f64() > knee { Cause::Congestion } else { Cause::Wireless };
        }
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.estimator.on_sent(sent);
    }

    fn reveal(&mut self, truth: Truth) {
        self.estimator.reveal(truth);
    }

    fn wants_truth(&self) -> bool {
        self.estimator.wants_truth()
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause::{Congestion, Wireless};
    use crate::predict::AnyPredictor;
    use crate::{LossKind, PathTruth, Seq, Time};

    const MS: Span = Span::ms(1);

    /// The answer after each ACK (RTT in ms, flight in segments of 1000 bytes), with the oracle inside: 800 kbit/s, which
    /// times the measured RTTmin of 100 ms make a bdp of ten segments.
    fn judge(clock: Span, acks: &[(u64, u64)]) -> Vec<Cause> {
        let spec = Spec::named("ncpld").with("estimator", Arg::Name("oracle".into()));
        let (mut ncpld, _) = AnyPredictor::build(&spec).unwrap();
        ncpld.reveal(Truth::Path(PathTruth { available: 800e3, rtt: MS }));
        let mut after = |&(ms, segments)| {
            let w = Window { flight: segments * 1000, clock, ..crate::growth::tests::window(10.0, 5.0) };
            ncpld.on_ack(&Ack { rtt: Some(ms * MS), ..Ack::of_bytes(Time::ns(1), 1000) }, &w);
            ncpld.verdict(&Loss { now: Time::ns(1), kind: LossKind::DupAcks, seq: Seq::FIRST })
        };
        acks.iter().map(&mut after).collect()
    }

    #[test]
    fn the_knee_by_hand() {
        // No knee yet; then 2 segments and 10 ms more: pipe = ½·110·2/10 = 11, knee = 100 + ½·110·10/11 = 150 ms.
        assert_eq!(
            judge(Span::ZERO, &[(100, 10), (110, 12), (150, 12), (151, 12)]),
            [Congestion, Wireless, Wireless, Congestion]
        );
        // 1 segment and 40 ms more: pipe = ½·140·1/40 = 1.75, knee = 100 + ½·140·10/1.75 = 500 ms.
        assert_eq!(
            judge(Span::ZERO, &[(100, 10), (140, 11), (500, 11), (501, 11)])[1..],
            [Wireless, Wireless, Congestion]
        );
    }

    #[test]
    fn a_pipe_that_is_not_positive_moves_nothing() {
        // The knee of 150 ms stands although the flight falls while the RTT rises.
        assert_eq!(
            judge(Span::ZERO, &[(100, 10), (110, 12), (151, 11), (149, 11)]),
            [Congestion, Wireless, Congestion, Wireless]
        );
        assert_eq!(
            judge(Span::ZERO, &[(100, 10), (151, 9)]),
            [Congestion; 2],
            "and where there is no knee none appears"
        );
    }

    #[test]
    fn equal_round_trip_times_differ_by_the_clock() {
        // 200 ms twice on a clock of 100 ms, one segment more: pipe = ½·200·1/100 = 1, knee = 100 + ½·200·10 = 1100 ms.
        assert_eq!(
            judge(100 * MS, &[(200, 10), (200, 11), (1100, 11), (1200, 11)]),
            [Congestion, Wireless, Wireless, Congestion]
        );
        // On an exact clock, by 1 ms: pipe = 100, knee = 110 ms.
        assert_eq!(
            judge(Span::ZERO, &[(200, 10), (200, 11), (110, 11), (111, 11)]),
            [Congestion, Congestion, Wireless, Congestion]
        );
    }

    #[test]
    fn tibet_listens_to_acks_inside_and_any_estimator_can_take_its_place() {
        let resolved = |spec: Spec| AnyPredictor::build(&spec).unwrap().1;
        let inside = |spec: &Spec| match &spec.args[1] {
            (name, Arg::Spec(inside)) if name == "estimator" => inside.clone(),
            other => panic!("{other:?}"),
        };
        let tibet = inside(&resolved(Spec::named("ncpld")));
        assert!(tibet.name == "tibet" && tibet.args.contains(&("on".into(), Arg::Name("acks".into()))));
        for member in AnyEstimator::MEMBERS {
            let named = Spec::named("ncpld").with("estimator", Arg::Name(member.name.to_owned()));
            assert_eq!(inside(&resolved(named)).name, member.name);
        }
    }
}
