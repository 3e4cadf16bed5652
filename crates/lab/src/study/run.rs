//! Running a study: its sweeps and drives, and its checks.
//!
//! A study whose engines or recordings this machine does not have is not run at all: half of its checks would look like all
//! of them.

use super::check::evaluate;
use super::data::{self, Data};
use super::file::{Check, is_watchers};
use super::report::{Counts, StudyReport};
use super::{Study, SweepPart};
use crate::engine::{borne_jobs, default_jobs};
use crate::{Cancel, Engine, Engines, Error, Metric, Missing, Plan, Progress, Runs, sweep};
use std::path::PathBuf;
use std::time::Instant;

/// How to run a study.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The quick form.
    pub quick: bool,
    /// Runs at once; `None`: one a core, two a core where they are live, or as many live ones as the study says it bears, five a
    /// core at most. Never more live ones than it bears.
    pub jobs: Option<usize>,
    /// Where runs are kept, in a folder of the study's name (`ID` or `ID-quick`); `None`: nowhere.
    pub dir: Option<PathBuf>,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// A study that was run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What it found; without figures, which whoever looks at it draws.
    pub report: StudyReport,
    /// What its checks and figures look at, by name; nothing of a study that is not complete.
    pub data: Vec<Data>,
}

/// Runs a study. Interrupted by `cancel`, it gives an incomplete report, and with a directory goes on from there the
/// next time. Where an engine is missing it gives a report that says so.
pub fn run(
    study: &Study,
    engines: &dyn Engines,
    options: &RunOptions,
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Ran, Error> {
    let started = Instant::now();
    known(study, engines, options.quick)?;
    let dir = options.dir.as_ref().map(|d| study.dir(d, options.quick));
    let needed = study.engines(options.quick);
    let mut report = StudyReport {
        id: study.id.clone(),
        title: study.title.clone(),
        source: study.source.clone(),
        setup: study.setup.clone(),
        calibrated: study.calibrated.clone(),
        engines: needed.iter().cloned().collect(),
        quick: options.quick,
        complete: false,
        skipped: needed
            .iter()
            .find_map(|name| engines.find(name.as_str()).err())
            .map(|missing| missing.to_string())
            .or_else(|| study.lacks()),
        rows: Vec::new(),
        counts: Counts::default(),
        figures: Vec::new(),
        runs: 0,
        wall_s: 0.0,
        live: None,
        not_judged: None,
    };
    if report.skipped.is_some() {
        return Ok(Ran { report, data: Vec::new() });
    }
    let mut all = Vec::new();
    for part in &study.sweeps {
        let mut sides = Vec::new();
        for name in study.engines_of(part, options.quick) {
            let engine = engines.find(name.as_str())?;
            let plan = plan(study, part, engine, options)?;
            // A sweep of one engine keeps the place it always had.
            let folder = match part.engines.is_empty() {
                true => part.name.clone(),
                false => format!("{}-{name}", part.name),
            };
            let store = dir.as_ref().map(|d| d.join(folder));
            let done = sweep(&plan, engine, store.as_deref(), progress, cancel)?;
            report.runs += done.rows.len();
            if let Some(live) = done.live_runs() {
                report.live = Some(report.live.unwrap_or_default().and(live));
            }
            if !done.complete {
                report.wall_s = started.elapsed().as_secs_f64();
                return Ok(Ran { report, data: Vec::new() });
            }
            let data = Data::of_sweep(&part.name, &done);
            sides.push(match part.by {
                Some(by) => data.by_watchers(by.name()),
                None => data,
            });
        }
        all.extend(match part.engine_axis(options.quick) {
            Some(axis) => vec![Data::of_engines(axis, sides)],
            None => sides,
        });
    }
    for drive in &study.drives {
        all.push(drive.run()?);
    }
    for check in &study.checks {
        let what = format!("check \"{}\"", check.name);
        report.rows.extend(evaluate(check, &all, options.quick).map_err(|e| fail(study, &what, e))?);
    }
    report.judge();
    report.complete = true;
    report.wall_s = started.elapsed().as_secs_f64();
    Ok(Ran { report, data: all })
}

/// Whether every engine that the study needs is there, whether or not this machine can run it.
///
/// # Errors
/// There is none of a name; where it stands, and which there are.
pub fn known(study: &Study, engines: &dyn Engines, quick: bool) -> Result<(), Error> {
    for part in &study.sweeps {
        for name in study.engines_of(part, quick) {
            if let Err(missing @ Missing::Unknown { .. }) = engines.find(name.as_str()) {
                let place = match part.engines.is_empty() {
                    true => "`engine`".to_owned(),
                    false => format!("sweep \"{}\": `engines`", part.name),
                };
                return Err(fail(study, &place, missing.to_string()));
            }
        }
    }
    Ok(())
}

/// The plan of one of its sweeps on one engine.
fn plan(study: &Study, part: &SweepPart, engine: &dyn Engine, options: &RunOptions) -> Result<Plan, Error> {
    let runs = Runs::Count(part.seeds(options.quick));
    let mut plan = Plan::new(study.grid(part, options.quick)?, runs, asked(study, part)?);
    // What the study says is of its live runs: a simulation bears any company.
    plan.jobs = Some(match (study.parallel.filter(|_| engine.is_live()), options.jobs) {
        (Some(most), Some(jobs)) => jobs.min(most),
        (Some(most), None) => borne_jobs(most),
        (None, jobs) => jobs.unwrap_or_else(|| default_jobs(engine)),
    });
    plan.command = options.command.clone();
    Ok(plan)
}

/// What is kept of a sweep's runs beside what every sweep keeps.
///
/// # Errors
/// There is no metric of a name.
pub fn asked(study: &Study, part: &SweepPart) -> Result<Vec<Metric>, Error> {
    let watchers = |name: &&String| !part.by.is_some_and(|by| is_watchers(by, name));
    let more = part.metrics.iter().chain(wanted(study, &part.name)).filter(watchers);
    Ok(more.map(|name| Metric::parse(name)).collect::<Result<_, _>>()?)
}

/// The metrics that checks and figures of a sweep ask for.
fn wanted<'a>(study: &'a Study, sweep: &'a str) -> impl Iterator<Item = &'a String> {
    let first = study.sweeps.first().is_some_and(|s| s.name == sweep);
    let is_of = move |of: Option<&String>| of.map_or(first, |of| of == sweep);
    let checks = study
        .checks
        .iter()
        .flat_map(Check::asked)
        .filter(move |(of, _)| is_of(*of))
        .map(|(_, metric)| metric);
    let figures = study.figures.iter().filter(move |f| is_of(f.of.as_ref())).flat_map(|f| &f.y);
    let maps = study.maps.iter().filter(move |m| is_of(m.of.as_ref())).map(|m| &m.metric);
    checks.chain(figures).chain(maps)
}

fn fail(study: &Study, what: &str, reason: String) -> Error {
    Error::Study { file: study.id.clone(), reason: format!("{what}: {reason}") }
}

/// The data that a check or a figure of the study is of; the first where it names none. `what` is for the message.
///
/// # Errors
/// There is none.
pub fn named<'a>(
    study: &Study,
    all: &'a [Data],
    name: Option<&String>,
    what: &str,
) -> Result<&'a Data, Error> {
    data::named(all, name.map(String::as_str)).map_err(|reason| fail(study, what, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realtime::LivePlan;
    use crate::study::Verdict;
    use crate::testing::{Fake, STUDY};
    use crate::validity::LiveRuns;

    /// The simulator and, perhaps, a kernel.
    struct Here {
        sim: Fake,
        kernel: Fake,
    }

    fn without_kernel() -> Here {
        Here { sim: Fake::new(), kernel: Fake::lacking("needs a BPF file system") }
    }

    fn with_kernel() -> Here {
        Here { sim: Fake::new(), kernel: Fake::live() }
    }

    impl Engines for Here {
        fn names(&self) -> Vec<&str> {
            vec!["sim", "kernel"]
        }

        fn get(&self, name: &str) -> Option<&dyn Engine> {
            [&self.sim, &self.kernel]
                .into_iter()
                .find(|engine| engine.name() == name)
                .map(|e| e as &dyn Engine)
        }
    }

    #[test]
    fn a_study_runs_from_file_to_verdicts() {
        let study = Study::parse("twice.toml", STUDY, &()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let options = RunOptions { dir: Some(dir.path().to_owned()), ..RunOptions::default() };
        let Ran { report, .. } = run(&study, &without_kernel(), &options, &mut (), &Cancel::new()).unwrap();
        assert_eq!((report.runs, report.complete), (12, true));
        assert_eq!(report.counts, Counts { pass: 4, fail: 1, ..Counts::default() });
        assert_eq!(report.rows[4].verdict, Verdict::Fail);
        assert!(!report.holds());
        assert!(dir.path().join("twice/main/rows.parquet").exists());
    }

    #[test]
    fn the_quick_form_is_smaller_and_skips() {
        let study = Study::parse("twice.toml", STUDY, &()).unwrap();
        let options = RunOptions { quick: true, ..RunOptions::default() };
        let Ran { report, .. } = run(&study, &without_kernel(), &options, &mut (), &Cancel::new()).unwrap();
        assert_eq!(report.runs, 4);
        assert_eq!(report.counts, Counts { pass: 3, skipped: 1, ..Counts::default() });
        assert!(report.holds());
    }

    #[test]
    fn an_interrupted_study_judges_nothing() {
        let study = Study::parse("twice.toml", STUDY, &()).unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        let Ran { report, .. } =
            run(&study, &without_kernel(), &RunOptions::default(), &mut (), &cancel).unwrap();
        assert!(!report.complete && report.rows.is_empty() && !report.holds());
    }

    #[test]
    fn a_scenario_that_cannot_be_read_is_the_studys_fault() {
        let study =
            Study::parse("twice.toml", &STUDY.replace("rate = \"1Mbit/s\"", "rate = 1"), &()).unwrap();
        let error =
            run(&study, &without_kernel(), &RunOptions::default(), &mut (), &Cancel::new()).unwrap_err();
        assert!(error.to_string().contains("sweep \"main\""), "{error}");
    }

    fn go(text: &str, here: &Here, quick: bool) -> StudyReport {
        let study = Study::parse("twice.toml", text, &()).unwrap();
        let options = RunOptions { quick, ..RunOptions::default() };
        run(&study, here, &options, &mut (), &Cancel::new()).unwrap().report
    }

    fn live() -> String {
        STUDY.replace("id = \"twice\"", "id = \"twice\"\nengine = \"kernel\"\nparallel = 3")
    }

    #[test]
    fn a_live_study_without_its_engine_is_skipped_with_the_reason() {
        let report = go(&live(), &without_kernel(), false);
        assert_eq!(report.skipped.as_deref(), Some("the kernel engine needs a BPF file system"));
        assert_eq!((report.runs, report.rows.len(), report.complete), (0, 0, false));
        assert_eq!(report.engines, ["kernel".parse().unwrap()]);
        let report = go(STUDY, &without_kernel(), false);
        assert_eq!((report.skipped, report.engines), (None, vec![crate::EngineName::default()]));
    }

    #[test]
    fn a_study_without_its_recordings_is_skipped_and_says_which() {
        let text = STUDY.replace("id = \"twice\"", "id = \"twice\"\nrecordings = [\"nobody's.down\"]");
        let report = go(&text, &without_kernel(), false);
        assert!(
            report.skipped.as_deref().unwrap().contains("the recording nobody's.down"),
            "{:?}",
            report.skipped
        );
        assert_eq!((report.runs, report.rows.len(), report.complete), (0, 0, false));
    }

    #[test]
    fn a_live_study_runs_live_and_no_more_at_once_than_it_bears() {
        #[derive(Default)]
        struct Seen(Option<LivePlan>);
        impl Progress for Seen {
            fn live(&mut self, plan: LivePlan) {
                self.0 = Some(plan);
            }
        }
        let study = Study::parse("twice.toml", &live(), &()).unwrap();
        let here = with_kernel();
        for (jobs, at_once) in [(Some(8), 3), (Some(2), 2)] {
            let mut seen = Seen::default();
            let options = RunOptions { jobs, ..RunOptions::default() };
            let Ran { report, .. } = run(&study, &here, &options, &mut seen, &Cancel::new()).unwrap();
            assert_eq!((report.runs, report.complete), (12, true));
            let plan = seen.0.unwrap();
            assert_eq!((plan.engine.as_str(), plan.runs, plan.at_once), ("kernel", 12, at_once));
        }
        assert!(here.sim.asked.lock().unwrap().is_empty());
    }

    /// One sweep on both engines, kept in one study.
    fn both() -> String {
        let checks = r#"
        [[check]]
        name = "a tenth less"
        kind = "bound"
        metric = "goodput_bps"
        where = { engine = "kernel" }
        over = { engine = "sim" }
        above = 0.89
        below = 0.91
        [[check]]
        name = "live"
        kind = "within"
        metric = "goodput_bps"
        where = { engine = "kernel", duration = "40s" }
        published = 72
        tolerance = 0.01
        [[figure]]
        name = "engines"
        title = "Both"
        x = "duration"
        y = ["goodput_bps"]
        series = "engine"
        x_label = "t / s"
        y_label = "goodput / bit/s"
        "#;
        let head = &STUDY[..STUDY.find("[[check]]").unwrap()];
        format!("{}{checks}", head.replace("runs = 4", "engines = [\"sim\", \"kernel\"]\nruns = 4"))
    }

    #[test]
    fn engines_are_a_first_axis_that_checks_and_figures_select_on() {
        let study = Study::parse("twice.toml", &both(), &()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let options = RunOptions { dir: Some(dir.path().to_owned()), ..RunOptions::default() };
        let go = |here: &Here| run(&study, here, &options, &mut (), &Cancel::new()).unwrap();
        let Ran { report, data } = go(&with_kernel());
        assert_eq!(report.counts, Counts { pass: 4, ..Counts::default() }, "{:?}", report.rows);
        assert_eq!(report.runs, 24);
        assert_eq!(report.rows[0].cell, "engine=kernel, duration=10s");
        let engines: Vec<&str> = data[0].axes[0].values.iter().map(|v| v.label.as_str()).collect();
        assert_eq!((data[0].axes[0].name.as_str(), engines.as_slice()), ("engine", &["sim", "kernel"][..]));
        for engine in ["sim", "kernel"] {
            assert!(dir.path().join(format!("twice/main-{engine}/rows.parquet")).exists());
        }

        let here = with_kernel();
        let again = go(&here);
        assert_eq!(again.report.rows, report.rows, "what is kept needs no digest to be taken up");
        assert!(here.kernel.asked.lock().unwrap().is_empty());
    }

    #[test]
    fn a_live_study_on_a_machine_that_is_late_replaces_its_runs_and_is_judged_by_the_others() {
        let late = Fake::late(|seconds, seed, time| seconds == 10 && seed == 2 && time == 1);
        let here = Here { sim: Fake::new(), kernel: late };
        let report = go(&both(), &here, false);
        assert_eq!(report.live, Some(LiveRuns { runs: 12, replaced: 1, ..LiveRuns::default() }));
        assert_eq!((report.counts.pass, report.not_judged.as_deref()), (4, None), "{:?}", report.rows);
        assert!(here.sim.asked.lock().unwrap().len() == 12, "a simulation is never replaced");
    }

    #[test]
    fn a_live_study_on_a_machine_that_is_always_late_neither_passes_nor_fails() {
        for text in [both(), both().replace("published = 72", "published = 7")] {
            let here = Here { sim: Fake::new(), kernel: Fake::late(|_, _, _| true) };
            let report = go(&text, &here, false);
            let why = "the machine was too late (12 of 12 live runs invalid)";
            assert_eq!(report.not_judged.as_deref(), Some(why));
            assert_eq!((report.complete, report.holds()), (true, false));
            assert_eq!(report.counts, Counts { undecided: 4, ..Counts::default() });
            assert_eq!(report.rows[3].note, format!("not judged: {why}"));
            let json = serde_json::to_value(&report).unwrap();
            assert_eq!(
                (&json["live"]["invalid"], &json["rows"][3]["verdict"]),
                (&12.into(), &"undecided".into())
            );
        }
    }

    #[test]
    fn the_report_of_a_simulated_study_knows_nothing_of_lateness() {
        let json = serde_json::to_value(go(STUDY, &without_kernel(), false)).unwrap();
        assert!(json.get("live").is_none() && json.get("not_judged").is_none());
        assert!(json["rows"][0].get("invalid").is_none());
    }

    #[test]
    fn the_quick_form_may_leave_the_live_engine_out() {
        let text = both().replace("keep = { duration", "keep = { engine = \"sim\", duration");
        let report = go(&text, &without_kernel(), true);
        assert_eq!((report.runs, report.skipped), (4, None));
        assert_eq!(report.counts.skipped, 2, "{:?}", report.rows);
    }

    #[test]
    fn an_engine_that_nobody_has_is_refused_with_its_place_and_what_there_is() {
        let refused = |text: &str| {
            let study = Study::parse("twice.toml", text, &()).unwrap();
            let error = run(&study, &with_kernel(), &RunOptions::default(), &mut (), &Cancel::new());
            error.unwrap_err().to_string()
        };
        let there = "there are \"sim\", \"kernel\"";
        assert_eq!(
            refused(&live().replace("\"kernel\"", "\"kernle\"")),
            format!("twice: `engine`: there is no engine \"kernle\"; {there}; did you mean \"kernel\"?")
        );
        let message =
            refused(&both().replace("engines = [\"sim\", \"kernel\"]", "engines = [\"sim\", \"ns-3\"]"));
        assert_eq!(
            message,
            format!("twice: sweep \"main\": `engines`: there is no engine \"ns-3\"; {there}")
        );
    }
}
