//! `truckee read`: the TCP connections of a capture file, and what can be told of each.

mod ask;
mod details;
mod pages;
mod replay;
mod select;
mod table;

pub use ask::Arguments;

use crate::error::Error;
use crate::format::Format;
use ask::{complain, find, follow, json};
use std::io::Write;
use truckee_capture::report;

/// Reads and shows.
pub fn read(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let draws = pages::wanted(arguments)?;
    if !arguments.replay.is_empty() && !draws {
        return replay::replay(arguments, out);
    }
    let mut capture = follow(arguments, None)?;
    select::select(arguments.filter.as_ref(), arguments.sort.as_ref(), arguments.top, &mut capture);
    if draws {
        pages::write(arguments, &capture)?;
    }
    match (arguments.flow, arguments.format) {
        (None, Format::Table) => table::write(out, &capture)?,
        (None, Format::Json) => json(out, &capture)?,
        (None, Format::Csv) => csv(out, capture.connections.iter())?,
        (Some(number), format) => {
            let connection = find(&capture, number)?;
            match format {
                Format::Table => details::write(out, connection)?,
                Format::Json => json(out, connection)?,
                Format::Csv => csv(out, [connection].into_iter())?,
            }
        }
    }
    complain(arguments, &capture)
}

/// Directions of connections, one a line, with payload or not.
fn csv<'a>(
    out: &mut dyn Write,
    connections: impl Iterator<Item = &'a report::Connection>,
) -> Result<(), Error> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(table::CSV)?;
    for connection in connections {
        for (from, to, direction) in [
            (&connection.client, &connection.server, &connection.to_server),
            (&connection.server, &connection.client, &connection.to_client),
        ] {
            csv.write_record(table::csv_row(connection, from, to, direction))?;
        }
    }
    Ok(csv.flush()?)
}
