//! `truckee path`: one link in real time, between two namespaces or two interfaces.

mod panel;
mod turn;

use crate::error::Error;
use crate::format::Format;
use crate::human::{NONE, count, optional, percent, quantity};
use crate::interrupt;
use crate::layout::{self, numbers, words};
use crate::progress::{note, warn};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_kernel::standalone::{self, End, Made, Prefixed, Report, Request, Watch};
use truckee_kernel::{LaneCounters, PortCounters};
use truckee_scenario::outcome::LinkOutcome;
use truckee_scenario::{Document, Scenario};

/// Emulate a link in real time, between two namespaces or two interfaces
///
/// Every packet passes a queue, a transmitter of the rate, the delay and the channel, and the cause of every loss is
/// known. Between namespaces (ns:NAME) a TUN device is made in each, which vanishes at the end; between interfaces
/// (NAME, or NAMESPACE/NAME) frames are forwarded, and the interfaces' offloads are switched off for the time. What is
/// not given for the way back holds for both ways, but the channel, which acts on the way there only. While it runs, who
/// started it and root may turn it: by `truckee path set`, or at a panel.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    turn: Option<turn::Turn>,
    /// The two ends: ns:left ns:right, eth1 eth2, left/eth1 right/eth1
    #[arg(long, num_args = 2, required = true, value_names = ["FIRST", "SECOND"])]
    between: Vec<String>,
    #[command(flatten)]
    there: There,
    #[command(flatten)]
    back: Back,
    /// Take the link from this scenario file, in place of the options above
    #[arg(long, value_name = "FILE", conflicts_with_all = ["There", "Back"])]
    scenario: Option<PathBuf>,
    /// Which link of the scenario [default: the only one]
    #[arg(long, value_name = "NAME", requires = "scenario")]
    link: Option<String>,
    /// Addresses of the two TUN devices (repeatable) [default: 10.77.0.1/24 and 10.77.0.2/24, fd77::1/64 and
    /// fd77::2/64]
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"])]
    address: Vec<String>,
    /// Largest IP packet of the TUN devices, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(68..=65_521))]
    mtu: u32,
    /// Seed of the channel's randomness [default: 1, or the scenario's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long: 60s, 10min [default: until Ctrl-C, or the scenario's]
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
    /// Look at the clock again and again shortly before a packet is due: more exact, and takes processor time
    #[arg(long)]
    busy: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// The way there, from the first end to the second.
#[derive(Debug, clap::Args)]
struct There {
    /// Rate: 10Mbit/s; needed, where neither a scenario nor a channel of recorded capacity has one
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Propagation delay: 50ms [default: none]
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,
    /// Queue: 84packets, 64kB, 1bdp [default: ample]
    #[arg(long, value_name = "SIZE")]
    queue: Option<String>,
    /// What the medium does, as in a scenario: '{ kind = "bernoulli", per = 0.01 }' [default: nothing]
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
}

/// The way back.
#[derive(Debug, clap::Args)]
struct Back {
    /// Rate of the way back
    #[arg(long, value_name = "RATE")]
    back_rate: Option<String>,
    /// Propagation delay of the way back
    #[arg(long, value_name = "TIME")]
    back_delay: Option<String>,
    /// Queue of the way back
    #[arg(long, value_name = "SIZE")]
    back_queue: Option<String>,
    /// What the medium does on the way back
    #[arg(long, value_name = "CHANNEL")]
    back_channel: Option<String>,
}

const USAGE: &str = "\
truckee path --between <FIRST> <SECOND> --rate <RATE> [OPTIONS]
       truckee path --between <FIRST> <SECOND> --scenario <FILE> [OPTIONS]
       truckee path show [ID]
       truckee path set <ID> <KEY=VALUE>...
       truckee path panel [ID]";

const EXAMPLES: &str = "\
Examples:
  truckee path --between ns:left ns:right --rate 10Mbit/s --delay 50ms --queue 1bdp
  truckee path --between ns:left ns:right --rate 20Mbit/s --delay 30ms \\
      --channel '{ kind = \"gilbert\", good = \"1s\", bad = \"50ms\", per_bad = 0.3 }' --duration 60s
  truckee path --between eth1 eth2 --rate 2Mbit/s --back-rate 256kbit/s --delay 270ms --queue 64kB
  truckee path --between ns:left ns:right --scenario examples/wireless.toml --link router-phone
  truckee path set 3fa2 loss=2% rate=5Mbit/s delay_back=80ms
  truckee path panel 3fa2";

