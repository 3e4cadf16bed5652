//! Finished runs on disk: written at once, never lost, never twice.
//!
//! ```text
//! DIR/sweep.json                  what is swept, and the command that did it: a resumed sweep must be the same
//! DIR/sweep.lock                  locked by the one process that writes here
//! DIR/parts/part-N-HASH.parquet   finished runs, in groups; HASH is of the file's bytes
//! DIR/rows.parquet                all runs in order, once the sweep is done
//! ```
//!
//! A part is there whole or not at all, whatever happens meanwhile ([`crate::disk`]). Many small parts are merged into one new part before the old ones are deleted; what a
//! crash between the two leaves double is one row when read, for a row's key is (point, seed). Where a live run has
//! replaced another one of its key, that which came later counts. A part whose bytes do
//! not match its name is set aside and its runs are done again; one that cannot be read is no damage, but an error.
//!
//! Not for: what the numbers mean, and which runs are still to do: see [`crate::sweep`].

mod batches;
mod build;
mod manifest;
mod parquet_rows;

pub use batches::for_each_batch;
pub use build::{build, changed};
pub use manifest::Manifest;
pub use parquet_rows::write_table;
pub use parquet_rows::{lateness_of, to_bytes};

use crate::{Error, Grid, disk};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use truckee_scenario::Lateness;

/// So many parts are merged into one.
const MERGE_AT: usize = 64;
/// Parts with more rows than this are left alone.
const LARGE: usize = 16_384;

/// One finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The grid point's number.
    pub point: usize,
    /// The seed.
    pub seed: u64,
    /// Digest of the run's history.
    pub digest: String,
    /// One value a metric; `None` where the run has none.
    pub values: Vec<Option<f64>>,
    /// How late the machine was in a live run.
    pub lateness: Option<Lateness>,
}

impl Row {
    fn replaces(&self) -> u64 {
        self.lateness.map_or(0, |lateness| lateness.replaces)
    }

    /// Whether it is of a live run in which the machine was too late.
    pub fn is_invalid(&self) -> bool {
        self.lateness.is_some_and(|lateness| lateness.is_invalid())
    }
}

/// Rows by their key.
type Keyed = BTreeMap<(usize, u64), Row>;

/// Adds rows; of two of a key the one stays that has replaced the other, in whatever order they are read.
fn add(all: &mut Keyed, rows: Vec<Row>) {
    for row in rows {
        let key = (row.point, row.seed);
        if all.get(&key).is_none_or(|there| there.replaces() <= row.replaces()) {
            all.insert(key, row);
        }
    }
}

/// A directory of finished runs, locked for this process.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    metrics: Vec<String>,
    /// Parts by their number.
    parts: BTreeMap<u64, Part>,
    /// Held as long as the store lives; the system releases it if the process dies.
    _lock: File,
}

#[derive(Debug, Clone)]
struct Part {
    path: PathBuf,
    rows: usize,
}

/// What was found when a store was opened.
#[derive(Debug, Default)]
pub struct Found {
    /// Finished runs, each once, in order of point and seed.
    pub rows: Vec<Row>,
    /// Parts that are not what was written, as they are now called; their runs must be done again.
    pub damaged: Vec<PathBuf>,
    /// That the runs before were another build's, in words; `None`: they were this one's.
    pub changed: Option<String>,
}

impl Store {
    /// Opens `dir` for the sweep that `manifest` describes, creating it if need be. Errors: another process has it
    /// open, it holds another sweep, it cannot be written.
    pub fn open(dir: &Path, manifest: &Manifest) -> Result<(Self, Found), Error> {
        let parts_dir = dir.join("parts");
        disk::folder(dir)?;
        disk::folder(&parts_dir)?;
        let lock = disk::lock(dir, "sweep.lock")?;
        let changed = manifest.claim(dir)?;
        let mut store = Self {
            dir: dir.to_owned(),
            metrics: manifest.metrics.clone(),
            parts: BTreeMap::new(),
            _lock: lock,
        };
        let found = store.load(&parts_dir)?;
        Ok((store, Found { changed, ..found }))
    }

