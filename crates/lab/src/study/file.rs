//! A study's file. Every key is described here; unknown ones are refused with their place.
//!
//! Cells are selected by `where = { "axis" = "value", "other" = ["a", "b"] }`: the cells of all axes not named, with
//! these values of those named.

use super::drawings::{FigurePart, MapPart};
use super::drive::{Drive, Drives};
use crate::grid::{self, Grid};
use crate::vary::{Axis, Value};
use crate::{Engine, EngineName, Engines, Error, Metric};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truckee_scenario::Document;

/// A study as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name on the command line.
    pub id: String,
    /// What it is about, in a line.
    pub title: String,
    /// Where the claim was published.
    pub source: Source,
    /// What the paper states, what it leaves open, what was chosen and why.
    pub setup: String,
    /// What was chosen by the very numbers that checks hold it against, in a sentence: what then passes is a fit, no
    /// prediction. Shown where its passes are.
    pub calibrated: Option<String>,
    /// What runs its sweeps where they do not say themselves; the simulator by default.
    #[serde(default)]
    pub engine: EngineName,
    /// Most live runs at once, where the machine or the runs' timing bears fewer than are run by default.
    pub parallel: Option<usize>,
    /// The scenario that the sweeps vary, as the text of a scenario file.
    pub scenario: Option<String>,
    /// Sweeps over the scenario.
    #[serde(default, rename = "sweep")]
    pub sweeps: Vec<SweepPart>,
    /// Algorithms driven without a network.
    #[serde(skip)]
    pub drives: Vec<Arc<dyn Drive>>,
    /// Their tables, which [`Drives`] reads.
    #[serde(default, rename = "drive")]
    _drives: IgnoredAny,
    /// What must hold.
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
    /// What is drawn.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigurePart>,
    /// What is drawn as a map.
    #[serde(default, rename = "map")]
    pub maps: Vec<MapPart>,
}

/// Where a claim was published.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Authors, title, year.
    pub paper: String,
    /// Section, figure, table.
    pub place: String,
}

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

/// Axes and values: one value, or several.
pub type Where = BTreeMap<String, Choice>;

/// The values of an axis that a [`Where`] selects.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Choice {
    /// One.
    One(toml::Value),
    /// Several.
    Many(Vec<toml::Value>),
}

impl Choice {
    /// The values as written on an axis.
    pub fn labels(&self) -> Vec<String> {
        match self {
            Self::One(toml::Value::Array(values)) | Self::Many(values) => values.iter().map(plain).collect(),
            Self::One(value) => vec![plain(value)],
        }
    }
}

/// The axis that a sweep's engines are.
pub(crate) const ENGINE: &str = "engine";

/// A TOML value as it would stand after `--set path=`.
pub fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether `metric` is one of those that the cells of a watcher have.
pub(crate) fn is_watchers(by: Watchers, metric: &str) -> bool {
    crate::metric::list().iter().any(|info| info.of == by.name() && info.name == metric)
}

/// The kinds of checks; [`crate::study::check`] says what each demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The mean is near `published`.
    Within,
    /// Every run gives `published`.
    Exact,
    /// The interval is above `above`, below `below`.
    Bound,
    /// It rises along an axis.
    Rises,
    /// It falls along an axis.
    Falls,
    /// One value of an axis is the lowest or highest.
    Order,
    /// The mean is near a closed form.
    Formula,
}

