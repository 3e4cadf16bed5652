//! `truckee exec`: one program, and its ACKs shaped.

use crate::error::Error;
use crate::progress::{note, warn};
use crate::shaping;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use truckee_kernel::shape::Counts;
use truckee_kernel::shaped::{self, Program, Report, Wanted, Watch};

/// Run a program and shape the ACKs that it sends, and no others
///
/// The program is told from others by a control group of its own; what leaves it is shaped by BPF at the interfaces, for
/// as long as it runs. It runs as whoever typed the command, also through sudo, with its own input and output; signals
/// are passed on to it, and so is its exit status. What was done to its ACKs is written to stderr at the end. An ACK policy
/// is named as in a scenario: `truckee variants` lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ACK policy: NAME, NAME:VALUE or NAME:KEY=VALUE, such as division:4:first=3, accumulated, delayed:4
    #[arg(long, value_name = "POLICY")]
    ack: String,
    /// Whom the program runs as, by name or number [default: who typed the command]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The network namespace that it runs in [default: this one]
    #[arg(long, value_name = "NAME")]
    ns: Option<String>,
    /// Write what was done to this file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Say nothing on stderr but errors and warnings
    #[arg(long, short)]
    quiet: bool,
    /// The program and its arguments; no shell reads them
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  sudo truckee exec --ack division:4 -- curl -O http://example.org/big.iso
  sudo truckee exec --ack division:4:first=3 --report acks.json -- wget http://example.org/big.iso
  sudo truckee exec --ack division:2:while=slow-start -- chromium
  sudo truckee exec --ack accumulated-full -- rsync -a host:/data .

While it runs, `truckee ack ID POLICY` changes the policy.

Exit status: the program's, or 128 and the signal that ended it; 127 if there is no such program,
126 if it cannot be run; before that, 1 and 2 as ever.";

/// Runs it to its end.
pub fn exec(arguments: &Arguments) -> Result<(), Error> {
    let wanted = Wanted::read("--ack", &arguments.ack)?;
    // Before it runs: what cannot be written later is better known now.
    let file = arguments.report.clone().map(shaped::create_file).transpose()?;
    let name = arguments.command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let program = Program {
        command: &arguments.command,
        wanted,
        user: arguments.user.as_deref(),
        namespace: arguments.ns.as_deref(),
    };
    let ended = shaped::exec(program, &mut Show { name, policy: &arguments.ack, quiet: arguments.quiet })?;
    if !arguments.quiet {
        tell(&ended.report);
    }
    if let Some(mut file) = file {
        let written = shaping::object(&ended.report, Some(ended.status), &mut file);
        written.unwrap_or_else(|error| warn(&format!("{}: {error}", shown(arguments.report.as_ref()))));
    }
    if ended.status == 0 { Ok(()) } else { Err(Error::Status(ended.status)) }
}

fn shown(path: Option<&PathBuf>) -> String {
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

fn tell(report: &Report) {
    let mut text = Vec::new();
    // Nothing can fail to be written to memory, and who has closed stderr does not want it.
    if shaping::table(report, &mut text).is_ok() {
        let _ = std::io::stderr().write_all(&text);
    }
}

/// What is said while it runs. The terminal is the program's, so counters are not shown.
struct Show<'a> {
    name: String,
    policy: &'a str,
    quiet: bool,
}

impl Watch for Show<'_> {
    fn begun(&mut self, id: &str) {
        self.told(&format!(
            "{}: ACK policy {}; to change it: truckee ack {id} POLICY",
            self.name, self.policy
        ));
    }

    fn counts(&mut self, _: &Counts) {}

    fn told(&mut self, what: &str) {
        if !self.quiet {
            note(&format!("truckee: {what}"));
        }
    }

    fn warned(&mut self, what: &str) {
        warn(what);
    }
}
