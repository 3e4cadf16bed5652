//! What is asked of a capture, and reading it for that.

use super::select::{FILTER_HELP, Field, Filter};
use crate::error::Error;
use crate::format::Format;
use crate::interrupt;
use crate::progress::{Bar, warn};
use clap::ValueEnum;
use std::io::Write;
use std::path::PathBuf;
use truckee_capture::{Capture, Limits, Watch, Way, report, source};

/// Show the TCP connections of a capture, and what can be told of each
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The capture: pcap or pcapng, plain or packed with gzip or zstd; - for stdin
    #[arg(value_name = "CAPTURE")]
    pub(super) capture: PathBuf,
    /// Everything about the connection with this number
    #[arg(long, value_name = "N")]
    pub(super) flow: Option<u64>,
    /// Run these estimators, predictors and detectors over the connection of --flow, or over the largest: what each
    /// would have said
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(super) replay: Vec<String>,
    /// With --replay: which way the data goes; without it, the way that more of it goes
    #[arg(long, value_enum, requires = "replay")]
    pub(super) way: Option<Direction>,
    /// With --replay: also draw it into this SVG file
    #[arg(long, value_name = "FILE.svg", requires = "replay", value_parser = crate::figure::svg)]
    pub(super) figure: Option<PathBuf>,
    /// Only connections of which this holds, such as `bytes > 1MB and loss > 1%`
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse, conflicts_with = "flow", long_help = FILTER_HELP)]
    pub(super) filter: Option<Filter>,
    /// Sort connections by this field of --filter: numbers the largest first, words from A to Z
    #[arg(long, value_name = "FIELD", value_parser = Field::parse, conflicts_with = "flow")]
    pub(super) sort: Option<Field>,
    /// Only the first N connections of --sort, or the N with the most data
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "flow")]
    pub(super) top: Option<usize>,
    /// Also write into DIR a page of the capture, and a page and a figure of each connection: of --flow, or of the first
    /// ones shown, with the most data where --sort does not say otherwise; --replay says who speaks on them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["way", "figure"])]
    pub(super) out: Option<PathBuf>,
    /// Also draw the time-sequence graph of each direction of the same connections into DIR/connection-N-WAY.xpl, for xplot
    #[arg(long, value_name = "DIR", conflicts_with_all = ["way", "figure"])]
    pub(super) xplot: Option<PathBuf>,
    /// Connections that are followed at once and shown one by one; the smallest of more are summed up
    #[arg(long, value_name = "N", default_value_t = Limits::default().reported, value_parser = at_least_one)]
    pub(super) connections: usize,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee read capture.pcapng
  truckee read capture.pcapng --flow 1
  truckee read capture.pcapng --replay tibet,westwood-2,vegas,taba-detector --figure replay.svg
  truckee read capture.pcap.gz --format json | jq '.connections[].to_client.retransmissions'
  truckee read capture.pcapng --filter 'bytes > 1MB and loss > 1%' --sort loss --top 20
  truckee read capture.pcapng --out pages --replay tibet,vegas
  tcpdump -i eth0 -w - tcp | truckee read -";

/// Which way data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// From the client
    ToServer,
    /// From the server
    ToClient,
}

impl From<Direction> for Way {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ToServer => Self::ToServer,
            Direction::ToClient => Self::ToClient,
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=1 << 20).contains(&n) => Ok(n),
        _ => Err(format!("expected a whole number from 1 to {}", 1 << 20)),
    }
}

pub fn follow(arguments: &Arguments, watch: Option<&mut dyn Watch>) -> Result<Capture, Error> {
    let n = arguments.connections;
    let usual = Limits::default();
    let limits = Limits { followed: n.max(usual.followed), reported: n, ..usual };
    let stop = interrupt::cancel();
    let _bar = Bar::new(&format!("reading {}", arguments.capture.display()));
    let path = &arguments.capture;
    let refused = |error: truckee_capture::Error| error.of(path);
    let source = source::open(path)?;
    Ok(truckee_capture::read(source, limits, watch, |_| !stop.is_cancelled()).map_err(refused)?)
}

pub fn find(capture: &Capture, number: u64) -> Result<&report::Connection, Error> {
    capture.connections.iter().find(|c| c.number == number).ok_or_else(|| {
        let known = match capture.connections.as_slice() {
            [] => "has none".to_owned(),
            [.., last] => format!("has numbers up to {}", last.number),
        };
        Error::Usage(format!("--flow {number}: no connection of that number is shown; the capture {known}"))
    })
}

pub fn json(out: &mut dyn Write, what: &impl serde::Serialize) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *out, what)?;
    writeln!(out)?;
    Ok(())
}

/// What could not be read, on stderr; a capture that could not be read to its end is a failure.
pub fn complain(arguments: &Arguments, capture: &Capture) -> Result<(), Error> {
    let path = arguments.capture.display();
    if let Some(first) = &capture.first_skipped_block {
        let n = capture.skipped_blocks;
        warn(&format!("{path}: {n} blocks make no sense and were passed over; the first: {first}"));
    }
    match &capture.ended_early {
        None => Ok(()),
        Some(why) => Err(Error::Failed(format!("{path}: {why}; shown is what was read up to there"))),
    }
}
