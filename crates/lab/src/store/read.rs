//! A directory of a sweep as whoever looks at it reads it: without writing, finished or not, of this version or of 0.1.

use super::parquet_rows::Place;
use super::parts::Parts;
use super::{FORMAT, Manifest, points};
use crate::Error;
use crate::cell::Key;
use crate::rows::{Row, Rows};
use std::collections::HashMap;
use std::path::Path;

/// What was read of a sweep.
#[derive(Debug)]
pub struct Read {
    /// The runs of the points that are shown, with the values of the metrics that are.
    pub shown: Rows,
    /// All runs, without values.
    pub all: Rows,
}

/// The runs of the sweep in `dir`, which has so many points, as the build that was there last made them; of those points of
/// which `is_shown` says so the values of these metrics.
///
/// # Errors
/// A part is damaged, or cannot be read.
pub fn read(
    dir: &Path,
    manifest: &Manifest,
    size: usize,
    metrics: &[String],
    is_shown: impl Fn(usize) -> bool,
) -> Result<Read, Error> {
    let mut of: HashMap<Key, Vec<usize>> = HashMap::new();
    for (point, digest) in points(dir)?.iter().enumerate().take(size) {
        of.entry(Key::parts(digest, &manifest.engine, &manifest.build)).or_default().push(point);
    }
    let old = manifest.format < FORMAT;
    let (mut shown, mut all) = (Rows::new(size, metrics.len()), Rows::new(size, 0));
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
            let lateness = record.lateness;
            all.add(Row { point, seed, values: Vec::new(), lateness });
            if is_shown(point) {
                shown.add(Row { point, seed, values: record.values.clone(), lateness });
            }
        }
        None
    })?;
    match looked.damaged.into_iter().next() {
        Some(damage) => Err(Error::read(&damage.path, damage.why)),
        None => Ok(Read { shown, all }),
    }
}
