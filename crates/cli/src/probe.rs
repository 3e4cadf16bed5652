//! `truckee probe`: how servers react to divided ACKs, and which TCP they have.

mod histogram;
mod identity;
mod list;
mod paper;
mod table;

use crate::error::Error;
use crate::interrupt;
use crate::progress::{note, warn};
use clap::ValueEnum;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;
use truckee_engines::probe::{Campaign, Kept, Settings};
use truckee_kernel::probe::{self, Family, Fault, Observation, Options, Prober, Program, Report};
use truckee_kernel::probe::{Target, Test, Trust, Watch};
use truckee_lab::disk;
use truckee_scenario::units::{Dimension, Quantity, parse_as};

/// Find out how a server's TCP reacts to divided ACKs, how large its initial window is, how it retransmits; which TCP it is
///
/// One connection at a time, and a pause between them, the first three segments of the answer are acknowledged in 1, 2,
/// 4, 8 and 12 ACKs each (tests A to E), in one ACK for all three (F), and in the second round (G); every other ACK is
/// withheld, and what comes is counted. With --identify losses are feigned by leaving out segments that have come, and ACKs are
/// held for a set round trip: what then comes tells how the server repairs losses (Tahoe, Reno, NewReno, SACK) and which
/// congestion control it has. Only the hosts given are contacted. Needs CAP_NET_RAW and CAP_NET_ADMIN,
/// and gives up every other right, and the first of these, before it contacts anybody. Measure servers of your own, or with their owners' leave.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What to ask for: http or https, a name or an address, any port
    #[arg(value_name = "URL", required_unless_present = "list")]
    urls: Vec<String>,
    /// A client program that asks in place of the prober, with its arguments: its connection to the URL's host and port is the
    /// one that is probed, and it is run once for each. It runs as whoever typed the command
    #[arg(last = true, value_name = "PROGRAM", conflicts_with_all = ["list", "out", "identify", "follow", "ca", "insecure"])]
    program: Vec<OsString>,
    /// Which of the things that the program says is asked with the prober's ACKs, of those it says one after the other when it
    /// has heard the server [default: 1; of https 2, behind the handshake of TLS 1.3]
    #[arg(long, value_name = "N", requires = "program", value_parser = clap::value_parser!(u32).range(1..=100))]
    turn: Option<u32>,
    /// Also the URLs in this file, one a line, # before a remark; without --yes it only says what it would do
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Do probe the list: their owners agree, or they are mine
    #[arg(long, requires = "list")]
    yes: bool,
    /// Keep what is finished in this directory, and go on from there: Parquet, histograms
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Which tests, of A to G; or N, N:first=K:stop=Z: N ACKs (at most 1024) for each of the first K segments (three, if
    /// nothing is said), and none after Z of them. 0 sends none, and counts [default: A to G; with --identify none]
    #[arg(long, value_name = "TESTS", value_delimiter = ',')]
    tests: Option<Vec<Test>>,
    /// Tell which TCP it is: its recovery, its congestion control, its stack's fingerprint; over http, with an answer of 2 MB, or
    /// 1 MB with --mss 256
    #[arg(long)]
    identify: bool,
    /// Tell the way there too, router by router: one connection more, whose SYN goes with a growing time to live
    #[arg(long)]
    route: bool,
    /// How often each test is repeated
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    repeat: u32,
    /// Between two connections to a server; less than 3s only for addresses that no stranger has
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = time)]
    pause: Duration,
    /// How long a server is watched after the last ACK
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = time)]
    watch: Duration,
    /// How long a connection waits for a server; all of a server's tests together, three times as long and 2s each
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    patience: Duration,
    /// Largest segment to announce, bytes: small segments make a short answer long enough [default: the path's]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(88..=65_495))]
    mss: Option<u32>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Go along with redirects to the same host, with or without www. before its name
    #[arg(long)]
    follow: bool,
    /// Trust these certificates (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One object; stable, SI units
    Json,
}

