//! `truckee path show`, `set` and `panel`: links that run at present, asked and turned by who started them.

use super::panel;
use crate::error::Error;
use crate::human::{NONE, count, percent, quantity};
use crate::layout::{self, numbers, words};
use clap::{Subcommand, ValueEnum};
use std::io::Write;
use truckee_kernel::standalone::{self, Showing};

/// What is done with links that run.
#[derive(Debug, Subcommand)]
pub enum Turn {
    /// List the links that run on this machine, or show one
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Show),
    /// Turn a link while it runs: all of the settings, or none
    #[command(after_help = SET_EXAMPLES)]
    Set(Set),
    /// Watch a link, and turn it with the keys
    #[command(after_help = PANEL_EXAMPLES)]
    Panel(Panel),
}

const SHOW_EXAMPLES: &str = "\
Examples:
  truckee path show
  truckee path show 3fa2 --format json";

const SET_EXAMPLES: &str = "\
Examples:
  truckee path set 3fa2 loss=2%
  truckee path set 3fa2 rate=5Mbit/s delay=80ms delay_back=20ms
  truckee path set 3fa2 'channel={ kind = \"gilbert\", good = \"1s\", bad = \"50ms\", per_bad = 0.3 }' channel.per_bad=0.5
  truckee path set 3fa2 up=false

Keys of a [[link]]: rate, delay, queue (of a drop-tail one, its size), channel, and what is in them behind a dot. Beside the
channel: loss and reorder (shares of the packets), reorder_by (how long those are held back that others overtake; 10ms),
up. With _back they are the way back's; rate and delay hold for both ways where that has none.";

const PANEL_EXAMPLES: &str = "\
Examples:
  truckee path panel
  truckee path panel 3fa2";

/// Which one.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The four hex digits that it said
    id: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Which one, and how.
#[derive(Debug, clap::Args)]
pub struct Set {
    /// The four hex digits that it said
    id: String,
    /// What is to be otherwise
    #[arg(required = true, value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

/// Which one.
#[derive(Debug, clap::Args)]
pub struct Panel {
    /// The four hex digits that it said [default: the only one that runs]
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One array of objects
    Json,
}

/// Does it.
pub fn turn(turn: &Turn, out: &mut dyn Write) -> Result<(), Error> {
    match turn {
        Turn::Show(show) => {
            let ids = show.id.as_ref().map_or_else(standalone::running, |id| vec![id.clone()]);
            let ask = |id: &String| match standalone::show(id) {
                // Of a list, what is another user's is left out.
                Err(_) if show.id.is_none() => None,
                shown => Some(shown),
            };
            let all = ids.iter().filter_map(ask).collect::<Result<Vec<Showing>, _>>()?;
            write(&all, show.format, out)
        }
        Turn::Set(set) => write(&[standalone::set(&set.id, set.settings.clone())?], Format::Table, out),
        Turn::Panel(panel) => panel::run(&one(panel.id.as_deref())?),
    }
}

/// The one that was named, or the only one that runs.
fn one(id: Option<&str>) -> Result<String, Error> {
    match (id, standalone::running().as_slice()) {
        (Some(id), _) => Ok(id.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (None, []) => {
            Err(Error::Usage("no path is emulated at present: truckee path --between …".to_owned()))
        }
        (None, several) => Err(Error::Usage(format!("which one? {} run", several.join(", ")))),
    }
}

fn write(all: &[Showing], format: Format, out: &mut dyn Write) -> Result<(), Error> {
    if format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, all)?;
        return Ok(writeln!(out)?);
    }
    if all.is_empty() {
        return Ok(writeln!(out, "no path is emulated at present")?);
    }
    let columns = [
        words("id"),
        words("direction"),
        numbers("rate"),
        numbers("delay"),
        numbers("loss"),
        numbers("reorder"),
        words("up"),
        numbers("packets"),
        numbers("lost: queue"),
        numbers("channel"),
        numbers("outage"),
        numbers("waiting"),
    ];
    Ok(layout::write(out, &columns, all.iter().flat_map(rows))?)
}

/// One direction a row. Loss and reordering are those set by hand; what else the channel does is not among them.
fn rows(shown: &Showing) -> Vec<Vec<String>> {
    let row = |(setting, lane): (&standalone::Setting, &truckee_kernel::LaneCounters)| {
        let share = |x: f64| if x > 0.0 { percent(x) } else { NONE.to_owned() };
        vec![
            shown.id.clone(),
            lane.name.clone(),
            quantity(lane.rate_bps as f64, "bit/s"),
            quantity(lane.delay_s, "s"),
            share(setting.by_hand.loss),
            share(setting.by_hand.reorder),
            if lane.up { "yes" } else { "no" }.to_owned(),
            count(lane.packets),
            count(lane.queue_drops),
            count(lane.channel_drops),
            count(lane.outage_drops),
            count(lane.waiting_packets),
        ]
    };
    shown.settings.iter().zip(&shown.lanes).map(row).collect()
}
