//! `truckee study`: published results held against what is measured.

mod report;
mod show;

use crate::engines::Here;
use crate::error::Error;
use crate::progress::{Bar, note};
use crate::{Format, human, interrupt};
use clap::Subcommand;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use truckee_lab::study::{self, RunOptions, Study, StudyReport};
use truckee_lab::{EngineName, Error as LabError};

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
  truckee study run --all --quick";

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
}

/// Run studies; exit status 1 if a check fails
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_EXAMPLES)]
struct RunArguments {
    /// Ids, or paths of studies' files
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// All studies that come with the program, live ones last
    #[arg(long)]
    all: bool,
    /// Fail if a study is skipped because this machine lacks its engine
    #[arg(long)]
    require_live: bool,
    /// The small form: seconds in place of minutes; checks that need the full form are skipped
    #[arg(long)]
    quick: bool,
    /// Keep every run and the figures in this directory, and go on from there the next time [default: only figures, in
    /// out/studies]
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
        Command::List => Ok(show::list(out, &study::builtin()?)?),
        Command::Show { id } => show::one(out, &study::find(id)?),
        Command::Run(arguments) => run(arguments, out),
    }
}

fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<(), Error> {
    let mut studies = match arguments.all {
        true => study::builtin()?,
        false => arguments.ids.iter().map(|id| study::find(id)).collect::<Result<_, _>>()?,
    };
    if arguments.all {
        // What takes its time comes after what does not.
        studies.sort_by_key(|study| study.is_live(arguments.quick));
    }
    let stop = interrupt::flag();
    let mut reports = Vec::new();
    for study in &studies {
        let report = one(arguments, study, &stop)?;
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

/// Engines in words; a study of drives alone needs none.
fn engines(engines: &[EngineName]) -> String {
    let names: Vec<_> = engines.iter().map(EngineName::to_string).collect();
    if names.is_empty() { human::NONE.to_owned() } else { names.join(", ") }
}

/// Runs one study. Without a directory to keep runs in, only its figures are kept.
fn one(arguments: &RunArguments, study: &Study, stop: &AtomicBool) -> Result<StudyReport, Error> {
    let scratch = match arguments.out {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(Error::Write)?),
    };
    let options = RunOptions {
        quick: arguments.quick,
        jobs: arguments.jobs,
        dir: arguments.out.clone().or_else(|| scratch.as_ref().map(|s| s.path().to_owned())),
        command: std::env::args().collect(),
    };
    let mut bar = Bar::new(&study.id);
    let mut report = study::run(study, &Here, &options, &mut bar, stop)?;
    drop(bar);
    if scratch.is_some() {
        for figure in &mut report.figures {
            *figure = keep(figure, study, arguments.quick)?;
        }
    }
    Ok(report)
}

/// Moves a figure to where figures go.
fn keep(figure: &Path, study: &Study, quick: bool) -> Result<PathBuf, LabError> {
    let folder =
        Path::new(FIGURES).join(if quick { format!("{}-quick", study.id) } else { study.id.clone() });
    let kept = folder.join(figure.file_name().unwrap_or_default());
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::copy(figure, &kept));
    written.map_err(|source| LabError::Write { path: kept.clone(), source })?;
    Ok(kept)
}

fn verdict(arguments: &RunArguments, reports: &[StudyReport]) -> Result<(), Error> {
    let skipped: Vec<&StudyReport> = reports.iter().filter(|r| r.skipped.is_some()).collect();
    for report in &skipped {
        let why = report.skipped.as_deref().unwrap_or_default();
        note(&format!("skipped {}: {why}; truckee doctor says what this machine can do", report.id));
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
    let failed: Vec<_> = reports.iter().filter(|r| !r.holds() && r.skipped.is_none()).collect();
    if !failed.is_empty() {
        if arguments.quick {
            note("the quick form has few runs; without --quick the verdict is firmer");
        }
        return Err(Error::Failed(format!("checks failed in {}", ids(&failed))));
    }
    if arguments.require_live && !skipped.is_empty() {
        return Err(Error::Failed(format!("--require-live: not run: {}", ids(&skipped))));
    }
    Ok(())
}
