//! Which studies' claims are older than their results.

mod age;

use crate::error::Error;
use crate::human::many;
use crate::layout::{self, words};
use crate::progress::note;
use age::{Age, Commit, Repository, Verified, verify as ask};
use clap::ValueEnum;
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_lab::human;

/// Say by the repository's history whether what studies claim is older than the results that decided it; exit status 1
/// where it is newer, or changed and not committed, 3 where only results are missing
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Ids of studies of this repository, or paths of studies' files [default: studies/*/*.toml of this repository]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Where results are stored, ID.json each [default: docs/studies/results of this repository]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee study verify
  truckee study verify lp-goodput
  truckee study verify studies/mine/my-study.toml --results results --format json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One array of objects
    Json,
}

/// Asks, and tells.
pub fn verify(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let repository = Repository::of(Path::new(match arguments.ids.first() {
        Some(first) if is_file(first) => folder(Path::new(first)),
        _ => ".",
    }))?;
    let results = arguments.results.clone().unwrap_or_else(|| repository.root().join("docs/studies/results"));
    let mut found = Vec::new();
    for file in files(&repository, &arguments.ids)? {
        found.push(ask(&repository, &file, &results)?);
    }
    match arguments.format {
        Format::Table => table(out, &found)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &found)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    verdict(&found)
}

fn is_file(id: &str) -> bool {
    id.ends_with(".toml")
}

fn folder(file: &Path) -> &str {
    file.parent().and_then(Path::to_str).filter(|folder| !folder.is_empty()).unwrap_or(".")
}

/// The files asked for, or all of the repository's.
fn files(repository: &Repository, ids: &[String]) -> Result<Vec<PathBuf>, Error> {
    let below = repository.root().join("studies");
    let mut all = Vec::new();
    for paper in std::fs::read_dir(&below).into_iter().flatten().flatten() {
        let files = std::fs::read_dir(paper.path()).into_iter().flatten().flatten().map(|file| file.path());
        all.extend(files.filter(|file| file.extension().is_some_and(|e| e == "toml")));
    }
    all.sort();
    if ids.is_empty() {
        let none = || format!("there is no study in {}; name a study's file", below.display());
        return if all.is_empty() { Err(Error::Usage(none())) } else { Ok(all) };
    }
    let file = |id: &String| match is_file(id) {
        true => Ok(PathBuf::from(id)),
        false => all
            .iter()
            .find(|file| file.file_stem().is_some_and(|stem| stem == id.as_str()))
            .cloned()
            .ok_or_else(|| {
                Error::Usage(format!(
                    "there is no study \"{id}\" in {}; a path that ends in .toml would do",
                    below.display()
                ))
            }),
    };
    ids.iter().map(file).collect()
}

fn says(age: Age) -> &'static str {
    match age {
        Age::Older => "bounds are older than the results",
        Age::Newer => "bounds are newer than the results: run it again",
        Age::NoResults => "no stored results",
        Age::Uncommitted => "changed and not committed",
    }
}

fn table(out: &mut dyn Write, found: &[Verified]) -> Result<(), Error> {
    let columns = [words("study"), words("bounds of"), words("results of"), words("")];
    let at = |hash: &str, date: &str| {
        let plus = if hash.ends_with('+') { "+" } else { "" };
        let hash: String = hash.trim_end_matches('+').chars().take(8).collect();
        format!("{} {hash}{plus}", date.get(..10).unwrap_or(date))
    };
    let row = |v: &Verified| {
        let bounds = v.committed.as_ref().map(|Commit { hash, date }| at(hash, date));
        let results = v.results.as_ref().map(|stored| at(&stored.commit, &stored.date));
        let or_none = |text: Option<String>| text.unwrap_or_else(|| human::NONE.to_owned());
        vec![v.study.clone(), or_none(bounds), or_none(results), says(v.age).to_owned()]
    };
    layout::write(out, &columns, found.iter().map(row))?;
    let dirty = found.iter().any(|v| v.results.as_ref().is_some_and(|stored| stored.commit.ends_with('+')));
    let mut gap = true;
    let mut line = |out: &mut dyn Write, text: String| {
        if std::mem::take(&mut gap) {
            writeln!(out)?;
        }
        writeln!(out, "{text}")
    };
    for v in found {
        if v.setup_changed {
            line(out, format!("{}: the set-up, of all checks", v.study))?;
        }
        for (what, names) in [("new", &v.new), ("changed", &v.changed), ("gone", &v.gone)] {
            for name in names {
                line(out, format!("{}: {what}: {name}", v.study))?;
            }
        }
    }
    if dirty {
        line(out, "+: the results were made of this commit and of changes beside it".to_owned())?;
    }
    Ok(())
}

fn verdict(found: &[Verified]) -> Result<(), Error> {
    let of = |age: Age| found.iter().filter(move |v| v.age == age).count();
    let studies = |n: usize| many(n, "study").replace("studys", "studies");
    let bad = [Age::Newer, Age::Uncommitted].map(|age| (says(age), of(age)));
    let bad: Vec<String> =
        bad.iter().filter(|(_, n)| *n > 0).map(|(says, n)| format!("{}: {says}", studies(*n))).collect();
    if !bad.is_empty() {
        return Err(Error::Failed(bad.join("; ")));
    }
    match of(Age::NoResults) {
        0 => {
            note(&format!("{}: {}", studies(found.len()), says(Age::Older)));
            Ok(())
        }
        n => Err(Error::Undecided(format!("{}: {}", studies(n), says(Age::NoResults)))),
    }
}
