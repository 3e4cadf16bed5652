//! Whether what a study claims is older than the results that decided it, by the history of the repository that it is in.
//!
//! A *claim* is all of a check that decides its verdict; what decides the verdicts of all checks is the *set-up*: scenario,
//! sweeps, engine. Titles, notes and figures are neither, nor is the quick form, which decides nothing that is stored. Both
//! are read from the file's grammar alone, so that files from before a key was known are understood as well.
//!
//! A stored result is an object with `date`, `commit` and `report`; a `+` behind the commit says that there were changes
//! beside it. Not for: how a result is made and stored, which the book's tools do (`docs/results.py`).

mod claims;
mod history;
mod provenance;

use crate::error::Error;
use claims::Claims;
pub use history::Repository;
pub use provenance::{Commit, Stored};
use serde::Serialize;
use std::path::{Path, PathBuf};
use truckee_lab::Error as LabError;

/// How old what a study claims is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Age {
    /// Claims and set-up were committed before the results were made, and are the same since.
    Older,
    /// Something has changed since the results were made: they have to be made again.
    Newer,
    /// Nothing is stored.
    NoResults,
    /// Something has changed that nobody has committed.
    Uncommitted,
}

/// What the history says of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The study.
    pub study: String,
    /// Its file.
    pub file: PathBuf,
    /// The answer.
    pub age: Age,
    /// The commit that brought claims and set-up as they are; `None`: none has.
    pub committed: Option<Commit>,
    /// The results; `None`: there are none.
    pub results: Option<Stored>,
    /// Whether the set-up is another one than that of the results.
    pub setup_changed: bool,
    /// Checks that came after the results, by name.
    pub new: Vec<String>,
    /// Checks that claim something else since.
    pub changed: Vec<String>,
    /// Checks of the results that are gone.
    pub gone: Vec<String>,
}

/// What the history of `repository` says of the study in `file`, whose result is `results/ID.json`.
///
/// # Errors
/// The file is no study, a stored result no result, or the history cannot be asked.
pub fn verify(repository: &Repository, file: &Path, results: &Path) -> Result<Verified, Error> {
    let text = std::fs::read_to_string(file).map_err(|e| LabError::read(file, e))?;
    let now = Claims::read(&text).ok_or_else(|| LabError::read(file, "no study: it has no `id`"))?;
    let results = stored(&results.join(format!("{}.json", now.id)))?;
    let log = repository.log(file)?;
    let newest = log.first().map(|at| repository.claims(at)).transpose()?.flatten();
    let is_committed = newest.as_ref() == Some(&now);
    // What the results were made of: their own commit or, where the repository does not have it, the last before their date.
    let base = match &results {
        Some(stored) => repository.before(&log, stored)?,
        None => None,
    };
    let then = base.map(|k| repository.claims(&log[k])).transpose()?.flatten();
    let age = match (&results, is_committed) {
        (_, false) => Age::Uncommitted,
        (None, true) => Age::NoResults,
        (Some(_), true) if then.as_ref() == Some(&now) => Age::Older,
        (Some(_), true) => Age::Newer,
    };
    // Claims that were given up and taken up again count from before the results.
    let from = if age == Age::Older { base.unwrap_or(0) } else { 0 };
    let committed = if is_committed { repository.since(&log[from..], &now)? } else { None };
    // Without results there is nothing to have changed since, but what is committed.
    let other = if results.is_some() { then } else { newest };
    let differs = age != Age::Older && age != Age::NoResults;
    let difference = if differs { now.since(other.as_ref()) } else { claims::Difference::default() };
    Ok(Verified {
        study: now.id.clone(),
        file: file.to_owned(),
        age,
        committed,
        results,
        setup_changed: difference.setup,
        new: difference.new,
        changed: difference.changed,
        gone: difference.gone,
    })
}

/// Of which code and when the result in this file is; `None`: there is none.
fn stored(path: &Path) -> Result<Option<Stored>, LabError> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| LabError::read(path, e)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(LabError::read(path, e)),
    }
}

#[cfg(test)]
mod tests;
