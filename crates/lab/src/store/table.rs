//! `rows.parquet`: all runs of a finished sweep in order, with one column an axis, in memory that does not grow with them.
//!
//! The runs of so many points at a time are gathered from the parts that hold any of these; parts are written in the order
//! in which cells are run, so that few hold runs of points far apart.

use super::Store;
use super::parquet_rows::{Place, batch, decode, properties, table_columns};
use super::parts::checked;
use crate::cell::{Key, Record};
use crate::disk::Begun;
use crate::{Error, Grid};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// So many runs are in memory at a time, or those of one point if they are more.
const AT_ONCE: usize = 32_768;
/// Where the table says what it is of.
const OF: &str = "truckee.sweep";

/// What the final table is of.
pub(crate) struct Table<'t> {
    pub(crate) grid: &'t Grid,
    pub(crate) keys: &'t [Key],
    /// The points of a key.
    pub(crate) points_of: &'t dyn Fn(&Key) -> Range<usize>,
    /// The seeds of a point, in order.
    pub(crate) seeds: &'t dyn Fn(usize) -> Vec<u64>,
    /// Runs that were replaced, of live ones.
    pub(crate) replaced: usize,
    pub(crate) live: bool,
}

impl Store {
    /// Writes `rows.parquet`, unless it is there already. Returns the file, and whether it was written.
    pub(crate) fn finish(&mut self, table: &Table<'_>, order: &[u32]) -> Result<(PathBuf, bool), Error> {
        let path = self.dir.join("rows.parquet");
        let is = self.name_of(table);
        if table_of(&path).is_some_and(|of| of == is) {
            return Ok((path, false));
        }
        let fail =
            |e: &dyn std::fmt::Display| Error::Internal(format!("cannot write {}: {e}", path.display()));
        let columns =
            |rows: &[(usize, u64, Record)]| batch(table_columns(table.grid, rows, &self.metrics, table.live));
        let schema = columns(&[]).map_err(|e| fail(&e))?.schema();
        let said = KeyValue::new(OF.to_owned(), is);
        let properties = properties().set_key_value_metadata(Some(vec![said])).build();
        let mut writer =
            ArrowWriter::try_new(Begun::new(&path)?, schema, Some(properties)).map_err(|e| fail(&e))?;
        let mut from = 0;
        while from < table.keys.len() {
            let (mut to, mut runs) = (from, 0);
            while to < table.keys.len() && (runs == 0 || runs < AT_ONCE) {
                runs += (table.seeds)(to).len();
                to += 1;
            }
            let rows = self.gather(table, order, from..to)?;
            let batch = columns(&rows).map_err(|e| fail(&e))?;
            writer.write(&batch).and_then(|()| writer.flush()).map_err(|e| fail(&e))?;
            from = to;
        }
        writer.into_inner().map_err(|e| fail(&e))?.finish()?;
        Ok((path, true))
    }

    /// The wanted runs of these points, in order.
    fn gather(
        &self,
        table: &Table<'_>,
        order: &[u32],
        points: Range<usize>,
    ) -> Result<Vec<(usize, u64, Record)>, Error> {
        let wanted: BTreeMap<usize, Vec<u64>> = points.clone().map(|p| (p, (table.seeds)(p))).collect();
        let mut found: BTreeMap<(usize, u64), Record> = BTreeMap::new();
        let replaces = |record: &Record| record.lateness.map_or(0, |l| l.replaces);
        for (name, part) in self.parts.iter() {
            if part.points.is_none_or(|(first, last)| last < points.start || first >= points.end) {
                continue;
            }
            let path = self.parts.path(name);
            let bytes = fs::read(&path).map_err(|e| Error::read(&path, e))?;
            let read = checked(name, bytes).and_then(|bytes| {
                decode(bytes, &self.metrics, true, |place, seed, record| {
                    let Place::Key(key) = place else { return };
                    for &point in &order[(table.points_of)(&key)] {
                        let point = point as usize;
                        let is_wanted = wanted.get(&point).is_some_and(|s| s.binary_search(&seed).is_ok());
                        let cell = (point, seed);
                        if is_wanted
                            && found.get(&cell).is_none_or(|there| replaces(there) <= replaces(&record))
                        {
                            found.insert(cell, record.clone());
                        }
                    }
                })
            });
            read.map_err(|e| Error::read(&path, e))?;
        }
        Ok(found.into_iter().map(|((point, seed), record)| (point, seed, record)).collect())
    }

    /// A name that another table has not.
    fn name_of(&self, table: &Table<'_>) -> String {
        let mut hash = Sha256::new();
        for (point, key) in table.keys.iter().enumerate() {
            hash.update(key.0);
            (table.seeds)(point).iter().for_each(|seed| hash.update(seed.to_le_bytes()));
        }
        hash.update(table.replaced.to_le_bytes());
        let axes = table
            .grid
            .axes
            .iter()
            .flat_map(|a| std::iter::once(&a.name).chain(a.values.iter().map(|v| &v.label)));
        for text in self.metrics.iter().chain(axes) {
            hash.update(text.as_bytes());
            hash.update([0]);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What the table in a file is of; `None`: it is not there, or none of ours.
fn table_of(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let reader = super::batches::quietly(|| SerializedFileReader::new(file)).ok()?.ok()?;
    let said = reader.metadata().file_metadata().key_value_metadata()?.iter().find(|said| said.key == OF)?;
    said.value.clone()
}
