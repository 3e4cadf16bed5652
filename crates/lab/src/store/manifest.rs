//! `sweep.json`: what a directory of results holds, and how it came about.

use super::changed;
use crate::vary::Axis;
use crate::{Error, disk};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is swept. Results of two sweeps with different manifests must not mix; only more seeds may be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program: another one may give other numbers.
    pub truckee: String,
    /// The engine.
    pub engine: String,
    /// The scenario's name, for people.
    pub scenario: String,
    /// [`Grid::digest`](crate::Grid::digest).
    pub digest: String,
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
    /// Writes itself into `dir`, or, if one is there, checks that it is of the same sweep and adds its command and its
    /// build. Returns what is to be said if the build before was another one.
    pub(super) fn claim(&self, dir: &Path) -> Result<Option<String>, Error> {
        let path = dir.join("sweep.json");
        let mut mine = self.clone();
        let mut other = None;
        match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::read(&path, e)),
            Ok(bytes) => {
                let there: Self = serde_json::from_slice(&bytes).map_err(|e| Error::read(&path, e))?;
                if let Some(what) = self.difference(&there) {
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
        }
        let json = serde_json::to_vec_pretty(&mine).map_err(|e| Error::Internal(e.to_string()))?;
        disk::write(&path, &json)?;
        Ok(other.map(|what| format!("{}: {what}; the numbers may differ", dir.display())))
    }

    /// The first thing in which the sweep in the directory is another one.
    fn difference(&self, there: &Self) -> Option<String> {
        let axis = |a: &Axis| {
            let values: Vec<_> = a.values.iter().map(|v| v.label.as_str()).collect();
            format!("{}={}", a.name, values.join(","))
        };
        let axes = |m: &Self| m.axes.iter().map(axis).collect::<Vec<_>>().join(" × ");
        let pairs = [
            ("version", self.truckee.clone(), there.truckee.clone()),
            ("engine", self.engine.clone(), there.engine.clone()),
            ("axes", axes(self), axes(there)),
            ("metrics", self.metrics.join(","), there.metrics.join(",")),
        ];
        let named = pairs
            .into_iter()
            .find(|(_, now, then)| now != then)
            .map(|(what, now, then)| format!("its {what} is \"{then}\", not \"{now}\""));
        named.or_else(|| {
            (self.digest != there.digest)
                .then(|| format!("scenario \"{}\" has changed since, or is another one", there.scenario))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid;

    fn manifest(vary: &str) -> Manifest {
        Manifest {
            truckee: "0.1.0".into(),
            engine: "sim".into(),
            scenario: "a.toml".into(),
            digest: "0".into(),
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
        manifest("x=1,2").claim(dir.path()).unwrap();
        let mut again = manifest("x=1,2");
        again.commands[0].push("--runs".into());
        again.claim(dir.path()).unwrap();
        let text = std::fs::read(dir.path().join("sweep.json")).unwrap();
        let read: Manifest = serde_json::from_slice(&text).unwrap();
        assert_eq!(read.commands.len(), 2);
    }

    #[test]
    fn a_changed_build_is_said_and_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let claim = |build: &str| {
            let builds = vec![build.to_owned()];
            Manifest { builds, ..manifest("x=1,2") }.claim(dir.path()).unwrap()
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
        manifest("x=1,2").claim(dir.path()).unwrap();
        let refusal = |m: Manifest| m.claim(dir.path()).unwrap_err().to_string();
        let message = refusal(manifest("x=1,3"));
        assert!(message.contains("its axes is \"x=1,2\", not \"x=1,3\""), "{message}");
        assert!(refusal(Manifest { digest: "1".into(), ..manifest("x=1,2") }).contains("has changed since"));
        assert!(refusal(Manifest { truckee: "9".into(), ..manifest("x=1,2") }).contains("version"));
    }
}
