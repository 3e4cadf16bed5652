//! Whoever carries out a policy's [`Manner`], asked for anew after each segment, sends the ACKs that the policy sends.

use super::*;
use crate::Span;
use crate::{Arg, Spec};
use proptest::prelude::*;

/// Carries out manners, and knows nothing of policies. What a kernel's egress does, in a few lines.
struct Carrier {
    waiting: u64,
    deadline: Option<Time>,
    due: u64,
    acked: u64,
}

impl Carrier {
    fn on_segment(&mut self, segment: &Arrival, manner: &Manner, out: &mut Vec<u64>) {
        self.waiting += 1;
        let full = manner.minds_window && !segment.leaves_room();
        if segment.urgent || full || self.waiting >= manner.covers {
            let whole = segment.urgent && !(manner.cuts_holes && segment.in_order);
            self.release(segment.rcv_nxt, whole, manner, out);
        } else {
            self.deadline.get_or_insert(segment.now + manner.wait);
        }
    }

    fn release(&mut self, number: u64, whole: bool, manner: &Manner, out: &mut Vec<u64>) {
        self.due += 1;
        let bytes = number - self.acked;
        let may = manner.first.is_none_or(|first| self.due <= first) && bytes >= manner.parts;
        let parts = if may && !whole { manner.parts } else { 1 };
        out.extend((1..=parts).map(|k| self.acked + bytes * k / parts));
        (self.waiting, self.deadline, self.acked) = (0, None, number);
    }
}

/// Everything that numbers can say.
fn specs() -> Vec<Spec> {
    let word = |x: &str| Arg::Name(x.to_owned());
    let number = Arg::Number;
    let division = |n: f64| Spec::named("division").with("n", number(n));
    vec![
        Spec::named("every"),
        Spec::named("delayed"),
        Spec::named("delayed").with("count", number(5.0)).with("timeout", Arg::Time(Span::ms(40))),
        division(4.0),
        division(12.0).with("first", number(3.0)),
        division(3.0).with("base", word("delayed")).with("holes", word("divided")),
        division(2.0).with("while", word("slow-start")).with("first", number(40.0)),
        Spec::named("taba"),
        Spec::named("accumulated"),
        Spec::named("accumulated").with("learn_after", number(2.0)).with("threshold", number(0.5)),
        Spec::named("accumulated-full"),
        Spec::named("accumulated-full").with("patience", number(0.0)).with("quiet", Arg::Time(Span::ZERO)),
    ]
}

proptest! {
    #[test]
    fn a_manner_says_what_the_policy_does(
        gaps in proptest::collection::vec((0u64..40, 1u32..1500, 0u8..60), 1..400),
        steady in any::<bool>(),
        window in prop_oneof![Just(u32::MAX), 4000u32..40_000],
    ) {
        for spec in specs() {
            let mut policy = AnyAckPolicy::build(&spec).unwrap().0;
            let mut carrier = Carrier { waiting: 0, deadline: None, due: 0, acked: 1 };
            let (mut sink, mut now, mut rcv_nxt) = (AckSink::default(), 0, 1);
            for &(gap, bytes, odd) in &gaps {
                let then = now + if steady { 1_000_000 } else { gap * gap * 200_000 };
                let (mut sent, mut carried) = (Vec::new(), Vec::new());
                // The manner of a moment is that after the segment before it.
                if let (Some(manner), Some(deadline)) = (policy.manner(), policy.deadline().filter(|&d| d <= Time::ns(then))) {
                    prop_assert_eq!(carrier.deadline, Some(deadline), "{}", spec.name);
                    policy.on_timer(deadline, rcv_nxt, &mut sink);
                    carrier.release(rcv_nxt, false, &manner, &mut carried);
                    sent.extend(std::iter::from_fn(|| sink.pop()));
                    prop_assert_eq!(&sent, &carried, "{} at its deadline", spec.name);
                }
                now = then;
                let bytes = if steady { 1000 } else { bytes };
                let (urgent, in_order) = (odd < 2, odd != 0);
                rcv_nxt += if in_order { u64::from(bytes) } else { 0 };
                let unacked = rcv_nxt - carrier.acked;
                let rtt = Some(Span::ms(30));
                let arrival =
                    Arrival { rcv_nxt, unacked, urgent, in_order, end: rcv_nxt, window, rtt, ..Arrival::of_bytes(Time::ns(now), bytes) };
                policy.on_segment(&arrival, &mut sink);
                let manner = policy.manner().expect("one that numbers can say");
                (sent, carried) = (std::iter::from_fn(|| sink.pop()).collect(), Vec::new());
                carrier.on_segment(&arrival, &manner, &mut carried);
                prop_assert_eq!(&sent, &carried, "{} at {}", spec.name, now);
            }
        }
    }
}

#[test]
fn what_lies_or_needs_the_senders_word_has_no_manner() {
    for member in AnyAckPolicy::MEMBERS {
        let policy = AnyAckPolicy::build(&Spec::named(member.name)).unwrap().0;
        let said = policy.manner().is_some();
        assert_eq!(
            said,
            policy.honesty() == Honesty::Honest && member.name != "requested",
            "{}",
            member.name
        );
    }
}
