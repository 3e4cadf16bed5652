//! Finished runs on disk: never lost, never twice, written by as many processes as like.
//!
//! ```text
//! DIR/sweep.json                        what is swept, as it was asked last, and by whom
//! DIR/points.parquet                    what each point of it asks
//! DIR/parts/part-WRITER-N-HASH.parquet  finished runs, in groups; HASH is of the file's bytes
//! DIR/claims/                           locked: who is at which block of the cells just now
//! DIR/sweep.lock                        locked, shared, by those who write here
//! DIR/rows.parquet                      all runs in order, once the sweep is done
//! ```
//!
//! A part is there whole or not at all, whatever happens meanwhile ([`crate::disk`]). Its records are called by
//! [`Key`] and seed, so that any two stores can be merged ([`Store::import`]): a record that is there twice counts once,
//! and where a live run has replaced another one, that which came later. Finished runs are written once in
//! [`FLUSH`] at most: a kill costs no more than that. Of many small parts of its own a process makes one, before it deletes
//! the old ones; those of others it leaves alone unless nobody else is there.
//!
//! A part whose bytes do not match its name, or are none of a part, is damaged: it is set aside and named. Those of its
//! records that are still what was written are taken from it ([`salvage`]), the others are named and their cells run again.
//! A part that cannot be read is no damage, but an error. A record that lacks a metric is made again.
//!
//! Not for: what the numbers mean, and which runs are still to do: see [`crate::sweep`].

mod batches;
mod build;
mod import;
mod manifest;
mod parquet_rows;
mod parts;
mod read;
mod salvage;
mod table;

pub use batches::for_each_batch;
pub use build::{build, changed};
pub use import::Imported;
pub use manifest::{FORMAT, Manifest, points};
pub(crate) use parquet_rows::axis_columns;
pub use parquet_rows::{Columns, Kept, batch, real, to_bytes};
pub use read::{Read, read};
pub(crate) use table::Table;

use crate::cell::{Key, Record};
use crate::grid::ScenarioDigest;
use crate::{Error, disk, human};
use parquet_rows::{Place, Unread, decode, encode};
use parts::{Damage, Looked, Part, Parts, checked, hash_of};
use salvage::{Lost, Salvaged, named};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So long finished runs may wait for others before they are written.
pub const FLUSH: Duration = Duration::from_millis(500);
/// So many runs wait at most.
const WAITING: usize = 8192;
/// So many small parts are merged into one.
const MERGE_AT: usize = 64;
/// Parts with as many rows are left alone.
const LARGE: usize = 4096;
/// A part that is made of others has so many rows at most: all of them are in memory for that.
const MERGED: usize = 4 * LARGE;

/// A directory of finished runs.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    metrics: Vec<String>,
    parts: Parts,
    /// What this process calls itself in the names of its parts.
    writer: String,
    next: u64,
    waiting: Vec<Kept>,
    waiting_part: Part,
    flushed: Option<Instant>,
    /// Locked, shared, as long as the store lives; the system releases it if the process dies.
    lock: File,
}

impl Store {
    /// Opens `dir` for the sweep that `manifest` describes and whose points ask this, creating it if need be. Returns what
    /// is to be said if another build has written there.
    ///
    /// # Errors
    /// It holds another sweep, or one that version 0.1 kept; it cannot be read or written.
    pub fn open(
        dir: &Path,
        manifest: &Manifest,
        digests: &[ScenarioDigest],
    ) -> Result<(Self, Option<String>), Error> {
        // What version 0.1 has begun is refused before its lock is looked at.
        if Manifest::read(dir)?.is_some_and(|there| there.format < FORMAT) {
            return Err(Error::OldSweep { dir: dir.to_owned() });
        }
        Self::enter(dir, manifest.metrics.clone(), || manifest.claim(dir, digests))
    }

    /// Opens what is there in `dir`, to add to it, and asks nothing of it. Returns the sweep that it holds.
    ///
    /// # Errors
    /// It holds none, or one that version 0.1 kept; it cannot be read or written.
    pub fn there(dir: &Path) -> Result<(Self, Manifest), Error> {
        match Manifest::read(dir)? {
            None => Err(Error::NoSweep { dir: dir.to_owned() }),
            Some(there) if there.format < FORMAT => Err(Error::OldSweep { dir: dir.to_owned() }),
            Some(there) => {
                let (store, ()) = Self::enter(dir, there.metrics.clone(), || Ok(()))?;
                Ok((store, there))
            }
        }
    }

