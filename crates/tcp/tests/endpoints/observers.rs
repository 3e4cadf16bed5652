//! Predictors and estimators that watch a sender: they change nothing, count right, and say what they would in charge.

use crate::pair::{MS, Pair, parts, steady};
use crate::path::Fate;
use truckee_tcp::books::Judged;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::sender::Parts;
use truckee_tcp::{Arg, Books, Cause, Observers, PathTruth, Spec, Stack, Time, preset};

fn predictor(name: &str) -> AnyPredictor {
    AnyPredictor::build(&Spec::named(name)).expect("a predictor").0
}

fn estimator(name: &str) -> AnyEstimator {
    AnyEstimator::build(&Spec::named(name)).expect("an estimator").0
}

/// All there are.
fn everyone() -> Observers {
    let predictors = AnyPredictor::MEMBERS.iter().map(|m| predictor(m.name)).collect();
    Observers::new(predictors, AnyEstimator::MEMBERS.iter().map(|m| estimator(m.name)).collect())
}

/// The laboratory tells that the first transmission of segment `number` is lost.
fn tell(pair: &mut Pair, number: u64, cause: Cause) {
    pair.tell(number, 0, cause);
}

/// These watch, and all oracles know the path.
fn watch(pair: &mut Pair, watchers: Observers) {
    let path = PathTruth { available: 1e6, rtt: 100 * MS };
    pair.books = Books::with(Some(watchers));
    pair.books.note_path(path);
    pair.sender.reveal_path(path);
}

/// A transfer over a path that makes its ACKs late by turns, and loses segments of which some are lost again, so that
/// there are round-trip times to judge by, fast retransmits and timeouts. Every other drop is told as noise.
fn eventful(stack: &Stack, parts: Parts, watchers: Observers) -> Pair {
    let lost: Vec<u64> =
        (1..=20).map(|k| k * 41).flat_map(|n| vec![n; if n % 5 == 0 { 2 } else { 1 }]).collect();
    let mut pair = Pair::of(stack, parts, &Spec::named("every")).lose_segments(&lost);
    pair.path.back = (0..600).map(|k| Fate { late: k * 7919 % 40 * MS, ..Fate::default() }).collect();
    watch(&mut pair, watchers);
    for (k, &number) in lost.iter().enumerate() {
        tell(&mut pair, number, if k % 2 == 0 { Cause::Congestion } else { Cause::Wireless });
    }
    pair.send_segments(1000);
    pair.finish();
    pair
}

fn by_cause(predictor: &str) -> Parts {
    let response = Spec::named("by-cause").with("predictor", Arg::Name(predictor.to_owned()));
    parts(&Spec::named("newreno"), &Spec::named("per-ack"), &response)
}

fn to_estimate(estimator: &str) -> Parts {
    let response = Spec::named("to-estimate").with("estimator", Arg::Name(estimator.to_owned()));
    parts(&Spec::named("newreno"), &Spec::named("per-ack"), &response)
}

#[test]
fn no_sender_sends_anything_else_for_being_watched() {
    for preset in preset::PRESETS {
        let run = |watchers| eventful(&steady(10), Parts::of(preset).unwrap(), watchers);
        let (alone, watched) = (run(Observers::default()), run(everyone()));
        let sent = |pair: &Pair| pair.sent.iter().map(|t| (t.at, t.segment)).collect::<Vec<_>>();
        assert!(sent(&alone) == sent(&watched), "{}", preset.info.name);
        assert_eq!(alone.books.counts(), watched.books.counts(), "{}", preset.info.name);
    }
}

#[test]
fn each_observer_is_held_against_the_truth_of_every_loss_event() {
    // Segment 5 dies in a queue, 40 and 90 of noise, 140 is not said to be dropped.
    let mut pair = Pair::preset(&steady(10), "newreno").lose_segments(&[5, 40, 90, 140]);
    tell(&mut pair, 5, Cause::Congestion);
    tell(&mut pair, 40, Cause::Wireless);
    tell(&mut pair, 90, Cause::Wireless);
    let names = ["always-congested", "always-wireless", "ideal"];
    pair.books = Books::with(Some(Observers::new(names.map(predictor).into(), vec![])));
    pair.send_segments(200);
    pair.finish();
    let judged = |congestion_right, wireless_right| Judged {
        congestion: 1,
        wireless: 2,
        spurious: 1,
        congestion_right,
        wireless_right,
    };
    let watched: Vec<_> = pair.books.observers().unwrap().judged().copied().collect();
    assert_eq!(watched, [judged(1, 0), judged(0, 2), judged(1, 2)]);
    assert_eq!(pair.books.counts().judged, judged(1, 0), "NewReno takes every loss for congestion");
}

#[test]
fn an_observer_like_the_predictor_in_charge_agrees_with_it() {
    for member in AnyPredictor::MEMBERS {
        for stack in [steady(10), Stack { clock: 10 * MS, ..steady(10) }] {
            let watchers =
                Observers::new(vec![predictor("always-congested"), predictor(member.name)], vec![]);
            let pair = eventful(&stack, by_cause(member.name), watchers);
            let counts = pair.books.counts();
            assert!(counts.fast_retransmits > 5 && counts.timeouts > 0, "{}: {counts:?}", member.name);
            let watched = pair.books.observers().unwrap().judged().last();
            assert_eq!(watched, Some(&counts.judged), "{}", member.name);
        }
    }
}

#[test]
fn an_observer_like_the_estimator_in_charge_agrees_with_it_at_every_step() {
    for member in AnyEstimator::MEMBERS {
        let watchers = Observers::new(vec![], vec![estimator("csfq"), estimator(member.name)]);
        let mut pair = Pair::of(&steady(10), to_estimate(member.name), &Spec::named("every"))
            .lose_segments(&[30, 90, 150, 150]);
        // ACKs of what left at once come apart, as behind a bottleneck.
        pair.path.back = (0..300).map(|k| Fate { late: k % 10 * MS, ..Fate::default() }).collect();
        watch(&mut pair, watchers);
        pair.send_segments(300);
        let mut known = 0;
        for step in 0..1000 {
            pair.run_until(Time::ms(step * 10));
            let watched = pair.books.observers().unwrap().estimates().last().flatten();
            assert_eq!(watched, pair.sender.estimate(), "{} at {} ms", member.name, step * 10);
            known += u64::from(watched.is_some());
        }
        pair.finish();
        assert!(known > 500, "{}: {known}", member.name);
    }
}
