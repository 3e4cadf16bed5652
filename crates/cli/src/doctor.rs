//! `truckee doctor`: what this machine can do, what is missing, and the command that mends it.

use crate::error::Error;
use crate::layout::{self, words};
use clap::ValueEnum;
use std::io::{self, Write};
use truckee_kernel::doctor::{Check, Report, State, examine};

/// Try what the live leg needs of this machine, and say what mends what is missing
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  sudo truckee doctor
  sudo truckee doctor --format json | jq '.checks[] | select(.state != \"works\")'

Exit status: 0 if all that the live leg needs works; 1 if not.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One object
    Json,
}

/// Tries, and tells.
pub fn doctor(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let report = examine();
    match arguments.format {
        Format::Table => table(out, &report)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)?;
        }
    }
    if report.works {
        return Ok(());
    }
    let lacking = report.checks.iter().filter(|c| c.needed && c.state == State::Missing);
    let names: Vec<&str> = lacking.map(|c| c.name.words()).collect();
    Err(Error::Failed(format!("the live leg cannot run here for want of: {}", names.join(", "))))
}

fn table(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let rows = report.checks.iter().map(|check| {
        let Check { name, state, seen, purpose, .. } = check;
        vec![name.words().into(), said(*state, check.needed).into(), (*purpose).into(), seen.clone()]
    });
    layout::write(out, &[words("what"), words(""), words("what for"), words("seen")], rows)?;
    let mends: Vec<Vec<String>> = report.checks.iter().filter_map(mend).collect();
    if !mends.is_empty() {
        writeln!(out)?;
        layout::write(out, &[words("to mend"), words("")], mends)?;
    }
    if report.works {
        writeln!(out, "\nAll that the live leg needs works here.")?;
    }
    Ok(())
}

fn said(state: State, needed: bool) -> &'static str {
    match (state, needed) {
        (State::Works, _) => "works",
        (State::Missing, true) => "MISSING",
        (State::Missing, false) => "missing, not needed",
        (State::Untried, _) => "not tried",
    }
}

/// What could not be tried is mended by mending what it lacked.
fn mend(check: &Check) -> Option<Vec<String>> {
    let mend = check.mend.clone().filter(|_| check.state == State::Missing)?;
    Some(vec![check.name.words().into(), mend])
}
