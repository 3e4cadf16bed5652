//! The page of a sweep: its means in a table, and figures of any metric against any swept parameter.

use super::model::{Cell, Column, Grid, GridAxis, GridMetric, Page, Section, Table};
use crate::Error;
use std::path::Path;
use truckee_lab::stats::{CONFIDENCE, Estimate};
use truckee_lab::store::{self, Manifest, Read};
use truckee_lab::validity::LiveRuns;
use truckee_lab::vary::Axis;
use truckee_lab::{Metric, Rows, grid, human, metric};

/// What is worth a figure of its own, if the runs have it.
const FIRST: [&str; 3] = ["goodput_bps", "accuracy.all", "completion_s"];
/// Metrics in the table of means beside those.
const TABLE: [&str; 3] = ["delay_s.mean", "overhead", "jain"];

/// The page of the sweep in `dir`, finished or not.
pub(super) fn page(dir: &Path) -> Result<Page, Error> {
    let sweep = Kept::read(dir)?;
    let manifest = &sweep.manifest;
    let live = sweep.live_runs().map(|live| ("Live runs".to_owned(), live.to_string()));
    let swept = manifest.axes.iter().map(|a| format!("{} ({})", a.name, a.values.len())).collect::<Vec<_>>();
    let facts = [
        ("Scenario", manifest.scenario.clone()),
        ("Engine", manifest.engine.clone()),
        ("Runs", human::count(sweep.runs.len() as u64)),
        ("Points", human::count(sweep.all as u64)),
        ("Swept", swept.join(", ")),
        ("Written by truckee", by(manifest)),
    ];
    Ok(Page {
        title: format!("{}: sweep", manifest.scenario),
        says: format!(
            "Means over independent runs with their {} confidence intervals.",
            human::percent(CONFIDENCE)
        ),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(live).collect(),
        sections: vec![sweep.curves("Figures", &sweep.first()), sweep.table()],
    })
}

/// Figures of a study's sweep, the metrics of which the study's own figures already show.
pub(super) fn section(dir: &Path, name: &str) -> Result<Section, Error> {
    Ok(Kept::read(dir)?.curves(name, &FIRST[..1]))
}

/// Points that a page shows at most: more than anybody tells apart in a figure or looks through in a table.
const MOST_POINTS: usize = 2_000;
/// Means that a page holds at most, over all metrics: a page of some five megabytes.
const MOST_MEANS: usize = 120_000;

/// A sweep as it was kept: what of it a page shows.
struct Kept {
    manifest: Manifest,
    /// The axes, with the values that are shown.
    axes: Vec<Axis>,
    /// The points that are shown, by their numbers in the whole grid.
    points: Vec<usize>,
    /// Points of the whole grid.
    all: usize,
    /// The metrics that are read.
    metrics: Vec<String>,
    rows: Rows,
    /// All runs, without values.
    runs: Rows,
}

impl Kept {
    fn read(dir: &Path) -> Result<Self, Error> {
        let path = dir.join("sweep.json");
        let missing = || Error::read(&path, "it is not there");
        let manifest = Manifest::read(dir)?.ok_or_else(missing)?;
        let all = grid::size(&manifest.axes).map_err(|why| Error::read(&path, why))?;
        let values = shown(&manifest.axes);
        let axes: Vec<Axis> = manifest
            .axes
            .iter()
            .zip(&values)
            .map(|(a, shown)| Axis {
                name: a.name.clone(),
                values: shown.iter().map(|&k| a.values[k].clone()).collect(),
            })
            .collect();
        let points = numbers(&manifest.axes, &values);
        let metrics = read_of(&manifest, points.len());
        let is_shown = |point: usize| points.binary_search(&point).is_ok();
        let Read { shown: rows, all: runs } = store::read(dir, &manifest, all, &metrics, is_shown)?;
        Ok(Self { manifest, axes, points, all, metrics, rows, runs })
    }

    /// The live runs; `None` of a simulated sweep.
    fn live_runs(&self) -> Option<LiveRuns> {
        self.manifest.is_live().then(|| {
            let late: Vec<_> = self.runs.iter().map(|row| row.lateness).collect();
            LiveRuns::of(late.iter().map(Option::as_ref))
        })
    }

