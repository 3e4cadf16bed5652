//! `truckee report`: a page of what a run, a sweep, a study or a comparison left on disk.

use crate::error::Error;
use crate::progress::note;
use std::io::Write;
use std::path::PathBuf;
use truckee_look::report;

/// Write one self-contained HTML page of what a directory holds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What `run`, `sweep`, `study run` or `compare` wrote with --out; of several, which must be runs, one page with the
    /// runs side by side
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// Write the page to this file [default: report.html in DIR; of several, in the current directory]
    #[arg(long, value_name = "FILE.html")]
    to: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  truckee run examples/wireless.toml --out results/w
  truckee report results/w
  truckee report results/w --to page.html
  truckee report results/newreno results/tibet --to both.html";

/// Writes the page.
pub fn report(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let path = report::write(&arguments.dirs, arguments.to.as_deref())?;
    note("open it in a browser; it needs no network");
    Ok(writeln!(out, "{}", path.display())?)
}
