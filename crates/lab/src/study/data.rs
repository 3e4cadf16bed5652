//! What a study's checks and figures look at: values at the cells of a grid, from a sweep or a drive.

use super::selection::Where;
use crate::Sweep;
use crate::vary::Axis;
use crate::{grid, metric};
use std::collections::{BTreeMap, BTreeSet};

type Samples = Vec<(u64, Option<f64>)>;

/// Values by cell, metric and seed.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// Its name in the study.
    pub name: String,
    /// The axes.
    pub axes: Vec<Axis>,
    /// Whether no seed enters: one value is the whole truth.
    pub deterministic: bool,
    cells: Vec<BTreeMap<String, Samples>>,
    /// Of each cell, by its number; those beyond the end are simulated.
    runs: Vec<Runs>,
    units: BTreeMap<String, String>,
    /// The metrics in the order in which the sweep keeps them: those of who watches in the scenario's order.
    order: Vec<String>,
}

/// What the runs at a cell were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// Whether they were live.
    pub live: bool,
    /// The seeds of those in which the machine was too late; they are among the others.
    pub invalid: BTreeSet<u64>,
}

impl Runs {
    /// Of two sorts of cells that are looked at together.
    fn and(mut self, other: &Self) -> Self {
        self.live |= other.live;
        self.invalid.extend(&other.invalid);
        self
    }
}

/// Why cells cannot be selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCells {
    /// There is no such axis.
    Axis(String),
    /// The axis has no such value.
    Value(String, String),
}

impl std::fmt::Display for NoCells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Axis(axis) => write!(f, "there is no axis \"{axis}\""),
            Self::Value(axis, value) => write!(f, "axis \"{axis}\" has no value \"{value}\""),
        }
    }
}

/// The data of this name; the first where none is asked for. Errors, in words: there is none.
pub(super) fn named<'a>(all: &'a [Data], name: Option<&str>) -> Result<&'a Data, String> {
    let found = name.map_or(all.first(), |name| all.iter().find(|d| d.name == name));
    found.ok_or_else(|| "no data".to_owned())
}

impl Data {
    /// All values of a sweep.
    pub fn of_sweep(name: &str, sweep: &Sweep) -> Self {
        let cell = |point| {
            let metrics = sweep.metrics.iter().map(|m| m.name());
            metrics.map(|m| (m.to_owned(), sweep.values(point, m))).collect()
        };
        Self {
            name: name.to_owned(),
            axes: sweep.grid.axes.clone(),
            deterministic: false,
            cells: (0..sweep.grid.size()).map(cell).collect(),
            runs: (0..sweep.grid.size())
                .map(|point| Runs { live: sweep.live, invalid: sweep.invalid(point) })
                .collect(),
            units: sweep.metrics.iter().map(|m| (m.name().to_owned(), m.unit().to_owned())).collect(),
            order: sweep.metrics.iter().map(|m| m.name().to_owned()).collect(),
        }
    }

    /// No values yet; each will be the only one of its cell.
    pub fn deterministic(name: &str, axes: Vec<Axis>) -> Self {
        let size = axes.iter().map(|a| a.values.len()).product();
        Self {
            name: name.to_owned(),
            axes,
            deterministic: true,
            cells: vec![BTreeMap::new(); size],
            ..Self::default()
        }
    }

    /// Sets the value of a cell.
    pub fn put(&mut self, point: usize, metric: &str, unit: &str, value: f64) {
        self.cells[point].insert(metric.to_owned(), vec![(0, Some(value))]);
        if self.units.insert(metric.to_owned(), unit.to_owned()).is_none() {
            self.order.push(metric.to_owned());
        }
    }

    /// Adds the value of a cell under a seed.
    pub fn put_seeded(&mut self, point: usize, metric: &str, unit: &str, seed: u64, value: Option<f64>) {
        self.cells[point].entry(metric.to_owned()).or_default().push((seed, value));
        self.units.insert(metric.to_owned(), unit.to_owned());
    }

    /// The values of a metric at a cell, by seed.
    pub fn samples(&self, point: usize, metric: &str) -> &[(u64, Option<f64>)] {
        self.cells[point].get(metric).map_or(&[], Vec::as_slice)
    }

    /// What the runs at a cell were.
    pub fn runs(&self, point: usize) -> Runs {
        self.runs.get(point).cloned().unwrap_or_default()
    }

