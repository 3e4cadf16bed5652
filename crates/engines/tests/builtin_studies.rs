//! The studies that come with the program, read by who can drive all that they drive.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_engines::drive::Algorithms;
use truckee_lab::EngineName;
use truckee_lab::study::{builtin, find};

#[test]
fn every_study_has_grids_that_can_be_run_whole_and_quick() {
    let studies = builtin(&Algorithms).unwrap();
    assert!(studies.len() >= 4);
    for study in &studies {
        // What `truckee_engines::all` has where it is built with all of them.
        let known = |name: &EngineName| ["sim", "kernel", "probe"].contains(&name.as_str());
        assert!(study.engines(false).iter().all(known), "{}", study.id);
        for sweep in &study.sweeps {
            for quick in [false, true] {
                study.grid(sweep, quick).unwrap();
            }
        }
    }
}

/// Studies of which a check may still lack a rival, or one that differs a cause. It only becomes shorter.
const OPEN: &[&str] = &[
    "bw-ack-compression",
    "bw-bias",
    "bw-coarse-clock",
    "bw-correlated",
    "bw-fairness",
    "bw-filters",
    "bw-goodput-live",
    "bw-goodput",
    "bw-mixed",
    "bw-rttmin",
    "bw-share",
    "bw-step",
    "bw-two-rtt",
    "lda-correlated",
    "lda-distribution",
    "lda-flipflop",
    "lda-high-per",
    "lda-ncpld",
    "lda-rtt",
    "lda-spike",
    "lda-vegas",
    "lp-comparison",
    "lp-cross-traffic",
    "lp-friendliness",
    "lp-goodput",
    "lp-handoff",
    "lp-highspeed",
    "lp-overhead",
    "lp-rtt",
    "lp-short",
    "lp-testbed",
    "lp-web",
    "route-change",
    "ack-policies",
    "detector-comparison",
    "lp-small-queue",
    "taba-detector",
    "response-function",
    "santa-cruz",
    "selective-start",
    "wireless-delay",
    "wireless-download",
];

#[test]
fn every_check_names_a_rival_that_must_fail_it_and_every_difference_its_cause() {
    let mut lacking = Vec::new();
    for study in builtin(&Algorithms).unwrap().iter().filter(|study| !OPEN.contains(&study.id.as_str())) {
        for check in &study.checks {
            let lacks = [
                ("rival", check.rival.is_none()),
                ("cause", check.differs.is_some() && check.cause.is_none()),
            ];
            let names = lacks.into_iter().filter(|(_, lacks)| *lacks).map(|(key, _)| key);
            lacking.extend(names.map(|key| format!("{}: {}: no `{key}`", study.id, check.name)));
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn an_unknown_study_is_refused_with_the_nearest() {
    let message = find("wireless-downlod", &Algorithms).unwrap_err().to_string();
    assert_eq!(message, "there is no study \"wireless-downlod\"; did you mean \"wireless-download\"?");
}
