//! The grid of a sweep: every combination of its axes' values, each as a scenario ready to run.

use crate::vary::{Axis, Value, Vary};
use crate::{Error, Metric, vary};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;
use truckee_scenario::{Document, Errors, Scenario};

/// A grid has at most so many points: each is a scenario of its own, and a row of tables and pages.
pub const MOST_POINTS: usize = 100_000;

/// So many points are looked at before any of them is refused.
const LOOKED_OVER: usize = 4096;

/// How many points a grid of these axes has; an error, in words: more than [`MOST_POINTS`].
pub fn size(axes: &[Axis]) -> Result<usize, String> {
    let product = axes.iter().try_fold(1usize, |product, axis| product.checked_mul(axis.values.len()));
    product.filter(|&points| points <= MOST_POINTS).ok_or_else(|| {
        let lengths: Vec<String> = axes.iter().map(|axis| axis.values.len().to_string()).collect();
        format!("its axes have {} values, and a grid has at most {MOST_POINTS} points", lengths.join(" × "))
    })
}

/// All points of a sweep. The last axis varies fastest. A scenario is made when it is asked for: a hundred thousand of them
/// at once would fill the memory that the runs need.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The axes.
    pub axes: Vec<Axis>,
    points: Points,
    digests: Arc<[ScenarioDigest]>,
    observers: Vec<Metric>,
}

#[derive(Debug, Clone)]
enum Points {
    Of(Box<Document>),
    Made(Arc<[Scenario]>),
}

/// What a scenario is but for its name and its seed: comments, layout and units of a file do not enter; recorded traces do.
/// Scenarios of the same digest ask the same.
pub type ScenarioDigest = [u8; 16];

/// That of a scenario, as this build of the program understands it.
pub fn digest(scenario: &Scenario) -> ScenarioDigest {
    let seedless = Scenario { seed: 0, name: String::new(), ..scenario.clone() };
    first_half(Sha256::new_with_prefix(format!("{seedless:?}")))
}

/// Sixteen of the bytes of a hash: enough that no two things are ever taken for one another.
pub(crate) fn first_half(hash: Sha256) -> [u8; 16] {
    let whole = hash.finalize();
    std::array::from_fn(|k| whole[k])
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
        Self {
            axes,
            points: Points::Of(Box::new(document.clone())),
            digests: Arc::new([]),
            observers: Vec::new(),
        }
        .looked_over(size)
    }

    /// A grid whose scenarios are there already, one a point, in order.
    ///
    /// # Errors
    /// There are not as many as the axes have points.
    pub fn of(axes: Vec<Axis>, scenarios: Vec<Scenario>) -> Result<Self, Error> {
        let size = scenarios.len();
        if size != axes.iter().map(|a| a.values.len()).product::<usize>() {
            return Err(Error::Internal(format!("{size} scenarios are not one for each point of the grid")));
        }
        Self { axes, points: Points::Made(scenarios.into()), digests: Arc::new([]), observers: Vec::new() }
            .looked_over(size)
    }

    /// Looks at every point once, on all cores.
    fn looked_over(mut self, size: usize) -> Result<Self, Error> {
        let look = |point: usize| {
            let scenario = self.scenario(point)?;
            Ok((digest(&scenario), Metric::of_observers(&scenario)))
        };
        let mut digests = Vec::with_capacity(size);
        let mut observers: Vec<Metric> = Vec::new();
        for from in (0..size).step_by(LOOKED_OVER) {
            let points = from..size.min(from + LOOKED_OVER);
            // The first one that is refused is named, on however many cores.
            let seen: Vec<Result<_, Error>> = points.into_par_iter().map(look).collect();
            for one in seen {
                let (digest, metrics) = one?;
                digests.push(digest);
                for metric in metrics {
                    if !observers.contains(&metric) {
                        observers.push(metric);
                    }
                }
            }
        }
        (self.digests, self.observers) = (digests.into(), observers);
        Ok(self)
    }

    /// The scenario of a point.
    ///
    /// # Errors
    /// Its values make none. A grid that is there has no such point, unless a file that it names has changed since.
    pub fn scenario(&self, point: usize) -> Result<Cow<'_, Scenario>, Error> {
        let document = match &self.points {
            Points::Made(scenarios) => return Ok(Cow::Borrowed(&scenarios[point])),
            Points::Of(document) => document,
        };
        let refused = |e: &Errors| Error::Scenario { point: self.label(point), reason: format!("{e:#}") };
        let mut document = document.as_ref().clone();
        for value in self.values(point) {
            for (path, text) in &value.sets {
                document.set(path, text).map_err(|e| refused(&e))?;
            }
        }
        let scenario = document.scenario().map_err(|e| refused(&e))?;
        scenario.need_senders().map_err(|e| refused(&e.into()))?;
        Ok(Cow::Owned(scenario))
    }

    /// The scenario file that it was made of; `None` where it was made of scenarios.
    pub fn document(&self) -> Option<&Document> {
        match &self.points {
            Points::Of(document) => Some(document),
            Points::Made(_) => None,
        }
    }

    /// What each point asks, in order.
    pub fn digests(&self) -> &[ScenarioDigest] {
        &self.digests
    }

    /// The metrics of all who watch in any of its scenarios, each once.
    pub fn observers(&self) -> &[Metric] {
        &self.observers
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
    use truckee_scenario::Span;

    fn two_by_three() -> Grid {
        let (axes, seeds) = axes(&["a=x,y", "b=1..3", "seed=4..6"]).unwrap();
        assert_eq!(seeds, Some(vec![4, 5, 6]));
        Grid::of(axes, (0..6).map(|k| scenario("s", k)).collect()).unwrap()
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
    fn a_digest_is_of_what_is_asked_not_of_its_name_or_seed() {
        let asked = scenario("s", 3);
        let same = Scenario { name: "other".into(), seed: 77, ..asked.clone() };
        assert_eq!(digest(&asked), digest(&same));
        assert_ne!(digest(&asked), digest(&Scenario { duration: Span::ns(4), ..asked }));
        assert_eq!(two_by_three().digests()[3], digest(&same));
    }

    #[test]
    fn spelling_and_comments_ask_nothing_else_and_a_new_value_changes_no_other_point() {
        let text = |delay: &str| {
            format!(
                "duration = \"1s\" # one\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"{delay}\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n"
            )
        };
        let of = |delay: &str, vary: &str| {
            let document = Document::parse("x.toml", &text(delay)).unwrap();
            Grid::new(&document, axes(&[vary]).unwrap().0).unwrap()
        };
        let (one, other) = (of("1ms", "flow.sender=reno,sack"), of("1000us", "flow.sender=reno,tahoe,sack"));
        assert_eq!(one.digests()[0], other.digests()[0]);
        assert_eq!(one.digests()[1], other.digests()[2]);
        assert_ne!(one.digests()[1], other.digests()[1]);
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
        let grid = Grid::of(vec![], vec![scenario("s", 0)]).unwrap();
        assert_eq!((grid.size(), grid.label(0)), (1, String::new()));
    }
}
