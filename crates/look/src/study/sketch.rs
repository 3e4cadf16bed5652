//! A study's figures before anything has been run: which runs they want, where each of them stands, and what is published
//! there. A page that runs them itself fills them in.
//!
//! Of the study's quick form, and of its sweeps on the simulator alone. Not for: verdicts, which take all of a study's runs.

use super::plot;
use crate::Error;
use crate::figure::Axis;
use serde::Serialize;
use std::collections::BTreeSet;
use truckee_lab::study::check::evaluate;
use truckee_lab::study::data::Data;
use truckee_lab::study::drawings::FigurePart;
use truckee_lab::study::{CheckRow, Study, SweepPart, asked};
use truckee_lab::{Grid, Plan, Runs};

/// A panel of a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Sketch {
    /// Its title.
    pub title: String,
    /// What must be known of it; may be empty.
    pub says: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What the hollow markers are.
    pub reference: String,
    /// Multiplies what is measured.
    pub factor: f64,
    /// The scenario that its runs vary.
    pub scenario: String,
    /// Its curves.
    pub curves: Vec<Curve>,
}

/// A curve of a sketch.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// Its name; may be empty.
    pub label: String,
    /// From left to right.
    pub spots: Vec<Spot>,
}

/// A point to be measured.
#[derive(Debug, Clone, Serialize)]
pub struct Spot {
    /// Where it stands.
    pub x: f64,
    /// What is set in the scenario: paths and values.
    pub set: Vec<(String, String)>,
    /// What is measured.
    pub metric: String,
    /// The published value or another reference, in the unit of the vertical axis.
    pub published: Option<f64>,
}

/// A sweep of the study before it is run.
struct Blank<'a> {
    grid: Grid,
    metrics: BTreeSet<String>,
    part: &'a SweepPart,
    /// Its cells, each with a value that says nothing: checks have targets whatever is measured.
    data: Data,
}

/// The figures of a study that the simulator runs, panel by panel.
///
/// # Errors
/// A figure names what is not there.
pub fn sketches(study: &Study) -> Result<Vec<Sketch>, Error> {
    let mut blanks = Vec::new();
    for part in &study.sweeps {
        let simulated = |name: &truckee_lab::EngineName| name.as_str() == SIMULATOR;
        if part.engines.is_empty() && study.engines_of(part, true).iter().all(simulated) {
            blanks.push(blank(study, part)?);
        }
    }
    let all: Vec<Data> = blanks.iter().map(|blank| blank.data.clone()).collect();
    // A check that looks at what is not here has no row, and its figure no hollow marker.
    let checks = study.checks.iter().filter(|check| plot::of_means(check));
    let rows: Vec<CheckRow> = checks.filter_map(|check| evaluate(check, &all, true).ok()).flatten().collect();
    let first = study.sweeps.first().map(|sweep| sweep.name.as_str());
    let mut sketches = Vec::new();
    for part in &study.figures {
        let of = part.of.as_deref().or(first);
        if let Some(blank) = blanks.iter().find(|blank| Some(blank.part.name.as_str()) == of) {
            sketches.extend(panels(study, part, blank, &rows)?);
        }
    }
    Ok(sketches)
}

const SIMULATOR: &str = "sim";

fn blank<'a>(study: &Study, part: &'a SweepPart) -> Result<Blank<'a>, Error> {
    let grid = study.grid(part, true)?;
    let metrics = Plan::new(grid.clone(), Runs::Count(1), asked(study, part)?).metrics;
    let mut data = Data::deterministic(&part.name, grid.axes.clone());
    for point in 0..grid.size() {
        for metric in &metrics {
            data.put(point, metric.name(), metric.unit(), 1.0);
        }
    }
    let data = match part.by {
        Some(by) => data.by_watchers(by.name()),
        None => data,
    };
    let metrics = metrics.iter().map(|metric| metric.name().to_owned()).collect();
    Ok(Blank { grid, metrics, part, data })
}

impl Blank<'_> {
    /// The point of the grid that a cell of the data is of, and what the metric is called there.
    fn measured(&self, cell: usize, metric: &str) -> (usize, String) {
        let Some(by) = self.part.by else { return (cell, metric.to_owned()) };
        let watchers = self.data.axes.last().map_or(1, |axis| axis.values.len());
        let name = self.data.axes.last().map_or("", |axis| axis.values[cell % watchers].label.as_str());
        let whole = format!("{}.{name}.{metric}", by.name());
        (cell / watchers, if self.metrics.contains(&whole) { whole } else { metric.to_owned() })
    }
}

