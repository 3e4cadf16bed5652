//! Records as Parquet: the parts' form (what a cell is called, seed, digest, metrics) and the final table's (one column an
//! axis). Records of live runs have columns of their own behind these, which say how late the machine was; those of the
//! simulator, and of directories that an older program wrote, have none.

use super::batches::for_each_batch;
use crate::Grid;
use crate::cell::{Key, Record};
use crate::vary::Axis;
use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, Float64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;
use truckee_scenario::Lateness;

/// A record with what it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// What its scenario is called.
    pub key: Key,
    /// The seed.
    pub seed: u64,
    /// What came of it.
    pub record: Record,
}

/// Where a record that was read belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// To what is called so.
    Key(Key),
    /// To a grid's point of that number, as version 0.1 wrote it.
    Point(usize),
}

/// What the columns of a live run's lateness begin with.
const LATENESS: &str = "lateness.";
type Part = (&'static str, fn(&Lateness) -> Option<f64>);
/// What they are called behind that, and what they hold; counts are far below where a number loses its last digit.
const PARTS: [Part; 9] = [
    ("packets", |l| Some(l.packets as f64)),
    ("late_share", |l| Some(l.late_share)),
    ("latest_s", |l| Some(l.latest_s)),
    ("waiting_share", |l| Some(l.waiting_share)),
    ("longest_wait_s", |l| Some(l.longest_wait_s)),
    ("stolen_share", |l| l.stolen_share),
    ("lost_records", |l| Some(l.lost_records as f64)),
    ("unread_packets", |l| Some(l.unread_packets as f64)),
    ("replaces", |l| Some(l.replaces as f64)),
];

/// How late the machine was in a run whose row has these numbers, by their columns; `None`: it is not known.
pub(super) fn lateness_of(number: impl Fn(&str) -> Option<f64>) -> Option<Lateness> {
    let part = |name: &str| number(&format!("{LATENESS}{name}"));
    let count = |name| part(name).map(|n| n as u64);
    Some(Lateness {
        packets: count("packets")?,
        late_share: part("late_share")?,
        latest_s: part("latest_s")?,
        waiting_share: part("waiting_share")?,
        longest_wait_s: part("longest_wait_s")?,
        stolen_share: part("stolen_share"),
        lost_records: count("lost_records")?,
        unread_packets: count("unread_packets")?,
        replaces: count("replaces")?,
    })
}

fn lateness_columns<'r>(records: impl Iterator<Item = &'r Record> + Clone) -> Vec<(Field, ArrayRef)> {
    let invalid: ArrayRef = Arc::new(BooleanArray::from_iter(
        records.clone().map(|record| record.lateness.map(|l| l.is_invalid())),
    ));
    let mut columns = vec![(Field::new("invalid", DataType::Boolean, true), invalid)];
    columns.extend(PARTS.iter().map(|(name, get)| {
        let values =
            Float64Array::from_iter(records.clone().map(|record| record.lateness.as_ref().and_then(get)));
        (Field::new(format!("{LATENESS}{name}"), DataType::Float64, true), Arc::new(values) as ArrayRef)
    }));
    columns
}

/// A part's bytes.
pub(super) fn encode(kept: &[Kept], metrics: &[String]) -> Result<Vec<u8>, ParquetError> {
    let mut keys = FixedSizeBinaryBuilder::with_capacity(kept.len(), 16);
    for one in kept {
        keys.append_value(one.key.0)?;
    }
    let mut columns =
        vec![(Field::new("key", DataType::FixedSizeBinary(16), false), Arc::new(keys.finish()) as ArrayRef)];
    let live = kept.iter().any(|one| one.record.lateness.is_some());
    columns.extend(run_columns(kept.iter().map(|one| (one.seed, &one.record)), metrics, live));
    to_bytes(columns)
}

/// Columns of the final table for runs of these points: axes as numbers where all their values are plain numbers and as
/// text otherwise, the seed, the digest, and one column a metric with nulls where a run has no value.
pub(super) fn table_columns(
    grid: &Grid,
    rows: &[(usize, u64, Record)],
    metrics: &[String],
    live: bool,
) -> Vec<(Field, ArrayRef)> {
    let mut columns: Vec<_> =
        grid.axes.iter().enumerate().map(|(k, axis)| axis_column(grid, rows, k, axis)).collect();
    columns.extend(run_columns(rows.iter().map(|(_, seed, record)| (*seed, record)), metrics, live));
    columns
}

