//! A file's history, as git tells it.

use super::claims::Claims;
use super::provenance::{Commit, Stored};
use crate::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use truckee_lab::Error as LabError;

/// A repository on disk.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
}

/// A commit that changed the file, and what the file was called then.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) commit: Commit,
    path: String,
}

impl Repository {
    /// The one that a folder is in.
    ///
    /// # Errors
    /// It is in none, or in one whose history is cut off, or there is no git here.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let here = Self { root: folder.to_owned() };
        let root = here.ask(folder, &["rev-parse", "--show-toplevel"])?;
        if here.ask(folder, &["rev-parse", "--is-shallow-repository"])?.trim_end() == "true" {
            let reason =
                "it is cut off (a shallow clone); `git fetch --unshallow` brings the rest".to_owned();
            return Err(Error::History { path: folder.to_owned(), reason });
        }
        Ok(Self { root: PathBuf::from(root.trim_end_matches('\n')) })
    }

    /// Its topmost folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commits that changed a file, newest first, over its renamings.
    pub(super) fn log(&self, file: &Path) -> Result<Vec<Entry>, Error> {
        let file = std::path::absolute(file).map_err(|e| LabError::read(file, e))?;
        let path = file.to_string_lossy();
        // A repository without a commit has no log to ask for.
        if self.ask(&file, &["rev-list", "-n", "1", "--all"])?.is_empty() {
            return Ok(Vec::new());
        }
        let format = "--format=%x01%H %cd";
        let date = "--date=format-local:%Y-%m-%dT%H:%M:%SZ";
        let said = self.ask(&file, &["log", "--follow", "--name-only", "-z", format, date, "--", &path])?;
        let entry = |text: &str| {
            let (head, names) = text.split_once('\0')?;
            let (hash, date) = head.split_once(' ')?;
            let path = names.trim_matches(['\0', '\n']).to_owned();
            Some(Entry { commit: Commit { hash: hash.to_owned(), date: date.to_owned() }, path })
        };
        Ok(said.split('\x01').filter_map(entry).collect())
    }

    /// What the file claimed after a commit; `None`: it was no study, or was deleted.
    pub(super) fn claims(&self, at: &Entry) -> Result<Option<Claims>, Error> {
        let object = format!("{}:{}", at.commit.hash, at.path);
        let there = self.git(&["cat-file", "-e", &object]).output();
        if !there.is_ok_and(|done| done.status.success()) {
            return Ok(None);
        }
        Ok(Claims::read(&self.ask(Path::new(&at.path), &["show", &object])?))
    }

    /// Where in the log the file is as it was when a result was stored: the newest entry that the result's commit has or,
    /// where the repository lacks this commit, that is no younger than the result. `None`: it was not there yet.
    pub(super) fn before(&self, log: &[Entry], stored: &Stored) -> Result<Option<usize>, Error> {
        let commit = stored.commit.trim_end_matches('+');
        let object = format!("{commit}^{{commit}}");
        // What begins with a dash would be an option.
        let is_known = !commit.starts_with('-')
            && self.git(&["cat-file", "-e", &object]).output().is_ok_and(|done| done.status.success());
        if !is_known {
            return Ok(log.iter().position(|at| at.commit.date <= stored.date));
        }
        for (k, at) in log.iter().enumerate() {
            let has = self.git(&["merge-base", "--is-ancestor", &at.commit.hash, commit]).output();
            if has.is_ok_and(|done| done.status.success()) {
                return Ok(Some(k));
            }
        }
        Ok(None)
    }

    /// The commit since which the file claims what it claims at the newest of these.
    pub(super) fn since(&self, log: &[Entry], claims: &Claims) -> Result<Option<Commit>, Error> {
        let mut oldest = None;
        for at in log {
            if self.claims(at)?.as_ref() != Some(claims) {
                break;
            }
            oldest = Some(at.commit.clone());
        }
        Ok(oldest)
    }

    fn git(&self, words: &[&str]) -> Command {
        let mut git = Command::new("git");
        // Dates are told in local time: here that of Greenwich. Messages are read by people.
        git.arg("-C").arg(&self.root).args(words).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        git
    }

    /// What git says.
    fn ask(&self, about: &Path, words: &[&str]) -> Result<String, Error> {
        let fail = |reason: String| Error::History { path: about.to_owned(), reason };
        let done = self.git(words).output().map_err(|e| fail(format!("git cannot be run: {e}")))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.trim().trim_start_matches("fatal: ");
            return Err(fail(match said.contains("not a git repository") {
                true => {
                    "it is in no git repository, and by nothing else is it known when something was claimed"
                        .to_owned()
                }
                false => format!("git {}: {said}", words.first().unwrap_or(&"")),
            }));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}
