//! `truckee drill`: scripts that say segment by segment what a TCP does, held against a stack.

use crate::error::Error;
use clap::ValueEnum;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use truckee_drill::{
    Error as Fault, Failure, Refused, Report, Script, on_kernel, on_program, on_simulated, read,
};
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
    /// Behind --: the program with the stack, and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  truckee drill tests/drill/*/*.pkt
  truckee drill script.pkt --set flow.sender=cubic
  sudo truckee drill script.pkt --target kernel
  sudo truckee drill script.pkt --target program -- ./my-stack

Exit status: 0 every stack did as its script says; 1 one did otherwise; 2 a script is none, or none was run. A script that asks
for what the kernel or a program's stack does not do is skipped by name.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stack {
    /// The simulated one, in virtual time
    Sim,
    /// The running kernel's, in a network namespace of its own; needs root
    Kernel,
    /// Any program's, in such a namespace behind a TUN device; needs root
    Program,
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
    check(arguments)?;
    // All are read before the first is run: what is wrong with one is said at once.
    let scripts = arguments.scripts.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let mut reports = Vec::with_capacity(scripts.len());
    for script in &scripts {
        let report = match arguments.target {
            Stack::Sim => on_simulated(script, &arguments.set)?,
            Stack::Kernel => on_kernel(script).or_else(|error| skipped(error, script, "kernel"))?,
            Stack::Program => {
                on_program(script, &arguments.program).or_else(|error| skipped(error, script, "program"))?
            }
        };
        if arguments.format == Format::Table {
            tell(out, &report)?;
            if report.lateness_s > report.bears_s {
                let bound = human::quantity(report.bears_s, "s");
                writeln!(out, "  which says nothing: the script bears no more than {bound}")?;
            }
            out.flush()?;
        }
        reports.push(report);
    }
    if arguments.format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, &reports)?;
        writeln!(out)?;
    }
    if reports.iter().all(|report| report.refused.is_some()) {
        return Err(Error::Usage("no script was run: the stack does none of them".to_owned()));
    }
    let failed = reports.iter().filter(|report| report.failure.is_some()).count();
    if failed == 0 {
        return Ok(());
    }
    let all = human::many(reports.len(), "script");
    Err(Error::Failed(format!("the stack did otherwise in {failed} of {all}")))
}

/// A script that asks a stack for what it does not do says nothing of those that follow.
fn skipped(error: Fault, script: &Script, target: &'static str) -> Result<Report, Fault> {
    let Fault::Refused { name, line, why } = error else { return Err(error) };
    let (refused, bears_s) = (Some(Refused { line, why }), script.lateness.seconds());
    Ok(Report { script: name, target, failure: None, refused, shown: Vec::new(), lateness_s: 0.0, bears_s })
}

fn check(arguments: &Arguments) -> Result<(), Error> {
    let program = arguments.target == Stack::Program;
    let why = if arguments.target != Stack::Sim && !arguments.set.is_empty() {
        "--set is for the simulated stack; another's settings are the script's (`sysctl -q net.ipv4.…`)"
    } else if program && arguments.program.is_empty() {
        "--target program: expected the program behind --, such as -- ./my-stack"
    } else if !program && !arguments.program.is_empty() {
        "a program behind -- is for --target program"
    } else {
        return Ok(());
    };
    Err(Error::Usage(why.to_owned()))
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
    if let Some(Refused { line, why }) = &report.refused {
        writeln!(out, "skip  {} ({})", report.script, report.target)?;
        return writeln!(out, "  line {line}: {why}");
    }
    let Some(Failure { line, at_s, expected, seen, differences }) = &report.failure else {
        return writeln!(out, "pass  {} ({}{late})", report.script, report.target);
    };
    writeln!(out, "FAIL  {} ({}{late})", report.script, report.target)?;
    writeln!(out, "  line {line}, at {at_s:.6} s")?;
    writeln!(out, "  expected  {expected}")?;
    writeln!(out, "  seen      {seen}")?;
    differences.iter().try_for_each(|difference| writeln!(out, "            {difference}"))
}
