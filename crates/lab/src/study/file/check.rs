//! A check of a study's file; [`crate::study::check`] says what each kind demands.

use super::sweep::{SweepPart, Watchers, is_watchers};
use super::variation::{Cause, Variation};
use crate::Metric;
use crate::study::Drives;
use crate::study::selection::Where;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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

/// A check as written. Which keys go with which kind is checked by [`Study::parse`](super::Study::parse).
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
    /// What the paper printed, or what its figure shows. `within` and `exact` are held against it.
    pub published: Option<f64>,
    /// What another simulator or a formula gives. `within` and `exact` are held against it where nothing is published.
    pub reference: Option<Reference>,
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
    /// The simplest thing that is wrong: the check must fail for it.
    pub rival: Option<Variation>,
    /// What is seen in place of the paper's value, which cannot be reached; needs `pinned`.
    pub differs: Option<String>,
    /// What is measured in place of the paper's value.
    pub pinned: Option<Pinned>,
    /// Why it differs: the variation that removes the difference, or `"unknown"`.
    pub cause: Option<Cause>,
    /// What the bound was, and how it came out, where it was loosened with the result known. No row is then better than
    /// `differs`.
    pub loosened: Option<String>,
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

/// A value that no paper printed.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The value.
    pub value: f64,
    /// Which simulator on which set-up, or which formula of whom.
    pub source: String,
}

/// The parts of a study that its checks may ask for.
pub(super) struct Parts<'a> {
    /// What its sweeps and drives are called.
    pub names: &'a BTreeSet<&'a str>,
    pub sweeps: &'a [SweepPart],
    pub drives: &'a dyn Drives,
}

impl Parts<'_> {
    /// Who becomes an axis of a sweep; the first one by default.
    fn watchers(&self, of: Option<&String>) -> Option<Watchers> {
        let sweep = match of {
            Some(name) => self.sweeps.iter().find(|s| s.name == *name),
            None => self.sweeps.first(),
        };
        sweep?.by
    }
}

impl Check {
    /// The sweep or drive, the first one by default, and the metric that it asks for, and those of its variations.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (Option<&String>, &String)> {
        let varied = self.variations();
        let varied = varied
            .map(|(_, v)| (v.of.as_ref().or(self.of.as_ref()), v.metric.as_ref().unwrap_or(&self.metric)));
        std::iter::once((self.of.as_ref(), &self.metric)).chain(varied)
    }

    /// Its rival, and the variation that removes its difference, each with its key.
    fn variations(&self) -> impl Iterator<Item = (&'static str, &Variation)> {
        let cause = match &self.cause {
            Some(Cause::Shown(variation)) => Some(("cause", variation)),
            _ => None,
        };
        self.rival.iter().map(|rival| ("rival", rival)).chain(cause)
    }

    /// This check with the keys of a variation. That is no claim of the paper's, and so it has no difference that is known.
    pub(crate) fn varied(&self, by: &Variation) -> Self {
        let mut varied = Self { rival: None, differs: None, pinned: None, cause: None, ..self.clone() };
        varied.loosened = None;
        varied.cells.extend(by.cells.clone());
        if by.over.is_some() || by.minus.is_some() {
            (varied.over, varied.minus) = (by.over.clone(), by.minus.clone());
        }
        varied.of = by.of.clone().or(varied.of);
        varied.metric = by.metric.clone().unwrap_or(varied.metric);
        varied.first = by.first.clone().or(varied.first);
        varied
    }

    /// What `within` and `exact` are held against.
    pub(crate) fn target(&self) -> Option<f64> {
        self.published.or(self.reference.as_ref().map(|r| r.value))
    }

    pub(super) fn validate(&self, parts: &Parts<'_>) -> Result<(), String> {
        if let Some(of) = self.of.as_ref().filter(|of| !parts.names.contains(of.as_str())) {
            return Err(format!("there is no sweep or drive \"{of}\""));
        }
        let by = parts.watchers(self.of.as_ref());
        if !parts.drives.is_metric(&self.metric) && !by.is_some_and(|by| is_watchers(by, &self.metric)) {
            Metric::parse(&self.metric).map_err(|e| e.to_string())?;
        }
        // Each key, whether it is there, and the kinds it belongs to.
        use Kind::{Bound, Exact, Falls, Formula, Order, Rises, Within};
        let keys: [(&str, bool, &[Kind]); 13] = [
            ("published", self.published.is_some(), &[Within, Exact, Bound, Rises, Falls, Order]),
            ("reference", self.reference.is_some(), &[Within, Exact, Bound, Rises, Falls, Order]),
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
            Within | Exact if self.target().is_none() => return needs("`published` or `reference`"),
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
        if self.differs.is_some() != self.pinned.is_some() {
            return Err("`differs` and `pinned` go together".to_owned());
        }
        match (&self.differs, &self.cause) {
            (None, Some(_)) => return Err("`cause` says why it differs: it needs `differs`".to_owned()),
            (Some(_), None) => {
                let says =
                    "`differs` needs `cause`: the variation that removes the difference, or \"unknown\"";
                return Err(says.to_owned());
            }
            _ => {}
        }
        let texts = [
            ("loosened", self.loosened.as_deref(), "what the bound was before, and how it came out"),
            (
                "source",
                self.reference.as_ref().map(|r| r.source.as_str()),
                "where the value of `reference` is from",
            ),
        ];
        if let Some((key, _, says)) =
            texts.iter().find(|(_, text, _)| text.is_some_and(|t| t.trim().is_empty()))
        {
            return Err(format!("`{key}` says {says}"));
        }
        self.validate_variations(parts)
    }

    fn validate_variations(&self, parts: &Parts<'_>) -> Result<(), String> {
        if let Some(Cause::Shown(Variation { value: Some(_), .. })) = &self.cause {
            return Err("cause: `value` is a rival's: a cause is shown by what is measured".to_owned());
        }
        for (key, variation) in self.variations() {
            let valid = variation.validate().and_then(|()| self.varied(variation).validate(parts));
            valid.map_err(|reason| format!("{key}: {reason}"))?;
        }
        Ok(())
    }
}
