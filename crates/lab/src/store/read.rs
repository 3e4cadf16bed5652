//! A directory of a sweep as whoever looks at it reads it: without writing, finished or not, of this version or of 0.1.

use super::parquet_rows::Place;
use super::parts::Parts;
use super::{FORMAT, Manifest, points};
use crate::Error;
use crate::cell::Key;
use crate::rows::{Row, Rows};
use std::collections::HashMap;
use std::path::Path;

/// The runs of the sweep in `dir`: of each of its `points` points the values of these metrics, as the build that was there
/// last made them.
///
/// # Errors
/// A part is damaged, or cannot be read.
pub fn read(dir: &Path, manifest: &Manifest, size: usize, metrics: &[String]) -> Result<Rows, Error> {
    let mut of: HashMap<Key, Vec<usize>> = HashMap::new();
    for (point, digest) in points(dir)?.iter().enumerate().take(size) {
        of.entry(Key::parts(digest, &manifest.engine, &manifest.build)).or_default().push(point);
    }
    let old = manifest.format < FORMAT;
    let mut rows = Rows::new(size, metrics.len());
    let mut parts = Parts::new(dir.join("parts"));
    let looked = parts.look(metrics, &mut |place, seed, record| {
        let one;
        let points: &[usize] = match &place {
            Place::Key(key) => of.get(key).map_or(&[], Vec::as_slice),
            Place::Point(point) if old && *point < size => {
                one = [*point];
                &one
            }
            Place::Point(_) => &[],
        };
        for &point in points {
            rows.add(Row { point, seed, values: record.values.clone(), lateness: record.lateness });
        }
        None
    })?;
    match looked.damaged.into_iter().next() {
        Some(damage) => Err(Error::read(&damage.path, damage.why)),
        None => Ok(rows),
    }
}
