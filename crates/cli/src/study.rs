//! `truckee study`: published results held against what is measured.

mod new;
mod report;
mod show;
mod verify;

use crate::engines::here;
use crate::error::Error;
use crate::format::Format;
use crate::progress::{Bar, note};
use crate::{human, interrupt};
use clap::Subcommand;
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_engines::drive::Algorithms;
use truckee_lab::study::{self, RunOptions, Study, StudyReport};
use truckee_lab::{Cancel, EngineName, Error as LabError, disk};
use truckee_look::report as page;

/// Reproduce published results: published against measured, verdict, figure
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  truckee study list
  truckee study show wireless-download
  truckee study run wireless-download
  truckee study run --all --quick
  truckee study new my-study
  truckee study verify";

#[derive(Debug, Subcommand)]
enum Command {
    /// List the studies that come with the program
    #[command(after_help = "Example:\n  truckee study list")]
    List,
    /// Show a study: claim, set-up, checks, scenario
    #[command(after_help = "Example:\n  truckee study show wireless-download")]
    Show {
        /// The study's id, or the path of a study's file
        id: String,
    },
    Run(RunArguments),
    /// Write the file of a study to begin with: claim, set-up, sweep, a check with its rival, figure; what is there stays
    #[command(
        after_help = "Example:\n  truckee study new my-study\n  truckee study run my-study.toml --quick"
    )]
    New {
        /// The study's id, for ID.toml in this folder, or a path that ends in ID.toml
        id: String,
    },
    Verify(verify::Arguments),
}

/// Run studies; exit status 1 if a check fails or a study that was named cannot run here, 3 if the machine was too late for
/// a live one to be judged
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_EXAMPLES)]
struct RunArguments {
    /// Ids, or paths of studies' files
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// All studies that come with the program, live ones last
    #[arg(long)]
    all: bool,
    /// With --all: fail if a study is skipped because this machine lacks its engine, as it does where it is named
    #[arg(long)]
    require_live: bool,
    /// The small form: seconds in place of minutes; checks that need the full form are skipped
    #[arg(long)]
    quick: bool,
    /// Keep every run, the figures and the page report.html in this directory, and go on from there the next time
    /// [default: only figures, in out/studies]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs at once [default: one for each core, two where they are live; a study may bear fewer live ones]
    #[arg(long, value_name = "N", value_parser = crate::sweep::jobs)]
    jobs: Option<usize>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const RUN_EXAMPLES: &str = "\
Examples:
  truckee study run wireless-download
  truckee study run --all --quick
  truckee study run my-study.toml --out results";

/// Where figures go unless told otherwise.
const FIGURES: &str = "out/studies";

/// Does what the subcommand says.
pub fn study(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    match &arguments.command {
        Command::List => Ok(show::list(out, &study::builtin(&Algorithms)?)?),
        Command::Show { id } => show::one(out, &study::find(id, &Algorithms)?),
        Command::Run(arguments) => run(arguments, out),
        Command::New { id } => new::new(out, id),
        Command::Verify(arguments) => verify::verify(arguments, out),
    }
}

fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<(), Error> {
    let mut studies = match arguments.all {
        true => study::builtin(&Algorithms)?,
        false => arguments.ids.iter().map(|id| study::find(id, &Algorithms)).collect::<Result<_, _>>()?,
    };
    studies.iter().try_for_each(|study| study::known(study, here(), arguments.quick))?;
    if arguments.all {
        live_last(&mut studies, arguments.quick);
    }
    let stop = interrupt::cancel();
    let mut reports = Vec::new();
    for study in &studies {
        let report = one(arguments, study, stop)?;
        if arguments.format == Format::Table {
            report::write(out, &report, !reports.is_empty())?;
            out.flush()?;
        }
        let stopped = !report.complete && report.skipped.is_none();
        reports.push(report);
        if stopped {
            break;
        }
    }
    match arguments.format {
        Format::Table if studies.len() > 1 => report::write_total(out, &reports)?,
        Format::Table => {}
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &reports)?;
            writeln!(out)?;
        }
        Format::Csv => report::csv(out, &reports)?,
    }
    out.flush()?;
    verdict(arguments, &reports)
}

/// What takes its time comes after what does not; otherwise the order stays.
fn live_last(studies: &mut [Study], quick: bool) {
    studies.sort_by_key(|study| study.is_live(here(), quick));
}

