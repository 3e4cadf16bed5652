//! `truckee shape`: the ACKs that leave some interfaces, shaped for as long as it stands.

use crate::error::Error;
use crate::format::Format;
use crate::progress::{note, warn};
use crate::shaping;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::time::Duration;
use truckee_kernel::shape::Counts;
use truckee_kernel::shaped::{self, Standing, Wanted, Watch};
use truckee_scenario::units::{self, Dimension, Quantity};

/// Shape the ACKs that leave interfaces, for a gateway or an access point
///
/// All TCP ACKs that leave the named interfaces, or every interface of a network namespace, are shaped by BPF until Ctrl-C,
/// those of this machine and those that it forwards. What others then get from the path is changed, too: the book says how
/// far, under "Measuring others".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ACK policy: NAME, NAME:VALUE or NAME:KEY=VALUE, such as division:4:first=3, accumulated, delayed:4
    #[arg(long, value_name = "POLICY")]
    ack: String,
    /// An interface (repeatable) [default with --ns: all, also those that appear later]
    #[arg(long, value_name = "NAME", required_unless_present = "ns")]
    dev: Vec<String>,
    /// The network namespace that they are in [default: this one]
    #[arg(long, value_name = "NAME")]
    ns: Option<String>,
    /// How long: 60s, 10min [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    lasting: Option<String>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  sudo truckee shape --dev wlan0 --ack accumulated-full
  sudo truckee shape --ns phone --ack division:4 --for 60s --format json
  sudo truckee shape --dev eth0 --dev eth1 --ack delayed:4

While it stands, `truckee ack ID POLICY` changes the policy.";

/// Stands until its end, and says what it did.
pub fn shape(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let wanted = Wanted::read("--ack", &arguments.ack)?;
    let lasting = arguments.lasting.as_deref().map(time).transpose()?;
    let (devices, namespace) = (&arguments.dev, arguments.ns.as_deref());
    let mut show = Show::new(&arguments.ack);
    let report = shaped::stand(Standing { devices, namespace, wanted, lasting }, &mut show);
    show.bar.finish_and_clear();
    let report = report?;
    match arguments.format {
        Format::Table => shaping::table(&report, out)?,
        Format::Json => shaping::object(&report, None, out)?,
        Format::Csv => shaping::csv(&report, out)?,
    }
    match report.broken {
        Some(why) => Err(Error::Failed(why)),
        None => Ok(()),
    }
}

fn time(text: &str) -> Result<Duration, Error> {
    match units::parse_as(text, &[Dimension::Time], "s") {
        Ok(Quantity::Time(time)) => Ok(time.into()),
        Ok(_) => Err(Error::Usage(format!("--for {text}: expected a time"))),
        Err(error) => {
            let hint = error.help.or(error.expected).unwrap_or_default();
            Err(Error::Usage(format!("--for {text}: {}; {hint}", error.message)))
        }
    }
}

/// What is seen while it stands.
struct Show<'a> {
    policy: &'a str,
    bar: ProgressBar,
}

impl<'a> Show<'a> {
    fn new(policy: &'a str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self { policy, bar }
    }
}

impl Watch for Show<'_> {
    fn begun(&mut self, id: &str) {
        note(&format!(
            "shaping, ACK policy {}; to change it: truckee ack {id} POLICY; Ctrl-C ends it",
            self.policy
        ));
    }

    fn counts(&mut self, counts: &Counts) {
        self.bar.set_message(shaping::line(counts));
        self.bar.tick();
    }

    fn told(&mut self, what: &str) {
        self.bar.suspend(|| note(what));
    }

    fn warned(&mut self, what: &str) {
        self.bar.suspend(|| warn(what));
    }
}
