//! The parts of a store, as they stand beside one another: which there are, what is in them, and which are damaged.
//!
//! Others may write and merge meanwhile. Parts are only added, and go away when what they hold is in another one; so a
//! folder has been read when it is listed and every name in the list has been read before.

use super::parquet_rows::{Place, Unread, decode};
use crate::Error;
use crate::cell::Record;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// So often the parts are looked at anew while others merge them.
const MOST_LOOKS: usize = 1000;

/// What is in the folder of parts, as far as it has been read.
#[derive(Debug)]
pub(super) struct Parts {
    folder: PathBuf,
    seen: BTreeMap<String, Part>,
}

/// A part that was read, or written.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub(super) rows: usize,
    /// Whether this process wrote it.
    pub(super) ours: bool,
    /// The first and the last point of the grid that it holds runs of; `None`: of none.
    pub(super) points: Option<(usize, usize)>,
}

impl Part {
    /// Notes that it holds runs of a point.
    pub(super) fn holds(&mut self, point: usize) {
        let (first, last) = self.points.unwrap_or((point, point));
        self.points = Some((first.min(point), last.max(point)));
    }
}

/// A part that is not what was written, and why.
#[derive(Debug)]
pub(super) struct Damage {
    pub(super) path: PathBuf,
    pub(super) why: String,
}

/// What looking at the parts has shown.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) damaged: Vec<Damage>,
    /// Records that are none, by the part that they are in.
    pub(super) unread: Vec<(PathBuf, Unread)>,
}

impl Parts {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, seen: BTreeMap::new() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Part)> {
        self.seen.iter()
    }

    /// The parts that are there just now, in order of their names.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn names(&self) -> Result<Vec<String>, Error> {
        names(&self.folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Notes a part that this process has written.
    pub(super) fn wrote(&mut self, name: String, part: Part) {
        self.seen.insert(name, Part { ours: true, ..part });
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.seen.remove(name);
    }

    /// Reads what has not been read yet: the values of these metrics. `each` says which points of the grid a record is of.
    ///
    /// # Errors
    /// Something cannot be read just now, which says nothing of what is in it.
    pub(super) fn look(
        &mut self,
        metrics: &[String],
        each: &mut dyn FnMut(Place, u64, Record) -> Option<(usize, usize)>,
    ) -> Result<Looked, Error> {
        let mut looked = Looked::default();
        for _ in 0..MOST_LOOKS {
            let names = names(&self.folder)?;
            self.seen.retain(|name, _| names.binary_search(name).is_ok());
            let new: Vec<&String> = names.iter().filter(|name| !self.seen.contains_key(*name)).collect();
            if new.iter().all(|name| looked.damaged.iter().any(|d| d.path == self.folder.join(name))) {
                return Ok(looked);
            }
            for name in new {
                let path = self.folder.join(name);
                let bytes = match fs::read(&path) {
                    Ok(bytes) => bytes,
                    // Merged into another one meanwhile.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(Error::read(&path, error)),
                };
                let mut part = Part::default();
                let read = checked(name, bytes).and_then(|bytes| {
                    decode(bytes, metrics, false, |place, seed, record| {
                        part.rows += 1;
                        if let Some((first, last)) = each(place, seed, record) {
                            part.holds(first);
                            part.holds(last);
                        }
                    })
                });
                match read {
                    Ok(unread) => {
                        looked.unread.extend((unread != Unread::default()).then_some((path, unread)));
                        self.seen.insert(name.clone(), part);
                    }
                    Err(why) => looked.damaged.push(Damage { path, why }),
                }
            }
        }
        Err(Error::read(&self.folder, "it is written to without a pause; try again when the sweep is done"))
    }
}

/// The bytes of a part, if they are those that were written.
pub(super) fn checked(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    match hash_in(name) == Some(hash_of(&bytes).as_str()) {
        true => Ok(bytes),
        false => Err("its bytes are not those that were written".to_owned()),
    }
}

/// The parts in a folder, in order of their names.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| Error::read(folder, e))? {
        let name = entry.map_err(|e| Error::read(folder, e))?.file_name().to_string_lossy().into_owned();
        if hash_in(&name).is_some() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The hash in `part-WRITER-N-HASH.parquet`, or `part-N-HASH.parquet` as version 0.1 called them.
pub(super) fn hash_in(name: &str) -> Option<&str> {
    let (_, hash) = name.strip_prefix("part-")?.strip_suffix(".parquet")?.rsplit_once('-')?;
    Some(hash)
}

/// What a part of these bytes has in its name.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
