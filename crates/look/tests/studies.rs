//! The built-in studies on the simulator, in their quick form, each a test of its own name: no check may fail. Live ones
//! are run by `make live`, those of recordings where `TRUCKEE_DATA` names them. `TRUCKEE_STUDIES=full` runs the full form, `TRUCKEE_STUDIES_DIR` keeps what was run.

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use truckee_engines::Simulator;
use truckee_engines::drive::Algorithms;
use truckee_lab::Cancel;
use truckee_lab::study::{self, RunOptions, Study, StudyReport, Verdict};

fn options() -> RunOptions {
    let full = std::env::var("TRUCKEE_STUDIES").is_ok_and(|v| v == "full");
    let dir = std::env::var_os("TRUCKEE_STUDIES_DIR").map(Into::into);
    // Studies run beside each other: a thread for each is enough.
    RunOptions { quick: !full, jobs: Some(1), dir, ..RunOptions::default() }
}

/// What is wrong with a study's rows, one a line.
fn failures(report: &StudyReport) -> Vec<String> {
    let failed = report.rows.iter().filter(|row| row.verdict == Verdict::Fail);
    let said = failed.map(|row| {
        format!(
            "{} [{}]: published {:?}, measured {:?} {:?} {}, demanded {}: {}",
            row.check, row.cell, row.published, row.measured, row.interval, row.unit, row.demand, row.note
        )
    });
    said.collect()
}

fn hold(study: &Study) -> Result<(), Failed> {
    let options = options();
    let mut ran = study::run(study, &Simulator, &options, &mut (), &Cancel::new())?;
    if let Some(dir) = options.dir.as_ref().filter(|_| ran.report.complete) {
        truckee_look::study::keep(study, &mut ran, &study.dir(dir, options.quick))?;
    }
    let report = ran.report;
    println!("{}: {:?}, {} runs in {:.1} s", report.id, report.counts, report.runs, report.wall_s);
    let failures = failures(&report);
    match (&report.skipped, report.rows.len()) {
        (Some(why), _) => Err(format!("not run: {why}").into()),
        (None, 0) => Err("it has checked nothing".into()),
        (None, _) if failures.is_empty() => Ok(()),
        (None, _) => Err(failures.join("\n").into()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let studies = match study::builtin(&Algorithms) {
        Ok(studies) => studies,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let simulated =
        studies.into_iter().filter(|study| study::known(study, &Simulator, options().quick).is_ok());
    // What may not be handed on is nowhere in this repository: where it is missing, a study of it is left out and counted.
    let trials = simulated.map(|study| {
        let lacks = study.lacks().is_some();
        Trial::test(study.id.clone(), move || hold(&study)).with_ignored_flag(lacks)
    });
    let trials = trials.collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
