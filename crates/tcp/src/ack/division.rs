//! ACK division: where one ACK is due, n of them leave, each for an equal part of what it acknowledges.
//!
//! The range from the last byte acknowledged to the next one expected is cut into n equal parts (rounded down to whole
//! bytes), and their ends are acknowledged in rising order; the last is the ACK that was due. Fewer bytes than n are
//! acknowledged whole. A sender that opens its window by a segment per ACK opens it n times as fast; one that counts
//! bytes is not impressed. Which ACKs are due is the choice of `base`.
//!
//! Two limits, which must both hold: `first` = k divides no ACK after the first k that are due (0: no limit), and `while` =
//! "slow-start" divides as long as `detector` takes the sender to be in slow start, the segment that has just come
//! included.
//!
//! An ACK that is due at once stays whole. A duplicate says nothing that could be cut. The ACK of a segment that fills a
//! hole is a matter of `holes`: to a NewReno that repairs, and to anyone who goes back after a timeout, its parts name
//! bytes that have long arrived, and each makes the sender send some of them again. Divided all the same (10 Mbit/s, RTT
//! 100 ms, 60 s, 12 seeds, n = 4, NewReno), they change goodput by −12, +2, +12 and +31 % at a loss of 0.1, 0.5, 2 and
//! 5 %, and what is sent needlessly from 168, 136, 66 and 41 to 429, 471, 791 and 864 segments, at 5 % a sixth of all.
//! "whole" is therefore the default: a choice, which the sources leave open.
//!
//! Source: Savage et al. 1999, section 3.1 (the trick); Cheskis 2006 (TCP Taba), section 2.2 and appendix A.1.2;
//! Normann 2011 (split ACKs), section 3.4.3 (the first three ACKs).

use super::{AckPolicy, AckSink, Delayed, Every, Learnt, Manner};
use crate::detect::{AnyDetector, Phase, SlowStartDetector};
use crate::spec::{Args, Info, Member, Spec, SpecError};
use crate::{Arrival, Registry, Seq, Time};

/// What says which ACKs are due.
const EVERY: &str = <Every as Member>::INFO.name;
const DELAYED: &str = <Delayed as Member>::INFO.name;

fn base(spec: &Spec, registry: &Registry) -> Result<(Box<dyn AckPolicy>, Spec), SpecError> {
    fn made<M: Member + AckPolicy + 'static>(args: &mut Args) -> Result<Box<dyn AckPolicy>, SpecError> {
        Ok(Box::new(M::build(args)?))
    }
    let mut args = Args::among(spec, registry);
    let policy = match spec.name.as_str() {
        EVERY => made::<Every>(&mut args)?,
        DELAYED => made::<Delayed>(&mut args)?,
        _ => {
            let family = "ACK policy that can be divided";
            return Err(SpecError::UnknownMember {
                family,
                name: spec.name.clone(),
                known: vec![EVERY, DELAYED],
            });
        }
    };
    Ok((policy, args.finish()?))
}

/// Divides ACKs.
#[derive(Debug, Clone)]
pub struct Division {
    n: u64,
    /// How many of the first ACKs may be divided, if there is a limit.
    first: Option<u64>,
    /// ACKs that were due until now.
    due: u64,
    /// Whether the ACK of a segment that fills a hole is divided too.
    holes: bool,
    watch: Option<Watch>,
    base: Box<dyn AckPolicy>,
    /// Everything below has been acknowledged.
    acked: Seq,
}

/// The detector by which ACKs are divided.
#[derive(Debug, Clone)]
struct Watch {
    detector: AnyDetector,
    /// What it was built from: another with the same parameters may go on with what this one has seen.
    built: Spec,
}

impl Watch {
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let mut built = Spec::default();
        let detector = args.own_member("detector", "inter-arrival", |spec, registry| {
            let (detector, resolved) = AnyDetector::build_among(spec, registry)?;
            built = resolved.clone();
            Ok((detector, resolved))
        })?;
        Ok(Self { detector, built })
    }
}

impl Member for Division {
    const INFO: Info = Info {
        name: "division",
        summary: "cuts each ACK into n, each for an equal part of what it acknowledges",
        formula: "ACK una + k·(rcv_nxt − una)/n for k = 1…n; of the first ACKs only, or while the sender slow starts",
        source: "Cheskis 2006 (TCP Taba), section 2.2; Normann 2011, section 3.4.3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let n = args.count("n", 2, 1..=1000)?;
        let first = args.count("first", 0, 0..=1_000_000_000)?;
        let watch = if args.choice("while", &["always", "slow-start"])? == "slow-start" {
            Some(Watch::build(args)?)
        } else {
            args.refuse("detector", "no detector unless while is \"slow-start\"")?;
            None
        };
        Self::within(args, n, (first > 0).then_some(first), watch)
    }
}

