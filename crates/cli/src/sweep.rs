//! `truckee sweep`: a grid of scenarios under many seeds, summed up with confidence intervals.

use crate::engines::{self, Choice};
use crate::error::Error;
use crate::format::Format;
use crate::host::{Alone, Host};
use crate::input::Input;
use crate::layout::{self, numbers, words};
use crate::progress::{Bar, note, warn};
use crate::{human, interrupt};
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_lab::grid::{self, Grid};
use truckee_lab::table::{Table, TableRow};
use truckee_lab::{Metric, Plan, Runs, Sweep};
use truckee_look::report;

/// Runs at each point unless told otherwise.
const RUNS: u64 = 10;

/// Run a scenario over a grid of values and seeds, on all cores
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Vary a value: flow.sender=reno,sack or channel.per=1e-5..1e-1:log13 or seed=1..60 (repeatable) [default: seeds
    /// alone]
    #[arg(long, value_name = "PATH=VALUES")]
    vary: Vec<String>,
    /// Runs at each point, with seeds counted up from the scenario's [default: 10]
    #[arg(long, value_name = "N", conflicts_with = "precision", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: Option<u64>,
    /// Run as many seeds as the interval of the first metric needs to be this narrow, relative to the mean: 2%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    precision: Option<f64>,
    /// What to show: goodput_bps, completion_s, flow.NAME.overhead, link.NAME.utilisation, … (repeatable)
    #[arg(long, value_name = "NAME", default_value = "goodput_bps")]
    metric: Vec<String>,
    /// What runs it
    #[arg(long, value_enum, default_value_t = Choice::Sim)]
    engine: Choice,
    /// Runs at once [default: one for each core, two where they are live]
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
    /// Have this dask.distributed scheduler's workers run it (the Python package's command only): tcp://HOST:8786
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    scheduler: Option<String>,
    /// Keep every run, and the page report.html, in this directory, or with the Python package's command at this URL of an
    /// object store, such as s3://BUCKET/NAME; the same command later goes on where it stopped
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee sweep examples/wireless.toml --vary flow.sender=newreno,newreno-lp --runs 20
  truckee sweep examples/wireless.toml --vary channel.per_bad=0.1,0.3,0.5 --vary seed=1..60
  truckee sweep examples/lossless.toml --vary queue.size=0.1bdp,1bdp --metric completion_s --runs 1
  truckee sweep examples/wireless.toml --vary flow.sender=reno,sack --precision 2% --out results/s
  truckee sweep examples/wireless.toml --runs 100";

/// A share written as 2% or 0.02.
fn share(text: &str) -> Result<f64, String> {
    let number = |t: &str| t.trim().parse::<f64>().ok();
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|x| x / 100.0),
        None => number(text),
    };
    share
        .filter(|x| *x > 0.0 && *x < 1.0)
        .ok_or_else(|| "expected a share between 0 and 1, such as 2% or 0.02".to_owned())
}

/// How many runs go at once.
pub fn jobs(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=4096).contains(n))
        .ok_or_else(|| "expected a number of runs at once, from 1 to 4096".to_owned())
}

/// Runs a scenario as it is under so many seeds, and shows these metrics, the flows' means where it has no flows.
pub fn seeds(
    input: &Input,
    runs: u64,
    mut metric: Vec<String>,
    engine: Choice,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if metric.is_empty() {
        metric.push("total_goodput_bps".to_owned());
    }
    let arguments = Arguments {
        input: input.clone(),
        vary: Vec::new(),
        runs: Some(runs),
        precision: None,
        metric,
        engine,
        jobs: None,
        scheduler: None,
        out: None,
        format,
    };
    sweep(&arguments, &Alone, out)
}

/// Sweeps and shows.
pub fn sweep(arguments: &Arguments, host: &dyn Host, out: &mut dyn Write) -> Result<(), Error> {
    let engine = engines::find(arguments.engine)?;
    let names = arguments.metric.iter().flat_map(|text| split(text));
    let metrics = names.map(Metric::parse).collect::<Result<Vec<_>, _>>()?;
    let (axes, seeds) = grid::axes(&arguments.vary)?;
    let grid = Grid::new(&arguments.input.document()?, axes)?;
    metrics.iter().try_for_each(|metric| metric.check_observer(grid.observers()))?;
    let mut plan = Plan::new(grid, runs(arguments, seeds, &metrics)?, metrics.clone());
    plan.only_asked = true;
    plan.jobs = arguments.jobs;
    plan.command = crate::words::given();

    let stop = interrupt::cancel();
    let mut bar = Bar::new("sweep");
    let url = arguments.out.as_deref().and_then(Path::to_str).filter(|out| out.contains("://"));
    let mut mirror = url.map(|url| host.mirror(url)).transpose()?;
    let dir = match &mirror {
        Some(mirror) => Some(mirror.folder().to_owned()),
        None => arguments.out.clone(),
    };
    let sweep = match &arguments.scheduler {
        Some(address) => {
            let mut crew = host.crew(address)?;
            truckee_lab::sweep::elsewhere(&plan, engine, dir.as_deref(), crew.as_mut(), &mut bar, stop)
        }
        None => truckee_lab::sweep(&plan, engine, dir.as_deref(), &mut bar, stop),
    };
    drop(bar);
    let done =
        sweep.map_err(Error::from).and_then(|sweep| show(&sweep, &metrics, dir.as_deref(), arguments, out));
    // What has finished is to be there, too, where not all has.
    let mirrored = mirror.as_mut().map_or(Ok(()), |mirror| mirror.close());
    done.and(mirrored.map_err(Error::from))
}