/// Runs one study. Without a directory to keep runs in, only its figures are kept.
fn one(arguments: &RunArguments, study: &Study, stop: &Cancel) -> Result<StudyReport, Error> {
    let scratch = match arguments.out {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(Error::Write)?),
    };
    let options = RunOptions {
        quick: arguments.quick,
        jobs: arguments.jobs,
        dir: arguments.out.clone().or_else(|| scratch.as_ref().map(|s| s.path().to_owned())),
        command: crate::words::given(),
    };
    let mut bar = Bar::new(&study.id);
    let mut ran = study::run(study, here(), &options, &mut bar, stop)?;
    if let Some(dir) = options.dir.as_ref().filter(|_| ran.report.complete) {
        truckee_look::study::keep(study, &mut ran, &study.dir(dir, options.quick))?;
    }
    let mut report = ran.report;
    drop(bar);
    if let Some(dir) = arguments.out.as_ref().filter(|_| report.complete) {
        let page = page::write(&[study.dir(dir, arguments.quick)], None)?;
        note(&format!("wrote {}", page.display()));
    }
    if scratch.is_some() {
        for figure in &mut report.figures {
            *figure = keep(figure, study, arguments.quick)?;
        }
    }
    Ok(report)
}

/// Moves a figure to where figures go.
fn keep(figure: &Path, study: &Study, quick: bool) -> Result<PathBuf, LabError> {
    let folder = study.dir(Path::new(FIGURES), quick);
    let kept = folder.join(figure.file_name().unwrap_or_default());
    let bytes = std::fs::read(figure)
        .map_err(|e| LabError::Read { path: figure.to_owned(), reason: e.to_string() })?;
    disk::folder(&folder)?;
    disk::write(&kept, &bytes)?;
    Ok(kept)
}

/// Whether a study that was skipped lacks an engine, and not a recording: a simulation lacks nothing else.
fn is_of_engines(report: &StudyReport) -> bool {
    report.engines.iter().any(|engine| *engine != EngineName::default())
}

