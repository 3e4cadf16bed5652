//! What every controller must do, and that an algorithm whole is the product of its halves.

use super::*;
use crate::growth::tests::{ack, window};
use crate::{LossKind, Seq, Span, Spec};
use proptest::prelude::*;

fn each(mut check: impl FnMut(&'static str, AnyController)) {
    for member in AnyController::MEMBERS {
        check(member.name, AnyController::build(&Spec::named(member.name)).unwrap().0);
    }
}

#[test]
fn every_member_opens_a_small_window_and_closes_it_for_a_timeout() {
    each(|name, mut controller| {
        let mut w = window(10.0, 1000.0);
        controller.on_sent(&Departure::of_bytes(Time::ZERO, 1000), &w);
        for k in 1..=10 {
            let ack = Ack { ack: Seq::at(1 + 1000 * k), highest: Seq::at(9001 + 1000 * k), ..ack(1000) };
            controller.hear(&ack, &w);
            controller.on_ack(&ack, &mut w);
            let air = Air { delivered: 1000 * k, in_flight: 9000, more: true, ..Air::default() };
            controller.after_ack(&ack, &air, &mut w);
        }
        assert!(w.cwnd > 10_000.0 && w.cwnd <= 20_000.0, "{name}: {}", w.cwnd);
        let loss = Loss { now: Time::s(2), kind: LossKind::Timeout, seq: Seq::at(10_001) };
        assert_eq!(controller.on_loss(&loss, &mut w), Cause::Congestion, "{name}");
        assert_eq!(w.cwnd, w.mss, "{name}");
    });
}

#[test]
fn what_a_loss_took_comes_back_if_it_was_none() {
    // After an undo CUBIC goes on where it was, as if there had been no loss.
    let mut cubic = AnyController::build(&Spec::named("cubic")).unwrap().0;
    let mut w = window(100.0, 50.0);
    (0..50).for_each(|k| cubic.on_ack(&Ack::of_bytes(Time::ms(k), 1000), &mut w));
    let (mut undisturbed, mut without) = (cubic.clone(), w);
    let loss = Loss { now: Time::ms(50), kind: LossKind::DupAcks, seq: Seq::FIRST };
    let before = w;
    cubic.on_loss(&loss, &mut w);
    cubic.after_loss(&loss, before.cwnd, &mut w);
    (w.cwnd, w.ssthresh) = (before.cwnd, before.ssthresh);
    cubic.on_undo(Time::ms(60), &mut w);
    for k in 60..90 {
        cubic.on_ack(&Ack::of_bytes(Time::ms(k), 1000), &mut w);
        undisturbed.on_ack(&Ack::of_bytes(Time::ms(k), 1000), &mut without);
    }
    assert_eq!(w, without);
}

/// An event that a controller hears.
#[derive(Debug, Clone)]
enum Event {
    Ack { bytes: u64, rtt: u64, grows: bool, repairing: bool },
    Sent { again: bool },
    Lost(LossKind),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        20 => (0u64..4000, 1u64..300, any::<bool>(), any::<bool>())
            .prop_map(|(bytes, rtt, grows, repairing)| Event::Ack { bytes, rtt, grows, repairing }),
        10 => prop::bool::weighted(0.1).prop_map(|again| Event::Sent { again }),
        1 => prop::sample::select(&[LossKind::DupAcks, LossKind::Timeout, LossKind::EcnEcho][..]).prop_map(Event::Lost),
    ]
}

/// The windows and rates that a controller makes of these events, as a sender would tell them.
fn told(mut controller: AnyController, events: &[Event]) -> Vec<(Cause, f64, f64, Option<f64>)> {
    let (mut w, mut now, mut acked, mut sent) = (window(10.0, 30.0), 0u64, 1u64, 1u64);
    let mut after = Vec::new();
    for event in events {
        now += 1_000_000;
        let mut verdict = Cause::Congestion;
        match *event {
            Event::Ack { bytes, rtt, grows, repairing } => {
                let bytes = bytes.min(sent - acked);
                acked += bytes;
                let ack = Ack {
                    ack: Seq::at(acked),
                    duplicate: bytes == 0,
                    rtt: (bytes > 0).then_some(Span::ms(rtt)),
                    sent: Some(Time::ns(now.saturating_sub(rtt * 1_000_000))),
                    highest: Seq::at(sent),
                    peer_time: Some(Time::ns(now - rtt * 300_000_u64.min(now / (rtt + 1)))),
                    ..Ack::of_bytes(Time::ns(now), bytes)
                };
                controller.hear(&ack, &w);
                if grows && bytes > 0 && !repairing {
                    controller.on_ack(&ack, &mut w);
                } else if bytes > 0 && !repairing {
                    controller.on_unused(&ack);
                }
                let air = Air {
                    in_flight: sent - acked,
                    repairing,
                    delivered: acked - 1,
                    more: true,
                    ..Air::default()
                };
                controller.after_ack(&ack, &air, &mut w);
            }
            Event::Sent { again } => {
                let seq = if again { acked } else { sent };
                sent += if again { 0 } else { 1000 };
                let departure = Departure {
                    seq: Seq::at(seq),
                    retransmission: again,
                    in_flight: sent - acked,
                    ..Departure::of_bytes(Time::ns(now), 1000)
                };
                controller.on_sent(&departure, &w);
            }
            Event::Lost(kind) => {
                let before = w.cwnd;
                let loss = Loss { now: Time::ns(now), kind, seq: Seq::at(acked) };
                w.flight = sent - acked;
                verdict = controller.on_loss(&loss, &mut w);
                controller.after_loss(&loss, before, &mut w);
            }
        }
        after.push((verdict, w.cwnd, w.ssthresh, controller.pacing_rate(&w)));
    }
    after
}

proptest! {
    #[test]
    fn an_algorithm_whole_does_what_its_halves_do(events in prop::collection::vec(event(), 1..400)) {
        for name in ["cubic", "bbr", "vegas", "santa-cruz"] {
            let halves = || (
                AnyGrowth::build(&Spec::named(name)).unwrap().0,
                AnyResponse::build(&Spec::named(name)).unwrap().0,
                AnyPacing::build(&Spec::named("none")).unwrap().0,
            );
            let (growth, response, pacing) = halves();
            let whole = AnyController::of_parts(growth, response, pacing);
            prop_assert!(!matches!(whole, AnyController::Composed(_)));
            let (growth, response, pacing) = halves();
            let composed = AnyController::Composed(Composed::new(growth, response, pacing));
            prop_assert_eq!(told(whole, &events), told(composed, &events));
            let built = AnyController::build(&Spec::named(name)).unwrap().0;
            prop_assert!(!matches!(built, AnyController::Composed(_)));
        }
    }
}

#[test]
fn halves_that_differ_or_that_something_else_paces_stay_apart() {
    let beta = |beta| Spec::named("cubic").with("beta", crate::Arg::Number(beta));
    let of = |growth: &Spec, response: &Spec, pacing: &str| {
        AnyController::of_parts(
            AnyGrowth::build(growth).unwrap().0,
            AnyResponse::build(response).unwrap().0,
            AnyPacing::build(&Spec::named(pacing)).unwrap().0,
        )
    };
    assert!(matches!(of(&beta(0.8), &beta(0.8), "none"), AnyController::Cubic(_)));
    assert!(matches!(of(&beta(0.8), &beta(0.7), "none"), AnyController::Composed(_)));
    assert!(matches!(of(&beta(0.7), &beta(0.7), "per-window"), AnyController::Composed(_)));
}