    /// Of a point that is shown.
    fn estimate(&self, shown: usize, metric: &str) -> Estimate {
        let at = self.metrics.iter().position(|name| name == metric);
        let values = at.into_iter().flat_map(|at| self.rows.values(self.points[shown], at));
        Estimate::of(values.map(|(_, value)| value), CONFIDENCE)
    }

    /// The metrics that some run has a value of.
    fn metrics(&self) -> Vec<&str> {
        let has = |at: usize| self.points.iter().any(|&p| self.rows.values(p, at).any(|v| v.1.is_some()));
        let names = self.metrics.iter().enumerate().filter(|(at, _)| has(*at));
        names.map(|(_, name)| name.as_str()).collect()
    }

    /// What is shown first: what was asked for, then what is worth it anyway.
    fn first(&self) -> Vec<&str> {
        first(&self.manifest)
    }

    /// What a page of part of a sweep says; nothing where it shows all.
    fn part(&self) -> String {
        let (points, metrics) =
            (self.points.len() < self.all, self.metrics.len() < self.manifest.metrics.len());
        let shown = format!(
            "{} of {} points are shown here, values evenly spaced along each axis. ",
            human::count(self.points.len() as u64),
            human::count(self.all as u64)
        );
        let rest = format!(
            "All {} metrics of all runs are in rows.parquet. ",
            human::count(self.manifest.metrics.len() as u64)
        );
        match (points, metrics) {
            (false, false) => String::new(),
            (true, false) => format!("{shown}All runs are in rows.parquet. "),
            (false, true) => rest,
            (true, true) => shown + &rest,
        }
    }

    fn curves(&self, title: &str, first: &[&str]) -> Section {
        let names = self.metrics();
        let mut shown: Vec<usize> =
            first.iter().filter_map(|f| names.iter().position(|name| name == f)).collect();
        if shown.is_empty() && !names.is_empty() {
            shown.push(0);
        }
        let grid = Grid {
            axes: self.axes.iter().map(axis).collect(),
            metrics: names.iter().map(|name| self.metric(name)).collect(),
            first: shown,
            confidence: CONFIDENCE,
        };
        let says = "Choose a metric and a swept parameter. A point of which some run has no value is the mean of the others; \
                    its remark says of how many.";
        let says = format!("{}{says}", self.part());
        Section { title: title.to_owned(), says, grid: Some(grid), ..Section::default() }
    }

    fn metric(&self, name: &str) -> GridMetric {
        let estimates: Vec<Estimate> = (0..self.points.len()).map(|k| self.estimate(k, name)).collect();
        let si = Metric::parse(name).map_or("", |m| m.unit());
        let most = estimates.iter().filter_map(|e| e.mean).fold(0.0, |a: f64, m| a.max(m.abs()));
        let (size, unit) = match human::scale_of(most, si) {
            (size, name) if !name.is_empty() => (size, name),
            _ => (1.0, si),
        };
        let last = name.rsplit_once("s.").map_or(name, |(_, last)| last);
        let info = metric::list().into_iter().find(|i| i.name == name || i.name == last);
        GridMetric {
            name: name.to_owned(),
            unit: unit.to_owned(),
            summary: info.map_or("", |i| i.summary).to_owned(),
            mean: estimates.iter().map(|e| e.mean.map(|m| m / size)).collect(),
            half: estimates.iter().map(|e| e.half_width.map(|h| h / size)).collect(),
            n: estimates.iter().map(|e| e.n).collect(),
        }
    }

