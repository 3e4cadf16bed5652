//! Directories of sweeps that somebody else has made: whatever they hold, looking at them and going on in them ends, with a
//! page or a message; never a panic, never unbounded memory.
//!
//! Runs as an ordinary test; `cargo bolero test foreign_sweeps` runs it under a fuzzer, `BOLERO_RANDOM_ITERATIONS` sets how
//! often.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use bolero::{TypeGenerator, check};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use truckee_lab::store::{Manifest, Store};
use truckee_look::report;

/// An axis: so many values, of that kind.
#[derive(Debug, Clone, TypeGenerator)]
struct Axis {
    name: u8,
    values: u16,
    numbers: bool,
}

/// What a column of a part holds.
#[derive(Debug, Clone, TypeGenerator)]
enum Column {
    Whole(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
    /// Small ones, of points that there are.
    Point(Vec<u8>),
    Word(Vec<u8>),
}

#[derive(Debug, Clone, TypeGenerator)]
struct Part {
    columns: Vec<(u8, Column)>,
    rows: u8,
    /// Bytes that are changed, by their place.
    changed: Vec<(u16, u8)>,
    /// 15, or 31 and so on: its name has not the hash of its bytes.
    misnamed: u8,
}

#[derive(Debug, Clone, TypeGenerator)]
struct Sweep {
    axes: Vec<Axis>,
    most: u8,
    metrics: Vec<u8>,
    parts: Vec<Part>,
    /// Characters of the manifest that are changed, by their place.
    changed: Vec<(u16, u8)>,
}

/// Names that mean something, and some that do not.
const NAMES: [&str; 14] = [
    "point",
    "seed",
    "digest",
    "goodput_bps",
    "jain",
    "lateness.packets",
    "lateness.late_share",
    "lateness.latest_s",
    "lateness.waiting_share",
    "lateness.longest_wait_s",
    "lateness.lost_records",
    "lateness.unread_packets",
    "lateness.replaces",
    "<b>\u{202e}",
];

fn name(number: u8) -> &'static str {
    NAMES[usize::from(number) % NAMES.len()]
}

impl Axis {
    fn json(&self) -> Value {
        let value = |k: u16| {
            let number = self.numbers.then_some(f64::from(k) * 1e300);
            json!({ "label": format!("{k}"), "number": number, "sets": [] })
        };
        // A thousand now and then: their products are what matters.
        let values = if self.values.is_multiple_of(16) { self.values / 64 } else { self.values % 5 };
        json!({ "name": name(self.name), "values": (0..values).map(value).collect::<Vec<_>>() })
    }
}

impl Sweep {
    fn manifest(&self) -> Vec<u8> {
        let manifest = json!({
            "format": if self.most < 128 { 2 } else { 0 },
            "truckee": "0.1.0",
            "engine": "kernel",
            "scenario": "<script>",
            "digest": "d",
            "axes": self.axes.iter().take(self.most as usize % 8).map(Axis::json).collect::<Vec<_>>(),
            "metrics": self.metrics.iter().map(|&k| name(k)).collect::<Vec<_>>(),
            "commands": [["truckee"]],
        });
        change(manifest.to_string().into_bytes(), &self.changed)
    }

    fn write(&self, dir: &Path) {
        fs::create_dir(dir.join("parts")).unwrap();
        fs::write(dir.join("sweep.json"), self.manifest()).unwrap();
        for (k, part) in self.parts.iter().take(3).enumerate() {
            let bytes = part.bytes();
            let hash: String = Sha256::digest(&bytes).iter().take(8).map(|b| format!("{b:02x}")).collect();
            let hash = if part.misnamed % 16 == 15 { "0123456789abcdef".to_owned() } else { hash };
            fs::write(dir.join(format!("parts/part-{k:08}-{hash}.parquet")), bytes).unwrap();
        }
    }
}

impl Part {
    fn bytes(&self) -> Vec<u8> {
        let rows = usize::from(self.rows % 32);
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        for (k, column) in &self.columns {
            if columns.iter().all(|(known, _)| *known != name(*k)) {
                columns.push((name(*k), column.array(rows)));
            }
        }
        // What every part has, unless it has something else of that name.
        let whole =
            |of: fn(u64) -> u64| -> ArrayRef { Arc::new((0..rows as u64).map(of).collect::<UInt64Array>()) };
        let words: ArrayRef = Arc::new(StringArray::from(vec!["0"; rows]));
        let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.5; rows]));
        let usual = [
            ("point", whole(|k| k % 3)),
            ("seed", whole(|k| k)),
            ("digest", words),
            ("goodput_bps", numbers),
        ];
        for (name, column) in usual {
            if columns.iter().all(|(known, _)| *known != name) {
                columns.push((name, column));
            }
        }
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        change(writer.into_inner().unwrap(), &self.changed)
    }
}

impl Column {
    fn array(&self, rows: usize) -> ArrayRef {
        fn cycle<T: Clone>(all: &[T], rows: usize, none: T) -> impl Iterator<Item = T> {
            (0..rows).map(move |k| if all.is_empty() { none.clone() } else { all[k % all.len()].clone() })
        }
        match self {
            Self::Whole(all) => Arc::new(UInt64Array::from_iter(cycle(all, rows, None))),
            Self::Number(all) => Arc::new(Float64Array::from_iter(cycle(all, rows, None))),
            Self::Point(all) => Arc::new(UInt64Array::from_iter_values(cycle(all, rows, 0).map(u64::from))),
            Self::Word(all) => {
                Arc::new(StringArray::from_iter_values(cycle(all, rows, 0).map(|b| b.to_string())))
            }
        }
    }
}

/// Changes a few bytes, one time in four.
fn change(mut bytes: Vec<u8>, changed: &[(u16, u8)]) -> Vec<u8> {
    let length = bytes.len();
    let few = if length > 0 && changed.len() % 4 == 1 { changed } else { &[] };
    for (at, byte) in few.iter().take(3) {
        bytes[usize::from(*at) % length] = *byte;
    }
    bytes
}

#[test]
fn foreign_sweeps() {
    // Where what is written need not reach a disk, it is much faster.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    check!().with_type::<Sweep>().with_iterations(100).for_each(|sweep| {
        let dir = tempfile::tempdir_in(&folder).unwrap();
        sweep.write(dir.path());
        let page = report::write(&[dir.path().to_owned()], None);
        assert_eq!(page.is_ok(), dir.path().join(report::NAME).exists());
        if let Ok(manifest) = serde_json::from_slice::<Manifest>(&sweep.manifest())
            && let Ok((mut store, _)) = Store::open(dir.path(), &manifest, &[])
        {
            let _ = store.refresh(&manifest.metrics, &mut |_, _, _| None);
            store.close().unwrap();
        }
    });
}
