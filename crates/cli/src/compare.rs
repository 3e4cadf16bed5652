//! `truckee compare`: one scenario on several engines, side by side.

mod table;
mod trace;

use crate::engines::{self, Choice};
use crate::error::Error;
use crate::input::Input;
use crate::progress::{Bar, note, warn};
use crate::{human, interrupt};
use clap::ValueEnum;
use std::io::Write;
use std::path::PathBuf;
use trace::Traced;
use truckee_engines::trace::{as_late, beside_the_live_runs, tapped};
use truckee_lab::compare::{self, Comparison, Runs, Tolerance, Verdict};
use truckee_lab::{Engine, disk, output};
use truckee_look::{figure, report};
use truckee_scenario::{Outcome, Scenario};

/// Run a scenario on the simulator and on real stacks, and show them side by side
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// What runs it, two or more; the first is what the others are held against
    #[arg(long, value_name = "ENGINES", value_enum, value_delimiter = ',', default_value = "sim,kernel")]
    engines: Vec<Choice>,
    /// Runs on each engine, with seeds counted up from the scenario's: means with their intervals, paired by seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    /// Most runs on each engine: while a tolerance is undecided, twice as many are made, up to these
    #[arg(long, value_name = "M", requires = "tolerance", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    at_most: Option<u64>,
    /// Runs at once [default: one for each core, but live ones one at a time]
    #[arg(long, value_name = "N", value_parser = crate::sweep::jobs)]
    jobs: Option<usize>,
    /// Fail if an engine is further from the first one than this, by the interval: goodput=10%, retransmitted=1%,
    /// timeouts=3, flow.NAME.rtt=5ms, link.NAME.utilisation=5% (repeatable)
    #[arg(long, value_name = "METRIC=BOUND", value_delimiter = ',')]
    tolerance: Vec<String>,
    /// Leave the simulator as the file has it where the kernel does otherwise; by default it is set as the kernel is, and
    /// a note says so
    #[arg(long)]
    as_written: bool,
    /// Have each simulated run as late as the live one of its seed was, packet by packet: what is apart then is the stacks' and
    /// not the machine's
    #[arg(long)]
    as_late: bool,
    /// Hold what two engines' senders sent against each other, segment by segment: how far it is the same, in order and in
    /// time, and where and why they part
    #[arg(long, conflicts_with_all = ["tolerance", "figure", "as_late"])]
    trace: bool,
    /// Also write compare.json, compare.svg, the page report.html and each run's files into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also draw the windows of the first seed's runs, and the goodputs, into this SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = crate::figure::svg)]
    figure: Option<PathBuf>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee compare examples/wireless.toml
  truckee compare examples/wireless.toml --runs 5 --set duration=30s --figure compare.svg
  truckee compare examples/wireless.toml --tolerance goodput=10%,retransmitted=2% --format json
  truckee compare examples/wireless.toml --trace
  truckee compare examples/wireless.toml --runs 4 --at-most 32 --tolerance goodput=10%

Live runs take as long as the scenario lasts; stderr says beforehand how long that is.

Exit status: 0 all tolerances hold; 1 one is broken; 3 none is broken, but one is undecided, or the
machine was too late for the live runs to be judged. With --trace: 0 the same was sent at the same
times; 1 not so; 3 the machine was too late.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One object; stable, SI units
    Json,
}

/// Compares and shows.
pub fn compare(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    if arguments.engines.len() < 2 {
        return Err(Error::Usage("--engines: two or more are compared, such as sim,kernel".to_owned()));
    }
    let tolerances =
        arguments.tolerance.iter().map(|t| Tolerance::parse(t)).collect::<Result<Vec<_>, _>>()?;
    let engines: Vec<&dyn Engine> =
        arguments.engines.iter().map(|&choice| engines::find(choice)).collect::<Result<_, _>>()?;
    let scenario = arguments.input.document()?.scenario()?;
    scenario.need_senders()?;
    let series = arguments.out.is_some() || arguments.figure.is_some();
    let at_most = arguments.at_most.unwrap_or(arguments.runs);
    if at_most < arguments.runs {
        return Err(Error::Usage(format!(
            "--at-most {at_most}: there are {} --runs already",
            arguments.runs
        )));
    }
    let runs = Runs {
        count: arguments.runs,
        at_most,
        jobs: arguments.jobs,
        series,
        as_written: arguments.as_written,
    };
    if arguments.trace {
        return traces(arguments, &scenario, &engines, runs, out);
    }
    let ask = |engines: &[&dyn Engine]| compared(&scenario, engines, runs, &tolerances);
    let (sides, comparison) = if arguments.as_late { as_late(&engines, ask)?? } else { ask(&engines)? };
    let files = write_files(arguments, &scenario, &sides, &comparison)?;
    match arguments.format {
        Format::Table => {
            table::write(out, &comparison)?;
            for file in &files {
                writeln!(out, "wrote {}", file.display())?;
            }
        }
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &comparison)?;
            writeln!(out)?;
        }
    }
    verdict(&comparison)
}

