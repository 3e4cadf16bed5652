//! One run of a sweep, wherever it is made: what it is called, and what is needed to make it.
//!
//! A cell's [`Address`] is a hash of the scenario as it is understood, the seed, the engine, the build's part that decides
//! what comes out, and the schema of records. Two cells of one address have one record, whoever made it: a value more on
//! an axis changes none of the others' addresses.
//!
//! Not for: which cells a sweep wants ([`crate::sweep`]), and where records are kept ([`crate::store`]).

use crate::address::Address;
use crate::grid::{ScenarioDigest, digest, first_half};
use crate::{Engine, EngineName, Engines, Error, Failure, Metric, Missing};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use truckee_scenario::{Document, Lateness, Scenario};

/// What a record means: a number in it that meant something else would get another one.
const SCHEMA: &str = "truckee record 1";

/// One run of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The grid point's number.
    pub point: usize,
    /// The seed.
    pub seed: u64,
}

/// What all runs of a scenario on an engine of a build have in common, whatever their seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(crate) [u8; 16]);

impl Key {
    /// That of a scenario of this digest on this engine.
    pub fn of(scenario: &ScenarioDigest, engine: &dyn Engine) -> Self {
        Self::parts(scenario, engine.name(), &engine.build())
    }

    /// The same by the names of engine and build.
    pub fn parts(scenario: &ScenarioDigest, engine: &str, build: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [SCHEMA, engine, build] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(scenario);
        Self(first_half(hash))
    }

    /// The address of its cell of this seed.
    pub fn cell(&self, seed: u64) -> Address {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(seed.to_le_bytes());
        Address(first_half(hash))
    }
}

/// What came of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Digest of the run's history; empty of a live one.
    pub digest: String,
    /// One value a metric, in the order in which they were asked for; `None` where the run has none.
    pub values: Vec<Option<f64>>,
    /// How late the machine was in a live run.
    pub lateness: Option<Lateness>,
}

/// Runs a scenario as it is, its seed included.
///
/// # Errors
/// The engine fails; a metric is of something that the scenario does not have.
pub fn record(engine: &dyn Engine, scenario: &Scenario, metrics: &[Metric]) -> Result<Record, NoRecord> {
    let outcome = engine.run(scenario, false)?;
    let values = metrics.iter().map(|m| m.of(&outcome)).collect::<Result<_, _>>().map_err(Error::from)?;
    Ok(Record { digest: outcome.digest, values, lateness: outcome.lateness })
}

/// Why there is no record of a cell.
#[derive(Debug, thiserror::Error)]
pub enum NoRecord {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// What was asked for cannot be had.
    #[error(transparent)]
    Asked(#[from] Error),
}

/// A run that was made, or one that broke off.
pub(crate) type Ran = Result<(Cell, Record), (Cell, Failure)>;

/// Cells of a sweep as data, with all that another process or another machine needs to run them: text that they can be sent
/// as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The scenario file's name, for messages; files that it names are relative to its folder.
    pub file: String,
    /// The scenario file's text.
    pub scenario: String,
    /// What is set in it for all of them: paths and values.
    pub set: Vec<(String, String)>,
    /// The engine's name.
    pub engine: EngineName,
    /// Names of the metrics that are wanted.
    pub metrics: Vec<String>,
    /// The cells, those of a point one after the other.
    pub cells: Vec<Asked>,
}

/// A cell of a [`Task`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// What the record will be called.
    pub address: Address,
    /// What else is set in the scenario for it.
    pub set: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
}

impl Task {
    /// Runs its cells, one after the other, and ends early with one that fails as all of its scenario do.
    ///
    /// # Errors
    /// A scenario, a metric or the engine is not to be had here; this build, or a file that the scenario names, is another
    /// one than an address stands for. Nothing of it counts then.
    pub fn run(&self, engines: &dyn Engines) -> Result<Vec<Result<Record, Failure>>, Error> {
        self.run_of(engines, |document| document)
    }

    /// The same of what `prepared` makes of the scenario file: one that knows algorithms which are not built in, say.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_of(
        &self,
        engines: &dyn Engines,
        prepared: impl FnOnce(Document) -> Document,
    ) -> Result<Vec<Result<Record, Failure>>, Error> {
        let document = Document::parse(&self.file, &self.scenario).map_err(|e| refused(format!("{e:#}")))?;
        let mut document = prepared(document);
        set_all(&mut document, &self.set)?;
        let engine = engines.find(self.engine.as_str()).map_err(|missing| match missing {
            Missing::Unknown { .. } => refused(format!("{}: the task's engine: {missing}", self.file)),
            Missing::NotHere { .. } => missing.into(),
        })?;
        let metrics = self.metrics.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>()?;
        let mut point: Option<(&Asked, Scenario, Key)> = None;
        let mut answers = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            if point.as_ref().is_none_or(|(like, ..)| like.set != cell.set) {
                let mut document = document.clone();
                set_all(&mut document, &cell.set)?;
                let scenario = document.scenario().map_err(|e| refused(format!("{e:#}")))?;
                let key = Key::of(&digest(&scenario), engine);
                point = Some((cell, scenario, key));
            }
            let Some((_, scenario, key)) = &mut point else { continue };
            let here = key.cell(cell.seed);
            if here != cell.address {
                let build = engine.build().into_owned();
                return Err(Error::OtherCell { wanted: cell.address, here, build });
            }
            scenario.seed = cell.seed;
            let answer = match record(engine, scenario, &metrics) {
                Ok(record) => Ok(record),
                Err(NoRecord::Engine(failure)) => Err(failure),
                Err(NoRecord::Asked(error)) => return Err(error),
            };
            let last = answer.as_ref().is_err_and(|failure| !failure.once);
            answers.push(answer);
            if last {
                break;
            }
        }
        Ok(answers)
    }
}

fn set_all(document: &mut Document, set: &[(String, String)]) -> Result<(), Error> {
    let one = |(path, value): &(String, String)| document.set(path, value);
    set.iter().try_for_each(one).map_err(|e| refused(format!("{e:#}")))
}

fn refused(reason: String) -> Error {
    Error::Scenario { point: String::new(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, scenario};

    #[test]
    fn an_address_changes_with_scenario_seed_engine_and_build_alone() {
        let of = |duration, engine: &dyn Engine, seed| {
            Key::of(&digest(&scenario("s", duration)), engine).cell(seed)
        };
        let one = of(1, &Fake::new(), 1);
        assert_eq!(one, of(1, &Fake::new(), 1));
        let another_build = Fake::of_build("another");
        for other in [
            of(2, &Fake::new(), 1),
            of(1, &Fake::new(), 2),
            of(1, &Fake::live(), 1),
            of(1, &another_build, 1),
        ] {
            assert_ne!(one, other);
        }
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Address>(&text).unwrap(), one);
        assert!(serde_json::from_str::<Address>("\"12\"").is_err());
    }
}
