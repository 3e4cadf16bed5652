//! Nodes that have a place: the tables under `[[node]]`, and how they move.

use super::diagnostics::{Diagnostics, MAX_TIME};
use super::ends::numbered;
use super::link::Wiring;
use super::reader::Reader;
use crate::document::tree::{Kind, Value};
use crate::model::{Movement, NodeId, Place};
use crate::units::Dimension;
use std::collections::HashSet;
use truckee_tcp::{Span, Time};
use truckee_wireless::Position;
use truckee_wireless::mobility::{RandomWaypoint, Trajectory, read_setdest};

/// Most nodes that have a place.
const MAX_PLACES: u64 = 10_000;
/// No place is further from the origin, metres: the model's ground is flat.
const FAR: f64 = 1e6;
/// Nothing on the ground, or near it, is faster, metres a second.
const FASTEST: f64 = 1000.0;
/// Most points of a path.
const MAX_POINTS: usize = 100_000;

/// A node's place, and what only media ask of it.
pub(super) struct Placed<'d> {
    pub place: Place,
    /// What its station sends with, dBm, if it is no other's.
    pub power: Option<f64>,
    /// Its table.
    pub at: &'d Value,
}

/// Reads all nodes, copies written out.
pub(super) fn read<'d>(
    diag: &'d Diagnostics<'d>,
    items: &'d [Value],
    wiring: &mut Wiring<'_>,
) -> Vec<Placed<'d>> {
    let mut nodes = Nodes { diag, seen: HashSet::new(), list: Vec::new(), total: 0 };
    for item in items {
        let Some(reader) = Reader::of(diag, item, "a node") else { continue };
        nodes.entry(&reader, item, wiring);
        reader.finish();
    }
    nodes.list
}

struct Nodes<'d> {
    diag: &'d Diagnostics<'d>,
    seen: HashSet<NodeId>,
    list: Vec<Placed<'d>>,
    total: u64,
}

impl<'d> Nodes<'d> {
    fn entry(&mut self, reader: &Reader<'d>, item: &'d Value, wiring: &mut Wiring<'_>) {
        let diag = self.diag;
        let name = reader.required("name", "\"phone\"").and_then(|value| {
            let text = diag.text(value, "a name; in that of copies \"*\" stands for the number")?;
            // A star stands for a number, which is a part of a name like any other.
            let plain = Value { kind: Kind::Text(text.replacen('*', "1", 1)), place: value.place.clone() };
            diag.name(&plain).map(|_| (text, value))
        });
        let copies = self.copies(reader, name.map(|(text, _)| text));
        let height = length(reader, "height").unwrap_or(Position::on_ground(0.0, 0.0).z);
        let power = reader.get("power").and_then(|value| power(diag, value));
        let at = reader.get("at").and_then(|value| position(diag, value, height));
        let step = reader.get("step").and_then(|value| position(diag, value, 0.0)).unwrap_or_default();
        let movement = Moving::read(reader, at, height);
        // Read when the media are known.
        reader.get("roam");
        let (Some((name, value)), Some(movement)) = (name, movement) else { return };
        for copy in 1..=copies.unwrap_or(1) {
            let name = numbered(name, copies.map(|_| copy));
            let node = wiring.number(&name);
            if !self.seen.insert(node) {
                let message = format!("node \"{name}\" has a place already");
                diag.report(&value.place, message, Some("one place for each node".into()), None);
                return;
            }
            let Some(movement) = movement.of_copy(diag, copy - 1, &step) else { return };
            self.list.push(Placed { place: Place { node, movement, roam: None }, power, at: item });
        }
    }

    /// How many copies; `None`: a single node without a number.
    fn copies(&mut self, reader: &Reader<'_>, name: Option<&str>) -> Option<u64> {
        let starred = name.is_some_and(|name| name.contains('*'));
        let copies = match reader.get("count") {
            Some(value) => {
                if name.is_some() && !starred {
                    let message = "copies of a node with one name".to_owned();
                    let help = "write a name such as \"n*\": \"*\" stands for the number".to_owned();
                    self.diag.report(&value.place, message, Some("a \"*\" in \"name\"".into()), Some(help));
                }
                Some(self.diag.count(value, 1..=MAX_PLACES).unwrap_or(1))
            }
            None if starred => {
                reader.required("count", "30");
                Some(1)
            }
            None => None,
        };
        self.total += copies.unwrap_or(1);
        if self.total > MAX_PLACES {
            let message = format!("{} nodes with a place", self.total);
            self.diag.report(reader.place, message, Some(format!("at most {MAX_PLACES}")), None);
            return Some(1);
        }
        copies
    }
}

