//! Several runs in one page, and what comparisons of engines share with them: the same flow of each side by side.

use super::model::{Axis, Cell, Column, Figure, Kind, Page, Section, Series};
use super::points::{FlowPoints, Points};
use super::{read, run, value};
use crate::Error;
use serde_json::Value;
use std::path::{Path, PathBuf};
use truckee_lab::human;

/// Flows that have figures at most.
const MOST_FLOWS: usize = 6;

/// One of the runs.
pub(super) struct Side {
    pub(super) label: String,
    pub(super) result: Value,
    pub(super) flows: Vec<FlowPoints>,
}

impl Side {
    /// The run in `dir`.
    pub(super) fn read(label: String, dir: &Path) -> Result<Self, Error> {
        let result = read::json(&dir.join("result.json"))?;
        Ok(Self { label, result, flows: read::series(dir)? })
    }
}

/// The page of the runs in these directories.
pub(super) fn page(dirs: &[PathBuf]) -> Result<Page, Error> {
    let sides = dirs
        .iter()
        .zip(labels(dirs))
        .map(|(dir, label)| Side::read(label, dir))
        .collect::<Result<Vec<_>, _>>()?;
    let mut sections = vec![table(&sides)];
    sections.extend(goodputs(&sides));
    sections.extend(flows(&sides));
    let facts = sides
        .iter()
        .map(|side| {
            let said = format!("{}, seed {}", value::text(&side.result["scenario"]), side.result["seed"]);
            (side.label.clone(), said)
        })
        .collect();
    Ok(Page {
        title: "Runs side by side".to_owned(),
        says: format!(
            "{}: the same line style is the same run in all figures.",
            human::many(sides.len(), "run")
        ),
        facts,
        sections,
    })
}

/// What sets the directories apart: their names, or their paths where these are the same.
fn labels(dirs: &[PathBuf]) -> Vec<String> {
    let name = |dir: &PathBuf| dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = dirs.iter().map(name).collect();
    let mut once = names.clone();
    once.sort();
    once.dedup();
    if once.len() == names.len() && !names.iter().any(String::is_empty) {
        return names;
    }
    dirs.iter().map(|dir| dir.display().to_string()).collect()
}

/// All flows of all runs.
fn table(sides: &[Side]) -> Section {
    let mut all = Section::default();
    for side in sides {
        let mut one = run::flows(&side.result);
        for table in &mut one.tables {
            table.columns.insert(0, Column::words("Run"));
            table.rows.iter_mut().for_each(|row| row.insert(0, Cell::words(side.label.clone())));
        }
        match all.tables.first_mut().zip(one.tables.first_mut()) {
            Some((table, more)) => table.rows.append(&mut more.rows),
            None => all = one,
        }
    }
    all
}

/// Bars: a group a flow, a bar a run.
fn goodputs(sides: &[Side]) -> Option<Section> {
    const MEGA: f64 = 1e-6;
    let names = names(sides);
    let goodput = |side: &Side, flow: &str| value::entry(&side.result["flows"], flow)["goodput_bps"].as_f64();
    let series = sides.iter().enumerate().map(|(k, side)| {
        let points =
            names.iter().enumerate().filter_map(|(at, flow)| Some((at as f64, goodput(side, flow)? * MEGA)));
        Series::new(&side.label, Kind::Bars, points).colour(k % 7)
    });
    let figure = Figure {
        title: "Goodput of each flow".to_owned(),
        says: "A group a flow, a bar a run.".to_owned(),
        x: Axis { label: "Flow".to_owned(), categories: names.clone(), ..Axis::default() },
        y: Axis::from_zero("Goodput / Mbit/s"),
        series: series.collect(),
        ..Figure::default()
    };
    (!names.is_empty()).then(|| Section {
        title: "Goodput".to_owned(),
        figures: vec![figure],
        ..Section::default()
    })
}

/// The flows that have figures, each once.
fn names(sides: &[Side]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for flow in sides.iter().flat_map(|s| value::list(&s.result["flows"])) {
        let name = value::text(&flow["name"]);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(2 * MOST_FLOWS);
    names
}

/// For each flow what it did over time in each run.
pub(super) fn flows(sides: &[Side]) -> Vec<Section> {
    let names = names(sides);
    names.iter().take(MOST_FLOWS).filter_map(|name| flow(sides, name)).collect()
}

fn flow(sides: &[Side], name: &str) -> Option<Section> {
    let all = |title: &str, y: Axis, factor: f64, kind: Kind, of: fn(&FlowPoints) -> &Points| {
        let series = sides.iter().enumerate().filter_map(|(k, side)| {
            let points = side.flows.iter().find(|f| f.flow == name).map(of)?;
            let points = points.iter().map(|&(t, v)| (t, v * factor));
            let series = Series::new(&side.label, kind, points).colour(k % 7).dash(k % 4);
            (!series.is_empty()).then_some(series)
        });
        Figure {
            title: format!("{name}: {title}"),
            says: "One line a run.".to_owned(),
            x: Axis::new("Time / s"),
            y,
            link: "time".to_owned(),
            series: series.collect(),
            ..Figure::default()
        }
    };
    let figures = [
        all("congestion window", Axis::from_zero("Window / kB"), 1e-3, Kind::Step, |f| &f.cwnd),
        all("acknowledged", Axis::from_zero("Sequence number / kB"), 1e-3, Kind::Step, |f| &f.acks),
        all("round-trip time", Axis::from_zero("Time / ms"), 1e3, Kind::Step, |f| &f.rtt),
        all("delay of segments", Axis::from_zero("Time / ms"), 1e3, Kind::Step, |f| &f.delay),
    ];
    let mut figures: Vec<Figure> = figures.into_iter().filter(|f| !f.series.is_empty()).collect();
    let end = sides.iter().filter_map(|s| s.result["simulated_s"].as_f64()).fold(0.0, f64::max);
    figures.iter_mut().for_each(|f| f.span = (end > 0.0).then_some((0.0, end)));
    (!figures.is_empty()).then(|| Section { title: format!("Flow {name}"), figures, ..Section::default() })
}
