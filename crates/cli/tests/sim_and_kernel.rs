//! The simulator against this machine's kernel: every scenario of `validation/kernel`, three seeds on each engine, within
//! the tolerances that its file states. Real time, two minutes; skipped only where the kernel engine cannot run.
//!
//! Not for: why the engines differ by what they do differ (docs/kernel.md).

#![allow(clippy::unwrap_used)] // a test says so by failing

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use truckee_kernel::doctor::{self, Capability};

/// How many there are; one that is lost is not to go unnoticed.
const SCENARIOS: usize = 14;
/// Seeds of each, and its live runs at once.
const RUNS: &str = "3";
/// Scenarios at once: six live runs, of which each needs a tenth of a processor at most.
const AT_ONCE: usize = 2;

/// A scenario and how far the kernel may be from the simulator on it.
struct Case {
    path: PathBuf,
    tolerances: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/kernel")
}

/// What the lines `# tolerance: METRIC=BOUND, …` of a scenario say.
fn tolerances(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("# tolerance:"));
    lines.flat_map(|line| line.split(',')).map(str::trim).collect::<Vec<_>>().join(",")
}

fn cases() -> Vec<Case> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    paths.sort();
    let case = |path: PathBuf| {
        let tolerances = tolerances(&fs::read_to_string(&path).unwrap());
        Case { path, tolerances }
    };
    paths.into_iter().map(case).collect()
}

fn compare(case: &Case) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    command.arg("compare").arg(&case.path).args(["--runs", RUNS, "--jobs", RUNS]);
    command.args(["--tolerance", &case.tolerances]).env("NO_COLOR", "1").output().unwrap()
}

/// What this machine lacks.
fn missing() -> Option<String> {
    use Capability::{Btf, StructOps, Tracing};
    let missing = truckee_kernel::check().and_then(|()| doctor::check(&[Btf, StructOps, Tracing]));
    missing.err().map(|error| error.to_string())
}

#[test]
fn every_scenario_states_what_it_is_for_and_how_near_the_engines_are() {
    let cases = cases();
    assert_eq!(cases.len(), SCENARIOS);
    for case in cases {
        let at = case.path.display();
        let text = fs::read_to_string(&case.path).unwrap();
        let comment: Vec<_> = text.lines().take_while(|line| line.starts_with('#')).collect();
        assert!(!comment[0].starts_with("# tolerance:"), "{at} does not say what it is for");
        for metric in ["goodput=", "retransmitted", "rtt="] {
            assert!(case.tolerances.contains(metric), "{at} says nothing of {metric}");
        }
    }
}

/// What is said of each case that is beyond its tolerances; so many are run at once.
fn beyond<'a>(cases: &[&'a Case], at_once: usize) -> Vec<(&'a Case, String)> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = compare(case);
                    if !done.status.success() {
                        let said =
                            [done.stdout, done.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
                        failed.lock().unwrap().push((*case, said.concat()));
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap()
}

#[test]
fn the_kernel_does_what_the_simulator_does() {
    if let Some(why) = missing() {
        eprintln!("skipped: {why}");
        return;
    }
    let cases = cases();
    let first = beyond(&cases.iter().collect::<Vec<_>>(), AT_ONCE);
    // Real time: a machine that stood still for some tens of milliseconds is not the kernel's TCP. What is wrong is wrong
    // again, alone.
    for (case, said) in &first {
        eprintln!("beyond, and tried again: {}\n{said}", case.path.display());
    }
    let again = beyond(&first.iter().map(|(case, _)| *case).collect::<Vec<_>>(), 1);
    let said: Vec<_> = again.iter().map(|(case, said)| format!("{}:\n{said}", case.path.display())).collect();
    assert!(again.is_empty(), "twice beyond: {} of {SCENARIOS} scenarios\n{}", again.len(), said.join("\n"));
}
