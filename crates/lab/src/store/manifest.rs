//! `sweep.json`: what a directory of results holds, and how it came about; and `points.parquet`, what each point asks.

use super::{changed, for_each_batch, to_bytes};
use crate::engine::SIMULATOR;
use crate::grid::ScenarioDigest;
use crate::vary::Axis;
use crate::{Error, disk};
use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::{ArrayRef, FixedSizeBinaryArray};
use arrow_schema::{DataType, Field};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Its name.
pub(super) const FILE: &str = "sweep.json";
/// The name of what goes with it: the digest of each point's scenario, in order.
const POINTS: &str = "points.parquet";

/// How sweeps are kept by this program; version 0.1 wrote no such number.
pub const FORMAT: u32 = 2;

/// What is swept, as it was asked last. More values, more metrics, more seeds and other builds add to what is there;
/// another question is refused, for it was hardly meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`]; 0 of version 0.1.
    #[serde(default)]
    pub format: u32,
    /// Version of the program.
    pub truckee: String,
    /// The engine.
    pub engine: String,
    /// The part of the engine's build that decides its records; see [`crate::Engine::build`].
    #[serde(default)]
    pub build: String,
    /// Whether its runs happen in real time; `None` where nobody has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
    /// The scenario's name, for people.
    pub scenario: String,
    /// The axes.
    pub axes: Vec<Axis>,
    /// The metrics, in the order of the columns.
    pub metrics: Vec<String>,
    /// Those of them that were asked for by name, which the page shows first.
    #[serde(default)]
    pub asked: Vec<String>,
    /// The command lines that worked on this directory, the first one first.
    pub commands: Vec<Vec<String>>,
    /// The builds of the program that worked on it, the first one first: of the same version they may give other numbers
    /// all the same.
    #[serde(default)]
    pub builds: Vec<String>,
}

impl Manifest {
    /// Whether its runs happen in real time. Where nobody has said there were no engines yet but the simulator and live
    /// ones.
    pub fn is_live(&self) -> bool {
        self.live.unwrap_or(self.engine != SIMULATOR)
    }

    /// Reads that of a directory; `None`: there is none.
    ///
    /// # Errors
    /// It cannot be read, is none, or a later version's.
    pub fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(FILE);
        let bytes = match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::read(&path, e)),
            Ok(bytes) => bytes,
        };
        let there: Self = serde_json::from_slice(&bytes).map_err(|e| Error::read(&path, e))?;
        if there.format > FORMAT {
            let why = format!("it was written by a later version of truckee ({})", there.truckee);
            return Err(Error::read(&path, why));
        }
        Ok(Some(there))
    }

    /// Writes itself, and what each point asks, into `dir`, or, if one is there, checks that it is of the same sweep and
    /// adds its command and its build. Returns what is to be said if the build before was another one. The caller sees
    /// to it that nobody else does the same meanwhile.
    pub(super) fn claim(&self, dir: &Path, digests: &[ScenarioDigest]) -> Result<Option<String>, Error> {
        let mut mine = self.clone();
        let mut other = None;
        if let Some(there) = Self::read(dir)? {
            if there.format < FORMAT {
                return Err(Error::OldSweep { dir: dir.to_owned() });
            }
            if let Some(what) = self.difference(&there, digests, &points(dir)?) {
                return Err(Error::OtherSweep { dir: dir.to_owned(), what });
            }
            mine.commands = there.commands;
            mine.commands.extend(self.commands.iter().cloned());
            mine.commands.dedup();
            other = self.builds.first().and_then(|now| changed(&there.builds, now));
            mine.builds = there.builds;
            mine.builds.extend(self.builds.iter().cloned());
            mine.builds.dedup();
        }
        let encode = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot encode the sweep: {e}"));
        let mut bytes = FixedSizeBinaryBuilder::with_capacity(digests.len(), 16);
        digests.iter().try_for_each(|digest| bytes.append_value(digest)).map_err(|e| encode(&e))?;
        let column = Field::new("scenario", DataType::FixedSizeBinary(16), false);
        let table = to_bytes(vec![(column, Arc::new(bytes.finish()) as ArrayRef)]).map_err(|e| encode(&e))?;
        disk::write(&dir.join(POINTS), &table)?;
        disk::write(&dir.join(FILE), &serde_json::to_vec_pretty(&mine).map_err(|e| encode(&e))?)?;
        let said = "its runs are kept apart, and made again by this one";
        Ok(other.map(|what| format!("{}: {what}; {said}", dir.display())))
    }

    /// The first thing in which the sweep in the directory is another one.
    pub(super) fn difference(
        &self,
        there: &Self,
        ours: &[ScenarioDigest],
        theirs: &[ScenarioDigest],
    ) -> Option<String> {
        let names = |m: &Self| m.axes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(" × ");
        let pairs =
            [("engine", self.engine.clone(), there.engine.clone()), ("axes", names(self), names(there))];
        let named = pairs
            .into_iter()
            .find(|(_, now, then)| now != then)
            .map(|(what, now, then)| format!("its {what} is \"{then}\", not \"{now}\""));
        named.or_else(|| {
            let known: HashSet<&ScenarioDigest> = theirs.iter().collect();
            let shares = theirs.is_empty() || ours.iter().any(|one| known.contains(one));
            (!shares && self.build == there.build)
                .then(|| format!("scenario \"{}\" has changed since, or is another one", there.scenario))
        })
    }
}

