//! Running a study: its sweeps and drives, its checks, its figures.

use super::check::evaluate;
use super::data::Data;
use super::file::is_watchers;
use super::report::{Counts, StudyReport};
use super::{Study, plot};
use crate::{Engine, Error, Metric, Plan, Progress, Runs, sweep};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How to run a study.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The quick form.
    pub quick: bool,
    /// Threads; `None`: one for each core.
    pub jobs: Option<usize>,
    /// Where runs and figures are kept, in a folder of the study's name (`ID` or `ID-quick`); `None`: nowhere, and
    /// there are no figures.
    pub dir: Option<PathBuf>,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// Runs a study. Interrupted by `cancel`, it gives an incomplete report, and with a directory goes on from there the
/// next time.
pub fn run(
    study: &Study,
    engine: &dyn Engine,
    options: &RunOptions,
    progress: &mut dyn Progress,
    cancel: &AtomicBool,
) -> Result<StudyReport, Error> {
    let started = Instant::now();
    let folder = if options.quick { format!("{}-quick", study.id) } else { study.id.clone() };
    let dir = options.dir.as_ref().map(|d| d.join(folder));
    let mut report = StudyReport {
        id: study.id.clone(),
        title: study.title.clone(),
        source: study.source.clone(),
        setup: study.setup.clone(),
        quick: options.quick,
        complete: false,
        rows: Vec::new(),
        counts: Counts::default(),
        figures: Vec::new(),
        runs: 0,
        wall_s: 0.0,
    };
    let mut all = Vec::new();
    for part in &study.sweeps {
        let watchers = |name: &&String| !part.by.is_some_and(|by| is_watchers(by, name));
        let more = part.metrics.iter().chain(wanted(study, &part.name)).filter(watchers);
        let more = more.map(|name| Metric::parse(name)).collect::<Result<_, _>>()?;
        let runs = Runs::Count(part.seeds(options.quick));
        let mut plan = Plan::new(study.grid(part, options.quick)?, runs, more);
        plan.jobs = options.jobs;
        plan.command = options.command.clone();
        let store = dir.as_ref().map(|d| d.join(&part.name));
        let done = sweep(&plan, engine, store.as_deref(), progress, cancel)?;
        report.runs += done.rows.len();
        if !done.complete {
            report.wall_s = started.elapsed().as_secs_f64();
            return Ok(report);
        }
        let data = Data::of_sweep(&part.name, &done);
        all.push(match part.by {
            Some(by) => data.by_watchers(by.name()),
            None => data,
        });
    }
    for drive in &study.drives {
        all.push(drive.run()?);
    }
    let fail = |what: &str, reason: String| Error::Study {
        file: study.id.clone(),
        reason: format!("{what}: {reason}"),
    };
    for check in &study.checks {
        let what = format!("check \"{}\"", check.name);
        let data = named(&all, check.of.as_ref()).ok_or_else(|| fail(&what, "no data".to_owned()))?;
        report.rows.extend(evaluate(check, data, options.quick).map_err(|reason| fail(&what, reason))?);
    }
    if let Some(dir) = &dir {
        std::fs::create_dir_all(dir).map_err(|e| Error::write(dir, e))?;
        for part in &study.figures {
            let what = format!("figure \"{}\"", part.name);
            let data = named(&all, part.of.as_ref()).ok_or_else(|| fail(&what, "no data".to_owned()))?;
            let path = dir.join(format!("{}.svg", part.name));
            plot::figure(study, part, data, &report.rows, options.quick)?.write(&path)?;
            report.figures.push(path);
        }
        for part in &study.maps {
            let what = format!("map \"{}\"", part.name);
            let data = named(&all, part.of.as_ref()).ok_or_else(|| fail(&what, "no data".to_owned()))?;
            if let Some(map) = plot::map(study, part, data, options.quick)? {
                let path = dir.join(format!("{}.svg", part.name));
                map.write(&path)?;
                report.figures.push(path);
            }
        }
    }
    report.counts = Counts::of(&report.rows);
    report.complete = true;
    report.wall_s = started.elapsed().as_secs_f64();
    Ok(report)
}

