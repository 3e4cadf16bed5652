//! The scenarios that hold the simulator against this machine's kernel, `validation/kernel`: each states what it is for
//! and how near the engines are, in tolerances that `truckee compare` reads.
//!
//! Not for: running them, which is a measurement and not a test (`make live`), or why the engines differ by what they do
//! differ (docs/kernel.md).

#![allow(clippy::unwrap_used)] // a test says so by failing

use std::fs;
use std::path::{Path, PathBuf};
use truckee_lab::compare::Tolerance;
use truckee_scenario::Document;

/// How many there are; one that is lost is not to go unnoticed.
const SCENARIOS: usize = 14;

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/kernel");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    paths.sort();
    paths
}

/// What the lines `# tolerance: METRIC=BOUND, …` of a scenario say.
fn tolerances(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("# tolerance:"));
    lines.flat_map(|line| line.split(',')).map(str::trim).collect()
}

#[test]
fn every_scenario_states_what_it_is_for_and_how_near_the_engines_are() {
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), SCENARIOS);
    for path in scenarios {
        let at = path.display();
        let text = fs::read_to_string(&path).unwrap();
        let comment: Vec<_> = text.lines().take_while(|line| line.starts_with('#')).collect();
        assert!(!comment[0].starts_with("# tolerance:"), "{at} does not say what it is for");
        let tolerances = tolerances(&text);
        for metric in ["goodput=", "retransmitted", "rtt="] {
            assert!(tolerances.iter().any(|t| t.starts_with(metric)), "{at} says nothing of {metric}");
        }
        for tolerance in tolerances {
            assert!(Tolerance::parse(tolerance).is_ok(), "{at}: {tolerance}");
        }
        Document::parse(&at.to_string(), &text).unwrap().scenario().unwrap();
    }
}
