//! Rows as Parquet: the parts' form (point, seed, digest, metrics) and the final table's (one column an axis). Rows of
//! live runs have columns of their own behind these, which say how late the machine was; those of the simulator, and of
//! directories that an older program wrote, have none.

use super::Row;
use super::batches::for_each_batch;
use crate::Grid;
use crate::vary::Axis;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;
use truckee_scenario::Lateness;

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
pub fn lateness_of(number: impl Fn(&str) -> Option<f64>) -> Option<Lateness> {
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

fn lateness_columns(rows: &[Row]) -> Vec<(Field, ArrayRef)> {
    if rows.iter().all(|row| row.lateness.is_none()) {
        return Vec::new();
    }
    let invalid: ArrayRef =
        Arc::new(BooleanArray::from_iter(rows.iter().map(|row| row.lateness.map(|l| l.is_invalid()))));
    let mut columns = vec![(Field::new("invalid", DataType::Boolean, true), invalid)];
    columns.extend(PARTS.iter().map(|(name, get)| {
        let values = Float64Array::from_iter(rows.iter().map(|row| row.lateness.as_ref().and_then(get)));
        (Field::new(format!("{LATENESS}{name}"), DataType::Float64, true), Arc::new(values) as ArrayRef)
    }));
    columns
}

/// A part's bytes.
pub(super) fn encode(rows: &[Row], metrics: &[String]) -> Result<Vec<u8>, ParquetError> {
    let points: ArrayRef = Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| r.point as u64)));
    let mut columns = vec![(Field::new("point", DataType::UInt64, false), points)];
    columns.extend(run_columns(rows, metrics));
    to_bytes(columns)
}

/// The final table's bytes: axes as numbers where all their values are plain numbers and as text otherwise, the
/// seed, the digest, and one column a metric with nulls where a run has no value.
pub fn write_table(grid: &Grid, rows: &[Row], metrics: &[String]) -> Result<Vec<u8>, ParquetError> {
    let mut columns: Vec<_> =
        grid.axes.iter().enumerate().map(|(k, axis)| axis_column(grid, rows, k, axis)).collect();
    columns.extend(run_columns(rows, metrics));
    to_bytes(columns)
}

fn axis_column(grid: &Grid, rows: &[Row], k: usize, axis: &Axis) -> (Field, ArrayRef) {
    let values = rows.iter().map(|r| &axis.values[grid.indices(r.point)[k]]);
    if axis.is_plain_numbers() {
        let numbers = Float64Array::from_iter(values.map(|v| v.number));
        (Field::new(&axis.name, DataType::Float64, true), Arc::new(numbers))
    } else {
        let labels = StringArray::from_iter_values(values.map(|v| &v.label));
        (Field::new(&axis.name, DataType::Utf8, false), Arc::new(labels))
    }
}

fn run_columns(rows: &[Row], metrics: &[String]) -> Vec<(Field, ArrayRef)> {
    let seeds: ArrayRef = Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| r.seed)));
    let digests: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|r| &r.digest)));
    let mut columns = vec![
        (Field::new("seed", DataType::UInt64, false), seeds),
        (Field::new("digest", DataType::Utf8, false), digests),
    ];
    columns.extend(metrics.iter().enumerate().map(|(k, name)| {
        let values = Float64Array::from_iter(rows.iter().map(|r| r.values.get(k).copied().flatten()));
        (Field::new(name, DataType::Float64, true), Arc::new(values) as ArrayRef)
    }));
    columns.extend(lateness_columns(rows));
    columns
}

/// One Parquet file of these columns.
pub fn to_bytes(columns: Vec<(Field, ArrayRef)>) -> Result<Vec<u8>, ParquetError> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// A part's rows; an error, in words: it is none of these metrics, or none at all.
pub(super) fn decode(bytes: Vec<u8>, metrics: &[String]) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for_each_batch(bytes, |batch| {
        let points: &UInt64Array = column(batch, "point")?;
        let seeds: &UInt64Array = column(batch, "seed")?;
        let digests: &StringArray = column(batch, "digest")?;
        let values: Vec<&Float64Array> =
            metrics.iter().map(|name| column(batch, name)).collect::<Result<_, _>>()?;
        let number = |name: &str, k: usize| {
            let column: &Float64Array = batch.column_by_name(name)?.as_any().downcast_ref()?;
            (!column.is_null(k)).then(|| column.value(k))
        };
        rows.extend((0..batch.num_rows()).map(|k| Row {
            point: points.value(k) as usize,
            seed: seeds.value(k),
            digest: digests.value(k).to_owned(),
            values: values.iter().map(|v| (!v.is_null(k)).then(|| v.value(k))).collect(),
            lateness: lateness_of(|name| number(name, k)),
        }));
        Ok(())
    })?;
    Ok(rows)
}

fn column<'a, A: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a A, String> {
    batch
        .column_by_name(name)
        .and_then(|c| c.as_any().downcast_ref())
        .ok_or_else(|| format!("no column {name} of the right type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_byte_is_another_the_rest_is_read_or_refused() {
        let row = |seed| Row {
            point: 0,
            seed,
            digest: format!("{seed:x}"),
            values: vec![Some(1.5), None],
            lateness: None,
        };
        let metrics = ["goodput_bps", "jain"].map(str::to_owned);
        let bytes = encode(&[row(1), row(2)], &metrics).unwrap();
        assert_eq!(decode(bytes.clone(), &metrics).unwrap(), [row(1), row(2)]);
        for at in 0..bytes.len() {
            for flipped in [1, 64, 128, 255] {
                let mut other = bytes.clone();
                other[at] ^= flipped;
                // It may be right by chance: a byte that nobody looks at.
                let _ = decode(other, &metrics);
            }
        }
    }
}
