//! `truckee completions`: a script that teaches a shell our commands and options.

use crate::error::Error;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  truckee completions bash > ~/.local/share/bash-completion/completions/truckee"
)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Writes the script.
pub fn completions(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    // Into memory first: the generator panics where writing fails, on a closed pipe for one.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "truckee", &mut script);
    Ok(out.write_all(&script)?)
}
