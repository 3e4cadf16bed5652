//! A sweep as columns: its runs in memory, and what they come to.

use crate::store::{Columns, axis_columns, real};
use crate::table::{Table, TableRow};
use crate::{Row, Sweep};
use arrow_array::{ArrayRef, StringArray, UInt64Array};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// All finished runs in order of point and seed: as `rows.parquet` has them, of the metrics that are in memory and without
/// the digests, which are on disk alone.
pub fn runs(sweep: &Sweep) -> Columns {
    let rows: Vec<Row> = sweep.rows.iter().collect();
    let mut columns = axis_columns(&sweep.grid, rows.iter().map(|row| row.point));
    columns.push(whole("seed", rows.iter().map(|row| row.seed)));
    for (k, metric) in sweep.metrics.iter().enumerate() {
        columns.push(real(metric.name(), rows.iter().map(|row| row.values[k])));
    }
    columns
}

/// A sweep summed up, one row for each point and metric: the values of the axes as written, `metric`, `unit`, `n`,
/// `incomplete`, `mean`, `sd`, `half_width`, and where variants are held against one `difference` and
/// `difference_half_width`.
pub fn summary(table: &Table) -> Columns {
    let rows = &table.rows;
    let mut columns: Columns = table
        .axes
        .iter()
        .enumerate()
        .map(|(k, axis)| text(axis, rows.iter().map(|row| row.point[k].as_str())))
        .collect();
    columns.push(text("metric", rows.iter().map(|row| row.metric.as_str())));
    columns.push(text("unit", rows.iter().map(|row| row.unit)));
    columns.push(whole("n", rows.iter().map(|row| row.estimate.n as u64)));
    columns.push(whole("incomplete", rows.iter().map(|row| row.estimate.incomplete as u64)));
    columns.push(real("mean", rows.iter().map(|row| row.estimate.mean)));
    columns.push(real("sd", rows.iter().map(|row| row.estimate.sd)));
    columns.push(real("half_width", rows.iter().map(|row| row.estimate.half_width)));
    if table.against.is_some() {
        let difference = |row: &TableRow| row.difference.as_ref().and_then(|d| d.mean);
        let half_width = |row: &TableRow| row.difference.as_ref().and_then(|d| d.half_width);
        columns.push(real("difference", rows.iter().map(difference)));
        columns.push(real("difference_half_width", rows.iter().map(half_width)));
    }
    columns
}

fn text<'v>(name: &str, values: impl Iterator<Item = &'v str>) -> (Field, ArrayRef) {
    (Field::new(name, DataType::Utf8, false), Arc::new(StringArray::from_iter_values(values)))
}

fn whole(name: &str, values: impl Iterator<Item = u64>) -> (Field, ArrayRef) {
    (Field::new(name, DataType::UInt64, false), Arc::new(UInt64Array::from_iter_values(values)))
}
