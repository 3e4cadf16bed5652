//! What a study's checks and figures look at: values at the cells of a grid, from a sweep or a drive.

use super::file::Where;
use crate::Sweep;
use crate::grid;
use crate::vary::Axis;
use std::collections::BTreeMap;

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
    units: BTreeMap<String, String>,
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
            cells: (0..sweep.grid.points.len()).map(cell).collect(),
            units: sweep.metrics.iter().map(|m| (m.name().to_owned(), m.unit().to_owned())).collect(),
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
        self.units.insert(metric.to_owned(), unit.to_owned());
    }

    /// The values of a metric at a cell, by seed.
    pub fn samples(&self, point: usize, metric: &str) -> &[(u64, Option<f64>)] {
        self.cells[point].get(metric).map_or(&[], Vec::as_slice)
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
    fn a_cell_moves_along_one_axis() {
        let d = data();
        assert_eq!(d.label(d.moved(4, 0, 0)), "a=x, b=1");
        assert_eq!(d.label(d.moved(1, 1, 2)), "a=x, b=2");
    }
}
