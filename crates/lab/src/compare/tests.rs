use super::*;
use crate::realtime::LivePlan;
use crate::sweep::{Cell, Progress};
use crate::tests::{Fake, outcome, scenario};
use crate::{Engine, Simulator};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use truckee_scenario::Document;
use truckee_scenario::outcome::LinkOutcome;

const THREE: Runs = Runs { count: 3, jobs: None, series: false };

fn sides() -> Vec<Vec<Outcome>> {
    let engines: [&dyn Engine; 2] = [&Fake::new(), &Fake::live()];
    run(&scenario("s", 10_000_000_000), &engines, THREE, &mut (), &AtomicBool::new(false)).unwrap().unwrap()
}

fn row<'c>(comparison: &'c Comparison, metric: &str) -> &'c Row {
    comparison.flows[0].metrics.iter().find(|r| r.metric == metric).unwrap()
}

fn near(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a - b).abs() < 1e-9)
}

#[test]
fn means_stand_side_by_side_with_a_paired_ratio() {
    let comparison = Comparison::new(&sides()).unwrap();
    assert_eq!(comparison.seeds, [1, 2, 3]);
    let names: Vec<_> = comparison.engines.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["sim", "kernel"]);
    assert!(comparison.engines[1].digests.iter().all(String::is_empty));
    let goodput = row(&comparison, "goodput_bps");
    assert!(near(goodput.values[0].mean, 20.02) && near(goodput.values[1].mean, 0.9 * 20.02));
    let against = &goodput.against[0];
    assert!(near(against.ratio, 0.9) && near(against.difference, -0.1 * 20.02));
    let (low, high) = against.interval.unwrap();
    assert!(high - low < 1e-6, "the seeds' common noise cancels: {low} … {high}");
    assert_eq!((against.n, against.incomplete), (3, 0));
}

#[test]
fn shares_are_compared_by_their_difference() {
    let mut sides = sides();
    for (side, right) in sides.iter_mut().zip([0.5, 0.75]) {
        for (k, outcome) in side.iter_mut().enumerate() {
            outcome.flows[0].accuracy.all = (k > 0).then_some(right);
            (outcome.flows[0].segments_sent, outcome.flows[0].retransmitted_segments) = (200, 3);
        }
    }
    let comparison = Comparison::new(&sides).unwrap();
    let accuracy = row(&comparison, "accuracy.all");
    assert_eq!((accuracy.against[0].ratio, accuracy.against[0].difference), (None, Some(0.25)));
    assert_eq!((accuracy.values[0].n, accuracy.values[0].incomplete, accuracy.against[0].n), (2, 1, 2));
    assert_eq!(row(&comparison, "retransmitted_share").values[1].mean, Some(0.015));
    assert_eq!(row(&comparison, "accuracy.wireless").against[0].n, 0);
}

#[test]
fn links_are_compared_and_one_that_an_engine_does_not_tell_of_has_no_value() {
    let mut sides = sides();
    let link = LinkOutcome { name: "a-b".into(), utilisation: 0.5, queue_drops: 4, ..LinkOutcome::default() };
    sides[0].iter_mut().for_each(|o| o.links = vec![link.clone()]);
    let comparison = Comparison::new(&sides).unwrap();
    let utilisation = &comparison.links[0].metrics[0];
    assert_eq!((utilisation.metric, utilisation.values[0].mean), ("utilisation", Some(0.5)));
    assert_eq!((utilisation.values[1].mean, utilisation.against[0].incomplete), (None, 3));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let refusal = |runs: &[Vec<Outcome>]| Comparison::new(runs).unwrap_err().to_string();
    assert!(refusal(&[]).contains("no runs"));
    assert!(refusal(&sides()[..1]).contains("only one engine"));
    let mut other_seeds = sides();
    other_seeds[1][0].seed = 9;
    assert!(refusal(&other_seeds).contains("other seeds: [1, 2, 3] and [9, 2, 3]"));
    let mut no_flow = sides();
    no_flow[1][2].flows.clear();
    assert!(refusal(&no_flow).contains("kernel tells nothing of the flow \"flow-1\""));
}

/// The notes of those that do not hold; an empty one where it is the distance.
fn broken(sides: &[Vec<Outcome>], tolerance: &str) -> Vec<String> {
    let mut comparison = Comparison::new(sides).unwrap();
    comparison.hold(&[Tolerance::parse(tolerance).unwrap()]).unwrap();
    let broken: Vec<_> = comparison.tolerances.iter().filter(|h| !h.holds).map(|h| h.note.clone()).collect();
    assert_eq!(comparison.holds, broken.is_empty());
    broken
}

#[test]
fn a_tolerance_holds_up_to_its_bound_and_no_further() {
    let sides = sides();
    assert!(broken(&sides, "goodput=10.1%").is_empty());
    assert_eq!(broken(&sides, "goodput=9%"), [""]);
    assert!(broken(&sides, "goodput=3").is_empty());
    assert_eq!(broken(&sides, "flow.flow-1.goodput=1"), [""]);
    assert!(broken(&sides, "timeouts=1%").is_empty(), "none on both");
}

