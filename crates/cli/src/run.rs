//! `truckee run`: one scenario, once.

use crate::engines::{self, Choice};
use crate::error::Error;
use crate::format::Format;
use crate::input::Input;
use crate::progress::{Bar, note};
use crate::{human, json, outcome_table, sweep};
use clap::ValueEnum;
use std::io::Write;
use std::path::PathBuf;
use truckee_engines::tap;
use truckee_lab::realtime::LivePlan;
use truckee_lab::{Engine, Error as LabError, disk, metric, output};
use truckee_look::{figure, report};
use truckee_scenario::model::Flow;
use truckee_scenario::outcome::{THIS_RUN, Vantage};
use truckee_scenario::{Outcome, Scenario, explain};

/// Run a scenario and show what each flow got
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// What runs it
    #[arg(long, value_enum, default_value_t = Choice::Sim)]
    engine: Choice,
    /// Also write result.json, flows.parquet, series.parquet, queues.parquet and the page report.html into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write the packets of the flows, with headers and without payload, into this pcapng file; those that were
    /// dropped say why
    #[arg(long, value_name = "FILE.pcapng")]
    pcapng: Option<PathBuf>,
    /// Also draw the time-sequence graph of each flow's first connection into DIR/FLOW.xpl, for xplot
    #[arg(long, value_name = "DIR")]
    xplot: Option<PathBuf>,
    /// The end of the flows at which --pcapng and --xplot see the packets pass
    #[arg(long, value_enum, value_name = "END", default_value_t = End::Sender)]
    capture_at: End,
    /// Also draw cwnd, ssthresh and every loss over time into this SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = crate::figure::svg)]
    figure: Option<PathBuf>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Run so many seeds, counted up from the scenario's, and show each flow's means, as a sweep does
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        conflicts_with_all = ["out", "pcapng", "xplot", "figure", "explain", "check_digest"]
    )]
    runs: Option<u64>,
    /// Print the scenario with every default filled in, and do not run it
    #[arg(long)]
    explain: bool,
    /// Run twice and fail if the digests differ from each other, or from HEX
    #[arg(long, value_name = "HEX", num_args = 0..=1, require_equals = true)]
    check_digest: Option<Option<String>>,
}

/// An end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum End {
    /// That which sends the data
    Sender,
    /// That which it reaches
    Receiver,
}

