//! The studies that come with the program, read by who can drive all that they drive.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_engines::drive::Algorithms;
use truckee_lab::EngineName;
use truckee_lab::study::{builtin, find};

#[test]
fn every_study_has_grids_that_can_be_run_whole_and_quick() {
    let studies = builtin(&Algorithms).unwrap();
    assert!(studies.len() >= 4);
    // Those of recordings that are not here cannot even be read whole.
    for study in studies.iter().filter(|study| study.lacks().is_none()) {
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

#[test]
fn every_check_names_a_rival_that_must_fail_it() {
    let mut lacking = Vec::new();
    for study in builtin(&Algorithms).unwrap() {
        let without = study.checks.iter().filter(|check| check.rival.is_none());
        lacking.extend(without.map(|check| format!("{}: {}", study.id, check.name)));
    }
    assert!(lacking.is_empty(), "no `rival`:\n{}", lacking.join("\n"));
}

#[test]
fn an_unknown_study_is_refused_with_the_nearest() {
    let message = find("wireless-downlod", &Algorithms).unwrap_err().to_string();
    assert_eq!(message, "there is no study \"wireless-downlod\"; did you mean \"wireless-download\"?");
}