    fn table(&self) -> Section {
        let known = self.metrics();
        let first = self.first();
        let more = TABLE.into_iter().filter(|name| !first.contains(name));
        let wanted: Vec<&str> = first.iter().copied().chain(more).filter(|m| known.contains(m)).collect();
        let unit = |metric: &str| Metric::parse(metric).map_or("", |m| m.unit());
        let axes = &self.axes;
        let row = |point: usize| {
            let at = grid::indices(axes, point);
            let mut cells: Vec<Cell> = axes
                .iter()
                .zip(at)
                .map(|(a, k)| Cell { sort: a.values[k].number, ..Cell::words(a.values[k].label.clone()) })
                .collect();
            cells.extend(wanted.iter().map(|metric| {
                let e = self.estimate(point, metric);
                Cell::mean(e.mean, e.half_width, unit(metric))
            }));
            let late: Vec<_> = self.rows.at(self.points[point]).map(|row| row.lateness).collect();
            let runs = LiveRuns::of(late.iter().map(Option::as_ref));
            let count = Cell::count(Some(runs.runs as f64));
            cells.push(match runs.invalid {
                0 => count,
                _ => Cell { text: human::runs(runs.runs, 0, Some(runs.invalid)), ..count },
            });
            cells
        };
        let mut columns: Vec<Column> = axes.iter().map(|a| Column::words(&a.name)).collect();
        columns.extend(wanted.iter().map(|name| Column::number(name)));
        columns.push(Column::number("runs"));
        let caption = "Means over the runs that have a value.".to_owned();
        let rows = (0..self.points.len()).map(row).collect();
        Section {
            title: "Means".to_owned(),
            says: format!(
                "After ±: half the width of the {} confidence interval.",
                human::percent(CONFIDENCE)
            ),
            tables: vec![Table { caption, columns, rows }],
            ..Section::default()
        }
    }
}

/// Which builds wrote it; the version alone where they are not known.
fn by(manifest: &Manifest) -> String {
    match &manifest.builds[..] {
        [] => manifest.truckee.clone(),
        builds => builds.join(", then "),
    }
}

/// What is shown first: what was asked for, then what is worth it anyway.
fn first(manifest: &Manifest) -> Vec<&str> {
    let asked = manifest.asked.iter().map(String::as_str);
    let more = FIRST.into_iter().filter(|name| !manifest.asked.iter().any(|a| a == name));
    asked.chain(more).collect()
}

/// The metrics that are read for a page of so many points: what is shown first, then others as long as there is room.
fn read_of(manifest: &Manifest, points: usize) -> Vec<String> {
    let room = MOST_MEANS / points.max(1);
    let (first, kept) = (first(manifest), &manifest.metrics);
    let is_first = |name: &&String| first.contains(&name.as_str()) || TABLE.contains(&name.as_str());
    let mut left = room.saturating_sub(kept.iter().filter(is_first).count());
    let mut is_read = |name: &&String| {
        let more = !is_first(name) && left > 0;
        left -= usize::from(more);
        more || is_first(name)
    };
    kept.iter().filter(|name| is_read(name)).cloned().collect()
}

/// Which values of each axis are shown: all, or so many that there are no more than [`MOST_POINTS`] points. The longest
/// axes lose values first, never their ends.
fn shown(axes: &[Axis]) -> Vec<Vec<usize>> {
    let mut lengths: Vec<usize> = axes.iter().map(|a| a.values.len()).collect();
    while lengths.iter().product::<usize>() > MOST_POINTS {
        let longest = lengths.iter_mut().max();
        longest.into_iter().for_each(|length| *length = (*length * 15 / 16).max(1));
    }
    let spread = |(all, some): (usize, usize)| -> Vec<usize> {
        if some < 2 {
            return (0..all.min(some)).collect();
        }
        (0..some).map(|k| k * (all - 1) / (some - 1)).collect()
    };
    axes.iter().map(|a| a.values.len()).zip(lengths).map(spread).collect()
}

/// The numbers in the whole grid of the points that are shown, the last axis varying fastest.
fn numbers(axes: &[Axis], shown: &[Vec<usize>]) -> Vec<usize> {
    axes.iter().zip(shown).fold(vec![0], |points, (axis, values)| {
        let next = |point: usize| values.iter().map(move |&k| point * axis.values.len() + k);
        points.into_iter().flat_map(next).collect()
    })
}

fn axis(axis: &Axis) -> GridAxis {
    let numbers: Option<Vec<f64>> = axis.values.iter().map(|v| v.number).collect();
    let mut numbers = numbers.unwrap_or_default();
    let unit = axis.unit().unwrap_or_default();
    let most = numbers.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    let (size, unit) = match human::scale_of(most, unit) {
        (size, name) if !name.is_empty() => (size, name),
        _ => (1.0, unit),
    };
    numbers.iter_mut().for_each(|x| *x /= size);
    GridAxis {
        name: axis.name.clone(),
        unit: unit.to_owned(),
        labels: axis.values.iter().map(|v| v.label.clone()).collect(),
        log: is_logarithmic(&numbers),
        numbers,
    }
}