    fn load(&mut self, parts_dir: &Path) -> Result<Found, Error> {
        let mut found = Found::default();
        let mut rows = Keyed::new();
        for entry in fs::read_dir(parts_dir).map_err(|e| Error::read(parts_dir, e))? {
            let path = entry.map_err(|e| Error::read(parts_dir, e))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if disk::is_unfinished(&name) {
                // A write that did not get to its rename: whoever writes here holds our lock.
                disk::remove(&path)?;
                continue;
            }
            let Some((number, hash)) = part_name(&name) else { continue };
            match self.read_part(&path, hash)? {
                Ok(part) => {
                    self.parts.insert(number, Part { path, rows: part.len() });
                    add(&mut rows, part);
                }
                Err(Damaged(_)) => {
                    let aside = path.with_extension("damaged");
                    fs::rename(&path, &aside).map_err(|e| Error::write(&aside, e))?;
                    found.damaged.push(aside);
                }
            }
        }
        found.damaged.sort();
        found.rows = rows.into_values().collect();
        Ok(found)
    }

    /// A part's rows. An error says nothing of what is in it: it could not be read.
    fn read_part(&self, path: &Path, hash: &str) -> Result<Result<Vec<Row>, Damaged>, Error> {
        let bytes = fs::read(path).map_err(|e| Error::read(path, e))?;
        if hash_of(&bytes) != hash {
            return Ok(Err(Damaged("its bytes are not those that were written".to_owned())));
        }
        Ok(parquet_rows::decode(bytes, &self.metrics).map_err(Damaged))
    }

    /// Writes a group of finished runs. When this returns they are on disk for good.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        self.write_part(rows)?;
        let small: Vec<u64> = self.parts.iter().filter(|(_, p)| p.rows < LARGE).map(|(n, _)| *n).collect();
        if small.len() >= MERGE_AT { self.merge(&small) } else { Ok(()) }
    }

    fn write_part(&mut self, rows: &[Row]) -> Result<(), Error> {
        let bytes = parquet_rows::encode(rows, &self.metrics).map_err(|e| Error::Internal(e.to_string()))?;
        let number = self.parts.last_key_value().map_or(0, |(n, _)| n + 1);
        let path = self.dir.join("parts").join(format!("part-{number:08}-{}.parquet", hash_of(&bytes)));
        disk::write(&path, &bytes)?;
        self.parts.insert(number, Part { path, rows: rows.len() });
        Ok(())
    }

    fn merge(&mut self, numbers: &[u64]) -> Result<(), Error> {
        let mut rows = Keyed::new();
        let mut old = Vec::new();
        for number in numbers {
            let Some(part) = self.parts.get(number) else { continue };
            let name = part.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (_, hash) = part_name(&name).ok_or_else(|| Error::read(&part.path, "not a part"))?;
            let part_rows = self.read_part(&part.path, hash)?;
            add(&mut rows, part_rows.map_err(|Damaged(why)| Error::read(&part.path, why))?);
            old.push((*number, part.path.clone()));
        }
        let rows: Vec<Row> = rows.into_values().collect();
        self.write_part(&rows)?;
        for (number, path) in old {
            fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
            self.parts.remove(&number);
        }
        Ok(())
    }

    /// Writes `rows.parquet`: all runs, with one column an axis.
    pub fn finish(&self, grid: &Grid, rows: &[Row]) -> Result<PathBuf, Error> {
        let path = self.dir.join("rows.parquet");
        let bytes = write_table(grid, rows, &self.metrics).map_err(|e| Error::Internal(e.to_string()))?;
        disk::write(&path, &bytes)?;
        Ok(path)
    }
}

/// Why a part is not what was written.
struct Damaged(String);

/// Number and hash of `part-N-HASH.parquet`.
pub fn part_name(name: &str) -> Option<(u64, &str)> {
    let (number, hash) = name.strip_prefix("part-")?.strip_suffix(".parquet")?.split_once('-')?;
    Some((number.parse().ok()?, hash))
}

