use super::*;
use crate::Cancel;
use crate::realtime::LivePlan;
use crate::sweep::{Cell, Progress};
use crate::testing::{Fake, LATE, PUNCTUAL, outcome, scenario};
use crate::validity::LiveRuns;
use crate::{Engine, Failure};
use std::time::Duration;
use truckee_scenario::Scenario;
use truckee_scenario::outcome::LinkOutcome;

const THREE: Runs = Runs { count: 3, at_most: 3, jobs: None, series: false, as_written: false };

fn sides() -> Vec<Vec<Outcome>> {
    let engines: [&dyn Engine; 2] = [&Fake::new(), &Fake::live()];
    run(&scenario("s", 10_000_000_000), &engines, THREE, &mut (), &Cancel::new()).unwrap().unwrap()
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
    assert!(broken(&sides, "timeouts=3").is_empty());
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
    run(&scenario("s", 10_000_000_000), &engines, THREE, &mut seen, &Cancel::new()).unwrap();
    let s = Duration::from_secs;
    assert_eq!(seen.0, [LivePlan { engine: "kernel".into(), runs: 3, at_once: 1, at_most: s(30) }]);
    assert_eq!(seen.1, [s(20), s(10), s(0)]);
    assert_eq!(seen.2.len(), 6);
    assert_eq!(*live.asked.lock().unwrap(), [1, 2, 3], "in order");
}

#[test]
fn stopped_in_between_there_is_nothing_to_compare() {
    let engines: [&dyn Engine; 2] = [&Fake::new(), &Fake::live()];
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = run(&scenario("s", 1), &engines, THREE, &mut (), &cancel).unwrap();
    assert!(stopped.is_none());
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
    keys(&json, "truckee scenario confidence seeds engines flows links notes tolerances holds verdict");
    keys(&json["engines"][0], "name digests simulated_s wall_s");
    keys(&json["flows"][0], "name sender receiver metrics");
    keys(&json["flows"][0]["metrics"][0], "metric unit share values against");
    keys(&json["flows"][0]["metrics"][0]["values"][0], "n incomplete mean sd half_width");
    keys(
        &json["flows"][0]["metrics"][0]["against"][0],
        "engine n incomplete ratio difference interval difference_interval",
    );
    keys(&json["tolerances"][0], "tolerance metric subject engine allowed off interval holds verdict note");
    assert_eq!((&json["holds"], &json["tolerances"][0]["off"]), (&false.into(), &0.5.into()));
}

/// Three runs on each of two live engines; the second has these goodputs where the first has 100.
fn goodputs(second: [f64; 3]) -> Vec<Vec<Outcome>> {
    let side = |goodputs: [f64; 3]| {
        let run = |(k, goodput): (usize, f64)| Outcome {
            digest: String::new(),
            lateness: Some(PUNCTUAL),
            ..outcome(k as u64 + 1, &[goodput])
        };
        goodputs.into_iter().enumerate().map(run).collect()
    };
    vec![side([100.0; 3]), side(second)]
}

fn verdicts(sides: &[Vec<Outcome>], tolerances: &[&str]) -> (Vec<Verdict>, Verdict, bool) {
    let mut comparison = Comparison::new(sides).unwrap();
    let tolerances: Vec<_> = tolerances.iter().map(|t| Tolerance::parse(t).unwrap()).collect();
    comparison.hold(&tolerances).unwrap();
    (comparison.tolerances.iter().map(|h| h.verdict).collect(), comparison.verdict, comparison.holds)
}

#[test]
fn the_interval_decides_whether_a_tolerance_holds_is_broken_or_undecided() {
    use Verdict::{Broken, Holds, Undecided};
    // A mean of 110, the interval 3.6 to either side.
    let sides = goodputs([109.0, 110.0, 111.0]);
    let by_interval = ["goodput=20%", "goodput=10%", "goodput=2%", "goodput=20", "goodput=12", "goodput=2"];
    let expected = vec![Holds, Undecided, Broken, Holds, Undecided, Broken];
    assert_eq!(verdicts(&sides, &by_interval), (expected, Broken, false));
    assert_eq!(verdicts(&sides, &["goodput=20%", "goodput=10%"]).1, Undecided);
    assert_eq!(verdicts(&sides, &["goodput=20%"]), (vec![Holds], Holds, true));
    // The mean alone is within these bounds, and would have passed.
    assert_eq!(verdicts(&goodputs([90.0, 100.0, 110.0]), &["goodput=1%"]).1, Undecided);
}