fn axis_column(grid: &Grid, rows: &[(usize, u64, Record)], k: usize, axis: &Axis) -> (Field, ArrayRef) {
    let values = rows.iter().map(|(point, ..)| &axis.values[grid.indices(*point)[k]]);
    if axis.is_plain_numbers() {
        let numbers = Float64Array::from_iter(values.map(|v| v.number));
        (Field::new(&axis.name, DataType::Float64, true), Arc::new(numbers))
    } else {
        let labels = StringArray::from_iter_values(values.map(|v| &v.label));
        (Field::new(&axis.name, DataType::Utf8, false), Arc::new(labels))
    }
}

fn run_columns<'r>(
    rows: impl Iterator<Item = (u64, &'r Record)> + Clone,
    metrics: &[String],
    live: bool,
) -> Vec<(Field, ArrayRef)> {
    let seeds: ArrayRef = Arc::new(UInt64Array::from_iter_values(rows.clone().map(|r| r.0)));
    let digests: ArrayRef = Arc::new(StringArray::from_iter_values(rows.clone().map(|r| &r.1.digest)));
    let mut columns = vec![
        (Field::new("seed", DataType::UInt64, false), seeds),
        (Field::new("digest", DataType::Utf8, false), digests),
    ];
    columns.extend(metrics.iter().enumerate().map(|(k, name)| {
        let values = Float64Array::from_iter(rows.clone().map(|r| r.1.values.get(k).copied().flatten()));
        (Field::new(name, DataType::Float64, true), Arc::new(values) as ArrayRef)
    }));
    if live {
        columns.extend(lateness_columns(rows.map(|r| r.1)));
    }
    columns
}

/// How a Parquet file of ours is written.
pub(super) fn properties() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(Compression::SNAPPY)
}

/// These columns as one batch.
pub(super) fn batch(columns: Vec<(Field, ArrayRef)>) -> Result<RecordBatch, ParquetError> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// One Parquet file of these columns.
pub fn to_bytes(columns: Vec<(Field, ArrayRef)>) -> Result<Vec<u8>, ParquetError> {
    let batch = batch(columns)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties().build()))?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// Goes over a part's records, with the values of these metrics; `digests`: whether those are wanted, too. A record that has
/// no column of one of the metrics, or neither name nor seed, is none: the number of these is given back. An error, in
/// words: the bytes are no part.
pub(super) fn decode(
    bytes: Vec<u8>,
    metrics: &[String],
    digests: bool,
    mut each: impl FnMut(Place, u64, Record),
) -> Result<usize, String> {
    let wanted = |name: &str| {
        ["key", "point", "seed"].contains(&name)
            || (digests && name == "digest")
            || name.starts_with(LATENESS)
            || metrics.iter().any(|m| m == name)
    };
    let mut unreadable = 0;
    for_each_batch(bytes, wanted, |batch| {
        let keys: Option<&FixedSizeBinaryArray> =
            column(batch, "key").filter(|k: &&FixedSizeBinaryArray| k.value_length() == 16);
        let points: Option<&UInt64Array> = column(batch, "point");
        let seeds: Option<&UInt64Array> = column(batch, "seed");
        let seeds = seeds.ok_or("no column seed of the right type")?;
        if keys.is_none() && points.is_none() {
            return Err("no column key of the right type".to_owned());
        }
        let texts: Option<&StringArray> = column(batch, "digest");
        let values: Option<Vec<&Float64Array>> = metrics.iter().map(|name| column(batch, name)).collect();
        let Some(values) = values else {
            unreadable += batch.num_rows();
            return Ok(());
        };
        let number = |name: &str, k: usize| {
            let column: &Float64Array = column(batch, name)?;
            (!column.is_null(k)).then(|| column.value(k))
        };
        let live = batch.schema().fields().iter().any(|field| field.name().starts_with(LATENESS));
        for k in 0..batch.num_rows() {
            let key = keys.filter(|keys| !keys.is_null(k)).and_then(|keys| keys.value(k).try_into().ok());
            let point =
                points.filter(|points| !points.is_null(k)).and_then(|p| usize::try_from(p.value(k)).ok());
            let place = key.map(|key| Place::Key(Key(key))).or(point.map(Place::Point));
            let Some(place) = place.filter(|_| !seeds.is_null(k)) else {
                unreadable += 1;
                continue;
            };
            let record = Record {
                digest: texts.filter(|t| !t.is_null(k)).map(|t| t.value(k).to_owned()).unwrap_or_default(),
                values: values.iter().map(|v| (!v.is_null(k)).then(|| v.value(k))).collect(),
                lateness: if live { lateness_of(|name| number(name, k)) } else { None },
            };
            each(place, seeds.value(k), record);
        }
        Ok(())
    })?;
    Ok(unreadable)
}