fn panels(
    study: &Study,
    part: &FigurePart,
    blank: &Blank<'_>,
    rows: &[CheckRow],
) -> Result<Vec<Sketch>, Error> {
    let fail = |reason: String| Error::Figure { title: part.title.clone(), reason };
    let data = &blank.data;
    let x = data.axis(&part.x).map_err(|e| fail(e.to_string()))?;
    let names = data.axes[x].values.iter().map(|value| value.label.clone());
    let categories = if plot::is_numeric(data, x) { Vec::new() } else { names.collect() };
    let scenario = blank.grid.document().map(truckee_scenario::Document::overwritten);
    let scenario = scenario.ok_or_else(|| fail("its sweep has no scenario".to_owned()))?;
    let mut sketches: Vec<(String, Sketch)> = Vec::new();
    for one in plot::placed(part, data, true).map_err(fail)? {
        let title = match one.panel {
            "" => part.title.clone(),
            panel => format!("{}: {panel}", part.title),
        };
        let place = sketches.iter().position(|(panel, _)| panel == one.panel).unwrap_or_else(|| {
            sketches.push((
                one.panel.to_owned(),
                Sketch {
                    title,
                    says: part.note.clone(),
                    x: Axis { label: part.x_label.clone(), log: part.x_log, categories: categories.clone() },
                    y: Axis { label: part.y_label.clone(), log: part.y_log, categories: Vec::new() },
                    reference: part.reference.clone().unwrap_or_else(|| "published".to_owned()),
                    factor: part.y_factor,
                    scenario: scenario.clone(),
                    curves: Vec::new(),
                },
            ));
            sketches.len() - 1
        });
        let curves = &mut sketches[place].1.curves;
        let curve = curves.iter().position(|curve| curve.label == one.series).unwrap_or_else(|| {
            curves.push(Curve { label: one.series.clone(), spots: Vec::new() });
            curves.len() - 1
        });
        let (point, metric) = blank.measured(one.cell, one.metric);
        let target = plot::target(study, data, rows, one.cell, one.metric);
        curves[curve].spots.push(Spot {
            x: one.x,
            set: blank.grid.values(point).flat_map(|value| value.sets.iter().cloned()).collect(),
            metric,
            published: target.map(|(_, y)| y * part.y_factor),
        });
    }
    for curve in sketches.iter_mut().flat_map(|(_, sketch)| &mut sketch.curves) {
        curve.spots.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    Ok(sketches.into_iter().map(|(_, sketch)| sketch).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_engines::drive::Algorithms;
    use truckee_lab::Metric;
    use truckee_lab::study::builtin::{builtin, find};

    #[test]
    fn a_sketch_has_the_runs_of_its_figure_and_what_is_published_there() {
        let study = find("lp-goodput", &Algorithms).unwrap();
        let sketches = sketches(&study).unwrap();
        let first = &sketches[0];
        assert!(first.x.log, "{}", first.title);
        let labels: Vec<&str> = first.curves.iter().map(|curve| curve.label.as_str()).collect();
        assert!(labels.contains(&"newreno") && labels.contains(&"newreno-lp"), "{labels:?}");
        let spot = &first.curves[0].spots[0];
        assert!(spot.set.iter().any(|(path, _)| path == "channel.per"), "{:?}", spot.set);
        // The quick form's changes are in the text, and what a run varies can be set in it.
        assert!(first.scenario.contains("duration = \"120s\""), "{}", first.scenario);
        let mut document = truckee_scenario::Document::parse("t", &first.scenario).unwrap();
        for (path, value) in &spot.set {
            document.set(path, value).unwrap();
        }
        document.scenario().unwrap();
    }

    #[test]
    fn every_study_can_be_sketched_and_many_have_published_points() {
        let mut published = 0;
        // Other people's recordings are not in the repository.
        for study in builtin(&Algorithms).unwrap().into_iter().filter(|study| study.recordings.is_empty()) {
            let sketches = sketches(&study).unwrap_or_else(|e| panic!("{}: {e}", study.id));
            let spots = sketches.iter().flat_map(|s| &s.curves).flat_map(|curve| &curve.spots);
            published += usize::from(spots.clone().any(|spot| spot.published.is_some()));
            for spot in spots {
                assert!(spot.x.is_finite() && Metric::parse(&spot.metric).is_ok(), "{}: {spot:?}", study.id);
            }
        }
        assert!(published >= 10, "{published}");
    }
}