impl Division {
    /// Divides by `n` (by default) for as long as a detector says slow start: what TCP Taba does.
    pub(super) fn in_slow_start(args: &mut Args, n: u64) -> Result<Self, SpecError> {
        let n = args.count("n", n, 1..=1000)?;
        let watch = Some(Watch::build(args)?);
        Self::within(args, n, None, watch)
    }

    /// Within these limits; the other parameters are still to be asked for.
    fn within(args: &mut Args, n: u64, first: Option<u64>, watch: Option<Watch>) -> Result<Self, SpecError> {
        let base = args.own_member("base", "every", base)?;
        let holes = args.choice("holes", &["whole", "divided"])? == "divided";
        Ok(Self { n, first, due: 0, holes, watch, base, acked: Seq::ZERO })
    }

    /// An ACK of everything below `number` is due: into how many parts it is cut.
    fn parts(&mut self, number: Seq) -> u64 {
        self.due += 1;
        let limited = self.first.is_some_and(|first| self.due > first);
        let bytes = number.saturating_sub(self.acked);
        if limited || self.phase() == Some(Phase::Avoidance) || bytes < self.n { 1 } else { self.n }
    }

    fn send(&mut self, number: Seq, whole: bool, out: &mut AckSink) {
        let parts = self.parts(number);
        if parts > 1 && !whole {
            let bytes = number - self.acked;
            (1..parts).for_each(|k| out.ack(self.acked + bytes * k / parts));
        }
        out.ack(number);
        self.acked = self.acked.max(number);
    }
}

impl AckPolicy for Division {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        if let Some(watch) = &mut self.watch
            && segment.bytes > 0
        {
            watch.detector.on_segment(segment);
        }
        self.acked = self.acked.max(segment.rcv_nxt.earlier(segment.unacked));
        let mut due = AckSink::default();
        self.base.on_segment(segment, &mut due);
        while let Some(number) = due.pop() {
            self.send(number, segment.urgent && !(self.holes && segment.in_order), out);
        }
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        let mut due = AckSink::default();
        self.base.on_timer(now, rcv_nxt, &mut due);
        while let Some(number) = due.pop() {
            self.send(number, false, out);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.base.deadline()
    }

    fn on_carried(&mut self, number: Seq) {
        self.acked = self.acked.max(number);
        self.base.on_carried(number);
    }