const EXAMPLES: &str = "\
Examples:
  sudo truckee probe http://www.example.org/large.iso
  sudo truckee probe https://[2001:db8::1]:8443/ --insecure --format json
  sudo truckee probe example.org --follow --mss 536
  sudo truckee probe http://www.example.org/large.iso --identify
  sudo truckee probe http://10.0.0.2/large.iso --tests A,64,200:first=10:stop=500
  sudo truckee probe http://10.0.0.2/ --route -- curl -H 'Cookie: a=b' http://10.0.0.2/large.iso
  sudo truckee probe --list ours.txt --yes --tests A,C --repeat 5 --out campaign

Exit status: 0 if any server could be judged; 1 if none, or interrupted; 2 bad usage.";

fn time(text: &str) -> Result<Duration, String> {
    match parse_as(text, &[Dimension::Time], "s") {
        Ok(Quantity::Time(time)) => Ok(time.into()),
        Ok(_) => Err("expected a time".into()),
        Err(error) => Err(error.message),
    }
}

/// Probes one server after the other, and shows what is said of each.
pub fn probe(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let targets = arguments.targets()?;
    let options = arguments.options(&targets)?;
    announce(&targets, &options);
    if arguments.list.is_some() && !arguments.yes {
        return Err(Error::Usage("nothing was done: a list is probed only with --yes".into()));
    }
    let prober = Prober::new(&options)?;
    let mut campaign = match &arguments.out {
        Some(dir) => {
            probe::work_as_owner_of(dir)?;
            Some(Campaign::open(dir, &Settings::of(&options))?)
        }
        None => None,
    };
    if let Some(what) = campaign.as_ref().and_then(Campaign::changed) {
        warn(what);
    }
    match options.program {
        Some(_) => probe::confine_as_invoking()?,
        None => probe::confine()?,
    }
    let mut reports = Vec::new();
    let mut stopped = None;
    for target in &targets {
        let url = target.to_string();
        if let Some(kept) = campaign.as_ref().and_then(|c| c.get(&url)) {
            note(&format!("{url} is done already"));
            reports.push(kept.clone());
            continue;
        }
        match prober.probe(target, &mut Show, interrupt::cancel()) {
            Ok(report) => {
                let kept = Kept::of(&report)?;
                // Who was not asked for want of a longer pause is asked when there is one.
                if let (Some(campaign), None) = (&mut campaign, stranger(&kept)) {
                    campaign.keep(kept.clone())?;
                }
                reports.push(kept);
            }
            Err(error) => {
                stopped = Some(error);
                break;
            }
        }
    }
    if let Some(campaign) = &campaign {
        let mut files = campaign.finish()?;
        let servers: Vec<&Kept> = campaign.servers().collect();
        if let (Some(figure), Some(dir)) = (histogram::figure(&servers), &arguments.out) {
            files.push(dir.join("histograms.svg"));
            figure.write(&dir.join("histograms.svg"))?;
        }
        let tables = paper::tables(&servers);
        if let (false, Some(dir)) = (tables.is_empty(), &arguments.out) {
            files.push(dir.join("tables.md"));
            disk::write(&dir.join("tables.md"), tables.as_bytes())?;
        }
        files.iter().for_each(|file| note(&format!("wrote {}", file.display())));
    }
    show(arguments.format, out, &reports)?;
    match (stopped, reports.iter().find_map(stranger)) {
        (Some(error), _) => Err(error.into()),
        (None, _) if reports.iter().any(|r| r.judged) => Ok(()),
        (None, Some(why)) => Err(Error::Usage(why.to_owned())),
        (None, None) => Err(Error::Failed("no server could be judged".into())),
    }
}

/// Why a server was not asked, if the pause was too short for it.
fn stranger(kept: &Kept) -> Option<&str> {
    let why = &kept.report["not_judged"];
    if why["name"] == "stranger" { why["words"].as_str() } else { None }
}

