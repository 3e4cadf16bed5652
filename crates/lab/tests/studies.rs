//! The built-in studies on the simulator, in their quick form: no check may fail. Live ones are skipped here.

use std::sync::atomic::AtomicBool;
use truckee_lab::Simulator;
use truckee_lab::study::{self, RunOptions, Verdict};

#[test]
fn no_check_of_a_built_in_study_fails() {
    let full = std::env::var("TRUCKEE_STUDIES").is_ok_and(|v| v == "full");
    let out = std::env::var_os("TRUCKEE_STUDIES_DIR").map(Into::into);
    let options = RunOptions { quick: !full, dir: out, ..RunOptions::default() };
    let mut failed = Vec::new();
    for study in study::builtin().unwrap() {
        let report = study::run(&study, &Simulator, &options, &mut (), &AtomicBool::new(false)).unwrap();
        println!("{}: {:?}, {} runs in {:.1} s", report.id, report.counts, report.runs, report.wall_s);
        if let Some(why) = &report.skipped {
            println!("  skipped: {why}");
        }
        for row in &report.rows {
            println!(
                "  {:?} {} [{}] published {:?} measured {:?} {:?} {} {} {}",
                row.verdict,
                row.check,
                row.cell,
                row.published,
                row.measured,
                row.interval,
                row.unit,
                row.demand,
                row.note
            );
        }
        let fails = report.rows.into_iter().filter(|r| r.verdict == Verdict::Fail);
        failed.extend(fails.map(|r| format!("{}: {} [{}]: {}", report.id, r.check, r.cell, r.note)));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
