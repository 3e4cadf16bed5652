use super::*;
use crate::stats::{CONFIDENCE, Estimate};
use crate::testing::{Fake as Lively, outcome, scenario};
use crate::{Cancel, Engine, Error, Failure};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use truckee_scenario::{Outcome, Scenario, Span};

/// Goodput is the parameter plus noise by the seed; every call is written down.
struct Fake {
    calls: Mutex<Vec<(u64, u64)>>,
    noise: f64,
    fail_at: Option<u64>,
    cancel_after: Option<(usize, Cancel)>,
    count: AtomicUsize,
}

fn fake(noise: f64) -> Fake {
    Fake { calls: Mutex::default(), noise, fail_at: None, cancel_after: None, count: AtomicUsize::new(0) }
}

impl Engine for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn run(&self, scenario: &Scenario, _series: bool) -> Result<Outcome, Failure> {
        self.calls.lock().unwrap().push((scenario.duration.nanos(), scenario.seed));
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some((after, cancel)) = &self.cancel_after
            && count >= *after
        {
            cancel.cancel();
        }
        if self.fail_at == Some(scenario.duration.nanos()) {
            return Err("no route".into());
        }
        // A pseudo-random phase, the same for the same seed.
        let wave =
            (scenario.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
        Ok(outcome(scenario.seed, &[1000.0 + scenario.duration.as_f64() + self.noise * wave]))
    }
}

fn plan(points: u64, runs: Runs) -> Plan {
    let (axes, _) = crate::grid::axes(&[format!("p=0..{}", points - 1)]).unwrap();
    let scenarios = (0..points).map(|k| scenario("s", k)).collect();
    Plan::new(Grid::of(axes, scenarios).unwrap(), runs, vec![])
}

fn go(plan: &Plan, engine: &Fake, dir: Option<&Path>) -> Result<Sweep, Error> {
    sweep(plan, engine, dir, &mut (), &Cancel::new())
}

#[test]
fn the_result_is_the_same_on_one_thread_and_on_many() {
    let mut plan = plan(7, Runs::Count(9));
    plan.jobs = Some(1);
    let one = go(&plan, &fake(10.0), None).unwrap();
    plan.jobs = Some(8);
    let many = go(&plan, &fake(10.0), None).unwrap();
    assert_eq!(one.rows, many.rows);
    assert_eq!(one.rows.len(), 63);
    assert!(one.complete && one.rows.iter().is_sorted_by_key(|r| (r.point, r.seed)));
}

#[test]
fn seeds_count_up_from_the_scenarios_own_or_are_given() {
    let engine = fake(1.0);
    let from_40 = |k| Scenario { seed: 40, ..scenario("s", k) };
    let counted = plan(2, Runs::Count(3));
    let grid = Grid::of(counted.grid.axes.clone(), vec![from_40(0), from_40(1)]).unwrap();
    let counted = Plan { grid, ..counted };
    let seeds = |s: &Sweep| s.rows_at(0).iter().map(|r| r.seed).collect::<Vec<_>>();
    assert_eq!(seeds(&go(&counted, &engine, None).unwrap()), [40, 41, 42]);
    assert_eq!(seeds(&go(&plan(2, Runs::Seeds(vec![9, 4])), &engine, None).unwrap()), [4, 9]);
}