fn show(format: Format, out: &mut dyn Write, reports: &[Kept]) -> Result<(), Error> {
    match format {
        Format::Table => table::write(out, reports)?,
        Format::Json => {
            let servers: Vec<_> = reports.iter().map(|kept| &kept.report).collect();
            let all = serde_json::json!({ "truckee": env!("CARGO_PKG_VERSION"), "servers": servers });
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

impl Arguments {
    fn targets(&self) -> Result<Vec<Target>, Error> {
        let mut all = Vec::new();
        for text in &self.urls {
            all.push(text.parse::<Target>()?);
        }
        if let Some(file) = &self.list {
            all.extend(list::read(file)?);
        }
        // One connection at a time to a server, also where it is named twice.
        let mut seen = Vec::new();
        all.retain(|target| !seen.contains(target) && (seen.push(target.clone()), true).1);
        Ok(all)
    }

    /// What asks in place of the prober, if something does.
    fn program(&self, targets: &[Target]) -> Result<Option<Program>, Error> {
        match targets {
            _ if self.program.is_empty() => Ok(None),
            [target] => {
                // What a client of TLS 1.3 says when it has heard the server is the end of the handshake, and its request.
                let turn = self.turn.unwrap_or(if target.tls() { 2 } else { 1 });
                Ok(Some(Program { command: self.program.clone(), turn }))
            }
            _ => Err(Error::Usage("a program asks one server: expected one URL".into())),
        }
    }

    fn options(&self, targets: &[Target]) -> Result<Options, Error> {
        let all = if self.identify { Vec::new() } else { Test::ALL.to_vec() };
        let mut tests = self.tests.clone().unwrap_or(all);
        tests.sort_unstable();
        tests.dedup();
        Ok(Options {
            program: self.program(targets)?,
            route: self.route,
            family: match (self.ipv4, self.ipv6) {
                (true, _) => Family::Four,
                (_, true) => Family::Six,
                _ => Family::Any,
            },
            follow: self.follow,
            trust: match (&self.ca, self.insecure) {
                (Some(file), _) => Trust::File(file.clone()),
                (None, true) => Trust::Anyone,
                _ => Trust::System,
            },
            mss: self.mss,
            tests,
            repeat: self.repeat,
            identify: self.identify,
            pause: self.pause,
            watch: self.watch,
            patience: self.patience,
        })
    }
}

/// Says what will be done, before it is.
fn announce(targets: &[Target], o: &Options) {
    let tests = format!("tests {}, at most {} ACKs in a connection", o.words(), o.most_acks());
    let which = "which TCP it is, an ACK for a segment that has come at most";
    let what = match (o.tests.is_empty(), o.identify) {
        (false, true) => format!("{tests}; {which}"),
        (true, true) => which.to_owned(),
        _ => tests,
    };
    note(&format!(
        "{}: {} connections each, one at a time, {} s apart; {what}; about {} min",
        crate::human::many(targets.len(), "server"),
        o.connections(),
        o.pause.as_secs_f64(),
        crate::human::quantity((o.lasts() * targets.len() as u32).as_secs_f64() / 60.0, ""),
    ));
    if let Some(program) = &o.program {
        note(&format!("  asked by: {}", program.words()));
    }
    for target in targets.iter().take(10) {
        note(&format!("  {target}"));
    }
}

/// What is seen while it runs.
struct Show;

impl Watch for Show {
    fn answered(&mut self, report: &Report) {
        let address = report.address.map(|a| a.to_string()).unwrap_or_default();
        note(&format!("{} at {address} answers; the tests begin", report.tested));
    }

    fn tested(&mut self, o: &Observation) {
        if std::io::stderr().is_terminal() {
            note(&format!(
                "  {} {}: {} segments in the first round, {} ACKs, {} segments in the second, {} retransmitted",
                o.test, o.repetition, o.window_segments, o.acks, o.second_segments, o.retransmitted
            ));
        }
    }

    fn identifying(&mut self, part: &str, repetition: u32) {
        if std::io::stderr().is_terminal() {
            note(&format!("  {part} {repetition}"));
        }
    }

    fn failed(&mut self, test: Test, fault: &Fault) {
        note(&format!("  {test}: {fault}"));
    }
}