/// What came of it, and what the user should know beside.
fn show(
    sweep: &Sweep,
    metrics: &[Metric],
    dir: Option<&Path>,
    arguments: &Arguments,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let table = Table::new(sweep, metrics);
    match arguments.format {
        Format::Table => write(out, &table)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &table)?;
            writeln!(out)?;
        }
        Format::Csv => out.write_all(table.to_csv()?.as_bytes())?,
    }
    close(sweep, dir, arguments)
}

/// What the user should know beside the table.
fn close(sweep: &Sweep, dir: Option<&Path>, arguments: &Arguments) -> Result<(), Error> {
    if let Some(why) = sweep.live_runs().and_then(|live| live.too_late()) {
        warn(&format!("{why}; nothing should be judged by it"));
    }
    for &point in &sweep.imprecise {
        let place = Some(sweep.grid.label(point))
            .filter(|l| !l.is_empty())
            .map(|l| format!("{l}: "))
            .unwrap_or_default();
        let most = truckee_lab::sweep::MAX_SEEDS;
        warn(&format!("{place}the interval is wider than asked for after {most} runs"));
    }
    let wrote = |is_new: bool| if is_new { "wrote" } else { "there already:" };
    if let Some(file) = &sweep.file {
        note(&format!("{} {}", wrote(sweep.is_new), file.display()));
    }
    if let Some(dir) = dir.filter(|_| !sweep.rows.is_empty()) {
        let page = dir.join(report::NAME);
        let is_new = sweep.is_new || !page.exists();
        if is_new {
            report::write(&[dir.to_owned()], None)?;
        }
        note(&format!("{} {}", wrote(is_new), page.display()));
    }
    if sweep.complete {
        return Ok(());
    }
    let kept = match &arguments.out {
        Some(dir) => format!("are kept in {}; the same command goes on from there", dir.display()),
        None => "are shown; with --out DIR the same command could go on".to_owned(),
    };
    Err(Error::Failed(format!("stopped: {} {kept}", human::many(sweep.rows.len(), "finished run"))))
}

/// Names between commas; those within brackets belong to a name: `predictor.vegas(alpha=2,beta=4).accuracy.all`.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
    .collect()
}

fn runs(arguments: &Arguments, seeds: Option<Vec<u64>>, metrics: &[Metric]) -> Result<Runs, Error> {
    match (seeds, arguments.runs, arguments.precision) {
        (Some(seeds), None, None) => Ok(Runs::Seeds(seeds)),
        (Some(_), _, _) => {
            let why = "--vary seed=… says which runs are done; leave out --runs and --precision";
            Err(Error::Usage(why.to_owned()))
        }
        (None, _, Some(target)) => match metrics.first() {
            Some(metric) => Ok(Runs::Precision { target, metric: metric.clone() }),
            None => Err(Error::Usage("--precision needs a --metric".to_owned())),
        },
        (None, runs, None) => Ok(Runs::Count(runs.unwrap_or(RUNS))),
    }
}

fn write(out: &mut dyn Write, table: &Table) -> Result<(), Error> {
    let mut columns: Vec<_> = table.axes.iter().map(|a| words(a)).collect();
    // A metric that is the only one heads its column.
    let one = table.rows.first().filter(|first| table.rows.iter().all(|row| row.metric == first.metric));
    match one {
        Some(row) => columns.push(numbers(&row.metric)),
        None => columns.extend([words("metric"), numbers("mean")]),
    }
    columns.push(numbers("runs"));
    let against = table.against.as_ref().map(|a| format!("against {}", a.value));
    columns.extend(against.iter().map(|text| numbers(text)));
    layout::write(out, &columns, table.rows.iter().map(|r| row(r, one.is_none(), against.is_some())))?;
    if table.rows.iter().any(|r| r.estimate.half_width.is_some()) {
        writeln!(out, "± half the width of the mean's {} interval", human::percent(table.confidence))?;
        if against.is_some() {
            writeln!(out, "against: the mean difference, seed by seed, since all saw the same noise")?;
        }
    }
    if let Some(live) = &table.live {
        writeln!(out, "{live}")?;
    }
    Ok(())
}

fn row(row: &TableRow, named: bool, paired: bool) -> Vec<String> {
    let e = &row.estimate;
    let mean =
        e.mean.map_or_else(|| human::NONE.to_owned(), |m| human::with_interval(m, e.half_width, row.unit));
    let runs = human::runs(e.n, e.incomplete, row.invalid);
    let mut cells = row.point.clone();
    cells.extend(named.then(|| row.metric.clone()));
    cells.extend([mean, runs]);
    if paired {
        let difference = row.difference.and_then(|d| Some((d.mean?, d.half_width)));
        cells.push(
            difference
                .map_or_else(|| human::NONE.to_owned(), |(m, half)| human::with_interval(m, half, row.unit)),
        );
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_share() {
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share("0.02"), Ok(0.02));
        for bad in ["0", "100%", "two", "-1%", "nan", ""] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