/// A check as written. Which keys go with which kind is checked by [`Study::parse`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What it says, in a line.
    pub name: String,
    /// What is demanded.
    pub kind: Kind,
    /// The sweep or drive it looks at; the first one by default.
    pub of: Option<String>,
    /// The metric.
    pub metric: String,
    /// The cells; all by default.
    #[serde(default, rename = "where")]
    pub cells: Where,
    /// The metric is averaged over these axes, run by run, over the values that `where` selects on them.
    #[serde(default)]
    pub average: Vec<String>,
    /// Measures the ratio to the cell with these values instead, paired by seeds.
    pub over: Option<Where>,
    /// Measures the difference to the cell with these values instead, paired by seeds.
    pub minus: Option<Where>,
    /// Divides what is measured, for example by a round-trip time.
    pub divide_by: Option<f64>,
    /// The unit of what is measured, where `divide_by` changes it.
    pub unit: Option<String>,
    /// The published value.
    pub published: Option<f64>,
    /// Relative tolerance.
    pub tolerance: Option<f64>,
    /// Absolute tolerance.
    pub absolute: Option<f64>,
    /// `bound`: the whole interval is above this.
    pub above: Option<f64>,
    /// `bound`: the whole interval is below this.
    pub below: Option<f64>,
    /// `rises`, `falls`: the axis; `order`: the axis of the values compared.
    pub along: Option<String>,
    /// `order`: the value that must be first.
    pub first: Option<String>,
    /// `order`: at which end.
    pub is: Option<End>,
    /// `rises`, `falls`, `order`: whether each difference must be significant (default), or only not significantly
    /// the other way.
    #[serde(default = "yes")]
    pub significant: bool,
    /// `formula`: the closed form.
    pub formula: Option<String>,
    /// `formula`: its variables: a number, or the name of an axis.
    #[serde(default, rename = "let")]
    pub variables: BTreeMap<String, toml::Value>,
    /// Not checked with `--quick`: it needs the full form's seeds.
    #[serde(default)]
    pub full_only: bool,
    /// A remark shown with the verdict.
    pub note: Option<String>,
    /// Why the paper's value cannot be reached; needs `pinned`.
    pub differs: Option<String>,
    /// What is measured in place of the paper's value.
    pub pinned: Option<Pinned>,
}

fn yes() -> bool {
    true
}

/// An end of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Least.
    Lowest,
    /// Most.
    Highest,
}

/// A value known to be measured where the paper's is not.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The value.
    pub value: f64,
    /// Absolute tolerance.
    pub absolute: f64,
}

impl Study {
    /// Where it is kept under `dir`: in a folder of its name, `ID` or `ID-quick`.
    pub fn dir(&self, dir: &Path, quick: bool) -> PathBuf {
        dir.join(if quick { format!("{}-quick", self.id) } else { self.id.clone() })
    }

