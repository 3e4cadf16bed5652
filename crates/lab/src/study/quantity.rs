//! What a check measures at a cell: a mean, a ratio of means or a mean difference, with its interval.

use super::data::{Data, NoCells, Runs};
use super::file::{Check, Where};
use crate::stats::{CONFIDENCE, Estimate, paired_difference, ratio_of_means};

/// A measured number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantity {
    /// The number; `None`: too few runs have one.
    pub value: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<(f64, f64)>,
    /// Runs, or pairs of runs, with a value.
    pub n: usize,
    /// Those without.
    pub incomplete: usize,
    /// Whether all runs gave the very same.
    pub constant: bool,
    /// Of live runs, those in which the machine was too late; `None`: all are simulated.
    pub invalid: Option<usize>,
}

impl Quantity {
    fn of_estimate(e: Estimate, deterministic: bool) -> Self {
        let interval = if deterministic { e.mean.map(|m| (m, m)) } else { e.interval() };
        let constant = e.n > 0 && e.incomplete == 0 && e.sd.is_none_or(|sd| sd == 0.0);
        Self { value: e.mean, interval, n: e.n, incomplete: e.incomplete, constant, invalid: None }
    }

    fn over(self, runs: &Runs) -> Self {
        Self { invalid: runs.live.then_some(runs.invalid.len()), ..self }
    }

    /// What would always be measured.
    pub(super) fn always(value: f64) -> Self {
        Self { value: Some(value), interval: Some((value, value)), n: 1, constant: true, ..Self::default() }
    }

    /// The mean difference a − b over common seeds.
    pub fn difference(data: &Data, a: usize, b: usize, metric: &str) -> Self {
        let pairs = data.pairs(a, b, metric);
        let difference = Self::of_estimate(paired_difference(&pairs, CONFIDENCE), data.deterministic);
        difference.over(&data.runs_of_both(a, b))
    }

    /// What `check` measures at `point`. `None`: the cell it is compared with is not run in the quick form.
    pub fn of(check: &Check, data: &Data, point: usize, quick: bool) -> Result<Option<Self>, NoCells> {
        let metric = check.metric.as_str();
        let quantity = match (&check.over, &check.minus) {
            (Some(other), _) => match partner(data, point, other, quick)? {
                Some(other) => Self::ratio(data, point, other, metric),
                None => return Ok(None),
            },
            (_, Some(other)) => match partner(data, point, other, quick)? {
                Some(other) => Self::difference(data, point, other, metric),
                None => return Ok(None),
            },
            _ => {
                let samples = data.samples(point, metric).iter().map(|s| s.1);
                let mean = Self::of_estimate(Estimate::of(samples, CONFIDENCE), data.deterministic);
                mean.over(&data.runs(point))
            }
        };
        Ok(Some(quantity.divided_by(check.divide_by.unwrap_or(1.0))))
    }

    /// The ratio of the means, a over b, over common seeds.
    pub fn ratio(data: &Data, a: usize, b: usize, metric: &str) -> Self {
        let r = ratio_of_means(&data.pairs(a, b, metric), CONFIDENCE);
        let interval = if data.deterministic { r.ratio.map(|x| (x, x)) } else { r.interval };
        let constant = interval.is_some_and(|(low, high)| low == high);
        let ratio =
            Self { value: r.ratio, interval, n: r.n, incomplete: r.incomplete, constant, invalid: None };
        ratio.over(&data.runs_of_both(a, b))
    }

    fn divided_by(self, divisor: f64) -> Self {
        let interval = self.interval.map(|(low, high)| {
            let (a, b) = (low / divisor, high / divisor);
            (a.min(b), a.max(b))
        });
        Self { value: self.value.map(|v| v / divisor), interval, ..self }
    }

    /// With the sign turned.
    pub fn negated(self) -> Self {
        self.divided_by(-1.0)
    }
}

/// The cell like `point` but with the values that `other` names.
pub fn partner(data: &Data, point: usize, other: &Where, quick: bool) -> Result<Option<usize>, NoCells> {
    let mut moved = point;
    for (name, choice) in other {
        let axis = data.axis(name)?;
        let label = choice.labels().join(",");
        match data.axes[axis].position(&label) {
            Some(to) => moved = data.moved(moved, axis, to),
            None if quick => return Ok(None),
            None => return Err(NoCells::Value(name.clone(), label)),
        }
    }
    Ok(Some(moved))
}