#[test]
fn without_an_interval_simulations_are_judged_by_what_they_gave_and_live_runs_are_not() {
    let sim = |goodput| vec![outcome(1, &[goodput])];
    assert_eq!(verdicts(&[sim(100.0), sim(100.0)], &["goodput=0%"]).1, Verdict::Holds);
    assert_eq!(verdicts(&[sim(100.0), sim(120.0)], &["goodput=10%"]).1, Verdict::Broken);
    let one_run: Vec<Vec<Outcome>> =
        goodputs([100.0; 3]).into_iter().map(|side| side[..1].to_vec()).collect();
    let mut comparison = Comparison::new(&one_run).unwrap();
    comparison.hold(&[Tolerance::parse("goodput=10%").unwrap()]).unwrap();
    let held = &comparison.tolerances[0];
    assert_eq!((held.verdict, held.holds, held.off), (Verdict::Undecided, false, Some(0.0)));
    assert_eq!(held.note, "there is no interval: it takes more runs");
}

#[test]
fn too_many_invalid_runs_are_not_judged_whatever_they_showed() {
    for second in [[100.0; 3], [500.0, 501.0, 502.0]] {
        let mut sides = goodputs(second);
        sides[1][2].lateness = Some(LATE);
        let mut comparison = Comparison::new(&sides).unwrap();
        comparison.hold(&[Tolerance::parse("goodput=10%").unwrap()]).unwrap();
        assert_eq!((comparison.verdict, comparison.holds), (Verdict::NotJudged, false));
        let why = "the machine was too late (1 of 6 live runs invalid)";
        assert_eq!(comparison.tolerances[0].note, why);
        assert_eq!(
            (comparison.not_judged.as_deref(), &comparison.engines[1].invalid_seeds),
            (Some(why), &vec![3])
        );
        let json = serde_json::to_value(&comparison).unwrap();
        assert_eq!((&json["verdict"], &json["live"]["invalid"]), (&"not-judged".into(), &1.into()));
    }
}

fn compared(engine: &Fake, runs: Runs, tolerance: &str) -> (Vec<Vec<Outcome>>, Comparison) {
    let engines: [&dyn Engine; 2] = [&Fake::new(), engine];
    let tolerances = [Tolerance::parse(tolerance).unwrap()];
    let scenario = scenario("s", 10_000_000_000);
    compare(&scenario, &engines, runs, &tolerances, &mut (), &Cancel::new()).unwrap().unwrap()
}

#[test]
fn a_run_in_which_the_machine_was_late_is_replaced_under_its_seed() {
    let engine = Fake::late(|_, seed, time| seed == 2 && time < 3);
    let (sides, comparison) = compared(&engine, THREE, "goodput=11%");
    assert_eq!(*engine.asked.lock().unwrap(), [1, 2, 3, 2, 2]);
    assert_eq!(sides[1][1].lateness.unwrap().replaces, 2, "the run says what it replaces");
    assert_eq!(comparison.live, Some(LiveRuns { runs: 3, replaced: 2, ..LiveRuns::default() }));
    assert_eq!(comparison.verdict, Verdict::Holds);
}

#[test]
fn a_live_run_that_breaks_off_is_made_again_and_the_others_are_kept() {
    let engine = Fake::breaking(|_, seed, time| (seed, time) == (2, 1));
    let runs = Runs { count: 4, at_most: 4, jobs: None, series: false, as_written: false };
    let (sides, _) = compared(&engine, runs, "goodput=50%");
    assert_eq!(sides[1].len(), 4);
    assert_eq!(*engine.asked.lock().unwrap(), [1, 2, 3, 4, 2]);
    let replaces: Vec<u64> = sides[1].iter().map(|o| o.lateness.unwrap().replaces).collect();
    assert_eq!(replaces, [0, 1, 0, 0]);
}

