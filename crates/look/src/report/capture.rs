//! The pages of a capture: one that lists its connections, and one of each connection that is drawn.
//!
//! What stands on them is bounded, whatever the capture: curves are thinned, events beyond a number only counted, and the
//! table of the first page has as many rows as connections are reported one by one.

mod connection;

use super::model::{Axis, Cell, Column, Figure, Kind, Page, Section, Series, Table};
use super::render;
use crate::Error;
use crate::figure;
use std::path::{Path, PathBuf};
use truckee_capture::Capture;
use truckee_capture::portrait::Portrait;
use truckee_capture::report::Connection;
use truckee_lab::{disk, human};

/// Connections whose rates are drawn in one figure.
const MOST_RATES: usize = 8;

/// Writes the page of a capture called `name` into `dir`, and of each connection that is drawn a page, `connection-N.html`,
/// and a figure, `connection-N.svg`. Returns the first page and the others, in the order of `drawn`.
///
/// # Errors
/// A file cannot be written.
pub fn write(dir: &Path, name: &str, capture: &Capture, drawn: &[&Portrait]) -> Result<Vec<PathBuf>, Error> {
    disk::folder(dir)?;
    let mut of: Vec<(&Connection, &Portrait)> = Vec::new();
    for portrait in drawn {
        let number = portrait.replay.connection();
        of.extend(capture.connections.iter().find(|c| c.number == number).map(|c| (c, *portrait)));
    }
    let mut files = Vec::new();
    put(&mut files, dir.join(super::NAME), &render::html(&index(name, capture, &of))?)?;
    for (connection, portrait) in of {
        let stem = stem(connection);
        put(
            &mut files,
            dir.join(format!("{stem}.html")),
            &render::html(&connection::page(connection, portrait))?,
        )?;
        // Without data there is nothing to draw, and the page says so.
        if let Ok(svg) = figure::connection(connection, portrait) {
            put(&mut files, dir.join(format!("{stem}.svg")), &svg)?;
        }
    }
    Ok(files)
}

fn put(files: &mut Vec<PathBuf>, path: PathBuf, text: &str) -> Result<(), Error> {
    disk::write(&path, text.as_bytes())?;
    files.push(path);
    Ok(())
}

fn stem(connection: &Connection) -> String {
    format!("connection-{}", connection.number)
}

/// The first page.
fn index(name: &str, capture: &Capture, drawn: &[(&Connection, &Portrait)]) -> Page {
    let mut sections = vec![connections(capture, drawn)];
    sections.extend(rates(capture, drawn));
    sections.extend(passed_over(capture));
    Page {
        title: name.to_owned(),
        says: format!(
            "A capture: {} over {}.",
            human::many(capture.connections.len(), "TCP connection"),
            human::quantity(capture.lasted_s, "s")
        ),
        facts: facts(capture),
        sections,
    }
}

fn facts(capture: &Capture) -> Vec<(String, String)> {
    let mut facts = vec![
        ("Format".to_owned(), capture.format.to_owned()),
        ("Packets".to_owned(), human::count(capture.packets)),
        ("Of TCP".to_owned(), human::count(capture.tcp_packets)),
        ("From the first to the last".to_owned(), human::quantity(capture.lasted_s, "s")),
    ];
    if capture.left_out > 0 {
        facts.push(("Connections left out".to_owned(), human::count(capture.left_out)));
    }
    let others = &capture.others;
    if others.connections > 0 {
        let said = format!(
            "{}: {}, {} segments resent",
            human::count(others.connections),
            human::quantity(others.bytes as f64, "B"),
            human::count(others.retransmitted_segments)
        );
        facts.push(("Smaller connections".to_owned(), said));
    }
    if let Some(why) = &capture.ended_early {
        facts.push(("Read only up to here".to_owned(), why.clone()));
    }
    facts
}