/// Whether positive numbers span more than a decade and lie more evenly as logarithms.
fn is_logarithmic(numbers: &[f64]) -> bool {
    let (Some(first), Some(last)) =
        (numbers.iter().copied().reduce(f64::min), numbers.iter().copied().reduce(f64::max))
    else {
        return false;
    };
    first > 0.0 && last / first >= 20.0 && numbers.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_evenly_spaced_points_of_a_large_sweep_and_never_loses_the_ends() {
        let (axes, _) = grid::axes(&["a=1..300", "b=1..3", "c=1..100"]).unwrap();
        let shown = shown(&axes);
        let points: usize = shown.iter().map(Vec::len).product();
        assert!(points <= MOST_POINTS && points > MOST_POINTS / 2, "{points}");
        for (axis, values) in axes.iter().zip(&shown) {
            assert_eq!((values[0], values[values.len() - 1]), (0, axis.values.len() - 1));
            assert!(values.windows(2).all(|w| w[0] < w[1]));
        }
        assert_eq!(shown[1], [0, 1, 2]);
        let numbers = numbers(&axes, &shown);
        assert_eq!((numbers.len(), numbers[0], numbers[points - 1]), (points, 0, 89_999));
        let small = grid::axes(&["a=1..3", "b=1..2"]).unwrap().0;
        assert_eq!(super::numbers(&small, &super::shown(&small)), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_sweep_of_endless_axes_and_one_whose_parts_are_not_what_was_written_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("parts")).unwrap();
        let values = vec![serde_json::json!({ "label": "x", "number": null, "sets": [] }); 2000];
        let axis = |k: usize| serde_json::json!({ "name": format!("a{k}"), "values": values });
        let manifest = |axes: usize| {
            let axes: Vec<_> = (0..axes).map(axis).collect();
            let manifest = serde_json::json!({
                "truckee": "0.1.0", "engine": "sim", "scenario": "s", "digest": "d", "axes": axes, "metrics": [], "commands": [],
            });
            std::fs::write(dir.path().join("sweep.json"), manifest.to_string()).unwrap();
        };
        for axes in [2, 6] {
            manifest(axes);
            let message = page(dir.path()).unwrap_err().to_string();
            assert!(message.contains("sweep.json") && message.contains("2000 × 2000"), "{message}");
        }
        manifest(1);
        page(dir.path()).unwrap();
        std::fs::write(dir.path().join("parts/part-00000000-0123456789abcdef.parquet"), "PAR1").unwrap();
        let message = page(dir.path()).unwrap_err().to_string();
        assert!(message.contains("not those that were written"), "{message}");
    }

    #[test]
    fn an_axis_has_the_unit_in_which_its_numbers_read_best() {
        let of = |text: &str| {
            let (axes, _) = grid::axes(&[text]).unwrap();
            let axis = axis(&axes[0]);
            (axis.unit, axis.numbers)
        };
        assert_eq!(of("delay=5ms,50ms,200ms"), ("ms".to_owned(), vec![5.0, 50.0, 200.0]));
        assert_eq!(of("rate=500kbit/s,2Mbit/s"), ("Mbit/s".to_owned(), vec![0.5, 2.0]));
        assert_eq!(of("queue.size=0.1bdp,1bdp"), ("bdp".to_owned(), vec![0.1, 1.0]));
        assert_eq!(of("channel.per=0.1,0.2"), (String::new(), vec![0.1, 0.2]));
        assert_eq!(of("queue.size=1bdp,5packets").0, "", "two units are none");
    }

    #[test]
    fn error_rates_over_decades_are_logarithmic_and_buffers_are_not() {
        assert!(is_logarithmic(&[1e-4, 1e-3, 1e-2]));
        assert!(!is_logarithmic(&[0.0, 1e-3, 1e-1]));
        assert!(!is_logarithmic(&[10.0, 20.0, 30.0]));
        assert!(!is_logarithmic(&[]));
    }
}