#[test]
fn an_interrupted_sweep_resumes_with_each_cell_exactly_once() {
    let cancel = Cancel::new();
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(5, Runs::Count(20));
    let first = Fake { cancel_after: Some((30, cancel.clone())), ..fake(5.0) };
    let partial = sweep(&plan, &first, Some(dir.path()), &mut (), &cancel).unwrap();
    assert!(!partial.complete && partial.rows.len() >= 30 && partial.rows.len() < 100);
    assert_eq!(partial.rows.len(), first.calls.lock().unwrap().len(), "what ran is kept");

    // A kill in mid write, and a part torn by a power cut.
    std::fs::write(dir.path().join("parts/part-00000077-0.tmp"), b"torn").unwrap();
    let parts = std::fs::read_dir(dir.path().join("parts")).unwrap().map(|e| e.unwrap().path());
    let part = parts.filter(|p| p.extension().is_some_and(|e| e == "parquet")).min().unwrap();
    let bytes = std::fs::read(&part).unwrap();
    std::fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();

    struct Warnings(Vec<String>, usize, usize);
    impl Progress for Warnings {
        fn started(&mut self, _: usize, done: usize) {
            self.1 = done;
        }
        fn finished(&mut self, _: Cell) {
            self.2 += 1;
        }
        fn warned(&mut self, message: &str) {
            self.0.push(message.into());
        }
    }
    let mut seen = Warnings(vec![], 0, 0);
    let second = fake(5.0);
    let whole = sweep(&plan, &second, Some(dir.path()), &mut seen, &Cancel::new()).unwrap();
    assert_eq!(seen.0.len(), 1, "{:?}", seen.0);
    assert_eq!(seen.1 + seen.2, 100);
    assert_eq!(second.calls.lock().unwrap().len(), seen.2, "nothing kept is run again");
    assert!(seen.1 < partial.rows.len(), "what was torn is run again");
    assert_eq!(whole.rows, go(&plan, &fake(5.0), None).unwrap().rows, "as if never interrupted");
    assert!(whole.file.unwrap().exists());

    let third = fake(5.0);
    go(&plan, &third, Some(dir.path())).unwrap();
    assert!(third.calls.lock().unwrap().is_empty(), "a finished sweep has nothing to do");
}

#[test]
fn whichever_byte_of_a_part_is_another_only_the_cells_that_are_named_run_again() {
    struct Said(Vec<String>);
    impl Progress for Said {
        fn warned(&mut self, message: &str) {
            self.0.push(message.into());
        }
    }
    let whole = tempfile::tempdir().unwrap();
    let plan = plan(4, Runs::Count(20));
    let before = go(&plan, &fake(5.0), Some(whole.path())).unwrap();
    let parts = |dir: &Path| std::fs::read_dir(dir.join("parts")).unwrap().map(|e| e.unwrap().path());
    let largest = parts(whole.path()).max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let bytes = std::fs::read(&largest).unwrap();
    let runs_in = |bytes: &[u8]| {
        let mut runs = 0;
        crate::store::for_each_batch(
            bytes.to_vec(),
            |_| true,
            |batch| {
                runs += batch.num_rows();
                Ok(())
            },
        )
        .map(|()| runs)
    };
    let of_part = runs_in(&bytes).unwrap();
    let mut less = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("parts")).unwrap();
        for name in ["sweep.json", "points.parquet"] {
            std::fs::copy(whole.path().join(name), dir.path().join(name)).unwrap();
        }
        for part in parts(whole.path()) {
            let to = dir.path().join("parts").join(part.file_name().unwrap());
            let mut bytes = std::fs::read(&part).unwrap();
            if part == largest {
                bytes[at] ^= 0x24;
            }
            std::fs::write(to, bytes).unwrap();
        }
        let (engine, mut said) = (fake(5.0), Said(Vec::new()));
        let after = sweep(&plan, &engine, Some(dir.path()), &mut said, &Cancel::new()).unwrap();
        assert_eq!(after.rows, before.rows, "at {at}");
        assert_eq!(said.0.len(), 1, "at {at}: {:?}", said.0);
        let calls = engine.calls.lock().unwrap();
        assert!(calls.len() <= of_part, "at {at}: {} of {of_part}", calls.len());
        less += usize::from(calls.len() < of_part);
        for &(point, seed) in calls.iter().filter(|_| calls.len() <= 8 && said.0[0].contains(" (cell ")) {
            let key = plan.keys(&engine)[point as usize];
            assert!(said.0[0].contains(&key.cell(seed).to_string()), "at {at}: {:?}", said.0);
        }
    }
    assert!(less > 20, "{less} of 40 flips cost less than the part");
}