    /// Opens `dir`, and does `first` there while nobody else opens it.
    fn enter<T>(
        dir: &Path,
        metrics: Vec<String>,
        first: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let (parts, claims) = (dir.join("parts"), dir.join("claims"));
        for folder in [dir, &parts, &claims] {
            disk::folder(folder)?;
        }
        let one_at_a_time = disk::lock_file(&claims.join("sweep.json"))?;
        one_at_a_time.lock().map_err(|e| Error::write(&claims, e))?;
        let path = dir.join("sweep.lock");
        let lock = disk::lock_file(&path)?;
        if disk::try_lock(&path, &lock)? {
            remove_unfinished(&parts)?;
            lock.unlock().map_err(|e| Error::write(&path, e))?;
        }
        lock.lock_shared().map_err(|e| Error::write(&path, e))?;
        let done = first()?;
        drop(one_at_a_time);
        let store = Self {
            dir: dir.to_owned(),
            metrics,
            parts: Parts::new(parts),
            writer: writer(),
            next: 0,
            waiting: Vec::new(),
            waiting_part: Part::default(),
            flushed: None,
            lock,
        };
        Ok((store, done))
    }

    /// Reads what others have written since the last time, and before: the values of these metrics. `each` says of which
    /// points of the grid a record is, first and last. Returns what is to be said.
    ///
    /// # Errors
    /// Something cannot be read just now.
    pub fn refresh(
        &mut self,
        metrics: &[String],
        each: &mut dyn FnMut(Key, u64, Record) -> Option<(usize, usize)>,
    ) -> Result<Vec<String>, Error> {
        let mut said = Vec::new();
        loop {
            let looked = self.parts.look(metrics, &mut |place, seed, record| match place {
                Place::Key(key) => each(key, seed, record),
                Place::Point(_) => None,
            })?;
            let Looked { damaged, unread } = looked;
            said.extend(unread.into_iter().map(|(path, unread)| none_here(&path, &unread)));
            if damaged.is_empty() {
                return Ok(said);
            }
            // What is left of them is in parts that have not been read yet.
            for damage in damaged {
                said.extend(self.mend(&damage)?);
            }
        }
    }

    /// Sets a damaged part aside, and puts what is left of it in its place. Returns what has to be done again; `None`:
    /// somebody else was there before.
    fn mend(&mut self, damage: &Damage) -> Result<Option<String>, Error> {
        let Damage { path, why } = damage;
        let left = match fs::read(path) {
            Ok(bytes) => salvage::salvage(&bytes.into()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::read(path, e)),
        };
        // Written before the other one goes: what is there twice counts once.
        if let Some(left) = left.as_ref().filter(|left| !left.kept.is_empty()) {
            self.add(&left.kept, &left.metrics)?;
        }
        let aside = path.with_extension("damaged");
        match fs::rename(path, &aside) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::write(&aside, e)),
            Ok(()) => {}
        }
        Ok(Some(format!("{} is damaged ({why}); {}", aside.display(), lost(left.as_ref(), "made again"))))
    }

    /// Writes a part that is to be read as those of others are.
    fn add(&mut self, kept: &[Kept], metrics: &[String]) -> Result<(), Error> {
        let bytes = encode(kept, metrics).map_err(|e| Error::Internal(e.to_string()))?;
        let name = self.name(&bytes);
        disk::write(&self.parts.path(&name), &bytes)
    }

    /// What the next part of ours is called.
    fn name(&mut self, bytes: &[u8]) -> String {
        let name = format!("part-{}-{:06}-{}.parquet", self.writer, self.next, hash_of(bytes));
        self.next += 1;
        name
    }

    /// Takes a finished run of these points of the grid, first and last. It is on disk after [`FLUSH`] at most, if
    /// [`Self::flush`] is called as often.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&mut self, kept: Kept, points: (usize, usize)) -> Result<(), Error> {
        self.waiting.push(kept);
        self.waiting_part.holds(points.0);
        self.waiting_part.holds(points.1);
        if self.waiting.len() >= WAITING { self.write() } else { Ok(()) }
    }

    /// Writes what has waited for long, or, where it is to be done `now`, all. Whether nothing waits any more.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self, now: bool) -> Result<bool, Error> {
        let due = now || self.flushed.is_none_or(|last| last.elapsed() >= FLUSH);
        if due && !self.waiting.is_empty() {
            self.write()?;
        }
        Ok(self.waiting.is_empty())
    }

    fn write(&mut self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let part = Part { rows: waiting.len(), ..std::mem::take(&mut self.waiting_part) };
        self.write_part(&waiting, &self.metrics.clone(), part)?;
        self.flushed = Some(Instant::now());
        let small = |part: &Part| part.ours && part.rows < LARGE;
        let small: Vec<(&String, usize)> =
            self.parts.iter().filter(|(_, part)| small(part)).map(|(name, part)| (name, part.rows)).collect();
        if small.len() < MERGE_AT {
            return Ok(());
        }
        let sums = small.iter().scan(0, |sum, (name, rows)| {
            *sum += rows;
            Some((*name, *sum))
        });
        let fit: Vec<String> =
            sums.take_while(|(_, sum)| *sum <= MERGED).map(|(name, _)| name.clone()).collect();
        self.merge(&fit)
    }

    fn write_part(&mut self, kept: &[Kept], metrics: &[String], part: Part) -> Result<(), Error> {
        let bytes = encode(kept, metrics).map_err(|e| Error::Internal(e.to_string()))?;
        let name = self.name(&bytes);
        disk::write(&self.parts.path(&name), &bytes)?;
        self.parts.wrote(name, part);
        Ok(())
    }

    /// Makes one part of several of our own.
    fn merge(&mut self, names: &[String]) -> Result<(), Error> {
        let (mut all, mut whole) = (Vec::new(), Part::default());
        let known: Vec<(String, Part)> = self
            .parts
            .iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(n, p)| (n.clone(), p.clone()))
            .collect();
        for (name, part) in &known {
            let path = self.parts.path(name);
            let bytes = fs::read(&path).map_err(|e| Error::read(&path, e))?;
            let read = checked(name, bytes).and_then(|bytes| {
                decode(bytes, &self.metrics, true, |place, seed, record| {
                    if let Place::Key(key) = place {
                        all.push(Kept { key, seed, record });
                    }
                })
            });
            read.map_err(|why| Error::read(&path, why))?;
            if let Some((first, last)) = part.points {
                whole.holds(first);
                whole.holds(last);
            }
        }
        whole.rows = all.len();
        self.write_part(&all, &self.metrics.clone(), whole)?;
        for (name, _) in known {
            disk::remove(&self.parts.path(&name))?;
            self.parts.forget(&name);
        }
        Ok(())
    }

    /// Claims a block of cells, called so, for this process: `None` where another one is at it. It is given back when the
    /// file is dropped, or the process ends.
    ///
    /// # Errors
    /// The system has no locks there.
    pub(crate) fn claim(&self, block: &str) -> Result<Option<File>, Error> {
        let path = self.dir.join("claims").join(block);
        let file = disk::lock_file(&path)?;
        Ok(disk::try_lock(&path, &file)?.then_some(file))
    }

    /// Ends the work here; where nobody else is at it, what was claimed is forgotten.
    ///
    /// # Errors
    /// What waited cannot be written.
    pub fn close(mut self) -> Result<(), Error> {
        self.flush(true)?;
        let claims = self.dir.join("claims");
        // Whoever comes meanwhile waits for this.
        let Ok(one_at_a_time) = disk::lock_file(&claims.join("sweep.json")) else { return Ok(()) };
        let path = self.dir.join("sweep.lock");
        if one_at_a_time.try_lock().is_ok()
            && self.lock.unlock().is_ok()
            && disk::try_lock(&path, &self.lock)?
        {
            for entry in fs::read_dir(&claims).into_iter().flatten().flatten() {
                if entry.file_name() != "sweep.json" {
                    disk::remove(&entry.path())?;
                }
            }
        }
        Ok(())
    }
}