/// What a part of these bytes has in its name.
pub fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scenario;

    fn manifest() -> Manifest {
        Manifest {
            truckee: "0.1.0".into(),
            engine: "fake".into(),
            scenario: "s".into(),
            digest: "d".into(),
            axes: vec![],
            metrics: vec!["goodput_bps".into()],
            asked: vec![],
            commands: vec![],
            builds: vec!["0.1.0 (this)".into()],
        }
    }

    fn row(point: usize, seed: u64) -> Row {
        Row {
            point,
            seed,
            digest: format!("{seed:x}"),
            values: vec![(!seed.is_multiple_of(3)).then_some(seed as f64)],
            lateness: None,
        }
    }

    /// A live run of that seed which came after so many others.
    fn live(seed: u64, replaces: u64, late_share: f64) -> Row {
        let lateness = Lateness { packets: 1 << 40, late_share, replaces, ..Lateness::default() };
        Row { digest: String::new(), lateness: Some(lateness), ..row(0, seed) }
    }

    #[test]
    fn a_live_row_keeps_how_late_the_machine_was_and_what_replaced_it() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), &manifest()).unwrap();
        store.append(&[live(1, 0, 0.0), live(2, 0, 0.5)]).unwrap();
        store.append(&[live(2, 1, 0.25)]).unwrap();
        let stolen = Row {
            lateness: live(3, 2, 0.0).lateness.map(|l| Lateness { stolen_share: Some(0.1), ..l }),
            ..live(3, 2, 0.0)
        };
        store.append(std::slice::from_ref(&stolen)).unwrap();
        drop(store);
        let (mut store, found) = Store::open(dir.path(), &manifest()).unwrap();
        assert_eq!(found.rows, [live(1, 0, 0.0), live(2, 1, 0.25), stolen]);
        assert_eq!(found.rows.iter().map(Row::is_invalid).collect::<Vec<_>>(), [false, true, true]);
        // In whatever order the parts are read, and merged or not.
        store.merge(&[1, 0]).unwrap();
        drop(store);
        assert_eq!(Store::open(dir.path(), &manifest()).unwrap().1.rows, found.rows);
    }

    #[test]
    fn rows_of_the_simulator_and_of_older_programs_have_no_columns_of_lateness() {
        let columns = |rows: &[Row]| {
            let bytes = parquet_rows::encode(rows, &manifest().metrics).unwrap();
            let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(
                bytes::Bytes::from(bytes),
            )
            .unwrap();
            reader.schema().fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>()
        };
        assert_eq!(columns(&[row(0, 1)]), ["point", "seed", "digest", "goodput_bps"]);
        assert_eq!(columns(&[row(0, 1), live(2, 0, 0.0)]).len(), 14);
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), &manifest()).unwrap();
        store.append(&[row(0, 1)]).unwrap();
        store.append(&[live(2, 0, 0.0)]).unwrap();
        store.merge(&[0, 1]).unwrap();
        drop(store);
        let found = Store::open(dir.path(), &manifest()).unwrap().1;
        assert_eq!(found.rows, [row(0, 1), live(2, 0, 0.0)], "both in one part");
    }

    fn parts(dir: &Path) -> Vec<PathBuf> {
        let mut all: Vec<_> = fs::read_dir(dir.join("parts")).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        all
    }

    #[test]
    fn rows_come_back_in_order_with_their_gaps() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, found) = Store::open(dir.path(), &manifest()).unwrap();
        assert!(found.rows.is_empty());
        store.append(&[row(1, 3), row(0, 2)]).unwrap();
        store.append(&[row(0, 1)]).unwrap();
        drop(store);
        let (_, found) = Store::open(dir.path(), &manifest()).unwrap();
        assert_eq!(found.rows, [row(0, 1), row(0, 2), row(1, 3)]);
    }

    #[test]
    fn many_parts_become_few_and_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), &manifest()).unwrap();
        let all: Vec<Row> = (0..200).map(|seed| row(0, seed)).collect();
        for r in &all {
            store.append(std::slice::from_ref(r)).unwrap();
        }
        assert!(parts(dir.path()).len() < MERGE_AT);
        drop(store);
        assert_eq!(Store::open(dir.path(), &manifest()).unwrap().1.rows, all);
    }

    #[test]
    fn a_crash_between_merging_and_deleting_leaves_no_row_twice() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), &manifest()).unwrap();
        store.append(&[row(0, 1)]).unwrap();
        store.append(&[row(0, 2)]).unwrap();
        let before = parts(dir.path());
        let saved: Vec<_> = before.iter().map(|p| (p.clone(), fs::read(p).unwrap())).collect();
        store.merge(&[0, 1]).unwrap();
        drop(store);
        saved.iter().for_each(|(p, bytes)| fs::write(p, bytes).unwrap());
        assert_eq!(Store::open(dir.path(), &manifest()).unwrap().1.rows, [row(0, 1), row(0, 2)]);
    }

    #[test]
    fn torn_and_altered_parts_are_set_aside_and_our_unfinished_writes_alone_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), &manifest()).unwrap();
        for seed in 1..=3 {
            store.append(&[row(0, seed)]).unwrap();
        }
        drop(store);
        let files = parts(dir.path());
        let bytes = fs::read(&files[0]).unwrap();
        fs::write(&files[0], &bytes[..bytes.len() / 2]).unwrap();
        let mut bytes = fs::read(&files[1]).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&files[1], &bytes).unwrap();
        let (ours, foreign) = (dir.path().join("parts/.truckee-Ab3.tmp"), dir.path().join("parts/notes.tmp"));
        fs::write(&ours, b"half").unwrap();
        fs::write(&foreign, b"not of this program").unwrap();
        let (store, found) = Store::open(dir.path(), &manifest()).unwrap();
        assert_eq!(found.rows, [row(0, 3)]);
        assert_eq!(found.damaged.len(), 2);
        assert!(!ours.exists() && foreign.exists());
        drop(store);
        assert!(Store::open(dir.path(), &manifest()).unwrap().1.damaged.is_empty(), "set aside once");
    }

    #[test]
    fn a_part_that_cannot_be_read_is_an_error_and_stays_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), &manifest()).unwrap();
        store.append(&[row(0, 1)]).unwrap();
        store.append(&[row(0, 2)]).unwrap();
        drop(store);
        let file = parts(dir.path()).remove(0);
        let bytes = fs::read(&file).unwrap();
        // Reading a folder fails for root too.
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let error = Store::open(dir.path(), &manifest()).unwrap_err();
        assert!(matches!(&error, Error::Read { path, .. } if *path == file), "{error}");
        assert!(file.exists() && parts(dir.path()).len() == 2, "nothing is set aside");
        fs::remove_dir(&file).unwrap();
        fs::write(&file, bytes).unwrap();
        assert_eq!(Store::open(dir.path(), &manifest()).unwrap().1.rows, [row(0, 1), row(0, 2)]);
    }

    #[test]
    fn two_sweeps_do_not_share_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let first = Store::open(dir.path(), &manifest()).unwrap();
        assert!(matches!(Store::open(dir.path(), &manifest()), Err(Error::Locked { .. })));
        drop(first);
        assert!(Store::open(dir.path(), &manifest()).is_ok());
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, b"").unwrap();
        let message = Store::open(&file, &manifest()).unwrap_err().to_string();
        assert!(message.starts_with("cannot write ") && message.contains("file"), "{message}");
    }

    #[test]
    fn the_final_table_has_a_typed_column_for_each_axis() {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::record::RowAccessor;
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(dir.path(), &manifest()).unwrap();
        let (axes, _) = crate::grid::axes(&["channel.per=0.01,0.02", "flow.sender=reno,tahoe"]).unwrap();
        let grid = Grid { axes, points: (0..4).map(|k| scenario("s", k)).collect() };
        let path = store.finish(&grid, &[row(3, 5), row(0, 6)]).unwrap();
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let first = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
        assert_eq!(first.get_double(0).unwrap(), 0.02);
        assert_eq!(first.get_string(1).unwrap(), "tahoe");
        assert_eq!(first.get_ulong(2).unwrap(), 5);
        assert_eq!(first.get_double(4).unwrap(), 5.0);
    }
}