impl From<End> for Vantage {
    fn from(end: End) -> Self {
        match end {
            End::Sender => Self::Sender,
            End::Receiver => Self::Receiver,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  truckee run examples/wireless.toml
  truckee run examples/wireless.toml --set flow.sender=newreno --seed 7
  truckee run examples/wireless.toml --format json | jq '.flows[].goodput_bps'
  truckee run examples/lossless.toml --out results/lossless
  truckee run examples/lossless.toml --figure window.svg
  truckee run examples/wireless.toml --pcapng run.pcapng && truckee read run.pcapng
  truckee run examples/wireless.toml --runs 20
  truckee run examples/lossless.toml --explain";

/// What `--runs` shows of each flow.
const MEANS: [&str; 4] = ["goodput_bps", "completion_s", "delay_s.mean", "overhead"];

/// Runs and shows.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    if engines::is_live(arguments.engine) && arguments.check_digest.is_some() {
        let why = "--check-digest: a live run has no digest, since no two are the same; use --engine sim";
        return Err(Error::Usage(why.to_owned()));
    }
    let scenario = arguments.input.document()?.scenario()?;
    if arguments.explain {
        return Ok(out.write_all(explain(&scenario).as_bytes())?);
    }
    scenario.need_senders()?;
    if let Some(runs) = arguments.runs {
        let of_flow = |flow: &Flow| MEANS.map(|metric| format!("flow.{}.{metric}", flow.name));
        let metrics = scenario.flows.iter().flat_map(of_flow).collect();
        return sweep::seeds(&arguments.input, runs, metrics, arguments.engine, arguments.format, out);
    }
    let engine = engines::find(arguments.engine)?;
    let series = arguments.out.is_some() || arguments.figure.is_some();
    let tapped = arguments.pcapng.is_some() || arguments.xplot.is_some();
    if arguments.capture_at == End::Receiver && !tapped {
        let why = "--capture-at receiver: nothing is captured without --pcapng or --xplot";
        return Err(Error::Usage(why.to_owned()));
    }
    let vantage = arguments.capture_at.into();
    let record = match (tapped, series) {
        (true, _) => Record::Packets(vantage),
        (false, true) => Record::Series,
        (false, false) => Record::Nothing,
    };
    if let Some(reason) = engine.refuses(&scenario) {
        return Err(LabError::Scenario { point: String::new(), reason }.into());
    }
    let outcome = once(engine, &scenario, record)?;
    // What the kernel always does otherwise stands in the JSON and the book; what happened this time is said here.
    outcome.notes.iter().filter(|n| n.starts_with(THIS_RUN)).for_each(|n| note(n));
    let mut files = match &arguments.out {
        Some(dir) => {
            let mut files = output::write_run(dir, &outcome)?;
            files.push(report::write(std::slice::from_ref(dir), None)?);
            files
        }
        None => Vec::new(),
    };
    if let Some(path) = &arguments.figure {
        let svg = figure::window(&scenario, &outcome)?;
        disk::write(path, svg.as_bytes())?;
        files.push(path.clone());
    }
    if let Some(path) = &arguments.pcapng {
        tap::write(path, &scenario, &outcome, vantage)?;
        files.push(path.clone());
    }
    if let Some(dir) = &arguments.xplot {
        files.extend(tap::xplot(dir, &scenario, &outcome, vantage)?);
    }
    match arguments.format {
        Format::Table => outcome_table::write(out, &outcome, &files)?,
        Format::Json => {
            json::write(out, &outcome)?;
            writeln!(out)?;
        }
        Format::Csv => csv(out, &outcome)?,
    }
    match &arguments.check_digest {
        None => Ok(()),
        Some(expected) => check_digest(engine, &scenario, &outcome.digest, expected.as_deref()),
    }
}

/// What a run keeps beside its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Record {
    Nothing,
    Series,
    /// Every packet at that end of the flows, and the series.
    Packets(Vantage),
}

fn once(engine: &dyn Engine, scenario: &Scenario, record: Record) -> Result<Outcome, Error> {
    let _bar = match engine.takes(scenario) {
        Some(at_most) => {
            let plan = LivePlan { engine: engine.name().to_owned(), runs: 1, at_once: 1, at_most };
            Bar::one_live(&scenario.name, &plan)
        }
        None => Bar::new(&format!(
            "{}: {} s to simulate",
            scenario.name,
            human::quantity(scenario.duration.seconds(), "")
        )),
    };
    match record {
        Record::Packets(vantage) => engine.run_tapped(scenario, vantage),
        _ => engine.run(scenario, record == Record::Series),
    }
    .map_err(|failure| Error::Failed(failure.reason))
}

/// Flows, one a line; the columns are the flow metrics in SI units, empty where there is no value.
fn csv(out: &mut dyn Write, outcome: &Outcome) -> Result<(), Error> {
    let mut csv = csv::Writer::from_writer(out);
    let metrics = metric::list().into_iter().filter(|m| m.of == "flow").map(|m| m.name);
    csv.write_record(["name", "sender", "receiver"].into_iter().chain(metrics))?;
    for flow in &outcome.flows {
        let names = [&flow.name, &flow.sender, &flow.receiver].map(String::clone);
        let values = metric::of_flow(flow).map(|(_, x)| x.map(|x| x.to_string()).unwrap_or_default());
        csv.write_record(names.into_iter().chain(values))?;
    }
    Ok(csv.flush()?)
}

fn check_digest(
    engine: &dyn Engine,
    scenario: &Scenario,
    first: &str,
    expected: Option<&str>,
) -> Result<(), Error> {
    let second = once(engine, scenario, Record::Nothing)?.digest;
    if second != first {
        return Err(Error::Failed(format!("the digests of two runs differ: {first}, {second}")));
    }
    if let Some(expected) = expected.filter(|e| !e.eq_ignore_ascii_case(first)) {
        return Err(Error::Failed(format!("the digest is {first}, expected {expected}")));
    }
    note(&format!(
        "digest {first}: the same twice{}",
        if expected.is_some() { ", and as expected" } else { "" }
    ));
    Ok(())
}