/// The table of connections; those that are drawn lead to their pages.
fn connections(capture: &Capture, drawn: &[(&Connection, &Portrait)]) -> Section {
    let numbers = ["Began", "Lasted", "To server", "To client", "Rate", "RTT: min", "mean", "Resent"];
    let numbers = numbers.into_iter().chain(["Fast retransmits", "Timeouts", "Spurious"]);
    let words = ["Connection", "Client", "Server", "State"].map(Column::words).into_iter();
    let row = |c: &Connection| {
        let main = c.direction(c.main_way());
        let again = &main.retransmissions;
        let is_drawn = drawn.iter().any(|(one, _)| one.number == c.number);
        let link = if is_drawn { format!("./{}.html", stem(c)) } else { String::new() };
        let rtt = main.whole_rtt_s();
        vec![
            Cell { link, sort: Some(c.number as f64), ..Cell::words(c.number.to_string()) },
            Cell::words(c.client.clone()),
            Cell::words(c.server.clone()),
            Cell::words(c.state),
            Cell::quantity(Some(c.began_s - capture.began_s), "s"),
            Cell::quantity(Some(c.lasted_s), "s"),
            Cell::quantity(Some(c.to_server.unique_bytes as f64), "B"),
            Cell::quantity(Some(c.to_client.unique_bytes as f64), "B"),
            Cell::quantity(main.throughput_bps, "bit/s"),
            Cell::quantity(rtt.map(|(min, _)| min), "s"),
            Cell::quantity(rtt.map(|(_, mean)| mean), "s"),
            Cell::share(main.resent_share()),
            Cell::count(Some(again.fast_events as f64)),
            Cell::count(Some(again.timeout_events as f64)),
            Cell::count(Some(again.spurious as f64)),
        ]
    };
    let table = Table {
        caption: "What is told of one direction is told of the one that more data went. A dash: there is no such value."
            .to_owned(),
        columns: words.chain(numbers.map(Column::number)).collect(),
        rows: capture.connections.iter().map(row).collect(),
    };
    let says = match capture.connections.len().saturating_sub(drawn.len()) {
        0 => "Each number leads to the connection's page.".to_owned(),
        rest => format!("Numbers that are links lead to the connections' pages; {rest} have none."),
    };
    let tables = if table.rows.is_empty() { Vec::new() } else { vec![table] };
    let says = if tables.is_empty() { "There is no TCP connection to show.".to_owned() } else { says };
    Section { title: "Connections".to_owned(), says, tables, ..Section::default() }
}

/// The rates of those that are drawn, over the capture's time.
fn rates(capture: &Capture, drawn: &[(&Connection, &Portrait)]) -> Option<Section> {
    let mut series = Vec::new();
    for (k, (c, _)) in drawn.iter().enumerate().take(MOST_RATES) {
        let since = c.began_s - capture.began_s;
        if let Some(steps) = &c.direction(c.main_way()).throughput {
            let label = format!("{}: {} to {}", c.number, c.client, c.server);
            let points = steps.points().map(|(t, bps)| (since + t, bps * 1e-6));
            series.push(Series::new(&label, Kind::Step, points).colour(k % 7).dash(k % 4));
        }
    }
    let figure = Figure {
        title: "Throughput".to_owned(),
        says: "Payload, each byte once, of the direction that more of it went.".to_owned(),
        x: Axis::new("Time / s"),
        y: Axis::from_zero("Rate / Mbit/s"),
        series,
        ..Figure::default()
    };
    (!figure.series.is_empty()).then(|| Section {
        title: "Over time".to_owned(),
        figures: vec![figure],
        ..Section::default()
    })
}

/// Packets that were passed over, by why.
fn passed_over(capture: &Capture) -> Option<Section> {
    let row = |(why, n): (&String, &u64)| vec![Cell::words(why.clone()), Cell::count(Some(*n as f64))];
    let table = Table {
        caption: "Packets of which no connection is told.".to_owned(),
        columns: vec![Column::words("Why"), Column::number("Packets")],
        rows: capture.skipped.iter().map(row).collect(),
    };
    (!table.rows.is_empty()).then(|| Section {
        title: "Passed over".to_owned(),
        tables: vec![table],
        ..Section::default()
    })
}

#[cfg(test)]
mod tests;