/// What the nodes of a table do.
enum Moving<'d> {
    Still(Position),
    Path(Vec<(Time, Position)>),
    Trace { file: &'d Value, name: &'d str, first: u64, height: f64, nodes: Vec<Trajectory> },
    RandomWaypoint(RandomWaypoint),
}

impl<'d> Moving<'d> {
    fn read(reader: &Reader<'d>, at: Option<Position>, height: f64) -> Option<Self> {
        let diag = reader.diag;
        let own = |reader: &Reader<'_>| {
            let example = "[\"0m\", \"80m\"]";
            if reader.get("at").is_none() {
                reader.required("at", example);
            }
        };
        let Some(value) = reader.get("move") else {
            own(reader);
            return at.map(Self::Still);
        };
        let inner = Reader::of(diag, value, "a movement")?;
        let Some(kind) = inner.kind(&["path", "random-waypoint", "setdest"], None) else {
            inner.abandon();
            return None;
        };
        if kind == "path" {
            own(reader);
        } else if let Some(value) = reader.get("at") {
            diag.report(
                &value.place,
                format!("a place, and a movement by \"{kind}\", which has its own"),
                Some("one of the two".into()),
                None,
            );
        }
        let moving = match kind {
            "path" => path(&inner, at, height).map(Self::Path),
            "setdest" => trace(&inner, height),
            _ => random_waypoint(&inner, height).map(Self::RandomWaypoint),
        };
        inner.finish();
        moving
    }

    /// What a copy does, of which so many come before.
    fn of_copy(&self, diag: &Diagnostics<'_>, number: u64, step: &Position) -> Option<Movement> {
        let n = number as f64;
        let moved = |at: &Position| Position { x: at.x + n * step.x, y: at.y + n * step.y, z: at.z };
        Some(match self {
            Self::Still(at) => Movement::Still(moved(at)),
            Self::Path(points) => Movement::Path(points.iter().map(|(t, at)| (*t, moved(at))).collect()),
            Self::RandomWaypoint(model) => Movement::RandomWaypoint(*model),
            Self::Trace { file, name, first, height, nodes } => {
                let number = (first + number) as usize;
                let Some(trajectory) = nodes.get(number) else {
                    let message = format!("node {number} of \"{name}\", which has {}", nodes.len());
                    let expected = "as many nodes in the trace as are asked for, from 0 on";
                    diag.report(&file.place, message, Some(expected.into()), None);
                    return None;
                };
                Movement::Trace {
                    file: (*name).to_owned(),
                    number,
                    height: *height,
                    trajectory: trajectory.clone(),
                }
            }
        })
    }
}

/// The transmit power of a station, dBm.
pub(super) fn power(diag: &Diagnostics<'_>, value: &Value) -> Option<f64> {
    diag.real(value, Dimension::Power, -50.0..=60.0, "a power from -50dBm to 60dBm, which is 1 kW")
}

fn metres(diag: &Diagnostics<'_>, value: &Value) -> Option<f64> {
    diag.real(value, Dimension::Length, -FAR..=FAR, "a length within 1000km of the origin")
}

fn length(reader: &Reader<'_>, key: &'static str) -> Option<f64> {
    reader
        .get(key)
        .and_then(|value| reader.diag.real(value, Dimension::Length, 0.0..=1e4, "a height from 0m to 10000m"))
}

/// Two coordinates.
fn pair(diag: &Diagnostics<'_>, items: &[Value]) -> Option<(f64, f64)> {
    let [x, y] = items else { return None };
    let (x, y) = (metres(diag, x), metres(diag, y));
    Some((x?, y?))
}

fn position(diag: &Diagnostics<'_>, value: &Value, height: f64) -> Option<Position> {
    const EXPECTED: &str = "two coordinates such as [\"0m\", \"80m\"]";
    let items = diag.list(value, EXPECTED)?;
    if items.len() != 2 {
        diag.report(&value.place, format!("{} coordinates", items.len()), Some(EXPECTED.into()), None);
        return None;
    }
    pair(diag, items).map(|(x, y)| Position { x, y, z: height })
}

