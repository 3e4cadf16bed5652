//! The command `truckee`: arguments in, tables and progress out, nothing else.
//!
//! Results go to stdout, progress and messages to stderr. Exit status: 0 success; 1 a check failed, the run could not
//! finish, or this machine cannot do it; 2 to be mended in the command or in a file; 3 nothing failed, and nothing could be
//! decided. A pipe closed by its reader ends the command quietly.
//!
//! It is a library so that who installs the Python package has the command too: a program of its own (`main.rs`), and an
//! entry point of that package, call [`main`].
//!
//! Not for: anything another program would want too; that is in the other crates.

mod ack;
mod cc;
mod clean;
mod compare;
mod completions;
mod doctor;
mod drill;
mod engines;
mod error;
mod exec;
mod figure;
mod format;
mod host;
mod import;
mod input;
mod interrupt;
mod json;
mod kinds;
mod lab;
mod layout;
mod outcome_table;
mod path;
mod probe;
mod progress;
mod read;
mod report;
mod run;
mod shape;
mod shaping;
mod study;
mod sweep;
mod variants;
mod words;

use clap::{CommandFactory, Parser, Subcommand};
use error::Error;
pub use host::{Host, Mirror};
use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::sync::LazyLock;
use truckee_lab::human;

/// A laboratory for TCP over noisy paths.
///
/// Which window rule, which loss response, which way of acknowledging carries data best when packets die of noise and
/// not of congestion?
#[derive(Debug, Parser)]
#[command(name = "truckee", version, long_version = VERSION.as_str(), max_term_width = 100, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  truckee run examples/wireless.toml
  truckee sweep examples/wireless.toml --vary flow.sender=newreno,newreno-lp --runs 20
  truckee compare examples/wireless.toml --engines sim,kernel
  truckee study run wireless-download
  truckee report results/w
  truckee lab --out lab.html
  sudo truckee exec --ack division:4 -- curl -O http://example.org/big.iso
  truckee read capture.pcapng
  truckee variants newreno-lp

Exit status: 0 success; 1 a check failed, the run could not finish, or this machine cannot do it;
2 to be mended in the command or in a file; 3 nothing failed, and nothing could be decided.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Sweep(sweep::Arguments),
    Import(import::Arguments),
    Compare(compare::Arguments),
    Study(study::Arguments),
    Report(report::Arguments),
    Lab(lab::Arguments),
    Read(read::Arguments),
    Path(path::Arguments),
    Exec(exec::Arguments),
    Shape(shape::Arguments),
    Ack(ack::Arguments),
    Probe(probe::Arguments),
    Variants(variants::Arguments),
    Drill(drill::Arguments),
    Cc(cc::Arguments),
    Doctor(doctor::Arguments),
    Clean(clean::Arguments),
    Completions(completions::Arguments),
}

/// The version, and what decides the records of each engine: results that say the same were run by the same code.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let engines =
        [("simulator", truckee_engines::SIMULATOR_BUILD), ("kernel", truckee_engines::KERNEL_BUILD)];
    let lines = engines.map(|(engine, build)| format!("\n{engine}, built of: {build}"));
    format!("{}{}", env!("CARGO_PKG_VERSION"), lines.concat())
});

/// Does what these words ask for, the program's own name first, and returns the exit status. To be called once, when the
/// process starts: it takes the handler of Ctrl-C, and lowers the process's rights.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    main_of(words, &host::Alone)
}

/// The same as a part of a program that has more to offer.
pub fn main_of(words: impl IntoIterator<Item = OsString>, host: &dyn Host) -> u8 {
    // Before anything is read, and before any thread is started.
    if let Err(error) = truckee_kernel::lower_rights() {
        let error = Error::from(error);
        error.report();
        return error.exit_status();
    }
    let words: Vec<OsString> = words.into_iter().collect();
    words::keep(&words);
    let arguments = Arguments::parse_from(words);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let done = match arguments.command {
        Command::Run(arguments) => run::run(&arguments, &mut out),
        Command::Compare(arguments) => compare::compare(&arguments, &mut out),
        Command::Sweep(arguments) => sweep::sweep(&arguments, host, &mut out),
        Command::Import(arguments) => import::import(&arguments, &mut out),
        Command::Study(arguments) => study::study(&arguments, &mut out),
        Command::Report(arguments) => report::report(&arguments, &mut out),
        Command::Lab(arguments) => lab::lab(&arguments, &mut out),
        Command::Read(arguments) => read::read(&arguments, &mut out),
        Command::Path(arguments) => path::path(&arguments, &mut out),
        Command::Exec(arguments) => exec::exec(&arguments),
        Command::Shape(arguments) => shape::shape(&arguments, &mut out),
        Command::Ack(arguments) => ack::ack(&arguments, &mut out),
        Command::Probe(arguments) => probe::probe(&arguments, &mut out),
        Command::Variants(arguments) => variants::variants(&arguments, &mut out),
        Command::Drill(arguments) => drill::drill(&arguments, &mut out),
        Command::Cc(arguments) => cc::cc(&arguments, &mut out),
        Command::Doctor(arguments) => doctor::doctor(&arguments, &mut out),
        Command::Clean(arguments) => clean::clean(&arguments, &mut out),
        Command::Completions(arguments) => {
            completions::completions(&arguments, Arguments::command(), &mut out)
        }
    };
    // What was written before an error stays written.
    let flushed = out.flush().map_err(Error::from);
    match done.and(flushed) {
        Ok(()) | Err(Error::ClosedPipe) => 0,
        Err(error) => {
            error.report();
            error.exit_status()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Arguments::command().get_subcommands() {
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Example"), "{}: {help}", command.get_name());
        }
    }
}
