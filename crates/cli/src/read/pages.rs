//! `--out` and `--xplot`: the capture is read once more, and this time what the chosen connections do over time is kept.

use super::ask::{Arguments, find, follow};
use super::replay::cast;
use crate::error::Error;
use crate::progress::note;
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use truckee_capture::connection::Step;
use truckee_capture::portrait::Portrait;
use truckee_capture::report::Connection;
use truckee_capture::table::Each;
use truckee_capture::wire::Packet;
use truckee_capture::xplot::Xplot;
use truckee_capture::{Capture, Watch, Way, connection};
use truckee_lab::disk::{self, Begun};
use truckee_look::report;

/// Connections that are drawn where nobody says how many.
const USUAL: usize = 32;
/// And at most: each keeps two files open.
const MOST: usize = 256;
/// Who speaks on a page where nobody is named: an estimator, a predictor and a detector of each kind that needs no more
/// than a capture shows.
const USUAL_CAST: [&str; 5] = ["tibet", "westwood-2", "vegas", "spike", "taba-detector"];

/// A connection that is drawn.
struct Drawn {
    portrait: Portrait,
    graphs: Vec<(PathBuf, Xplot<BufWriter<Begun>>)>,
}

impl Watch for Drawn {
    fn wants(&mut self, connection: &connection::Connection) -> bool {
        self.portrait.wants(connection)
    }

    fn on_step(&mut self, connection: &connection::Connection, packet: &Packet, step: &Step) {
        self.portrait.on_step(connection, packet, step);
        for (_, graph) in &mut self.graphs {
            graph.on_step(connection, packet, step);
        }
    }
}

/// Whether pages or graphs are wanted; of stdin there can be none, since the capture is read twice.
pub fn wanted(arguments: &Arguments) -> Result<bool, Error> {
    let wanted = arguments.out.is_some() || arguments.xplot.is_some();
    if wanted && arguments.capture == Path::new("-") {
        let why = "--out and --xplot need a file: of stdin, what has been read is gone";
        return Err(Error::Usage(why.to_owned()));
    }
    Ok(wanted)
}

/// Writes what was asked for.
pub fn write(arguments: &Arguments, capture: &Capture) -> Result<(), Error> {
    let chosen = chosen(arguments, capture)?;
    let mut each = BTreeMap::new();
    for connection in &chosen {
        each.insert(connection.number, drawn(arguments, connection, chosen.len())?);
    }
    let mut each = Each(each);
    follow(arguments, Some(&mut each))?;
    let mut files = Vec::new();
    let mut portraits = Vec::new();
    for connection in &chosen {
        let Some(drawn) = each.0.remove(&connection.number) else { continue };
        portraits.push(drawn.portrait);
        for (path, graph) in drawn.graphs {
            let (file, any) = graph.finish()?;
            if any {
                file.into_inner().map_err(|e| Error::Write(e.into_error()))?.finish()?;
                files.push(path);
            }
        }
    }
    if let Some(dir) = &arguments.out {
        let name = arguments.capture.file_name().unwrap_or_default().to_string_lossy();
        let drawn: Vec<&Portrait> = portraits.iter().collect();
        files.extend(report::capture::write(dir, &name, capture, &drawn)?);
        note(&format!(
            "wrote {} and {} files more",
            dir.join(report::NAME).display(),
            files.len().saturating_sub(1)
        ));
    } else {
        note(&format!("wrote {} files", files.len()));
    }
    Ok(())
}

/// Those that are drawn: what was named, or the first of those that are shown.
fn chosen<'a>(arguments: &Arguments, capture: &'a Capture) -> Result<Vec<&'a Connection>, Error> {
    if let Some(number) = arguments.flow {
        return Ok(vec![find(capture, number)?]);
    }
    let mut chosen: Vec<&Connection> = capture.connections.iter().collect();
    if arguments.sort.is_none() {
        chosen.sort_by_key(|c| std::cmp::Reverse(c.unique_bytes()));
    }
    let all = chosen.len();
    chosen.truncate(arguments.top.unwrap_or(USUAL).min(MOST));
    if chosen.len() < all {
        note(&format!(
            "{} of {all} connections are drawn; --top N, --filter and --flow choose others",
            chosen.len()
        ));
    }
    Ok(chosen)
}

fn drawn(arguments: &Arguments, c: &Connection, all: usize) -> Result<Drawn, Error> {
    let portrait = Portrait::new(c.number, c.main_way(), cast(&names(arguments))?, all);
    let mut graphs = Vec::new();
    if let Some(dir) = &arguments.xplot {
        disk::folder(dir)?;
        for (way, name) in [(Way::ToServer, "to-server"), (Way::ToClient, "to-client")] {
            if c.direction(way).segments > 0 {
                let path = dir.join(format!("connection-{}-{name}.xpl", c.number));
                let file = BufWriter::new(Begun::new(&path)?);
                graphs.push((path, Xplot::new(c.number, way, file)));
            }
        }
    }
    Ok(Drawn { portrait, graphs })
}

fn names(arguments: &Arguments) -> Vec<&str> {
    match arguments.replay.as_slice() {
        [] => USUAL_CAST.to_vec(),
        names => names.iter().map(String::as_str).collect(),
    }
}
