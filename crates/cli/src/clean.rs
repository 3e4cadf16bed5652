//! `truckee clean`: what crashed live runs left behind goes, and nothing else.

use crate::error::Error;
use std::io::{self, Write};
use truckee_kernel::clean::{Item, Run, clean as sweep};

/// Remove what crashed live runs left behind: namespaces, congestion controls, control groups, files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  sudo truckee clean --dry-run
  sudo truckee clean

What belongs to a run that still runs, or to no run, is left alone.";

/// Removes, and says what.
pub fn clean(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let runs = sweep(arguments.dry_run)?;
    for run in &runs {
        tell(out, run, arguments.dry_run)?;
    }
    if !runs.iter().any(|run| !run.alive) {
        writeln!(out, "no run has left anything behind")?;
    }
    match runs.iter().flat_map(|run| &run.swept.failed).count() {
        0 => Ok(()),
        failed => {
            Err(Error::Failed(format!("{failed} could not be removed; run it as root (sudo truckee clean)")))
        }
    }
}

fn tell(out: &mut dyn Write, run: &Run, dry: bool) -> io::Result<()> {
    let Run { id, command, swept, .. } = run;
    if run.alive {
        return writeln!(
            out,
            "run {id} is alive ({command}): its {} are left alone",
            count(swept.found.len())
        );
    }
    writeln!(out, "run {id} is dead (it was {command})")?;
    let verb = if dry { "would remove" } else { "removed" };
    for Item { kind, name } in &swept.found {
        writeln!(out, "  {verb} the {} {name}", kind.words())?;
    }
    for (Item { kind, name }, why) in &swept.failed {
        writeln!(out, "  could not remove the {} {name}: {why}", kind.words())?;
    }
    Ok(())
}

fn count(things: usize) -> String {
    format!("{things} {}", if things == 1 { "thing" } else { "things" })
}