    /// The same of two cells, whose runs are paired.
    pub fn runs_of_both(&self, a: usize, b: usize) -> Runs {
        self.runs(a).and(&self.runs(b))
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether the metric was kept.
    pub fn has(&self, metric: &str) -> bool {
        self.units.contains_key(metric)
    }

    /// The unit of a metric.
    pub fn unit(&self, metric: &str) -> &str {
        self.units.get(metric).map_or("", String::as_str)
    }

    /// Values at two cells, paired by common seeds.
    pub fn pairs(&self, a: usize, b: usize, metric: &str) -> Vec<(Option<f64>, Option<f64>)> {
        let right: BTreeMap<u64, Option<f64>> = self.samples(b, metric).iter().copied().collect();
        self.samples(a, metric).iter().filter_map(|(seed, x)| Some((*x, *right.get(seed)?))).collect()
    }

    /// A cell in words.
    pub fn label(&self, point: usize) -> String {
        let at = grid::indices(&self.axes, point);
        let parts: Vec<_> =
            self.axes.iter().zip(at).map(|(a, k)| format!("{}={}", a.name, a.values[k].label)).collect();
        parts.join(", ")
    }

    /// The index of an axis.
    pub fn axis(&self, name: &str) -> Result<usize, NoCells> {
        self.axes.iter().position(|a| a.name == name).ok_or_else(|| NoCells::Axis(name.to_owned()))
    }

    /// The cells that `cells` selects, in order. In the quick form values that are not there are passed over, so the
    /// selection may be empty.
    pub fn select(&self, cells: &Where, quick: bool) -> Result<Vec<usize>, NoCells> {
        let mut allowed: Vec<Vec<usize>> = self.axes.iter().map(|a| (0..a.values.len()).collect()).collect();
        for (name, choice) in cells {
            let axis = self.axis(name)?;
            allowed[axis].clear();
            for label in choice.labels() {
                match self.axes[axis].position(&label) {
                    Some(at) => allowed[axis].push(at),
                    None if quick => {}
                    None => return Err(NoCells::Value(name.clone(), label)),
                }
            }
        }
        let fits = |point: &usize| {
            grid::indices(&self.axes, *point).iter().zip(&allowed).all(|(at, allowed)| allowed.contains(at))
        };
        Ok((0..self.cells.len()).filter(fits).collect())
    }

    /// The same sweep on the engines that are the values of `axis`, in their order: it becomes the first axis.
    pub fn of_engines(axis: Axis, parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.cells.extend(part.cells);
            all.runs.extend(part.runs);
        }
        all.axes.insert(0, axis);
        all
    }

    /// The same with one more axis, called `kind`: those who watched. Their metrics `KIND.NAME.METRIC` become METRIC.
    pub fn by_watchers(self, kind: &str) -> Self {
        let metrics: Vec<&str> =
            metric::list().into_iter().filter(|info| info.of == kind).map(|info| info.name).collect();
        let split = |name: &'_ str| -> Option<(String, String)> {
            let rest = name.strip_prefix(kind)?.strip_prefix('.')?;
            let metric =
                metrics.iter().filter(|m| rest.ends_with(&format!(".{m}"))).max_by_key(|m| m.len())?;
            Some((rest[..rest.len() - metric.len() - 1].to_owned(), (*metric).to_owned()))
        };
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.order.iter().filter_map(|metric| split(metric)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut units = self.units.clone();
        for (full, unit) in &self.units {
            if let Some((_, metric)) = split(full) {
                units.insert(metric, unit.clone());
            }
        }
        let mut cells = Vec::new();
        for cell in &self.cells {
            for name in &names {
                let mut own = cell.clone();
                for metric in &metrics {
                    if let Some(samples) = cell.get(&format!("{kind}.{name}.{metric}")) {
                        own.insert((*metric).to_owned(), samples.clone());
                    }
                }
                cells.push(own);
            }
        }
        let runs = self.runs.iter().flat_map(|runs| std::iter::repeat_n(runs.clone(), names.len())).collect();
        let mut axes = self.axes;
        axes.push(grid::names(kind, names));
        Self { axes, cells, runs, units, ..self }
    }