/// What is to be said of the records of a part that are none here.
fn none_here(path: &Path, unread: &Unread) -> String {
    let mut what = Vec::new();
    if unread.lacking > 0 {
        what.push(format!("{} lack what is asked for now", human::many(unread.lacking, "record")));
    }
    if !unread.nameless.is_empty() {
        let lost = |&number: &usize| Lost { number, address: None };
        let lost: Vec<Lost> = unread.nameless.iter().map(lost).collect();
        what.push(format!("{} cannot be decoded", named(&lost)));
    }
    format!("{}: {}; they are made again", path.display(), what.join(", "))
}

/// What is to be said of what is lost of a damaged part, and what becomes of it.
fn lost(left: Option<&Salvaged>, so: &str) -> String {
    match left {
        None => format!("all its runs are {so}"),
        Some(left) if left.lost.is_empty() => "none of its records is".to_owned(),
        Some(Salvaged { lost, kept, .. }) => format!(
            "{} cannot be decoded, and {} {so}; {} kept",
            named(lost),
            if lost.len() == 1 { "is" } else { "are" },
            match kept.len() {
                0 => "none is".to_owned(),
                1 => "one other is".to_owned(),
                n => format!("{n} others are"),
            }
        ),
    }
}

/// What a process calls itself: nobody else does.
fn writer() -> String {
    use sha2::{Digest, Sha256};
    use std::hash::{BuildHasher, RandomState};
    let mut hash = Sha256::new();
    // Its keys are drawn at random.
    hash.update(RandomState::new().hash_one(std::process::id()).to_le_bytes());
    hash.update(RandomState::new().hash_one(0).to_le_bytes());
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Removes what writes have left that did not get to their rename; nobody else may be writing.
fn remove_unfinished(parts: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(parts).map_err(|e| Error::read(parts, e))? {
        let path = entry.map_err(|e| Error::read(parts, e))?.path();
        if disk::is_unfinished(&path.file_name().unwrap_or_default().to_string_lossy()) {
            disk::remove(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
