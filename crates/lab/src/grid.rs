//! The grid of a sweep: every combination of its axes' values, each as a scenario ready to run.

use crate::vary::{Axis, Value, Vary};
use crate::{Error, vary};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use truckee_scenario::{Document, Errors, Scenario};

/// A grid has at most so many points: each is a scenario of its own, and a row of tables and pages.
pub const MOST_POINTS: usize = 100_000;

/// How many points a grid of these axes has; an error, in words: more than [`MOST_POINTS`].
pub fn size(axes: &[Axis]) -> Result<usize, String> {
    let product = axes.iter().try_fold(1usize, |product, axis| product.checked_mul(axis.values.len()));
    product.filter(|&points| points <= MOST_POINTS).ok_or_else(|| {
        let lengths: Vec<String> = axes.iter().map(|axis| axis.values.len().to_string()).collect();
        format!("its axes have {} values, and a grid has at most {MOST_POINTS} points", lengths.join(" × "))
    })
}

/// All points of a sweep. The last axis varies fastest.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The axes.
    pub axes: Vec<Axis>,
    /// One scenario a point.
    pub points: Vec<Scenario>,
}

impl Grid {
    /// Sets every combination of values in `document`. A combination the scenario's reader refuses is an error that
    /// names it: a grid is checked as a whole before anything runs.
    pub fn new(document: &Document, axes: Vec<Axis>) -> Result<Self, Error> {
        for (k, axis) in axes.iter().enumerate() {
            if axis.values.is_empty() {
                return Err(Error::Vary { text: axis.name.clone(), reason: "no values".to_owned() });
            }
            if axes[..k].iter().any(|a| a.name == axis.name) {
                let reason = "this path is varied twice".to_owned();
                return Err(Error::Vary { text: axis.name.clone(), reason });
            }
        }
        let size = size(&axes).map_err(|reason| {
            let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            Error::Vary { text: names.join(" × "), reason }
        })?;
        let mut grid = Self { axes, points: Vec::new() };
        for point in 0..size {
            let refused = |e: &Errors| Error::Scenario { point: grid.label(point), reason: format!("{e:#}") };
            let mut document = document.clone();
            for value in grid.values(point) {
                for (path, text) in &value.sets {
                    document.set(path, text).map_err(|e| refused(&e))?;
                }
            }
            let scenario = document.scenario().map_err(|e| refused(&e))?;
            scenario.need_senders().map_err(|e| refused(&e.into()))?;
            grid.points.push(scenario);
        }
        Ok(grid)
    }

    /// How many points it has.
    pub fn size(&self) -> usize {
        self.axes.iter().map(|a| a.values.len()).product()
    }

    /// The index along each axis of a point.
    pub fn indices(&self, point: usize) -> Vec<usize> {
        indices(&self.axes, point)
    }

    /// The values of a point, one an axis.
    pub fn values(&self, point: usize) -> impl Iterator<Item = &Value> {
        self.indices(point).into_iter().zip(&self.axes).map(|(at, axis)| &axis.values[at])
    }

    /// A point in words: `channel.per=0.01, flow.sender=reno`; empty for the only point of a grid without axes.
    pub fn label(&self, point: usize) -> String {
        let parts: Vec<_> = self
            .axes
            .iter()
            .zip(self.values(point))
            .map(|(a, v)| format!("{}={}", a.name, v.label))
            .collect();
        parts.join(", ")
    }

    /// A digest of everything that will be run but for the seeds: results are only worth keeping together if it is
    /// the same. Comments and layout of the scenario file do not enter; recorded traces do.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for scenario in &self.points {
            let seedless = Scenario { seed: 0, name: String::new(), ..scenario.clone() };
            hash.update(format!("{seedless:?}\n"));
        }
        hash.finalize().iter().take(16).fold(String::new(), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The index along each axis of a point in a grid of these axes.
pub fn indices(axes: &[Axis], mut point: usize) -> Vec<usize> {
    let mut at = vec![0; axes.len()];
    for (slot, axis) in at.iter_mut().zip(axes).rev() {
        *slot = point % axis.values.len();
        point /= axis.values.len();
    }
    at
}

/// Reads all `--vary` of a command: the axes in order, and the seeds if they were given.
pub fn axes<S: AsRef<str>>(texts: &[S]) -> Result<(Vec<Axis>, Option<Vec<u64>>), Error> {
    let mut axes = Vec::new();
    let mut seeds = None;
    for text in texts {
        match vary::parse(text.as_ref())? {
            Vary::Axis(axis) => axes.push(axis),
            Vary::Seeds(given) => seeds = Some(given),
        }
    }
    Ok((axes, seeds))
}

/// An axis whose values only have names: they set nothing.
pub fn names(name: &str, labels: impl IntoIterator<Item = String>) -> Axis {
    let values = labels.into_iter().map(|label| Value { label, number: None, sets: Vec::new() }).collect();
    Axis { name: name.to_owned(), values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scenario;

    fn two_by_three() -> Grid {
        let (axes, seeds) = axes(&["a=x,y", "b=1..3", "seed=4..6"]).unwrap();
        assert_eq!(seeds, Some(vec![4, 5, 6]));
        let points = (0..6).map(|k| scenario("s", k)).collect();
        Grid { axes, points }
    }

    #[test]
    fn the_last_axis_varies_fastest() {
        let grid = two_by_three();
        assert_eq!(grid.size(), 6);
        assert_eq!(grid.label(0), "a=x, b=1");
        assert_eq!(grid.label(1), "a=x, b=2");
        assert_eq!(grid.label(5), "a=y, b=3");
        assert_eq!(grid.indices(4), [1, 1]);
    }

    #[test]
    fn the_digest_is_of_the_question_not_of_its_name_or_seed() {
        let grid = two_by_three();
        let mut renamed = grid.clone();
        renamed.points[0].name = "other".into();
        renamed.points[1].seed = 77;
        assert_eq!(grid.digest(), renamed.digest());
        renamed.points[2].duration += 1;
        assert_ne!(grid.digest(), renamed.digest());
    }

    #[test]
    fn a_grid_without_bound_is_refused() {
        let (five, _) = axes(&["a=1..1000", "b=1..1000", "c=1..1000", "d=1..1000", "e=1..1000"]).unwrap();
        let document = Document::parse("x.toml", "duration = \"1s\"").unwrap();
        for (many, said) in [(2, "1000 × 1000"), (5, "1000 × 1000 × 1000 × 1000 × 1000")] {
            let message = Grid::new(&document, five[..many].to_vec()).unwrap_err().to_string();
            assert!(message.contains(&format!("its axes have {said} values")), "{message}");
        }
        // More than a number of this machine holds.
        let long = Axis { name: "a".into(), values: vec![five[0].values[0].clone(); 1 << 16] };
        assert!(size(&vec![long; 5]).is_err());
    }

    #[test]
    fn no_axes_are_one_point() {
        let grid = Grid { axes: vec![], points: vec![scenario("s", 0)] };
        assert_eq!((grid.size(), grid.label(0)), (1, String::new()));
    }
}