/// Points with times, behind the place at the beginning.
fn path(reader: &Reader<'_>, at: Option<Position>, height: f64) -> Option<Vec<(Time, Position)>> {
    const EXPECTED: &str = "points such as [[\"10s\", \"0m\", \"80m\"], …]: when, and where";
    let diag = reader.diag;
    let items =
        reader.required("points", "[[\"10s\", \"0m\", \"80m\"]]").and_then(|v| diag.list(v, EXPECTED))?;
    if items.len() > MAX_POINTS {
        let message = format!("{} points", items.len());
        diag.report(reader.place, message, Some(format!("at most {MAX_POINTS}")), None);
        return None;
    }
    let mut points = vec![(Time::ZERO, at?)];
    for item in items {
        let [time, place @ ..] = diag.list(item, EXPECTED)? else {
            diag.refuse(item, EXPECTED);
            return None;
        };
        if place.len() != 2 {
            diag.refuse(item, EXPECTED);
            return None;
        }
        let (time, place) = (diag.moment(time, Span::ZERO..=MAX_TIME), pair(diag, place));
        let next = (time?, place.map(|(x, y)| Position { x, y, z: height })?);
        let (before, here) = points[points.len() - 1];
        let far = here.distance(&next.1);
        let takes = next.0.saturating_sub(before).seconds();
        if next.0 <= before && (points.len() > 1 || far > 0.0) {
            let message = "a point that is not later than the one before it".to_owned();
            diag.report(&item.place, message, Some("rising times: nobody is at two places".into()), None);
            return None;
        }
        if far > FASTEST * takes {
            let message = format!("{far:.0} m in {takes} s is a jump");
            diag.report(&item.place, message, Some(format!("at most {FASTEST} m/s")), None);
            return None;
        }
        points.push(next);
    }
    Some(points)
}

/// A trace of ns-2's `setdest`.
fn trace<'d>(reader: &Reader<'d>, height: f64) -> Option<Moving<'d>> {
    let diag = reader.diag;
    let first = reader.count("number", 0, 0..=MAX_PLACES);
    let file = reader.required("file", "\"movement.tcl\"")?;
    let name = diag.text(file, "the path of a trace, relative to the scenario's folder")?;
    let refuse = |message: String, expected: &str| {
        diag.report(&file.place, message, Some(expected.to_owned()), None);
        None
    };
    let text = match diag.document.text_of(name) {
        Ok(text) => text,
        Err(message) => return refuse(message, "a trace in the format of ns-2's setdest"),
    };
    let nodes = match read_setdest(&text, height) {
        Ok(nodes) => nodes,
        Err(error) => {
            return refuse(format!("\"{name}\", {error}"), "a trace in the format of ns-2's setdest");
        }
    };
    if let Some((node, speed)) = nodes.iter().map(fastest).enumerate().find(|(_, speed)| *speed > FASTEST) {
        let message = format!("node {node} of \"{name}\" moves at {speed:.0} m/s");
        return refuse(message, &format!("at most {FASTEST} m/s"));
    }
    Some(Moving::Trace { file, name, first, height, nodes })
}

/// The highest speed of a trajectory, m/s.
fn fastest(trajectory: &Trajectory) -> f64 {
    let mut leg = trajectory.leg(Time::ZERO);
    let mut fastest = 0.0f64;
    while leg.until < Time::MAX {
        let takes = leg.until.saturating_sub(leg.from).seconds();
        // A leg of less than a nanosecond goes nowhere.
        if takes > 0.0 {
            fastest = fastest.max(leg.start.distance(&leg.end) / takes);
        }
        leg = trajectory.leg(leg.until);
    }
    fastest
}

fn random_waypoint(reader: &Reader<'_>, height: f64) -> Option<RandomWaypoint> {
    let diag = reader.diag;
    let area = reader.required("area", "[\"1500m\", \"300m\"]").and_then(|value| {
        let place = position(diag, value, 0.0)?;
        if place.x < 1.0 || place.y < 1.0 {
            diag.refuse(value, "a width and a height of at least 1m each");
            return None;
        }
        Some((place.x, place.y))
    });
    let speeds = reader.required("speed", "[\"1m/s\", \"20m/s\"]").and_then(|value| speeds(diag, value));
    let pause = reader.time("pause", Span::ZERO, Span::ZERO..=MAX_TIME, "s");
    let (width, long) = area?;
    Some(RandomWaypoint { width, height: long, speeds: speeds?, pause, antenna: height })
}

/// One speed, or the slowest and the fastest.
fn speeds(diag: &Diagnostics<'_>, value: &Value) -> Option<(f64, f64)> {
    // Without a slowest speed above 0 the model has no stationary state (see [`RandomWaypoint::speeds`]).
    let speed = |value: &Value| {
        diag.real(value, Dimension::Speed, 0.001..=FASTEST, "a speed from 0.001m/s to 1000m/s")
    };
    if value.text().is_some() {
        return speed(value).map(|v| (v, v));
    }
    const EXPECTED: &str = "a speed, or the slowest and the fastest: [\"1m/s\", \"20m/s\"]";
    let [slow, fast] = diag.list(value, EXPECTED)? else {
        diag.refuse(value, EXPECTED);
        return None;
    };
    let (slow, fast) = (speed(slow), speed(fast));
    let (slow, fast) = (slow?, fast?);
    if slow > fast {
        diag.report(
            &value.place,
            format!("the slowest speed, {slow} m/s, is above the fastest, {fast} m/s"),
            Some("the slowest first".into()),
            None,
        );
        return None;
    }
    Some((slow, fast))
}