    /// The same with `over` averaged away: each run's mean of a metric over the values that `selected` names on these
    /// axes, or all of them. A run that lacks one of the values has no mean.
    pub fn averaged(&self, over: &[String], selected: &Where, quick: bool) -> Result<Self, NoCells> {
        let on_these = selected.iter().filter(|(axis, _)| over.contains(axis));
        let cells = self.select(&on_these.map(|(a, c)| (a.clone(), c.clone())).collect(), quick)?;
        let gone: Vec<usize> = over.iter().map(|name| self.axis(name)).collect::<Result<_, _>>()?;
        let stays = |k: &usize| !gone.contains(k);
        let axes: Vec<Axis> = (0..self.axes.len()).filter(stays).map(|k| self.axes[k].clone()).collect();
        let size = axes.iter().map(|a| a.values.len()).product();
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); size];
        for point in cells {
            let at = grid::indices(&self.axes, point);
            let place = (0..at.len()).filter(stays).fold(0, |sum, k| sum * self.axes[k].values.len() + at[k]);
            groups[place].push(point);
        }
        let mean = |points: &[usize], metric: &str| -> Samples {
            let Some((first, rest)) = points.split_first() else { return Vec::new() };
            let mut sums: BTreeMap<u64, Option<f64>> = self.samples(*first, metric).iter().copied().collect();
            for point in rest {
                let here: BTreeMap<u64, Option<f64>> = self.samples(*point, metric).iter().copied().collect();
                sums.retain(|seed, _| here.contains_key(seed));
                for (seed, sum) in &mut sums {
                    *sum = sum.zip(here[seed]).map(|(a, b)| a + b);
                }
            }
            let n = points.len() as f64;
            sums.into_iter().map(|(seed, sum)| (seed, sum.map(|s| s / n))).collect()
        };
        let cell = |points: &Vec<usize>| {
            self.units.keys().map(|metric| (metric.clone(), mean(points, metric))).collect()
        };
        let runs = |points: &Vec<usize>| {
            points.iter().fold(Runs::default(), |all, &point| all.and(&self.runs(point)))
        };
        let runs = groups.iter().map(runs).collect();
        Ok(Self { axes, cells: groups.iter().map(cell).collect(), runs, ..self.clone() })
    }

    /// The cell like `point` but for one axis.
    pub fn moved(&self, point: usize, axis: usize, to: usize) -> usize {
        let stride: usize = self.axes[axis + 1..].iter().map(|a| a.values.len()).product();
        let at = grid::indices(&self.axes, point)[axis];
        point + to * stride - at * stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Data {
        Data::deterministic("d", grid::axes(&["a=x,y", "b=0.5,1,2"]).unwrap().0)
    }

    fn selection(text: &str) -> Where {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn cells_are_selected_by_word_and_by_number() {
        let d = data();
        assert_eq!(d.select(&selection("a = \"y\""), false), Ok(vec![3, 4, 5]));
        assert_eq!(d.select(&selection("b = [1.0, \"2\"]"), false), Ok(vec![1, 2, 4, 5]));
        assert_eq!(d.select(&selection("b = 3"), false), Err(NoCells::Value("b".into(), "3".into())));
        assert_eq!(d.select(&selection("b = 3"), true), Ok(vec![]));
        assert_eq!(d.select(&selection("c = 3"), true), Err(NoCells::Axis("c".into())));
    }

    #[test]
    fn watchers_become_an_axis_of_their_own() {
        let mut d = Data::deterministic("d", grid::axes(&["per=0.1,0.2"]).unwrap().0);
        for point in 0..2 {
            for (who, right) in [("spike(alpha=0.8)", 0.5), ("vegas", 0.9)] {
                let metric = format!("predictor.{who}.accuracy.all");
                d.put(point, &metric, "", right - 0.1 * point as f64);
                d.order.push(metric);
            }
            d.put(point, "goodput_bps", "bit/s", 7.0);
        }
        let by = d.by_watchers("predictor");
        assert_eq!(by.label(3), "per=0.2, predictor=vegas");
        assert_eq!(by.samples(3, "accuracy.all"), [(0, Some(0.8))]);
        assert_eq!(by.samples(0, "accuracy.all"), [(0, Some(0.5))]);
        assert_eq!(by.samples(2, "goodput_bps"), [(0, Some(7.0))]);
    }

    #[test]
    fn an_axis_is_averaged_away_run_by_run() {
        let mut d = data();
        for point in 0..6 {
            d.put(point, "m", "", point as f64);
        }
        let all = d.averaged(&["b".to_owned()], &Where::new(), false).unwrap();
        assert_eq!((all.len(), all.samples(1, "m")), (2, [(0, Some(4.0))].as_slice()));
        let some = d.averaged(&["b".to_owned()], &selection("b = [0.5, 1]"), false).unwrap();
        assert_eq!(some.samples(0, "m"), [(0, Some(0.5))]);
        d.cells[4].insert("m".into(), vec![(0, None)]);
        let gap = d.averaged(&["b".to_owned()], &Where::new(), false).unwrap();
        assert_eq!(gap.samples(1, "m"), [(0, None)], "nothing is averaged over gaps");
    }

    #[test]
    fn which_runs_are_live_and_which_invalid_goes_with_their_cells() {
        let live = |seeds: &[u64]| Runs { live: true, invalid: seeds.iter().copied().collect() };
        let mut d = data();
        d.runs =
            vec![live(&[1]), live(&[]), live(&[1, 3]), Runs::default(), Runs::default(), Runs::default()];
        assert_eq!(d.runs_of_both(0, 3), live(&[1]));
        assert_eq!(d.runs_of_both(4, 5), Runs::default());
        let averaged = d.averaged(&["b".to_owned()], &Where::new(), false).unwrap();
        assert_eq!((averaged.runs(0), averaged.runs(1)), (live(&[1, 3]), Runs::default()));
        let axis = grid::names("engine", vec!["sim".to_owned(), "kernel".to_owned()]);
        let sim = Data { runs: vec![Runs::default(); 6], ..data() };
        let both = Data::of_engines(axis, vec![sim, d]);
        assert_eq!(both.runs(2), Runs::default());
        assert_eq!(both.runs(8), live(&[1, 3]), "b=2 of a=x on the kernel");
    }

    #[test]
    fn a_cell_moves_along_one_axis() {
        let d = data();
        assert_eq!(d.label(d.moved(4, 0, 0)), "a=x, b=1");
        assert_eq!(d.label(d.moved(1, 1, 2)), "a=x, b=2");
    }
}
