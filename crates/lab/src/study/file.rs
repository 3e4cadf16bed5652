//! A study's file. Every key is described here; unknown ones are refused with their place.
//!
//! Cells are selected by `where = { "axis" = "value", "other" = ["a", "b"] }`: the cells of all axes not named, with
//! these values of those named.

mod check;
mod sweep;
mod variation;

use super::drawings::{FigurePart, MapPart};
use super::drive::{Drive, Drives};
use super::recordings;
pub use super::selection::{Choice, Where, plain};
use crate::grid::Grid;
use crate::vary::Axis;
use crate::{Engine, EngineName, Engines, Error};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truckee_scenario::Document;

use check::Parts;
pub use check::{Check, End, Kind, Pinned, Reference};
use sweep::ENGINE;
pub(crate) use sweep::is_watchers;
pub use sweep::{NamedAxis, NamedValue, Quick, SweepPart, Watchers};
pub use variation::{Cause, Variation};

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
    /// Most live runs at once that their rates and timing bear, where that is known.
    pub parallel: Option<usize>,
    /// Whether its live runs bear nothing else on the machine, simulations included: who runs many studies at once leaves it
    /// until the others are done.
    #[serde(default)]
    pub alone: bool,
    /// Recordings that its scenarios name and that the program does not bring, since they may not be handed on: names of
    /// files in the folder of recordings. A machine that lacks one does not run the study.
    #[serde(default)]
    pub recordings: Vec<String>,
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
        let parts = Parts { names: &names, sweeps: &self.sweeps, drives };
        for check in &self.checks {
            check.validate(&parts).map_err(|reason| format!("check \"{}\": {reason}", check.name))?;
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
        if self.parallel == Some(0) {
            return Err("`parallel` is the number of live runs at once, 1 or more".to_owned());
        }
        let simulated = self.engines(false).iter().all(|engine| *engine == EngineName::default());
        match [("parallel", self.parallel.is_some()), ("alone", self.alone)].iter().find(|key| key.1) {
            Some((key, _)) if simulated => Err(format!("`{key}` says nothing: no [[sweep]] is live")),
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

    /// Why it cannot be run where its recordings are not all there; nothing where they are.
    pub fn lacks(&self) -> Option<String> {
        recordings::missing(&self.recordings)
    }

    /// What its scenarios are called, and where their files are looked for: beside its recordings, if it has any.
    fn place(&self) -> String {
        let folder = if self.recordings.is_empty() { None } else { recordings::folder() };
        folder.map_or_else(|| self.id.clone(), |folder| folder.join(&self.id).display().to_string())
    }

    /// The grid of one of its sweeps.
    pub fn grid(&self, sweep: &SweepPart, quick: bool) -> Result<Grid, Error> {
        let refused = |e: &dyn std::fmt::Display| Error::Study {
            file: self.id.clone(),
            reason: format!("sweep \"{}\": {e:#}", sweep.name),
        };
        let text = sweep.scenario.as_ref().or(self.scenario.as_ref()).map_or("", String::as_str);
        let mut document = Document::parse(&self.place(), text).map_err(|e| refused(&e))?;
        let more = if quick { Some(&sweep.quick.set) } else { None };
        for (path, value) in sweep.set.iter().chain(more.into_iter().flatten()) {
            document.set(path, &plain(value)).map_err(|e| refused(&e))?;
        }
        Grid::new(&document, sweep.axes(quick)?).map_err(|e| refused(&e))
    }
}

#[cfg(test)]
mod tests;