#[test]
fn more_seeds_may_be_added_but_another_scenario_may_not() {
    let dir = tempfile::tempdir().unwrap();
    go(&plan(3, Runs::Count(2)), &fake(1.0), Some(dir.path())).unwrap();
    let engine = fake(1.0);
    assert_eq!(go(&plan(3, Runs::Count(4)), &engine, Some(dir.path())).unwrap().rows.len(), 12);
    assert_eq!(engine.calls.lock().unwrap().len(), 6);
    assert_eq!(
        go(&plan(3, Runs::Count(1)), &engine, Some(dir.path())).unwrap().rows.len(),
        3,
        "fewer are asked"
    );
    let late = |k| Scenario { warmup: Span::ns(5), ..scenario("s", k) };
    let other = plan(3, Runs::Count(2));
    let other =
        Plan { grid: Grid::of(other.grid.axes.clone(), (0..3).map(late).collect()).unwrap(), ..other };
    assert!(matches!(go(&other, &engine, Some(dir.path())), Err(Error::OtherSweep { .. })));
}

#[test]
fn a_failing_cell_ends_the_sweep_is_named_and_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(4, Runs::Count(3));
    plan.jobs = Some(1);
    let error = go(&plan, &Fake { fail_at: Some(2), ..fake(1.0) }, Some(dir.path())).unwrap_err();
    assert_eq!(error.to_string(), "at p=2: seed 1: no route");
    let mended = fake(1.0);
    assert_eq!(go(&plan, &mended, Some(dir.path())).unwrap().rows.len(), 12);
    assert!(mended.calls.lock().unwrap().len() < 12, "points 0 and 1 were kept");
}