fn verdict(arguments: &RunArguments, reports: &[StudyReport]) -> Result<(), Error> {
    let skipped: Vec<&StudyReport> = reports.iter().filter(|r| r.skipped.is_some()).collect();
    for report in &skipped {
        let why = report.skipped.as_deref().unwrap_or_default();
        let doctor =
            if is_of_engines(report) { "; truckee doctor says what this machine can do" } else { "" };
        note(&format!("skipped {}: {why}{doctor}", report.id));
    }
    if let Some(stopped) = reports.iter().find(|r| !r.complete && r.skipped.is_none()) {
        let kept = match &arguments.out {
            Some(dir) => format!(
                "its finished runs are kept in {}; the same command goes on from there",
                dir.display()
            ),
            None => "with --out DIR the same command could go on".to_owned(),
        };
        return Err(Error::Failed(format!("stopped in {}: {kept}", stopped.id)));
    }
    let ids = |reports: &[&StudyReport]| reports.iter().map(|r| r.id.as_str()).collect::<Vec<_>>().join(", ");
    let late: Vec<_> = reports.iter().filter(|r| r.not_judged.is_some()).collect();
    let failed: Vec<_> = reports.iter().filter(|r| r.counts.fail > 0).collect();
    if !failed.is_empty() {
        if arguments.quick {
            note("the quick form has few runs; without --quick the verdict is firmer");
        }
        return Err(Error::Failed(format!("checks failed in {}", ids(&failed))));
    }
    // Who asks for all asks for what there is; who names one, for that.
    let wanted: Vec<_> = skipped
        .into_iter()
        .filter(|report| !arguments.all || arguments.require_live && is_of_engines(report))
        .collect();
    if !wanted.is_empty() {
        let option = if arguments.require_live { "--require-live: " } else { "" };
        return Err(Error::Failed(format!("{option}not run: {}", ids(&wanted))));
    }
    if !late.is_empty() {
        return Err(Error::Undecided(format!("not judged, since the machine was too late: {}", ids(&late))));
    }
    let undecided: usize = reports.iter().map(|r| r.counts.undecided).sum();
    if undecided > 0 {
        note(&format!(
            "{} undecided: they have neither passed nor failed",
            human::many(undecided, "check row")
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_lab::study::Counts;

    /// A study of this id; `keys` go into its sweep.
    fn study(id: &str, keys: &str) -> Study {
        let text = format!(
            "id = \"{id}\"\ntitle = \"t\"\nsetup = \"s\"\nsource = {{ paper = \"p\", place = \"q\" }}\nscenario = \"\"\n\
             [[sweep]]\nname = \"main\"\nruns = 1\n{keys}\n\
             [[check]]\nname = \"c\"\nkind = \"bound\"\nmetric = \"goodput_bps\"\nabove = 1\n"
        );
        Study::parse("x.toml", &text, &()).unwrap()
    }

    fn report(id: &str, skipped: Option<&str>, fail: usize) -> StudyReport {
        let study = study(id, "");
        StudyReport {
            id: study.id,
            title: study.title,
            source: study.source,
            setup: study.setup,
            calibrated: study.calibrated,
            engines: vec!["kernel".parse().unwrap()],
            quick: false,
            complete: skipped.is_none(),
            skipped: skipped.map(str::to_owned),
            rows: Vec::new(),
            counts: Counts { pass: 1, fail, ..Counts::default() },
            figures: Vec::new(),
            runs: 0,
            wall_s: 0.0,
            live: None,
            not_judged: None,
        }
    }

    fn arguments(require_live: bool) -> RunArguments {
        RunArguments {
            ids: Vec::new(),
            all: true,
            require_live,
            quick: false,
            out: None,
            jobs: None,
            format: Format::Table,
        }
    }

    #[test]
    fn live_studies_come_last() {
        let both = "engines = [\"sim\", \"kernel\"]\nquick = { keep = { engine = \"sim\" } }";
        let mut studies =
            [study("a", both), study("b", ""), study("c", "engines = [\"kernel\"]"), study("d", "")];
        let ids = |studies: &[Study]| studies.iter().map(|s| s.id.clone()).collect::<String>();
        live_last(&mut studies, false);
        assert_eq!(ids(&studies), "bdac");
        studies.sort_by_key(|s| s.id.clone());
        live_last(&mut studies, true);
        assert_eq!(ids(&studies), "abdc", "the quick form of a is not live");
    }

    #[test]
    fn a_skipped_study_is_a_failure_where_it_was_named_or_live_ones_are_required() {
        let reports = [report("a", None, 0), report("b", Some("the kernel engine needs root"), 0)];
        assert!(verdict(&arguments(false), &reports).is_ok());
        let why = verdict(&arguments(true), &reports).unwrap_err();
        assert_eq!((why.exit_status(), why.to_string().as_str()), (1, "--require-live: not run: b"));
        let named = RunArguments { all: false, ids: vec!["a".into(), "b".into()], ..arguments(false) };
        let why = verdict(&named, &reports).unwrap_err();
        assert_eq!((why.exit_status(), why.to_string().as_str()), (1, "not run: b"));
        let failed = [report("a", Some("…"), 0), report("b", None, 2)];
        assert_eq!(verdict(&arguments(false), &failed).unwrap_err().to_string(), "checks failed in b");
    }

    #[test]
    fn a_study_without_its_recordings_is_no_failure_where_live_ones_are_required() {
        let lacking = StudyReport {
            engines: vec![EngineName::default()],
            ..report("a", Some("it needs the recording x.down"), 0)
        };
        assert!(verdict(&arguments(true), std::slice::from_ref(&lacking)).is_ok());
        let named = RunArguments { all: false, ids: vec!["a".into()], ..arguments(false) };
        assert_eq!(verdict(&named, &[lacking]).unwrap_err().to_string(), "not run: a");
    }

    #[test]
    fn a_study_that_a_late_machine_kept_from_being_judged_is_neither_a_success_nor_a_failure() {
        let late =
            StudyReport { not_judged: Some("the machine was too late".to_owned()), ..report("a", None, 0) };
        let why = verdict(&arguments(false), &[late.clone(), report("b", None, 0)]).unwrap_err();
        assert_eq!((why.exit_status(), why.to_string().ends_with("too late: a")), (3, true));
        let failed = verdict(&arguments(false), &[late, report("b", None, 1)]).unwrap_err();
        assert_eq!(failed.exit_status(), 1, "what failed elsewhere has failed");
    }

    #[test]
    fn a_live_study_shows_its_engine_and_a_skipped_one_its_reason() {
        let written = |report: &StudyReport| {
            let mut text = Vec::new();
            report::write(&mut text, report, false).unwrap();
            String::from_utf8(text).unwrap()
        };
        let text = written(&report("b", Some("the kernel engine needs root"), 0));
        assert!(
            text.contains("runs on: kernel\n") && text.contains("skipped: the kernel engine needs root\n")
        );
        let fitted = StudyReport { calibrated: Some("the rate.".to_owned()), ..report("b", None, 0) };
        assert!(
            written(&fitted).contains("calibrated on what it is held against: the rate.\n1 pass, 0 fail")
        );
        let run = written(&report("b", None, 0));
        assert!(run.contains("runs on: kernel\n") && run.contains("1 pass, 0 fail"));
        let listed = |studies: &[Study]| {
            let mut text = Vec::new();
            show::list(&mut text, studies).unwrap();
            String::from_utf8(text).unwrap()
        };
        let text = listed(&[study("a", "engines = [\"sim\", \"kernel\"]"), study("b", "")]);
        assert!(text.contains("sim, kernel") && text.lines().next().unwrap_or_default().contains("runs on"));
        let mut total = Vec::new();
        let fitted = StudyReport { calibrated: Some("the rate.".to_owned()), ..report("c", None, 2) };
        report::write_total(&mut total, &[report("a", None, 0), report("b", Some("…"), 0), fitted]).unwrap();
        let total = String::from_utf8(total).unwrap();
        let lines: Vec<Vec<&str>> = total.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[2], ["a", "1", "0", "0", "0", "0"]);
        assert_eq!(lines[3], ["b", "1", "0", "0", "0", "0", "not", "run"]);
        assert_eq!(lines[4], ["c", "1", "0", "0", "2", "0", "calibrated"]);
        assert!(
            total.ends_with("all 3 studies: 3 pass, 2 fail, 0 differ, 0 undecided; 1 not run\n"),
            "{total}"
        );
    }
}