fn column<'a, A: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Option<&'a A> {
    batch.column_by_name(name)?.as_any().downcast_ref()
}

/// The columns of metrics in a part, in their order; an error in words: it is none.
pub(super) fn metrics_of(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for_each_batch(
        bytes,
        |_| true,
        |batch| {
            let schema = batch.schema();
            let others = ["key", "seed", "digest", "invalid"];
            let is_metric = |name: &&String| !others.contains(&name.as_str()) && !name.starts_with(LATENESS);
            names = schema.fields().iter().map(|f| f.name()).filter(is_metric).cloned().collect();
            Ok(())
        },
    )?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(seed: u64, lateness: Option<Lateness>) -> Kept {
        let record = Record { digest: format!("{seed:x}"), values: vec![Some(1.5), None], lateness };
        Kept { key: Key([7; 16]), seed, record }
    }

    fn read(bytes: Vec<u8>, metrics: &[String]) -> Result<Vec<Kept>, String> {
        let mut all = Vec::new();
        decode(bytes, metrics, true, |place, seed, record| {
            if let Place::Key(key) = place {
                all.push(Kept { key, seed, record });
            }
        })?;
        Ok(all)
    }

    #[test]
    fn whichever_byte_is_another_the_rest_is_read_or_refused() {
        let metrics = ["goodput_bps", "jain"].map(str::to_owned);
        let bytes = encode(&[kept(1, None), kept(2, None)], &metrics).unwrap();
        assert_eq!(read(bytes.clone(), &metrics).unwrap(), [kept(1, None), kept(2, None)]);
        for at in 0..bytes.len() {
            for flipped in [1, 64, 128, 255] {
                let mut other = bytes.clone();
                other[at] ^= flipped;
                // It may be right by chance: a byte that nobody looks at.
                let _ = read(other, &metrics);
            }
        }
    }

    #[test]
    fn a_live_record_keeps_how_late_the_machine_was_and_others_have_no_columns_of_it() {
        let metrics = ["goodput_bps", "jain"].map(str::to_owned);
        let late = Lateness {
            packets: 1 << 40,
            late_share: 0.5,
            stolen_share: Some(0.1),
            replaces: 2,
            ..Lateness::default()
        };
        let both = [kept(1, None), kept(2, Some(late))];
        assert_eq!(read(encode(&both, &metrics).unwrap(), &metrics).unwrap(), both);
        assert_eq!(metrics_of(encode(&both, &metrics).unwrap()).unwrap(), metrics);
        let columns = |kept: &[Kept]| {
            let mut names = Vec::new();
            for_each_batch(
                encode(kept, &metrics).unwrap(),
                |_| true,
                |b| {
                    names = b.schema().fields().iter().map(|f| f.name().clone()).collect();
                    Ok(())
                },
            )
            .unwrap();
            names
        };
        assert_eq!(columns(&both[..1]), ["key", "seed", "digest", "goodput_bps", "jain"]);
        assert_eq!(columns(&both).len(), 15);
    }

    #[test]
    fn a_record_without_a_metric_that_is_wanted_is_none() {
        let bytes = encode(&[kept(1, None)], &["goodput_bps".to_owned(), "jain".to_owned()]).unwrap();
        let unreadable =
            decode(bytes, &["overhead".to_owned()], true, |_, _, _| panic!("it has none")).unwrap();
        assert_eq!(unreadable, 1);
    }
}
