//! The TCP connections of a capture file.

use crate::attend::{Wishes, attended};
use crate::error;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use truckee_capture::replay::{Cast, Replay};
use truckee_capture::{Limits, Watch, Way, source};

/// Reads a capture; of up to so many connections everything is told. Returns it as JSON.
#[pyfunction]
pub fn read(py: Python<'_>, path: PathBuf, connections: usize) -> PyResult<String> {
    serde_json::to_string(&followed(py, &path, connections, None)?).map_err(error::internal)
}

/// What estimators, predictors and detectors of these names would have said over the connection of that number, or over the
/// largest one, where its data goes to the server, to the client, or, if that is not said, the way that more of it goes. As
/// JSON.
#[pyfunction]
#[pyo3(signature = (path, names, connections, number = None, to_server = None))]
pub fn replay(
    py: Python<'_>,
    path: PathBuf,
    names: Vec<String>,
    connections: usize,
    number: Option<u64>,
    to_server: Option<bool>,
) -> PyResult<String> {
    let cast = Cast::named(names.iter().map(String::as_str)).map_err(|e| error::capture(&e))?;
    let capture = followed(py, &path, connections, None)?;
    let all = &capture.connections;
    let connection = match number {
        Some(number) => all.iter().find(|c| c.number == number),
        None => all.iter().max_by_key(|c| c.bytes()),
    };
    let connection = connection.ok_or_else(|| {
        let which = number
            .map_or_else(|| "no TCP connection".to_owned(), |n| format!("no connection {n} to be shown"));
        error::question(format!("{}: there is {which}", path.display()))
    })?;
    let way = match to_server {
        Some(true) => Way::ToServer,
        Some(false) => Way::ToClient,
        None => connection.main_way(),
    };
    let mut replay = Replay::new(connection.number, way, cast);
    followed(py, &path, connections, Some(&mut replay))?;
    serde_json::to_string(&replay.report()).map_err(error::internal)
}

fn followed(
    py: Python<'_>,
    path: &Path,
    connections: usize,
    replay: Option<&mut Replay>,
) -> PyResult<truckee_capture::Capture> {
    if connections == 0 {
        return Err(error::question("connections=0, expected one at least"));
    }
    let usual = Limits::default();
    let limits = Limits { followed: connections.max(usual.followed), reported: connections, ..usual };
    let wishes = Wishes::at_once();
    let read = attended(py, &wishes, None, |_| {
        let watch = replay.map(|replay| replay as &mut dyn Watch);
        let source = source::open(path)?;
        truckee_capture::read(source, limits, watch, |_| !wishes.stop.is_cancelled()).map_err(|e| e.of(path))
    })?;
    read.map_err(|e| error::capture(&e))
}