    fn learnt(&self) -> Learnt<'_> {
        match &self.watch {
            Some(Watch { detector, built }) => Learnt::Phase { detector, built },
            None => Learnt::Nothing,
        }
    }

    /// The same detector goes on with what it has seen.
    fn take_over(&mut self, learnt: Learnt<'_>) {
        if let (Some(watch), Learnt::Phase { detector, built }) = (&mut self.watch, learnt)
            && watch.built == *built
        {
            watch.detector.clone_from(detector);
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.watch.as_ref().map(|watch| watch.detector.phase())
    }

    fn manner(&self) -> Option<Manner> {
        let parts = if self.phase() == Some(Phase::Avoidance) { 1 } else { self.n };
        self.base.manner().map(|due| Manner { parts, first: self.first, cuts_holes: self.holes, ..due })
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnyAckPolicy;
    use super::*;
    use crate::Arg;

    fn build(args: &[(&str, Arg)]) -> Division {
        let mut spec = Spec::named("division");
        spec.args = args.iter().map(|(name, arg)| ((*name).to_owned(), arg.clone())).collect();
        match AnyAckPolicy::build(&spec).unwrap().0 {
            AnyAckPolicy::Division(division) => *division,
            other => unreachable!("{other:?}"),
        }
    }

    fn number(x: f64) -> Arg {
        Arg::Number(x)
    }

    fn word(x: &str) -> Arg {
        Arg::Name(x.to_owned())
    }

    /// The ACKs that answer a segment up to `rcv_nxt` of which `unacked` bytes are unacknowledged.
    fn acks(policy: &mut Division, now: u64, rcv_nxt: u64, unacked: u64, urgent: bool) -> Vec<u64> {
        let rcv_nxt = Seq::at(rcv_nxt);
        let arrival =
            Arrival { rcv_nxt, unacked, urgent, end: rcv_nxt, ..Arrival::of_bytes(Time::ns(now), 1000) };
        let mut sink = AckSink::default();
        policy.on_segment(&arrival, &mut sink);
        std::iter::from_fn(|| sink.pop()).map(Seq::number).collect()
    }

    #[test]
    fn the_range_is_cut_into_equal_parts_that_end_with_the_real_ack() {
        let mut policy = build(&[("n", number(3.0))]);
        assert_eq!(acks(&mut policy, 0, 1001, 1000, false), [334, 667, 1001]);
        assert_eq!(acks(&mut policy, 1, 2001, 1000, false), [1334, 1667, 2001]);
        assert_eq!(acks(&mut policy, 2, 2004, 3, false), [2002, 2003, 2004], "a byte each");
        assert_eq!(acks(&mut policy, 3, 2006, 2, false), [2006], "fewer bytes than parts");
    }

    #[test]
    fn what_is_due_at_once_stays_whole() {
        let mut policy = build(&[]);
        assert_eq!(acks(&mut policy, 0, 1001, 0, true), [1001], "a duplicate");
        assert_eq!(acks(&mut policy, 1, 5001, 4000, true), [5001], "fills a hole");
        assert_eq!(acks(&mut policy, 2, 6001, 1000, false), [5501, 6001]);
        let mut all = build(&[("holes", word("divided"))]);
        assert_eq!(acks(&mut all, 0, 5001, 4000, true), [3001, 5001]);
        assert_eq!(acks(&mut all, 1, 5001, 0, true), [5001], "a duplicate all the same");
    }

    #[test]
    fn only_the_first_acks_that_are_due_are_divided() {
        let mut policy = build(&[("n", number(4.0)), ("first", number(2.0))]);
        let mut sent = |k: u64| acks(&mut policy, k, 1 + 1000 * k, 1000, false).len();
        assert_eq!([sent(1), sent(2), sent(3), sent(4)], [4, 4, 1, 1]);
    }

    #[test]
    fn a_delaying_base_has_its_acks_divided_also_those_of_its_timer() {
        let mut policy = build(&[("n", number(4.0)), ("base", word("delayed"))]);
        assert!(acks(&mut policy, 0, 1001, 1000, false).is_empty());
        assert_eq!(acks(&mut policy, 1, 2001, 2000, false), [501, 1001, 1501, 2001]);
        assert!(acks(&mut policy, 2, 3001, 1000, false).is_empty());
        let mut sink = AckSink::default();
        let deadline = policy.deadline().unwrap();
        policy.on_timer(deadline, Seq::at(3001), &mut sink);
        let late: Vec<_> = std::iter::from_fn(|| sink.pop()).map(Seq::number).collect();
        assert_eq!(late, [2251, 2501, 2751, 3001]);
    }

    #[test]
    fn while_in_slow_start_the_detector_decides_and_both_limits_must_hold() {
        let block = Spec::named("inter-arrival").with("block", number(3.0));
        let mut policy =
            build(&[("while", word("slow-start")), ("detector", Arg::Spec(block)), ("first", number(3.0))]);
        assert_eq!(policy.phase(), Some(Phase::Avoidance));
        let mut sent = |k: u64| acks(&mut policy, 100 * k, 1 + 1000 * k, 1000, false).len();
        // Slow start from the second segment on; the third was the last that may be divided.
        assert_eq!([sent(1), sent(2), sent(3), sent(4)], [1, 2, 2, 1]);
        assert_eq!(policy.phase(), Some(Phase::Avoidance), "three equal gaps");
    }

    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        let refused = |args: &[(&str, Arg)]| {
            let mut spec = Spec::named("division");
            spec.args = args.iter().map(|(name, arg)| ((*name).to_owned(), arg.clone())).collect();
            match AnyAckPolicy::build(&spec) {
                Err(SpecError::BadValue { param, .. }) => param,
                other => unreachable!("{other:?}"),
            }
        };
        assert_eq!(refused(&[("n", number(0.0))]), "n");
        assert_eq!(refused(&[("n", number(1001.0))]), "n");
        assert_eq!(refused(&[("detector", word("inter-arrival"))]), "detector");
        let always = [("while", word("always")), ("detector", word("inter-arrival"))];
        assert_eq!(refused(&always), "detector");
    }

    #[test]
    fn the_same_detector_goes_on_under_another_division() {
        let slow_start = [("while", word("slow-start"))];
        let mut before = build(&slow_start);
        acks(&mut before, 0, 1001, 1000, false);
        acks(&mut before, 1, 2001, 1000, false);
        let other = Spec::named("inter-arrival").with("beta", number(0.5));
        for (detector, kept) in [(word("inter-arrival"), true), (Arg::Spec(other), false)] {
            let mut after = build(&[&slow_start[..], &[("n", number(3.0)), ("detector", detector)]].concat());
            after.take_over(before.learnt());
            assert_eq!(after.phase() == Some(Phase::SlowStart), kept, "two segments have come");
        }
    }
}
