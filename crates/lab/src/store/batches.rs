//! The rows of a Parquet file that anybody may have made, as they are read: whatever its bytes are, there is an end, with
//! rows or a message. The library checks little of what a file says of itself, and panics where that cannot be.

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Goes over the rows in these bytes, of which only the columns that `wanted` names are read. An error, in words: they are none of a Parquet file, or `each` says so.
pub fn for_each_batch(
    bytes: Vec<u8>,
    wanted: impl Fn(&str) -> bool,
    each: impl FnMut(&RecordBatch) -> Result<(), String>,
) -> Result<(), String> {
    quietly(|| go_over(bytes, wanted, each))
        .unwrap_or_else(|panic| Err(format!("its bytes contradict one another: {}", words(&panic))))
}

fn go_over(
    bytes: Vec<u8>,
    wanted: impl Fn(&str) -> bool,
    mut each: impl FnMut(&RecordBatch) -> Result<(), String>,
) -> Result<(), String> {
    for batch in reader(bytes, wanted).map_err(|e| e.to_string())? {
        each(&batch.map_err(|e| e.to_string())?)?;
    }
    Ok(())
}

fn reader(bytes: Vec<u8>, wanted: impl Fn(&str) -> bool) -> Result<ParquetRecordBatchReader, ParquetError> {
    projected(builder(Bytes::from(bytes))?, wanted).build()
}

type Builder = ParquetRecordBatchReaderBuilder<Bytes>;

fn builder(bytes: Bytes) -> Result<Builder, ParquetError> {
    let length = bytes.len();
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    // Each row of ours has something of its own, and so a byte at least; a few bytes may speak of any number of others.
    let rows: i64 = builder
        .metadata()
        .row_groups()
        .iter()
        .fold(0, |sum, group| sum.saturating_add(group.num_rows().max(0)));
    match usize::try_from(rows).is_ok_and(|rows| rows <= length) {
        true => Ok(builder),
        false => Err(ParquetError::General(format!("it speaks of {rows} rows in {length} bytes"))),
    }
}

fn projected(builder: Builder, wanted: impl Fn(&str) -> bool) -> Builder {
    let fields = builder.schema().fields().iter().enumerate();
    let columns: Vec<usize> = fields.filter(|(_, field)| wanted(field.name())).map(|(k, _)| k).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
    builder.with_projection(mask)
}

/// What these bytes say that there is: the names of the columns, and how many rows each group has; an error, in words: they
/// are none of a Parquet file.
pub(super) fn groups(bytes: &Bytes) -> Result<(Vec<String>, Vec<usize>), String> {
    let look = || {
        let builder = builder(bytes.clone()).map_err(|e| e.to_string())?;
        let columns = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        let rows = |group: &RowGroupMetaData| usize::try_from(group.num_rows()).unwrap_or(0);
        Ok((columns, builder.metadata().row_groups().iter().map(rows).collect()))
    };
    quietly(look).unwrap_or_else(|panic| Err(words(&panic)))
}

/// These columns of one of the groups, all its rows; `None`: they cannot be read.
pub(super) fn group(bytes: &Bytes, number: usize, wanted: impl Fn(&str) -> bool) -> Option<RecordBatch> {
    let read = || {
        let builder = builder(bytes.clone()).ok()?;
        let rows = usize::try_from(builder.metadata().row_groups().get(number)?.num_rows()).ok()?;
        let reader = projected(builder, wanted).with_row_groups(vec![number]).with_batch_size(rows.max(1));
        let batch = reader.build().ok()?.next()?.ok()?;
        (batch.num_rows() == rows).then_some(batch)
    };
    quietly(read).ok().flatten()
}

thread_local! {
    /// Whether a panic of this thread is somebody else's business.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does something that may panic, of which nothing is said then.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // Where a panic is the end of everything, that is said.
            if !QUIET.get() || cfg!(panic = "abort") {
                before(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    done
}

/// What was said with a panic.
fn words(panic: &Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no more is known").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panics_is_an_error_and_the_next_panic_is_told_again() {
        let panic = quietly(|| panic!("offset {}", 7)).unwrap_err();
        assert_eq!(words(&panic), "offset 7");
        assert!(!QUIET.get());
        assert_eq!(quietly(|| 3).unwrap(), 3);
    }

    #[test]
    fn a_few_bytes_that_speak_of_many_rows_are_refused() {
        use arrow_array::{ArrayRef, Float64Array};
        use std::sync::Arc;
        let rows = 1_000_000;
        let column: ArrayRef = Arc::new(Float64Array::from(vec![None; rows]));
        let field = arrow_schema::Field::new("goodput_bps", arrow_schema::DataType::Float64, true);
        let bytes = super::super::to_bytes(vec![(field, column)]).unwrap();
        assert!(bytes.len() < 100_000, "{}", bytes.len());
        let message = for_each_batch(bytes, |_| true, |_| Ok(())).unwrap_err();
        assert!(message.contains("it speaks of 1000000 rows"), "{message}");
    }
}
