//! The page of a sweep: its means in a table, and figures of any metric against any swept parameter.

use super::model::{Cell, Column, Grid, GridAxis, GridMetric, Page, Section, Table};
use super::read;
use crate::Error;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use truckee_lab::stats::{CONFIDENCE, Estimate};
use truckee_lab::store::{Manifest, hash_of, lateness_of, part_name};
use truckee_lab::validity::LiveRuns;
use truckee_lab::vary::Axis;
use truckee_lab::{EngineName, Metric, grid, human, metric};
use truckee_scenario::Lateness;

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
        ("Runs", human::count(sweep.runs as u64)),
        ("Points", human::count(sweep.cells.len() as u64)),
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

/// A sweep as it was kept.
struct Kept {
    manifest: Manifest,
    /// For each point its metrics, each with a value a run.
    cells: Vec<BTreeMap<String, Vec<Option<f64>>>>,
    /// How late the machine was in each run, point by point.
    late: Vec<Vec<Option<Lateness>>>,
    runs: usize,
}

/// The runs by point and seed: where their numbers stand, and how late the machine was.
type Runs = BTreeMap<(usize, u64), (usize, usize, Option<Lateness>)>;

impl Kept {
    fn read(dir: &Path) -> Result<Self, Error> {
        let path = dir.join("sweep.json");
        let bytes = std::fs::read(&path).map_err(|e| Error::read(&path, e))?;
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|e| Error::read(&path, e))?;
        let size = grid::size(&manifest.axes).map_err(|why| Error::read(&path, why))?;
        let mut kept =
            Self { manifest, cells: vec![BTreeMap::new(); size], late: vec![Vec::new(); size], runs: 0 };
        let parts = parts(&dir.join("parts"), &mut || {})?;
        let parts = parts.into_iter().map(|(path, bytes)| read::numbers(&path, bytes));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let mut runs = Runs::new();
        for (number, part) in parts.iter().enumerate() {
            kept.find(number, part, &mut runs);
        }
        for ((point, _), (part, row, lateness)) in runs {
            kept.add(point, &parts[part], row, lateness);
        }
        Ok(kept)
    }

    /// Finds the runs of a part. What a crash left there twice counts once; of runs one of which has replaced the other,
    /// that which came later.
    fn find(&self, number: usize, part: &BTreeMap<String, Vec<Option<f64>>>, runs: &mut Runs) {
        let column = |name: &str| part.get(name).map_or(&[][..], Vec::as_slice);
        let replaces = |lateness: &Option<Lateness>| lateness.map_or(0, |l| l.replaces);
        for (row, (point, seed)) in column("point").iter().zip(column("seed")).enumerate() {
            let (Some(point), Some(seed)) = (point.map(|p| p as usize), seed.map(|s| s as u64)) else {
                continue;
            };
            let lateness = lateness_of(|name| column(name).get(row).copied().flatten());
            let earlier =
                runs.get(&(point, seed)).is_some_and(|(.., there)| replaces(there) > replaces(&lateness));
            if point < self.cells.len() && !earlier {
                runs.insert((point, seed), (number, row, lateness));
            }
        }
    }

    /// Takes in a run.
    fn add(
        &mut self,
        point: usize,
        part: &BTreeMap<String, Vec<Option<f64>>>,
        row: usize,
        lateness: Option<Lateness>,
    ) {
        self.runs += 1;
        self.late[point].push(lateness);
        for name in &self.manifest.metrics {
            let value = part.get(name).and_then(|column| column.get(row).copied().flatten());
            self.cells[point].entry(name.clone()).or_default().push(value);
        }
    }

    /// The live runs; `None` of a simulated sweep.
    fn live_runs(&self) -> Option<LiveRuns> {
        let live = self.manifest.engine != EngineName::Sim.as_str();
        live.then(|| LiveRuns::of(self.late.iter().flatten().map(Option::as_ref)))
    }

    fn estimate(&self, point: usize, metric: &str) -> Estimate {
        let values = self.cells[point].get(metric).map_or(&[][..], Vec::as_slice);
        Estimate::of(values.iter().copied(), CONFIDENCE)
    }

    /// The metrics that some run has a value of.
    fn metrics(&self) -> Vec<&str> {
        let has = |name: &&String| {
            self.cells.iter().any(|c| c.get(*name).is_some_and(|v| v.iter().any(Option::is_some)))
        };
        self.manifest.metrics.iter().filter(has).map(String::as_str).collect()
    }

    /// What is shown first: what was asked for, then what is worth it anyway.
    fn first(&self) -> Vec<&str> {
        let asked = self.manifest.asked.iter().map(String::as_str);
        let more = FIRST.into_iter().filter(|name| !self.manifest.asked.iter().any(|a| a == name));
        asked.chain(more).collect()
    }

    fn curves(&self, title: &str, first: &[&str]) -> Section {
        let names = self.metrics();
        let mut shown: Vec<usize> =
            first.iter().filter_map(|f| names.iter().position(|name| name == f)).collect();
        if shown.is_empty() && !names.is_empty() {
            shown.push(0);
        }
        let grid = Grid {
            axes: self.manifest.axes.iter().map(axis).collect(),
            metrics: names.iter().map(|name| self.metric(name)).collect(),
            first: shown,
            confidence: CONFIDENCE,
        };
        let says = "Choose a metric and a swept parameter. A point of which some run has no value is the mean of the others; \
                    its remark says of how many.";
        Section { title: title.to_owned(), says: says.to_owned(), grid: Some(grid), ..Section::default() }
    }

    fn metric(&self, name: &str) -> GridMetric {
        let estimates: Vec<Estimate> = (0..self.cells.len()).map(|k| self.estimate(k, name)).collect();
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
        let axes = &self.manifest.axes;
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
            let runs = LiveRuns::of(self.late[point].iter().map(Option::as_ref));
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
        let rows = (0..self.cells.len()).map(row).collect();
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

/// So often the parts are looked at anew while a sweep merges them.
const MOST_LOOKS: usize = 1000;

/// The files of finished runs in this folder, in order, and what is in them, as they stood beside one another at one
/// moment: a sweep that goes on meanwhile may merge many into one, and takes the many away then. Between looking and
/// reading `pause` is called.
fn parts(folder: &Path, pause: &mut dyn FnMut()) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
    'look: for _ in 0..MOST_LOOKS {
        let names = names(folder)?;
        pause();
        let mut parts = Vec::with_capacity(names.len());
        for path in &names {
            match std::fs::read(path) {
                Ok(bytes) => parts.push((path.clone(), bytes)),
                Err(error) if error.kind() == ErrorKind::NotFound => continue 'look,
                Err(error) => return Err(Error::read(path, error)),
            }
        }
        // A folder may be listed without the one that is new and without those that have gone. No name comes twice.
        if self::names(folder)? != names {
            continue;
        }
        for (path, bytes) in &parts {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if part_name(&name).is_none_or(|(_, hash)| hash != hash_of(bytes)) {
                return Err(Error::read(path, "its bytes are not those that were written"));
            }
        }
        return Ok(parts);
    }
    Err(Error::read(folder, "it is written to without a pause; try again when the sweep is done"))
}

