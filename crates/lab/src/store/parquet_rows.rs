//! Rows as Parquet: the parts' form (point, seed, digest, metrics) and the final table's (one column an axis).

use super::Row;
use crate::Grid;
use crate::vary::Axis;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

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
    columns
}

/// One Parquet file of these columns.
pub(crate) fn to_bytes(columns: Vec<(Field, ArrayRef)>) -> Result<Vec<u8>, ParquetError> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// A part's rows.
pub(super) fn decode(bytes: Vec<u8>, metrics: &[String]) -> Result<Vec<Row>, ArrowError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes))?.build()?;
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch?;
        let points: &UInt64Array = column(&batch, "point")?;
        let seeds: &UInt64Array = column(&batch, "seed")?;
        let digests: &StringArray = column(&batch, "digest")?;
        let values: Vec<&Float64Array> =
            metrics.iter().map(|name| column(&batch, name)).collect::<Result<_, _>>()?;
        rows.extend((0..batch.num_rows()).map(|k| Row {
            point: points.value(k) as usize,
            seed: seeds.value(k),
            digest: digests.value(k).to_owned(),
            values: values.iter().map(|v| (!v.is_null(k)).then(|| v.value(k))).collect(),
        }));
    }
    Ok(rows)
}

fn column<'a, A: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a A, ArrowError> {
    batch
        .column_by_name(name)
        .and_then(|c| c.as_any().downcast_ref())
        .ok_or_else(|| ArrowError::SchemaError(format!("no column {name} of the right type")))
}