#[test]
fn what_goes_by_live_runs_is_run_after_them_and_again_where_they_are() {
    // The first look's budget of ten replacements mends the runs of four seeds, that of the second the two others.
    let (sim, live) = (Fake::following(), Fake::late(|_, seed, time| seed <= 6 && time < 3));
    let runs = Runs { count: 20, at_most: 40, jobs: Some(1), ..THREE };
    let tolerances = [Tolerance::parse("goodput=10%").unwrap()];
    let scenario = scenario("s", 10_000_000_000);
    let compared = compare(&scenario, &[&sim, &live], runs, &tolerances, &mut (), &Cancel::new());
    assert_eq!(compared.unwrap().unwrap().1.notes, ["as the live ones"]);
    let again: Vec<u64> = [5, 6].into_iter().chain(21..=40).collect();
    assert_eq!(*sim.asked.lock().unwrap(), [(1..=20).collect(), again].concat());
}

#[test]
fn on_a_machine_that_is_always_late_the_budget_ends_and_nothing_is_judged() {
    let engine = Fake::late(|_, _, _| true);
    let runs = Runs { at_most: 100, ..THREE };
    let (_, comparison) = compared(&engine, runs, "goodput=11%");
    assert_eq!(
        engine.asked.lock().unwrap().len(),
        3 + 2,
        "half as many replacements, rounded up, and no more seeds"
    );
    assert_eq!(comparison.verdict, Verdict::NotJudged);
}

#[test]
fn there_are_more_seeds_while_a_tolerance_is_undecided_and_no_more_than_asked_for() {
    // Off by 10 % or, under every other seed, by 55 %: nothing that an interval decides.
    let scattered = || Fake::late(|_, seed, _| seed.is_multiple_of(2));
    let runs = |count, at_most| Runs { count, at_most, ..THREE };
    let all = |engine: &Fake, runs, tolerance: &str| {
        let (sides, comparison) = compared(engine, runs, tolerance);
        (sides[1].len(), comparison.verdict)
    };
    assert_eq!(all(&Fake::live(), runs(3, 100), "goodput=20%"), (3, Verdict::Holds), "decided at once");
    assert_eq!(
        all(&Fake::live(), runs(1, 100), "goodput=20%"),
        (2, Verdict::Holds),
        "one run has no interval"
    );
    let noisy = Noisy::default();
    let engines: [&dyn Engine; 2] = [&Fake::new(), &noisy];
    let tolerances = [Tolerance::parse("goodput=12%").unwrap()];
    let scenario = scenario("s", 10_000_000_000);
    let go =
        |runs| compare(&scenario, &engines, runs, &tolerances, &mut (), &Cancel::new()).unwrap().unwrap();
    let (sides, comparison) = go(runs(2, 64));
    assert_eq!(comparison.verdict, Verdict::Holds, "{:?}", comparison.tolerances);
    assert!(
        sides[1].len() > 2 && sides[1].len() <= 64 && sides[1].len().is_power_of_two(),
        "{}",
        sides[1].len()
    );
    assert_eq!(sides[0].len(), sides[1].len());
    let (sides, comparison) = go(runs(2, 3));
    assert_eq!((sides[1].len(), comparison.verdict), (3, Verdict::Undecided));
    assert_eq!(
        all(&scattered(), runs(4, 64), "goodput=30%"),
        (4, Verdict::NotJudged),
        "more seeds mend no late machine"
    );
}

/// A live engine that is a tenth above or below the fake one, by turns.
#[derive(Default)]
struct Noisy(Fake);

impl Engine for Noisy {
    fn name(&self) -> &str {
        "kernel"
    }

    fn is_live(&self) -> bool {
        true
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        let mut outcome = self.0.run(scenario, series)?;
        outcome.flows[0].goodput_bps *= if scenario.seed.is_multiple_of(2) { 1.1 } else { 0.9 };
        Ok(Outcome { digest: String::new(), lateness: Some(PUNCTUAL), ..outcome })
    }
}
