//! One store's runs taken into another one. What is called by what it asks is the same wherever it was made: so what a
//! machine elsewhere has run need not be run here.

use super::manifest::{Manifest, points};
use super::parquet_rows::{Kept, Place, decode};
use super::parts::{Parts, checked};
use super::salvage::salvage;
use super::{FORMAT, Store, lost};
use crate::cell::{Key, Record};
use crate::{Error, disk};
use bytes::Bytes;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What came of taking in another store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Runs that were not here yet.
    pub new: usize,
    /// Runs that were here already.
    pub there: usize,
    /// Of the new ones, those of points or of builds that the sweep here does not ask for now.
    pub unasked: usize,
    /// What the user should read: another build, damage.
    pub said: Vec<String>,
}

/// Which cells are known here, by what their scenarios are called and by their seeds; and how often a live one was made
/// again.
#[derive(Debug, Default)]
struct Known(HashMap<Key, HashMap<u64, u64>>);

/// Whether a record says something that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// Nothing was known of its cell.
    New,
    /// It replaces what is known.
    Later,
    Known,
}

impl Known {
    /// Notes a record.
    fn add(&mut self, key: Key, seed: u64, record: &Record) -> News {
        let replaces = record.lateness.map_or(0, |lateness| lateness.replaces);
        match self.0.entry(key).or_default().entry(seed) {
            Entry::Vacant(none) => {
                none.insert(replaces);
                News::New
            }
            Entry::Occupied(mut there) if *there.get() < replaces => {
                there.insert(replaces);
                News::Later
            }
            Entry::Occupied(_) => News::Known,
        }
    }
}

impl Store {
    /// Takes in what another store knows of the same question: what it knows of a cell is known here then. Nothing there is
    /// changed, and others may go on writing to it.
    ///
    /// # Errors
    /// It holds no sweep, another one, or one of version 0.1 or of a later one; something cannot be read or written.
    pub fn import(&mut self, from: &Path) -> Result<Imported, Error> {
        let other = Manifest::read(from)?.ok_or_else(|| Error::NoSweep { dir: from.to_owned() })?;
        if other.format < FORMAT {
            return Err(Error::OldSweep { dir: from.to_owned() });
        }
        let ours = Manifest::read(&self.dir)?.ok_or_else(|| Error::NoSweep { dir: self.dir.clone() })?;
        let (asked, theirs) = (points(&self.dir)?, points(from)?);
        if let Some(what) = ours.difference(&other, &asked, &theirs) {
            return Err(Error::OtherSweep { dir: from.to_owned(), what });
        }
        let mut imported = Imported::default();
        if ours.build != other.build {
            let of = |m: &Manifest| m.builds.last().cloned().unwrap_or_else(|| m.build.clone());
            imported.said.push(format!(
                "{} was written last by another build of truckee, {}; {} is of {}; runs of different builds are kept apart",
                from.display(),
                of(&other),
                self.dir.display(),
                of(&ours)
            ));
        }
        let asked: HashSet<Key> =
            asked.iter().map(|digest| Key::parts(digest, &ours.engine, &ours.build)).collect();
        let mut known = self.known()?;
        let theirs = Parts::new(from.join("parts"));
        let mut done: HashSet<String> = HashSet::new();
        loop {
            let names: Vec<String> =
                theirs.names()?.into_iter().filter(|name| !done.contains(name)).collect();
            if names.is_empty() {
                return Ok(imported);
            }
            for name in names {
                self.take(&theirs, &name, &mut known, &asked, &mut imported)?;
                done.insert(name);
            }
        }
    }

    /// The cells that are known here. What is damaged of them the sweep sets aside when it goes on.
    fn known(&mut self) -> Result<Known, Error> {
        self.flush(true)?;
        let mut known = Known::default();
        Parts::new(self.dir.join("parts")).look(&[], &mut |place, seed, record| {
            if let Place::Key(key) = place {
                known.add(key, seed, &record);
            }
            None
        })?;
        Ok(known)
    }

    /// Takes in one part.
    fn take(
        &mut self,
        theirs: &Parts,
        name: &str,
        known: &mut Known,
        asked: &HashSet<Key>,
        imported: &mut Imported,
    ) -> Result<(), Error> {
        let path = theirs.path(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Merged into another one meanwhile, which is in the list next time.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::read(&path, error)),
        };
        let mut cells = Vec::new();
        let read = checked(name, bytes.clone()).and_then(|bytes| {
            decode(bytes, &[], false, |place, seed, record| {
                if let Place::Key(key) = place {
                    cells.push((key, seed, record));
                }
            })
        });
        let mut says_more = |key: &Key, seed: u64, record: &Record| {
            let news = known.add(*key, seed, record);
            imported.new += usize::from(news == News::New);
            imported.there += usize::from(news == News::Known);
            imported.unasked += usize::from(news == News::New && !asked.contains(key));
            news != News::Known
        };
        let why = match read {
            Ok(_) => {
                let more = cells.iter().filter(|(key, seed, record)| says_more(key, *seed, record)).count();
                return if more > 0 { disk::write(&self.parts.path(name), &bytes) } else { Ok(()) };
            }
            Err(why) => why,
        };
        let left = salvage(&Bytes::from(bytes));
        let so = lost(left.as_ref(), "not taken over");
        if let Some(left) = left {
            let more = |one: &Kept| says_more(&one.key, one.seed, &one.record);
            let more: Vec<Kept> = left.kept.into_iter().filter(more).collect();
            if !more.is_empty() {
                self.add(&more, &left.metrics)?;
            }
        }
        imported.said.push(format!("{} is damaged ({why}); {so}", path.display()));
        Ok(())
    }
}