/// Runs until the end or Ctrl-C, and shows what the link did.
pub fn path(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(turn) = &arguments.turn {
        return turn::turn(turn, out);
    }
    let ends = pair(&arguments.between, |text| text.parse::<End>().map_err(Error::from))?;
    let mut addresses = [Vec::new(), Vec::new()];
    for both in arguments.address.chunks(2) {
        let [first, second] = pair(both, |text| text.parse::<Prefixed>().map_err(Error::from))?;
        addresses[0].push(first);
        addresses[1].push(second);
    }
    let document = arguments.document()?;
    let scenario = document.scenario()?;
    let link = arguments.link(&scenario)?;
    let (mtu, busy) = (arguments.mtu, arguments.busy);
    let request = Request { ends, addresses, mtu, scenario: &scenario, document: &document, link, busy };
    let mut show = Show::new(&arguments.between);
    let report = standalone::run(&request, interrupt::cancel(), &mut show);
    show.bar.finish_and_clear();
    let report = report?;
    report.ports.iter().for_each(complain);
    match arguments.format {
        Format::Table => table(out, &report),
        Format::Json => object(out, arguments, scenario.seed, &report),
        Format::Csv => csv(out, &report),
    }
}

/// Both of two.
fn pair<T>(texts: &[String], read: impl Fn(&str) -> Result<T, Error>) -> Result<[T; 2], Error> {
    let [first, second] = texts else {
        return Err(Error::Usage("expected two values, one for each end".into()));
    };
    Ok([read(first)?, read(second)?])
}

impl Arguments {
    /// The scenario that has the link: the file, or one made of the options, so that both are read alike.
    fn document(&self) -> Result<Document, Error> {
        let mut document = match &self.scenario {
            Some(file) => Document::read(Path::new(file))?,
            None => {
                let mut document = Document::parse("options", OPTIONS)?;
                let traced = |c: &Option<String>| c.as_ref().is_some_and(|c| c.contains("trace"));
                if self.there.rate.is_none()
                    && !traced(&self.there.channel)
                    && !traced(&self.back.back_channel)
                {
                    return Err(Error::Usage(
                        "the link has no rate: give one, such as --rate 10Mbit/s".into(),
                    ));
                }
                for (key, value) in self.settings() {
                    document.set(&format!("link.0.{key}"), &value)?;
                }
                document
            }
        };
        if let Some(seed) = self.seed {
            document.set("seed", &seed.to_string())?;
        }
        if let Some(duration) = &self.duration {
            document.set("duration", duration)?;
        }
        Ok(document)
    }

    /// The options as keys of a link.
    fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let (there, back) = (&self.there, &self.back);
        let all = [
            ("rate", there.rate.clone()),
            ("delay", there.delay.clone()),
            ("queue", there.queue.as_deref().map(queue)),
            ("channel", there.channel.clone()),
            ("rate_back", back.back_rate.clone()),
            ("delay_back", back.back_delay.clone()),
            ("queue_back", back.back_queue.as_deref().map(queue)),
            ("channel_back", back.back_channel.clone()),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }

    /// The index of the link.
    fn link(&self, scenario: &Scenario) -> Result<usize, Error> {
        let labels = || scenario.links.iter().map(|link| link.label(&scenario.nodes));
        let names = || labels().collect::<Vec<_>>().join(", ");
        match &self.link {
            Some(name) => {
                let found = labels().position(|label| label == name.as_str());
                found.ok_or_else(|| {
                    Error::Usage(format!("--link {name}: the scenario's links are {}", names()))
                })
            }
            None if scenario.links.len() == 1 => Ok(0),
            None => Err(Error::Usage(format!("which link? --link takes one of {}", names()))),
        }
    }
}

/// What the options are put into.
const OPTIONS: &str = "\
duration = \"5256000min\"
[[link]]
between = [\"first\", \"second\"]
";

/// A queue as a scenario has it: a table, or one of this size.
fn queue(value: &str) -> String {
    let value = value.trim();
    if value.starts_with('{') { value.to_owned() } else { format!("{{ size = \"{value}\" }}") }
}

/// What is seen while it runs.
struct Show<'a> {
    ends: &'a [String],
    bar: ProgressBar,
    /// Bytes delivered by each direction a second ago.
    before: Vec<u64>,
}

impl<'a> Show<'a> {
    fn new(ends: &'a [String]) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self { ends, bar, before: Vec::new() }
    }
}