/// What each point of the sweep in a directory asks, in order; none where nobody has said.
///
/// # Errors
/// It cannot be read, or is not what was written.
pub fn points(dir: &Path) -> Result<Vec<ScenarioDigest>, Error> {
    let path = dir.join(POINTS);
    let bytes = match std::fs::read(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::read(&path, e)),
        Ok(bytes) => bytes,
    };
    let mut digests = Vec::new();
    let read = for_each_batch(
        bytes,
        |name| name == "scenario",
        |batch| {
            let column = batch.column_by_name("scenario").and_then(|c| c.as_any().downcast_ref());
            let column: &FixedSizeBinaryArray = column.ok_or("no column scenario of the right type")?;
            for bytes in column.iter() {
                let digest = bytes.and_then(|bytes| bytes.try_into().ok());
                digests.push(digest.ok_or("a scenario's digest has 16 bytes")?);
            }
            Ok(())
        },
    );
    read.map_err(|e| Error::read(&path, e))?;
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid;

    fn manifest(vary: &str) -> Manifest {
        Manifest {
            format: FORMAT,
            truckee: "0.1.0".into(),
            engine: "sim".into(),
            live: None,
            scenario: "a.toml".into(),
            build: "a".into(),
            axes: grid::axes(&[vary]).unwrap().0,
            metrics: vec!["goodput_bps".into()],
            asked: vec![],
            commands: vec![vec!["truckee".into(), vary.into()]],
            builds: vec!["0.1.0 (a)".into()],
        }
    }

    #[test]
    fn the_same_sweep_goes_on_and_its_commands_add_up() {
        let dir = tempfile::tempdir().unwrap();
        manifest("x=1,2").claim(dir.path(), &[[1; 16]]).unwrap();
        let mut again = manifest("x=1,2");
        again.commands[0].push("--runs".into());
        again.claim(dir.path(), &[[1; 16]]).unwrap();
        let text = std::fs::read(dir.path().join("sweep.json")).unwrap();
        let read: Manifest = serde_json::from_slice(&text).unwrap();
        assert_eq!(read.commands.len(), 2);
    }

    #[test]
    fn a_changed_build_is_said_and_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let claim = |build: &str| {
            let builds = vec![build.to_owned()];
            Manifest { builds, ..manifest("x=1,2") }.claim(dir.path(), &[[1; 16]]).unwrap()
        };
        assert_eq!((claim("0.1.0 (a)"), claim("0.1.0 (a)")), (None, None));
        let said = claim("0.1.0 (b)").unwrap();
        assert!(said.contains("another build of truckee, 0.1.0 (a)"), "{said}");
        assert_eq!(claim("0.1.0 (b)"), None, "said once");
        let read = || -> Manifest {
            let text = std::fs::read(dir.path().join("sweep.json")).unwrap();
            serde_json::from_slice(&text).unwrap()
        };
        assert_eq!(read().builds, ["0.1.0 (a)", "0.1.0 (b)"]);
        // One that a program wrote which did not say.
        let mut old = serde_json::to_value(read()).unwrap();
        old.as_object_mut().unwrap().remove("builds");
        std::fs::write(dir.path().join("sweep.json"), old.to_string()).unwrap();
        assert!(claim("0.1.0 (b)").unwrap().contains("an earlier build"));
    }

    #[test]
    fn another_sweep_is_refused_and_the_difference_named() {
        let dir = tempfile::tempdir().unwrap();
        manifest("x=1,2").claim(dir.path(), &[[1; 16]]).unwrap();
        let refusal = |m: Manifest, digests: &[ScenarioDigest]| {
            m.claim(dir.path(), digests).map_err(|e| e.to_string()).err().unwrap_or_default()
        };
        let message = refusal(manifest("y=1,2"), &[[1; 16]]);
        assert!(message.contains("its axes is \"x\", not \"y\""), "{message}");
        assert!(
            refusal(Manifest { engine: "kernel".into(), ..manifest("x=1") }, &[[1; 16]]).contains("engine")
        );
        assert!(refusal(manifest("x=1,2"), &[[2; 16]]).contains("has changed since"));
        assert_eq!(refusal(manifest("x=1,2,3"), &[[1; 16], [2; 16]]), "", "a value more is the same sweep");
    }

    #[test]
    fn a_directory_of_version_0_1_is_refused_by_name_and_one_of_a_later_version_too() {
        let dir = tempfile::tempdir().unwrap();
        let old = serde_json::json!({
            "truckee": "0.1.0", "engine": "sim", "scenario": "a.toml", "digest": "0", "axes": [], "metrics": [],
            "commands": [],
        });
        std::fs::write(dir.path().join(FILE), old.to_string()).unwrap();
        let message = manifest("x=1").claim(dir.path(), &[]).unwrap_err().to_string();
        assert!(
            message.contains("a sweep of truckee 0.1") && message.contains("another directory"),
            "{message}"
        );
        let mut later = old;
        (later["format"], later["truckee"]) = (3.into(), "0.9.0".into());
        std::fs::write(dir.path().join(FILE), later.to_string()).unwrap();
        let message = manifest("x=1").claim(dir.path(), &[]).unwrap_err().to_string();
        assert!(message.contains("a later version of truckee (0.9.0)"), "{message}");
    }
}