#[test]
fn a_live_run_that_breaks_off_costs_that_run_and_not_the_sweep() {
    struct Warnings(Vec<String>);
    impl Progress for Warnings {
        fn warned(&mut self, message: &str) {
            self.0.push(message.into());
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let engine = Lively::breaking(|length, seed, time| (length, seed, time) == (10, 2, 1));
    let mut seen = Warnings(Vec::new());
    let whole = sweep(&live_plan(6), &engine, Some(dir.path()), &mut seen, &Cancel::new()).unwrap();
    assert!(whole.complete && whole.rows.len() == 12);
    assert_eq!(seen.0, ["at p=0, seed 2: a run broke off, and is made again: a record was lost"]);
    assert_eq!(whole.live_runs().unwrap(), LiveRuns { runs: 12, invalid: 0, replaced: 1, unknown: 0 });
    assert_eq!(engine.asked.lock().unwrap().len(), 13);
}

#[test]
fn one_that_breaks_off_again_and_again_ends_the_sweep_and_the_others_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Lively::breaking(|length, seed, _| (length, seed) == (10, 2));
    let go = |engine: &Lively| sweep(&live_plan(6), engine, Some(dir.path()), &mut (), &Cancel::new());
    assert_eq!(go(&engine).unwrap_err().to_string(), "at p=0: seed 2: a record was lost");
    assert_eq!(engine.asked.lock().unwrap().len(), 14, "twice more");
    let mended = Lively::live();
    assert!(go(&mended).unwrap().complete);
    assert_eq!(*mended.asked.lock().unwrap(), [2]);
}

#[test]
fn what_is_cancelled_leaves_another_sweep_of_the_same_process_alone() {
    let (stopped, other) = (Cancel::new(), Cancel::new());
    let plan = plan(5, Runs::Count(20));
    let (first, second) = (Fake { cancel_after: Some((10, stopped.clone())), ..fake(5.0) }, fake(5.0));
    let (cut, whole) = std::thread::scope(|scope| {
        let cut = scope.spawn(|| sweep(&plan, &first, None, &mut (), &stopped).unwrap());
        // It goes on long after the other one has ended.
        while !stopped.is_cancelled() {
            std::thread::yield_now();
        }
        (cut.join().unwrap(), sweep(&plan, &second, None, &mut (), &other).unwrap())
    });
    assert!(!cut.complete && cut.rows.len() < 100);
    assert!(whole.complete && whole.rows.len() == 100 && !other.is_cancelled());
}

#[test]
fn a_run_that_ends_at_ctrl_c_has_not_failed() {
    let cancel = Cancel::new();
    let mut plan = plan(4, Runs::Count(3));
    plan.jobs = Some(1);
    let engine = Fake { cancel_after: Some((7, cancel.clone())), fail_at: Some(2), ..fake(1.0) };
    // The failing point is reached with the flag raised, as by a signal that both the run and the sweep see.
    let partial = sweep(&plan, &engine, None, &mut (), &cancel).unwrap();
    assert!(!partial.complete && partial.rows.len() == 6, "{}", partial.rows.len());
}

fn precise(target: f64) -> Runs {
    Runs::Precision { target, metric: Metric::parse("goodput_bps").unwrap() }
}

#[test]
fn seeds_are_added_until_the_target_is_met_and_no_further() {
    let plan = plan(2, precise(0.02));
    let sweep = go(&plan, &fake(400.0), None).unwrap();
    assert!(sweep.imprecise.is_empty());
    for point in 0..2 {
        let values: Vec<_> = sweep.values(point, "goodput_bps").into_iter().map(|v| v.1).collect();
        let met = |n: usize| {
            let e = Estimate::of(values[..n].iter().copied(), CONFIDENCE);
            e.relative_half_width().is_some_and(|w| w <= 0.02)
        };
        assert!(met(values.len()) && values.len() as u64 > MIN_SEEDS, "{}", values.len());
        assert!(!met(values.len() / 2), "half as many would have done");
    }
}

#[test]
fn a_precision_target_has_its_bounds() {
    let quiet = go(&plan(1, precise(0.02)), &fake(0.0), None).unwrap();
    assert_eq!(quiet.rows.len() as u64, MIN_SEEDS);
    let loud = go(&plan(1, precise(1e-6)), &fake(400.0), None).unwrap();
    assert_eq!((loud.rows.len() as u64, loud.imprecise), (MAX_SEEDS, vec![0]));
}

#[test]
fn a_precision_target_decides_alike_when_resumed() {
    let cancel = Cancel::new();
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(3, precise(0.02));
    let straight = go(&plan, &fake(400.0), None).unwrap();
    let cut = Fake { cancel_after: Some((21, cancel.clone())), ..fake(400.0) };
    sweep(&plan, &cut, Some(dir.path()), &mut (), &cancel).unwrap();
    let resumed = go(&plan, &fake(400.0), Some(dir.path())).unwrap();
    assert_eq!(straight.rows, resumed.rows);
}

#[test]
fn values_pair_by_common_seeds() {
    let sweep = go(&plan(2, Runs::Count(4)), &fake(50.0), None).unwrap();
    let pairs = sweep.pairs((1, "goodput_bps"), (0, "goodput_bps"));
    assert_eq!(pairs.len(), 4);
    assert!(pairs.iter().all(|(a, b)| (a.unwrap() - b.unwrap() - 1.0).abs() < 1e-9));
}

/// Two points of 10 s and 20 s, to be run live.
fn live_plan(runs: u64) -> Plan {
    let plan = plan(2, Runs::Count(runs));
    let scenarios = [10, 20].map(|s| scenario("s", s * 1_000_000_000));
    let grid = Grid::of(plan.grid.axes.clone(), scenarios.into()).unwrap();
    Plan { grid, jobs: Some(1), ..plan }
}

fn go_live(plan: &Plan, engine: &Lively, dir: Option<&Path>) -> Sweep {
    sweep(plan, engine, dir, &mut (), &Cancel::new()).unwrap()
}

#[test]
fn a_run_in_which_the_machine_was_late_is_made_again_under_the_same_seed() {
    let engine = Lively::late(|seconds, seed, time| seconds == 20 && seed == 3 && time < 3);
    let dir = tempfile::tempdir().unwrap();
    let sweep = go_live(&live_plan(4), &engine, Some(dir.path()));
    assert_eq!(*engine.asked.lock().unwrap(), [1, 2, 3, 4, 1, 2, 3, 4, 3, 3]);
    let live = sweep.live_runs().unwrap();
    assert_eq!(live, LiveRuns { runs: 8, invalid: 0, replaced: 2, unknown: 0 });
    let valid = go_live(&live_plan(4), &Lively::live(), None);
    assert_eq!(
        sweep.values(1, "goodput_bps"),
        valid.values(1, "goodput_bps"),
        "the late ones are in no figure"
    );
    let engine = Lively::live();
    assert_eq!(go_live(&live_plan(4), &engine, Some(dir.path())).rows, sweep.rows);
    assert!(engine.asked.lock().unwrap().is_empty(), "what is valid is never run again");
}

#[test]
fn with_the_budget_spent_what_is_invalid_stays_and_is_marked() {
    let engine = Lively::late(|seconds, _, _| seconds == 10);
    let dir = tempfile::tempdir().unwrap();
    let sweep = go_live(&live_plan(3), &engine, Some(dir.path()));
    // Six runs planned: three replacements, and three invalid runs that each want two.
    assert_eq!(engine.asked.lock().unwrap().len(), 6 + 3);
    assert_eq!(sweep.live_runs().unwrap(), LiveRuns { runs: 6, invalid: 3, replaced: 3, unknown: 0 });
    assert_eq!((sweep.invalid(0), sweep.invalid(1)), ([1, 2, 3].into(), BTreeSet::new()));
    assert_eq!((sweep.rows.len(), sweep.complete), (6, true));
    let again = Lively::live();
    assert_eq!(
        go_live(&live_plan(3), &again, Some(dir.path())).rows,
        sweep.rows,
        "the budget was this sweep's"
    );
    assert!(again.asked.lock().unwrap().is_empty());
    // More runs are planned, and with them more replacements: of three invalid runs, two.
    let more = Lively::live();
    let sweep = go_live(&live_plan(5), &more, Some(dir.path()));
    assert_eq!(*more.asked.lock().unwrap(), [5, 4, 5, 4, 1, 2]);
    assert_eq!(sweep.invalid(0), [3].into());
}

#[test]
fn a_sweep_that_is_stopped_among_its_replacements_goes_on_with_them() {
    static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::new);
    let dir = tempfile::tempdir().unwrap();
    let engine = Lively::late(|_, seed, time| {
        if time == 2 {
            CANCEL.cancel();
        }
        seed < 3
    });
    let partial = sweep(&live_plan(4), &engine, Some(dir.path()), &mut (), &CANCEL).unwrap();
    assert!(!partial.complete && partial.rows.len() == 8, "all cells have a run, one of them a second");
    assert_eq!(partial.live_runs().unwrap().replaced, 1);
    let rest = Lively::live();
    let whole = go_live(&live_plan(4), &rest, Some(dir.path()));
    // Of eight runs planned half are replaced, those before the stop included.
    assert_eq!(whole.live_runs().unwrap(), LiveRuns { runs: 8, invalid: 1, replaced: 4, unknown: 0 });
    assert_eq!(*rest.asked.lock().unwrap(), [1, 1, 2], "not one point after the other");
    assert!(whole.complete);
}

#[test]
fn a_simulation_has_no_live_runs_to_tell_of() {
    assert_eq!(go(&plan(2, Runs::Count(2)), &fake(1.0), None).unwrap().live_runs(), None);
}