impl Watch for Show<'_> {
    fn begun(&mut self, made: &[Made; 2], id: Option<&str>) {
        for (end, made) in self.ends.iter().zip(made) {
            if made.addresses.is_empty() {
                note(&format!("{end}: {}, offloads off", made.device));
            } else {
                let addresses: Vec<String> = made.addresses.iter().map(Prefixed::to_string).collect();
                note(&format!("{end}: {}, {}", made.device, addresses.join(", ")));
            }
        }
        if let Some(id) = id {
            note(&format!("turn it by: truckee path set {id} loss=2%, or truckee path panel {id}"));
        }
        note("forwarding; Ctrl-C ends it");
    }

    fn warned(&mut self, message: &str) {
        warn(message);
    }

    fn turned(&mut self, settings: &[String]) {
        self.bar.suspend(|| note(&format!("now {}", settings.join(", "))));
    }

    fn counters(&mut self, lanes: &[LaneCounters]) {
        self.before.resize(lanes.len(), 0);
        let lines: Vec<String> =
            lanes.iter().zip(&self.before).map(|(lane, before)| line(lane, *before)).collect();
        self.bar.set_message(lines.join("\n"));
        self.bar.tick();
        self.before = lanes.iter().map(|lane| lane.bytes).collect();
    }
}

/// One direction at this moment.
fn line(lane: &LaneCounters, bytes_before: u64) -> String {
    let rate = 8.0 * lane.bytes.saturating_sub(bytes_before) as f64;
    format!(
        "{}: {} packets, {}; lost: queue {}, channel {}, outage {}; waiting {}",
        lane.name,
        count(lane.packets),
        quantity(rate, "bit/s"),
        count(lane.queue_drops),
        count(lane.channel_drops),
        count(lane.outage_drops),
        count(lane.waiting_packets),
    )
}

/// Says what did not pass as it should have.
fn complain(port: &PortCounters) {
    let cases = [
        (port.unread, "packets were lost before they could be read: too fast for this machine"),
        (port.refused, "packets could not be written: the device was down or its queue full"),
        (
            port.oversized,
            "frames were above the MTU or not yet segmented and did not pass: switch off tso and gso where they come from",
        ),
    ];
    for (n, what) in cases.into_iter().filter(|(n, _)| *n > 0) {
        warn(&format!("{}: {} {what}", port.name, count(n)));
    }
}

fn table(out: &mut dyn Write, report: &Report) -> Result<(), Error> {
    let columns = [
        words("direction"),
        numbers("packets"),
        numbers("rate"),
        numbers("busy"),
        numbers("lost: queue"),
        numbers("channel"),
        numbers("outage"),
        numbers("delivered"),
        numbers("mean queue"),
        numbers("mean wait"),
    ];
    let rows = report.links.iter().zip(&report.lanes).map(|(link, lane)| row(link, lane, report.lasted_s));
    layout::write(out, &columns, rows)?;
    let late = &report.late_s;
    let lateness = late.p50.map_or_else(
        || NONE.to_owned(),
        |_| format!("median {}, p99 {}", optional(late.p50, "s"), optional(late.p99, "s")),
    );
    writeln!(out, "\n{} in real time; packets left late by: {lateness}", quantity(report.lasted_s, "s"))?;
    for link in report.links.iter().filter(|link| link.ecn_marks > 0) {
        writeln!(out, "{}: {} marked (CE) in place of dropped", link.name, count(link.ecn_marks))?;
    }
    Ok(())
}

fn row(link: &LinkOutcome, lane: &LaneCounters, lasted: f64) -> Vec<String> {
    let rate = if lasted > 0.0 { 8.0 * link.bytes as f64 / lasted } else { 0.0 };
    vec![
        link.name.clone(),
        count(link.packets),
        quantity(rate, "bit/s"),
        percent(link.utilisation),
        count(link.queue_drops),
        count(link.channel_drops),
        count(link.outage_drops),
        count(lane.delivered),
        quantity(link.mean_queue_packets, "packets"),
        quantity(link.mean_wait_s, "s"),
    ]
}

fn object(out: &mut dyn Write, arguments: &Arguments, seed: u64, report: &Report) -> Result<(), Error> {
    let object = json!({
        "truckee": env!("CARGO_PKG_VERSION"),
        "between": arguments.between,
        "seed": seed,
        "lasted_s": report.lasted_s,
        "links": report.links,
        "lanes": report.lanes,
        "ports": report.ports,
        "late_s": report.late_s,
    });
    serde_json::to_writer_pretty(&mut *out, &object)?;
    writeln!(out)?;
    Ok(())
}

/// One direction a line.
fn csv(out: &mut dyn Write, report: &Report) -> Result<(), Error> {
    let mut csv = csv::Writer::from_writer(out);
    for link in &report.links {
        csv.serialize(link)?;
    }
    Ok(csv.flush()?)
}