#[test]
fn a_tolerance_without_values_does_not_hold() {
    let mut sides = sides();
    assert_eq!(broken(&sides, "a_w=50%"), ["no engine has a value"]);
    sides[1][0].flows[0].completion_s = None;
    assert_eq!(broken(&sides, "completion=90%"), ["1 of 3 runs have a value on one engine only"]);
    sides[1][0].flows[0].timeouts = 1;
    assert_eq!(broken(&sides, "timeouts=90%"), ["the mean of timeouts is 0 on the first engine only"]);
    assert!(broken(&sides, "timeouts=1").is_empty());
    let mut comparison = Comparison::new(&sides).unwrap();
    let nobody = Tolerance::parse("flow.nobody.goodput=1%").unwrap();
    let message = comparison.hold(&[nobody]).unwrap_err().to_string();
    assert!(message.contains("there is no flow \"nobody\", only \"flow-1\""), "{message}");
}

#[test]
fn live_runs_go_one_at_a_time_and_say_what_they_will_take() {
    #[derive(Default)]
    struct Seen(Vec<LivePlan>, Vec<Duration>, Vec<Cell>);
    impl Progress for Seen {
        fn live(&mut self, plan: LivePlan) {
            self.0.push(plan);
        }
        fn left(&mut self, at_most: Duration) {
            self.1.push(at_most);
        }
        fn finished(&mut self, cell: Cell) {
            self.2.push(cell);
        }
    }
    let mut seen = Seen::default();
    let live = Fake::live();
    let engines: [&dyn Engine; 2] = [&Fake::new(), &live];
    run(&scenario("s", 10_000_000_000), &engines, THREE, &mut seen, &AtomicBool::new(false)).unwrap();
    let s = Duration::from_secs;
    assert_eq!(seen.0, [LivePlan { engine: "kernel", runs: 3, at_once: 1, at_most: s(30) }]);
    assert_eq!(seen.1, [s(20), s(10), s(0)]);
    assert_eq!(seen.2.len(), 6);
    assert_eq!(*live.asked.lock().unwrap(), [1, 2, 3], "in order");
}

#[test]
fn stopped_in_between_there_is_nothing_to_compare() {
    let engines: [&dyn Engine; 2] = [&Fake::new(), &Fake::live()];
    let stopped = run(&scenario("s", 1), &engines, THREE, &mut (), &AtomicBool::new(true)).unwrap();
    assert!(stopped.is_none());
}

#[test]
fn the_simulator_agrees_with_itself() {
    let text = r#"
        duration = "5s"
        [[link]]
        between = ["a", "b"]
        rate = "2Mbit/s"
        delay = "20ms"
        channel = { kind = "bernoulli", per = 0.01 }
        [[flow]]
        from = "a"
        to = "b"
    "#;
    let scenario = Document::parse("s.toml", text).unwrap().scenario().unwrap();
    let runs = Runs { count: 2, jobs: None, series: true };
    let engines: [&dyn Engine; 2] = [&Simulator, &Simulator];
    let sides = run(&scenario, &engines, runs, &mut (), &AtomicBool::new(false)).unwrap().unwrap();
    assert!(!sides[0][0].series.is_empty() && sides[0][1].series.is_empty(), "only the first seed's");
    let mut comparison = Comparison::new(&sides).unwrap();
    let tolerances =
        ["goodput=0%", "drops.channel=0", "utilisation=0%"].map(|t| Tolerance::parse(t).unwrap());
    comparison.hold(&tolerances).unwrap();
    assert!(comparison.holds, "{:?}", comparison.tolerances);
    assert!(row(&comparison, "drops.channel").values[0].mean > Some(0.0));
}

#[test]
fn the_json_has_the_documented_keys() {
    let mut comparison = Comparison::new(&[vec![outcome(1, &[2.0])], vec![outcome(1, &[1.0])]]).unwrap();
    comparison.hold(&[Tolerance::parse("goodput=10%").unwrap()]).unwrap();
    let json = serde_json::to_value(&comparison).unwrap();
    let keys = |value: &serde_json::Value, keys: &str| {
        let mut there: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        let mut wanted: Vec<_> = keys.split_whitespace().collect();
        there.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(there, wanted);
    };
    keys(&json, "truckee scenario confidence seeds engines flows links tolerances holds");
    keys(&json["engines"][0], "name digests simulated_s wall_s");
    keys(&json["flows"][0], "name sender receiver metrics");
    keys(&json["flows"][0]["metrics"][0], "metric unit share values against");
    keys(&json["flows"][0]["metrics"][0]["values"][0], "n incomplete mean sd half_width");
    keys(&json["flows"][0]["metrics"][0]["against"][0], "engine n incomplete ratio difference interval");
    keys(&json["tolerances"][0], "tolerance metric subject engine allowed off holds note");
    assert_eq!((&json["holds"], &json["tolerances"][0]["off"]), (&false.into(), &0.5.into()));
}