    /// Reads a study from a file.
    pub fn read(path: &Path, drives: &dyn Drives) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&path.display().to_string(), &text, drives)
    }

    /// Reads a study from text; `name` is the file's, for messages.
    pub fn parse(name: &str, text: &str, drives: &dyn Drives) -> Result<Self, Error> {
        let fail = |reason: String| Error::Study { file: name.to_owned(), reason };
        let mut study: Self = toml::from_str(text).map_err(|e| fail(e.to_string().trim_end().to_owned()))?;
        study.drives = drives.read(text).map_err(|e| fail(e.trim_end().to_owned()))?;
        study.validate(drives).map_err(fail)?;
        Ok(study)
    }

    /// What the file's grammar cannot say.
    fn validate(&self, drives: &dyn Drives) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let parts = self.sweeps.iter().map(|s| s.name.as_str()).chain(self.drives.iter().map(|d| d.name()));
        if let Some(twice) = parts.clone().find(|n| !names.insert(*n)) {
            return Err(format!("two sweeps or drives are called \"{twice}\""));
        }
        if names.is_empty() {
            return Err("there is neither a [[sweep]] nor a [[drive]]".to_owned());
        }
        if self.checks.is_empty() {
            return Err("there is no [[check]]: a study must be able to fail".to_owned());
        }
        if self.scenario.is_none() && self.sweeps.iter().any(|s| s.scenario.is_none()) {
            return Err("a [[sweep]] needs a scenario, its own or the study's".to_owned());
        }
        self.validate_engines()?;
        for sweep in &self.sweeps {
            let refused = |e: Error| format!("sweep \"{}\": {e}", sweep.name);
            sweep.axes(false).map_err(refused)?;
            sweep.axes(true).map_err(refused)?;
        }
        for check in &self.checks {
            check
                .validate(self, &names, drives)
                .map_err(|reason| format!("check \"{}\": {reason}", check.name))?;
        }
        for figure in &self.figures {
            figure.validate(&names).map_err(|reason| format!("figure \"{}\": {reason}", figure.name))?;
        }
        for map in &self.maps {
            map.validate(&names).map_err(|reason| format!("map \"{}\": {reason}", map.name))?;
        }
        Ok(())
    }

    fn validate_engines(&self) -> Result<(), String> {
        for sweep in &self.sweeps {
            let twice = |(k, engine): (usize, &EngineName)| sweep.engines[..k].contains(engine);
            if sweep.engines.iter().enumerate().any(twice) {
                return Err(format!("sweep \"{}\": an engine is there twice", sweep.name));
            }
            let named = |axis: &Axis| axis.name == ENGINE;
            if !sweep.engines.is_empty() && sweep.axes(false).is_ok_and(|axes| axes.iter().any(named)) {
                return Err(format!("sweep \"{}\": `engines` is its axis \"engine\" already", sweep.name));
            }
        }
        if self.engine != EngineName::default() && self.sweeps.iter().all(|s| !s.engines.is_empty()) {
            return Err("`engine` says nothing: no [[sweep]] goes by it".to_owned());
        }
        match self.parallel {
            Some(0) => Err("`parallel` is the number of live runs at once, 1 or more".to_owned()),
            Some(_) if !self.engines(false).iter().any(|e| *e != EngineName::default()) => {
                Err("`parallel` says nothing: no [[sweep]] is live".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The engines it needs, each once.
    pub fn engines(&self, quick: bool) -> BTreeSet<EngineName> {
        self.sweeps.iter().flat_map(|s| self.engines_of(s, quick)).collect()
    }

    /// Whether it has live runs, on these engines.
    pub fn is_live(&self, engines: &dyn Engines, quick: bool) -> bool {
        self.engines(quick).iter().any(|e| engines.get(e.as_str()).is_some_and(Engine::is_live))
    }

    /// The engines of one of its sweeps.
    pub fn engines_of(&self, sweep: &SweepPart, quick: bool) -> Vec<EngineName> {
        if sweep.engines.is_empty() { vec![self.engine.clone()] } else { sweep.engines(quick) }
    }

    /// Who becomes an axis of a sweep; the first one by default.
    pub(crate) fn watchers(&self, of: Option<&String>) -> Option<Watchers> {
        let sweep = match of {
            Some(name) => self.sweeps.iter().find(|s| s.name == *name),
            None => self.sweeps.first(),
        };
        sweep?.by
    }

    /// The grid of one of its sweeps.
    pub fn grid(&self, sweep: &SweepPart, quick: bool) -> Result<Grid, Error> {
        let refused = |e: &dyn std::fmt::Display| Error::Study {
            file: self.id.clone(),
            reason: format!("sweep \"{}\": {e:#}", sweep.name),
        };
        let text = sweep.scenario.as_ref().or(self.scenario.as_ref()).map_or("", String::as_str);
        let mut document = Document::parse(&self.id, text).map_err(|e| refused(&e))?;
        let more = if quick { Some(&sweep.quick.set) } else { None };
        for (path, value) in sweep.set.iter().chain(more.into_iter().flatten()) {
            document.set(path, &plain(value)).map_err(|e| refused(&e))?;
        }
        Grid::new(&document, sweep.axes(quick)?).map_err(|e| refused(&e))
    }
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

impl Check {
    fn validate(&self, study: &Study, parts: &BTreeSet<&str>, drives: &dyn Drives) -> Result<(), String> {
        if let Some(of) = self.of.as_ref().filter(|of| !parts.contains(of.as_str())) {
            return Err(format!("there is no sweep or drive \"{of}\""));
        }
        let by = study.watchers(self.of.as_ref());
        if !drives.is_metric(&self.metric) && !by.is_some_and(|by| is_watchers(by, &self.metric)) {
            Metric::parse(&self.metric).map_err(|e| e.to_string())?;
        }
        // Each key, whether it is there, and the kinds it belongs to.
        use Kind::{Bound, Exact, Falls, Formula, Order, Rises, Within};
        let keys: [(&str, bool, &[Kind]); 12] = [
            ("published", self.published.is_some(), &[Within, Exact, Bound, Rises, Falls, Order]),
            ("tolerance", self.tolerance.is_some(), &[Within, Formula]),
            ("absolute", self.absolute.is_some(), &[Within, Formula]),
            ("above", self.above.is_some(), &[Bound]),
            ("below", self.below.is_some(), &[Bound]),
            ("along", self.along.is_some(), &[Rises, Falls, Order]),
            ("first", self.first.is_some(), &[Order]),
            ("is", self.is.is_some(), &[Order]),
            ("formula", self.formula.is_some(), &[Formula]),
            ("let", !self.variables.is_empty(), &[Formula]),
            ("over", self.over.is_some(), &[Within, Exact, Bound]),
            ("minus", self.minus.is_some(), &[Within, Exact, Bound]),
        ];
        let kind = |k: Kind| format!("{k:?}").to_lowercase();
        for (key, there, kinds) in keys {
            if there && !kinds.contains(&self.kind) {
                return Err(format!("`{key}` says nothing in a check of kind \"{}\"", kind(self.kind)));
            }
        }
        let needs = |key: &str| Err(format!("kind \"{}\" needs {key}", kind(self.kind)));
        match self.kind {
            Within if self.published.is_none() => return needs("`published`"),
            Exact if self.published.is_none() => return needs("`published`"),
            Within | Formula if self.tolerance.is_some() == self.absolute.is_some() => {
                return needs("either `tolerance` (relative) or `absolute`");
            }
            Bound if self.above.is_none() && self.below.is_none() => {
                return needs("`above`, `below` or both");
            }
            Rises | Falls if self.along.is_none() => return needs("`along`"),
            Order if self.along.is_none() || self.first.is_none() || self.is.is_none() => {
                return needs("`along`, `first` and `is`");
            }
            Formula if self.formula.is_none() => return needs("`formula`"),
            _ => {}
        }
        if self.over.is_some() && self.minus.is_some() {
            return Err("`over` and `minus` exclude each other".to_owned());
        }
        match self.differs.is_some() == self.pinned.is_some() {
            true => Ok(()),
            false => Err("`differs` and `pinned` go together".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;
    use crate::testing::Fake;

    const HEAD: &str = r#"
        id = "x"
        title = "t"
        setup = "s"
        source = { paper = "p", place = "fig. 1" }
        scenario = ""
        [[sweep]]
        name = "main"
        vary = ["flow.sender=tahoe,reno"]
        runs = 3
    "#;

    fn refusal(rest: &str) -> String {
        Study::parse("x.toml", &format!("{HEAD}{rest}"), &()).unwrap_err().to_string()
    }

    const CHECK: &str = "[[check]]\nname = \"c\"\nmetric = \"goodput_bps\"\n";

    #[test]
    fn a_study_is_read() {
        let check = format!(
            "{CHECK}kind = \"within\"\npublished = 1\ntolerance = 0.1\nwhere = {{ a = [1, 2], b = \"x\" }}"
        );
        let study = Study::parse("x.toml", &format!("{HEAD}{check}"), &()).unwrap();
        let labels: Vec<_> = study.checks[0].cells.values().map(Choice::labels).collect();
        assert_eq!(labels, [vec!["1", "2"], vec!["x"]]);
    }

    #[test]
    fn unknown_keys_are_refused_with_their_place() {
        let message = refusal(&format!("{CHECK}kind = \"within\"\npublisched = 1\n"));
        assert!(
            message.contains("x.toml") && message.contains("line 15") && message.contains("publisched"),
            "{message}"
        );
    }

    #[test]
    fn checks_that_say_nothing_are_refused() {
        for (keys, part) in [
            ("kind = \"within\"\npublished = 1", "either `tolerance`"),
            ("kind = \"within\"\npublished = 1\ntolerance = 1\nabove = 3", "`above` says nothing"),
            ("kind = \"order\"\nalong = \"flow.sender\"", "needs `along`, `first` and `is`"),
            ("kind = \"bound\"", "needs `above`"),
            ("kind = \"bound\"\nabove = 1\ndiffers = \"why\"", "go together"),
            ("kind = \"bound\"\nabove = 1\nof = \"no\"", "no sweep or drive \"no\""),
            ("kind = \"nothing\"", "unknown variant"),
        ] {
            let message = refusal(&format!("{CHECK}{keys}"));
            assert!(message.contains(part), "{keys}: {message}");
        }
        assert!(refusal("").contains("must be able to fail"));
        let unknown = "[[check]]\nname = \"c\"\nmetric = \"goodput\"\nkind = \"bound\"\nabove = 1";
        assert!(refusal(unknown).contains("did you mean \"goodput_bps\""));
    }

    #[test]
    fn the_quick_form_is_part_of_the_full_form() {
        let with = |quick: &str| HEAD.replace("runs = 3", &format!("runs = 3\nquick = {{ keep = {quick} }}"));
        let check = format!("{CHECK}kind = \"bound\"\nabove = 1\n");
        let parse = |quick| Study::parse("x.toml", &format!("{}{check}", with(quick)), &());
        let study = parse("{ \"flow.sender\" = \"reno\" }").unwrap();
        assert_eq!(study.sweeps[0].axes(true).unwrap()[0].values.len(), 1);
        assert_eq!(study.sweeps[0].axes(false).unwrap()[0].values.len(), 2);
        assert!(parse("{ \"flow.sender\" = \"vegas\" }").unwrap_err().to_string().contains("no such value"));
        assert!(parse("{ x = 1 }").unwrap_err().to_string().contains("no such axis"));
    }

    /// The study with these keys of its own and these of its sweep.
    fn with_engines(own: &str, sweep: &str) -> Result<Study, Error> {
        let text = HEAD.replace("id = \"x\"", &format!("id = \"x\"\n{own}"));
        Study::parse("x.toml", &format!("{text}{sweep}\n{CHECK}kind = \"bound\"\nabove = 1\n"), &())
    }

    #[test]
    fn engines_are_the_studys_or_the_sweeps() {
        let [sim, kernel] = ["sim", "kernel"].map(|name| name.parse::<EngineName>().unwrap());
        let engines = Registry::default().with(Fake::new()).with(Fake::live());
        let plain = with_engines("", "").unwrap();
        assert_eq!((&plain.engine, plain.is_live(&engines, false)), (&sim, false));
        let live = with_engines("engine = \"kernel\"\nparallel = 2", "").unwrap();
        assert_eq!(live.engines_of(&live.sweeps[0], false), std::slice::from_ref(&kernel));
        assert!(live.is_live(&engines, true) && live.sweeps[0].engine_axis(false).is_none());
        let quick = "quick = { keep = { engine = \"sim\" } }";
        let both = with_engines("", &format!("engines = [\"sim\", \"kernel\"]\n{quick}")).unwrap();
        assert_eq!(both.engines_of(&both.sweeps[0], false), [sim.clone(), kernel]);
        assert_eq!(both.engines_of(&both.sweeps[0], true), [sim]);
        assert!(both.is_live(&engines, false) && !both.is_live(&engines, true));
        let axis = both.sweeps[0].engine_axis(false).unwrap();
        assert_eq!((axis.name.as_str(), axis.values.len()), ("engine", 2));
        assert_eq!(both.sweeps[0].axes(true).unwrap().len(), 1, "the engine is no axis of the grid");
    }

    #[test]
    fn engines_that_say_nothing_are_refused() {
        let both = "engines = [\"sim\", \"kernel\"]\n";
        for (own, sweep, part) in [
            ("engine = \"../sim\"", "", "is no engine's name"),
            ("parallel = 2", "", "no [[sweep]] is live"),
            ("engine = \"kernel\"\nparallel = 0", "", "1 or more"),
            ("engine = \"kernel\"", both, "`engine` says nothing"),
            ("", "engines = [\"sim\", \"sim\"]", "there twice"),
            (
                "",
                &format!("{both}axis = [{{ name = \"engine\", values = [] }}]"),
                "its axis \"engine\" already",
            ),
            ("", &format!("{both}quick = {{ keep = {{ engine = \"ns3\" }} }}"), "no such engine"),
            ("", "quick = { keep = { engine = \"sim\" } }", "no such axis"),
        ] {
            let message = with_engines(own, sweep).unwrap_err().to_string();
            assert!(message.contains(part), "{own} {sweep}: {message}");
        }
    }

    #[test]
    fn named_values_set_several_paths() {
        let axis = "axis = [{ name = \"arrivals\", values = [{ name = \"two\", number = 2, set = { a = 1, b = \"x\" } }] }]\n";
        let study = Study::parse("x.toml", &format!("{HEAD}{axis}{CHECK}kind = \"bound\"\nabove = 1\n"), &())
            .unwrap();
        let axes = study.sweeps[0].axes(false).unwrap();
        assert_eq!((axes[0].name.as_str(), axes[1].name.as_str()), ("arrivals", "flow.sender"));
        let sets = [("a", "1"), ("b", "x")].map(|(p, v)| (p.to_owned(), v.to_owned()));
        assert_eq!(axes[0].values[0].sets, sets);
    }
}