/// Runs and compares.
fn compared(
    scenario: &Scenario,
    engines: &[&dyn Engine],
    runs: Runs,
    tolerances: &[Tolerance],
) -> Result<compare::Compared, Error> {
    let mut bar = Bar::new(&scenario.name);
    let compared = compare::compare(scenario, engines, runs, tolerances, &mut bar, interrupt::cancel())?;
    drop(bar);
    compared.ok_or_else(|| Error::Failed("stopped: nothing is compared".to_owned()))
}

/// Runs, and holds what was sent against each other.
fn traces(
    arguments: &Arguments,
    scenario: &Scenario,
    engines: &[&dyn Engine],
    runs: Runs,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let [one, other] = engines else {
        return Err(Error::Usage(
            "--trace: two engines are held against each other, such as sim,kernel".to_owned(),
        ));
    };
    let tapped = [tapped(*one), tapped(*other)];
    let (mut sides, comparison) = compared(scenario, &[&tapped[0], &tapped[1]], runs, &[])?;
    let (set, _) = truckee_scenario::alike(scenario, runs.as_written);
    beside_the_live_runs(&set, [*one, *other], &mut sides)
        .map_err(|failure| Error::Failed(failure.reason))?;
    let mut files = Vec::new();
    if let Some(dir) = &arguments.out {
        files.push(Traced::new(scenario, &sides, comparison.notes.clone(), true).keep(dir)?);
        files.push(report::write(std::slice::from_ref(dir), None)?);
    }
    let traced = Traced::new(scenario, &sides, comparison.notes, false);
    match arguments.format {
        Format::Table => {
            traced.write(out)?;
            for file in &files {
                writeln!(out, "wrote {}", file.display())?;
            }
        }
        Format::Json => {
            traced.json(out)?;
            writeln!(out)?;
        }
    }
    if let Some(why) = traced.not_judged() {
        return Err(Error::Undecided(format!("not judged: {why}")));
    }
    match traced.count() {
        (all, same) if all == same => Ok(()),
        (all, same) => Err(Error::Failed(format!("{same} of {} agree", human::many(all, "trace")))),
    }
}

/// Writes what `--out` and `--figure` ask for. Returns the files.
fn write_files(
    arguments: &Arguments,
    scenario: &Scenario,
    sides: &[Vec<Outcome>],
    comparison: &Comparison,
) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut drawn = arguments.figure.clone().into_iter().collect::<Vec<_>>();
    if let Some(dir) = &arguments.out {
        disk::folder(dir)?;
        for (k, side) in sides.iter().enumerate() {
            for outcome in side {
                // The same engine may be there twice.
                let folder = format!("{}-{}-seed-{}", k + 1, outcome.engine, outcome.seed);
                output::write_run(&dir.join(folder), outcome)?;
            }
        }
        let path = dir.join("compare.json");
        disk::write(&path, &serde_json::to_vec_pretty(comparison)?)?;
        files.push(path);
        drawn.push(dir.join("compare.svg"));
    }
    if !drawn.is_empty() {
        let first: Vec<&Outcome> = sides.iter().filter_map(|side| side.first()).collect();
        let svg = figure::compare(scenario, &first, comparison)?;
        for path in drawn {
            disk::write(&path, svg.as_bytes())?;
            files.push(path);
        }
    }
    if let Some(dir) = &arguments.out {
        files.push(report::write(std::slice::from_ref(dir), None)?);
    }
    Ok(files)
}

fn verdict(comparison: &Comparison) -> Result<(), Error> {
    let all = human::many(comparison.tolerances.len(), "tolerance");
    if let Some(why) = &comparison.not_judged {
        if comparison.tolerances.is_empty() {
            warn(why);
            return Ok(());
        }
        return Err(Error::Undecided(format!("not judged: {why}")));
    }
    for held in comparison.tolerances.iter().filter(|h| !h.holds) {
        let why = match held.off {
            Some(off) if held.note.is_empty() => {
                let [off, allowed] = [off, held.allowed].map(|x| table::distance(held, x));
                let word = if held.verdict == Verdict::Undecided { "undecided: " } else { "" };
                format!("{word}off by {off}, allowed {allowed}{}", table::span(held))
            }
            _ => held.note.clone(),
        };
        note(&format!("{} on {}: {}: {why}", held.subject, held.engine, held.tolerance));
    }
    let count = |verdict| comparison.tolerances.iter().filter(|h| h.verdict == verdict).count();
    match (comparison.verdict, count(Verdict::Broken), count(Verdict::Undecided)) {
        (Verdict::Holds, ..) => Ok(()),
        (_, 0, n) => {
            Err(Error::Undecided(format!("{n} of {all} undecided: more --runs, or --at-most, would decide")))
        }
        (_, n, _) => Err(Error::Failed(format!("{n} of {all} beyond"))),
    }
}
