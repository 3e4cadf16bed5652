//! A sweep of a study's file: its axes, its engines, its seeds, and what is different in the quick form.

use crate::grid;
use crate::study::selection::{Choice, Where, plain};
use crate::vary::{Axis, Value};
use crate::{EngineName, Error};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The axis that a sweep's engines are.
pub(crate) const ENGINE: &str = "engine";

/// One sweep of a study.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPart {
    /// What checks and figures call it.
    pub name: String,
    /// The scenario it varies, where that is not the study's.
    pub scenario: Option<String>,
    /// Overrides that hold for all its cells.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// Axes, as after `--vary`.
    #[serde(default)]
    pub vary: Vec<String>,
    /// Axes of named values that each set several paths; they come before those of `vary`.
    #[serde(default, rename = "axis")]
    pub named: Vec<NamedAxis>,
    /// What runs it, where that is not the study's engine. They become a first axis called `engine`, so that checks can
    /// select one, or hold one against another.
    #[serde(default)]
    pub engines: Vec<EngineName>,
    /// Seeds, counted up from the scenario's.
    pub runs: u64,
    /// Metrics kept beside the unqualified ones.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Those who watch become a last axis of that name; its cells have their metrics, without `predictor.NAME.`,
    /// `estimator.NAME.` or `detector.NAME.` before them, beside those of the run.
    pub by: Option<Watchers>,
    /// What is different with `--quick`.
    #[serde(default)]
    pub quick: Quick,
}

/// Who watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watchers {
    /// Loss predictors.
    Predictor,
    /// Bandwidth estimators.
    Estimator,
    /// Slow-start detectors.
    Detector,
}

impl Watchers {
    /// The axis, and what stands before their metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Predictor => "predictor",
            Self::Estimator => "estimator",
            Self::Detector => "detector",
        }
    }
}

/// An axis whose values are no single number or word of the scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedAxis {
    /// What checks and figures call it.
    pub name: String,
    /// Its values.
    pub values: Vec<NamedValue>,
}

/// One value of a named axis.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedValue {
    /// Its name.
    pub name: String,
    /// Its number in figures and formulas, if it has one.
    pub number: Option<f64>,
    /// The paths it sets.
    pub set: BTreeMap<String, toml::Value>,
}

/// A smaller form of a sweep, for a few seconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Fewer seeds.
    pub runs: Option<u64>,
    /// Of these axes only these values.
    #[serde(default)]
    pub keep: Where,
    /// Further overrides, a shorter duration say.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
}

/// Whether `metric` is one of those that the cells of a watcher have.
pub(crate) fn is_watchers(by: Watchers, metric: &str) -> bool {
    crate::metric::list().iter().any(|info| info.of == by.name() && info.name == metric)
}

impl SweepPart {
    /// Its own engines; none where it goes by the study's.
    pub fn engines(&self, quick: bool) -> Vec<EngineName> {
        let kept = self.quick.keep.get(ENGINE).filter(|_| quick).map(Choice::labels);
        let is_kept = |e: &EngineName| kept.as_ref().is_none_or(|k| k.iter().any(|l| l == e.as_str()));
        self.engines.iter().filter(|e| is_kept(e)).cloned().collect()
    }

    /// The axis that its engines are; `None` where it goes by the study's.
    pub fn engine_axis(&self, quick: bool) -> Option<Axis> {
        let names = self.engines(quick).into_iter().map(|e| e.to_string());
        (!self.engines.is_empty()).then(|| grid::names(ENGINE, names))
    }

    /// The axes of its grid, named ones first. That of its engines is none of them.
    pub fn axes(&self, quick: bool) -> Result<Vec<Axis>, Error> {
        let mut axes: Vec<Axis> = self.named.iter().map(NamedAxis::axis).collect();
        match grid::axes(&self.vary)? {
            (varied, None) => axes.extend(varied),
            (_, Some(_)) => {
                let reason = "a study's seeds are given by runs".to_owned();
                return Err(Error::Vary { text: "seed".to_owned(), reason });
            }
        }
        for (name, choice) in self.quick.keep.iter().filter(|_| quick) {
            let fail =
                |reason: &str| Error::Vary { text: format!("quick.keep.{name}"), reason: reason.to_owned() };
            if name == ENGINE && !self.engines.is_empty() {
                let known = |label: &String| self.engines.iter().any(|e| e.as_str() == label);
                if !choice.labels().iter().all(known) || choice.labels().is_empty() {
                    return Err(fail("the sweep has no such engine"));
                }
                continue;
            }
            let axis =
                axes.iter_mut().find(|a| a.name == *name).ok_or_else(|| fail("there is no such axis"))?;
            let labels = choice.labels();
            let kept: Option<Vec<_>> =
                labels.iter().map(|l| axis.position(l).map(|at| axis.values[at].clone())).collect();
            axis.values = kept.ok_or_else(|| fail("the axis has no such value"))?;
        }
        Ok(axes)
    }

    /// Its seeds.
    pub fn seeds(&self, quick: bool) -> u64 {
        if quick { self.quick.runs.unwrap_or(self.runs) } else { self.runs }
    }
}

impl NamedAxis {
    fn axis(&self) -> Axis {
        let value = |v: &NamedValue| Value {
            label: v.name.clone(),
            number: v.number,
            sets: v.set.iter().map(|(path, value)| (path.clone(), plain(value))).collect(),
        };
        Axis { name: self.name.clone(), values: self.values.iter().map(value).collect() }
    }
}
