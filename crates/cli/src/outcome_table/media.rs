//! Media in the table of a run: who was on the air for how long, and what became of attempts and packets.

use crate::human::{count, many, percent};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_scenario::Outcome;
use truckee_scenario::outcome::StationOutcome;

/// Stations shown at most: those that were longest on the air.
const MOST_STATIONS: usize = 10;

pub(super) fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let mut stations: Vec<&StationOutcome> = outcome.media.iter().flat_map(|m| &m.stations).collect();
    if stations.is_empty() {
        return Ok(());
    }
    stations.sort_by(|a, b| b.airtime.total_cmp(&a.airtime));
    let columns = [
        words("station"),
        numbers("airtime"),
        numbers("attempts"),
        numbers("met others"),
        numbers("noise"),
        numbers("weak"),
        numbers("lost: queue"),
        numbers("retries"),
        numbers("mean queue"),
    ];
    let row = |station: &&StationOutcome| {
        let drops = &station.drops;
        vec![
            station.name.clone(),
            percent(station.airtime),
            count(station.attempts),
            count(station.collisions + station.receiver_sending + station.reserved),
            count(station.noise),
            count(station.weak),
            count(drops.queue),
            count(drops.channel + drops.collision + drops.reach + drops.handoff),
            format!("{:.1} packets", station.mean_queue_packets),
        ]
    };
    writeln!(out)?;
    layout::write(out, &columns, stations.iter().take(MOST_STATIONS).map(row))?;
    match stations.len().saturating_sub(MOST_STATIONS) {
        0 => Ok(()),
        quiet => writeln!(out, "{} more that sent less: --format json shows all", many(quiet, "station")),
    }
}
