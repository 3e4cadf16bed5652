//! `truckee drill`: scripts that say segment by segment what a TCP does, held against a stack.

use crate::error::Error;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;
use truckee_drill::{Failure, Report, on_kernel, on_simulated, read};
use truckee_lab::human;

/// Hold a TCP against scripts in packetdrill's language: what comes, what is called, what it is to send and when
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Scripts
    #[arg(required = true)]
    scripts: Vec<PathBuf>,
    /// The stack
    #[arg(long, value_enum, default_value_t = Stack::Sim)]
    target: Stack,
    /// Of the simulated stack: a key of a flow, as in a scenario
    #[arg(long, value_name = "PATH=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee drill tests/drill/*/*.pkt
  truckee drill script.pkt --set flow.sender=cubic
  sudo truckee drill script.pkt --target kernel

Exit status: 0 every stack did as its script says; 1 one did otherwise; 2 a script is none.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stack {
    /// The simulated one, in virtual time
    Sim,
    /// The running kernel's, in a network namespace of its own; needs root
    Kernel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One array of objects
    Json,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("expected PATH=VALUE, such as flow.sender=cubic")?;
    Ok((path.to_owned(), value.to_owned()))
}

/// Runs the scripts one after the other, and tells.
pub fn drill(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    if arguments.target == Stack::Kernel && !arguments.set.is_empty() {
        let why = "--set is for the simulated stack; the kernel's settings are the script's (`sysctl -q net.ipv4.…`)";
        return Err(Error::Usage(why.to_owned()));
    }
    // All are read before the first is run: what is wrong with one is said at once.
    let scripts = arguments.scripts.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let mut reports = Vec::with_capacity(scripts.len());
    for script in &scripts {
        let report = match arguments.target {
            Stack::Sim => on_simulated(script, &arguments.set)?,
            Stack::Kernel => on_kernel(script)?,
        };
        if arguments.format == Format::Table {
            tell(out, &report)?;
            out.flush()?;
        }
        reports.push(report);
    }
    if arguments.format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, &reports)?;
        writeln!(out)?;
    }
    let failed = reports.iter().filter(|report| report.failure.is_some()).count();
    if failed == 0 {
        return Ok(());
    }
    let all = human::many(reports.len(), "script");
    Err(Error::Failed(format!("the stack did otherwise in {failed} of {all}")))
}

fn tell(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    for (line, text) in &report.shown {
        writeln!(out, "{}:{line}: {text}", report.script)?;
    }
    let late = if report.lateness_s > 0.0 {
        format!(", the machine at most {} late", human::quantity(report.lateness_s, "s"))
    } else {
        String::new()
    };
    let Some(Failure { line, at_s, expected, seen, differences }) = &report.failure else {
        return writeln!(out, "pass  {} ({}{late})", report.script, report.target);
    };
    writeln!(out, "FAIL  {} ({}{late})", report.script, report.target)?;
    writeln!(out, "  line {line}, at {at_s:.6} s")?;
    writeln!(out, "  expected  {expected}")?;
    writeln!(out, "  seen      {seen}")?;
    differences.iter().try_for_each(|difference| writeln!(out, "            {difference}"))
}