fn names(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| Error::read(folder, e))? {
        let entry = entry.map_err(|e| Error::read(folder, e))?;
        if part_name(&entry.file_name().to_string_lossy()).is_some() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
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
    use truckee_lab::store::{Row, Store};

    #[test]
    fn parts_that_are_merged_meanwhile_are_all_there_and_none_is_there_twice() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Manifest {
            truckee: "0.1.0".into(),
            engine: "fake".into(),
            scenario: "s".into(),
            digest: "d".into(),
            axes: Vec::new(),
            metrics: vec!["goodput_bps".into()],
            asked: Vec::new(),
            commands: Vec::new(),
            builds: Vec::new(),
        };
        let (mut store, _) = Store::open(dir.path(), &manifest).unwrap();
        let row = |seed: u64| Row {
            point: 0,
            seed,
            digest: String::new(),
            values: vec![Some(seed as f64)],
            lateness: None,
        };
        let mut seed = 0;
        let mut another = || {
            store.append(&[row(seed)]).unwrap();
            seed += 1;
        };
        (0..60).for_each(|_| another());
        let folder = dir.path().join("parts");
        let mut looks = 0;
        let parts = parts(&folder, &mut || {
            looks += 1;
            // With the 64th they become one.
            if looks <= 5 {
                another();
            }
        });
        let parts = parts.unwrap();
        assert!(looks > 5 && parts.len() <= 2, "{looks} looks, {} parts", parts.len());
        let mut seeds = Vec::new();
        for (path, bytes) in parts {
            seeds.extend(read::numbers(&path, bytes).unwrap().remove("seed").unwrap());
        }
        seeds.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(seeds, (0..65).map(|seed| Some(f64::from(seed))).collect::<Vec<_>>());
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