/// The metrics that checks and figures of a sweep ask for.
fn wanted<'a>(study: &'a Study, sweep: &'a str) -> impl Iterator<Item = &'a String> {
    let first = study.sweeps.first().is_some_and(|s| s.name == sweep);
    let is_of = move |of: &Option<String>| of.as_ref().map_or(first, |of| of == sweep);
    let checks = study.checks.iter().filter(move |c| is_of(&c.of)).map(|c| &c.metric);
    let figures = study.figures.iter().filter(move |f| is_of(&f.of)).flat_map(|f| &f.y);
    let maps = study.maps.iter().filter(move |m| is_of(&m.of)).map(|m| &m.metric);
    checks.chain(figures).chain(maps)
}

fn named<'a>(all: &'a [Data], name: Option<&String>) -> Option<&'a Data> {
    match name {
        Some(name) => all.iter().find(|d| d.name == *name),
        None => all.first(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Verdict;
    use crate::tests::outcome;
    use truckee_scenario::{Outcome, Scenario};

    /// Goodput is twice the duration in seconds, and the seed.
    struct Twice;

    impl Engine for Twice {
        fn name(&self) -> &'static str {
            "fake"
        }
        fn run(&self, scenario: &Scenario, _: bool) -> Result<Outcome, String> {
            let seconds = scenario.duration as f64 / 1e9;
            Ok(outcome(scenario.seed, &[2.0 * seconds + 0.01 * scenario.seed as f64]))
        }
    }

    const STUDY: &str = r#"
        id = "twice"
        title = "Twice the time"
        source = { paper = "nobody", place = "table 0" }
        setup = "none"
        scenario = '''
            duration = "1s"
            [[link]]
            between = ["a", "b"]
            rate = "1Mbit/s"
            delay = "1ms"
            [[flow]]
            from = "a"
            to = "b"
        '''
        [[sweep]]
        name = "main"
        vary = ["duration=10s,20s,40s"]
        runs = 4
        quick = { runs = 2, keep = { duration = ["10s", "20s"] } }
        [[check]]
        name = "formula"
        kind = "formula"
        metric = "goodput_bps"
        formula = "2 * t"
        let = { t = "duration" }
        tolerance = 0.01
        [[check]]
        name = "rises"
        kind = "rises"
        metric = "goodput_bps"
        along = "duration"
        [[check]]
        name = "the longest"
        kind = "within"
        metric = "goodput_bps"
        where = { duration = "40s" }
        published = 60
        tolerance = 0.1
        [[figure]]
        name = "curve"
        title = "Twice"
        x = "duration"
        y = ["goodput_bps"]
        x_label = "t / s"
        y_label = "goodput / bit/s"
    "#;

    #[test]
    fn a_study_runs_from_file_to_verdicts_and_figure() {
        let study = Study::parse("twice.toml", STUDY).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let options = RunOptions { dir: Some(dir.path().to_owned()), ..RunOptions::default() };
        let report = run(&study, &Twice, &options, &mut (), &AtomicBool::new(false)).unwrap();
        assert_eq!((report.runs, report.complete), (12, true));
        assert_eq!(report.counts, Counts { pass: 4, fail: 1, differs: 0, skipped: 0 });
        assert_eq!(report.rows[4].verdict, Verdict::Fail);
        assert!(!report.holds());
        assert!(std::fs::read_to_string(&report.figures[0]).unwrap().contains("goodput / bit/s"));
        assert!(dir.path().join("twice/main/rows.parquet").exists());
    }

    #[test]
    fn the_quick_form_is_smaller_and_skips() {
        let study = Study::parse("twice.toml", STUDY).unwrap();
        let options = RunOptions { quick: true, ..RunOptions::default() };
        let report = run(&study, &Twice, &options, &mut (), &AtomicBool::new(false)).unwrap();
        assert_eq!(report.runs, 4);
        assert_eq!(report.counts, Counts { pass: 3, fail: 0, differs: 0, skipped: 1 });
        assert!(report.holds());
    }

    #[test]
    fn an_interrupted_study_judges_nothing() {
        let study = Study::parse("twice.toml", STUDY).unwrap();
        let report = run(&study, &Twice, &RunOptions::default(), &mut (), &AtomicBool::new(true)).unwrap();
        assert!(!report.complete && report.rows.is_empty() && !report.holds());
    }

    #[test]
    fn a_scenario_that_cannot_be_read_is_the_studys_fault() {
        let study = Study::parse("twice.toml", &STUDY.replace("rate = \"1Mbit/s\"", "rate = 1")).unwrap();
        let error =
            run(&study, &Twice, &RunOptions::default(), &mut (), &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("sweep \"main\""), "{error}");
    }
}
