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
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use sha2::{Digest, Sha256};
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

/// The column that says of each record of a part whether it is what was written; see [`Checks`].
pub(super) const CHECK: &str = "check";
/// Its length: so many bytes are of the cell's name, the others of all that is known of it.
const CHECK_BYTES: usize = 12;
const OF_NAME: usize = 4;
/// A part's records stand in groups of so many: where one of them cannot be read at all, the others still can.
const GROUP: usize = 1024;

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

/// Sums over the records of a part, by which each of them is held against what was written where the part as a whole is not
/// that any more.
pub(super) struct Checks {
    /// With the names of the part's metrics.
    begun: Sha256,
    /// How many these are.
    metrics: usize,
}

impl Checks {
    /// Those of a part with these metrics.
    pub(super) fn new(metrics: &[String]) -> Self {
        let mut begun = Sha256::new();
        for name in metrics {
            begun.update(name.as_bytes());
            begun.update([0]);
        }
        Self { begun, metrics: metrics.len() }
    }

    fn of_name(key: &Key, seed: u64) -> [u8; OF_NAME] {
        let whole = Sha256::new().chain_update(key.0).chain_update(seed.to_le_bytes()).finalize();
        std::array::from_fn(|k| whole[k])
    }

    /// What stands beside a record.
    fn of(&self, kept: &Kept) -> [u8; CHECK_BYTES] {
        let Kept { key, seed, record } = kept;
        let mut hash = self.begun.clone();
        hash.update(key.0);
        hash.update(seed.to_le_bytes());
        hash.update((record.digest.len() as u64).to_le_bytes());
        hash.update(record.digest.as_bytes());
        let late = PARTS.iter().map(|(_, get)| record.lateness.as_ref().and_then(get));
        let values = (0..self.metrics).map(|k| record.values.get(k).copied().flatten());
        for value in values.chain(late) {
            hash.update([u8::from(value.is_some())]);
            hash.update(value.unwrap_or_default().to_bits().to_le_bytes());
        }
        let (name, whole) = (Self::of_name(key, *seed), hash.finalize());
        std::array::from_fn(|k| if k < OF_NAME { name[k] } else { whole[k] })
    }

    /// Whether a record is what was written.
    pub(super) fn hold(&self, kept: &Kept, check: &[u8]) -> bool {
        self.of(kept) == check
    }

    /// Whether at least its cell is.
    pub(super) fn name_holds(key: &Key, seed: u64, check: &[u8]) -> bool {
        check.len() == CHECK_BYTES && check.starts_with(&Self::of_name(key, seed))
    }
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
    let (checks, mut sums) =
        (Checks::new(metrics), FixedSizeBinaryBuilder::with_capacity(kept.len(), CHECK_BYTES as i32));
    kept.iter().try_for_each(|one| sums.append_value(checks.of(one)))?;
    let sums: ArrayRef = Arc::new(sums.finish());
    columns.push((Field::new(CHECK, DataType::FixedSizeBinary(CHECK_BYTES as i32), false), sums));
    let in_groups = properties().set_max_row_group_row_count(Some(GROUP));
    let mut bytes = written(columns, in_groups.set_statistics_enabled(EnabledStatistics::None).build())?;
    // Where everything is stands at the end, after it how long that is, and what a file of this kind ends with: twice, since
    // without it nothing can be found. A reader looks at the last one.
    let said = bytes.last_chunk::<8>().map(|last| u32::from_le_bytes([last[0], last[1], last[2], last[3]]));
    let end = said.and_then(|length| bytes.len().checked_sub(8 + length as usize));
    bytes.extend_from_within(end.ok_or_else(|| ParquetError::General("a file without an end".to_owned()))?..);
    Ok(bytes)
}

/// Columns of the final table for runs of these points: axes as numbers where all their values are plain numbers and as
/// text otherwise, the seed, the digest, and one column a metric with nulls where a run has no value.
pub(super) fn table_columns(
    grid: &Grid,
    rows: &[(usize, u64, Record)],
    metrics: &[String],
    live: bool,
) -> Columns {
    let mut columns = axis_columns(grid, rows.iter().map(|(point, ..)| *point));
    columns.extend(run_columns(rows.iter().map(|(_, seed, record)| (*seed, record)), metrics, live));
    columns
}

/// The axes' columns of such a table.
pub(crate) fn axis_columns(grid: &Grid, points: impl Iterator<Item = usize> + Clone) -> Columns {
    let column = |(k, axis)| axis_column(grid, points.clone(), k, axis);
    grid.axes.iter().enumerate().map(column).collect()
}

fn axis_column(grid: &Grid, points: impl Iterator<Item = usize>, k: usize, axis: &Axis) -> (Field, ArrayRef) {
    let values = points.map(|point| &axis.values[grid.indices(point)[k]]);
    if axis.is_plain_numbers() {
        real(&axis.name, values.map(|v| v.number))
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
    columns.extend(
        metrics
            .iter()
            .enumerate()
            .map(|(k, name)| real(name, rows.clone().map(|r| r.1.values.get(k).copied().flatten()))),
    );
    if live {
        columns.extend(lateness_columns(rows.map(|r| r.1)));
    }
    columns
}

/// How a Parquet file of ours is written.
pub(super) fn properties() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(Compression::SNAPPY)
}

/// Columns of a table, each with what it is called.
pub type Columns = Vec<(Field, ArrayRef)>;

/// A column of numbers, null where there is none; there NaN stands behind the null, for who looks at the numbers alone.
pub fn real(name: &str, values: impl Iterator<Item = Option<f64>>) -> (Field, ArrayRef) {
    let values: Vec<Option<f64>> = values.collect();
    let is_there: NullBuffer = values.iter().map(Option::is_some).collect();
    let numbers: ScalarBuffer<f64> = values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
    let nulls = Some(is_there).filter(|nulls| nulls.null_count() > 0);
    (Field::new(name, DataType::Float64, true), Arc::new(Float64Array::new(numbers, nulls)))
}

/// These columns as one batch.
///
/// # Errors
/// They are not of one length.
pub fn batch(columns: Columns) -> Result<RecordBatch, ParquetError> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// One Parquet file of these columns.
///
/// # Errors
/// They cannot be encoded.
pub fn to_bytes(columns: Columns) -> Result<Vec<u8>, ParquetError> {
    written(columns, properties().build())
}

fn written(columns: Vec<(Field, ArrayRef)>, how: WriterProperties) -> Result<Vec<u8>, ParquetError> {
    let batch = batch(columns)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(how))?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// Records of a part that are none here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unread {
    /// How many have no column of one of the metrics.
    pub(super) lacking: usize,
    /// The numbers of those that do not say of which cell they are, from 1 on.
    pub(super) nameless: Vec<usize>,
}

/// Goes over a part's records, with the values of these metrics; `digests`: whether those are wanted, too. Those that are
/// none are given back. An error, in words: the bytes are no part.
pub(super) fn decode(
    bytes: Vec<u8>,
    metrics: &[String],
    digests: bool,
    mut each: impl FnMut(Place, u64, Record),
) -> Result<Unread, String> {
    let wanted = |name: &str| {
        ["key", "point", "seed"].contains(&name)
            || (digests && name == "digest")
            || name.starts_with(LATENESS)
            || metrics.iter().any(|m| m == name)
    };
    let (mut unread, mut before) = (Unread::default(), 0);
    for_each_batch(bytes, wanted, |batch| {
        let has_all = records(batch, metrics, &mut |k, of, record| match of {
            Some((place, seed)) => each(place, seed, record),
            None => unread.nameless.push(before + k + 1),
        })?;
        if !has_all {
            unread.lacking += batch.num_rows();
        }
        before += batch.num_rows();
        Ok(())
    })?;
    Ok(unread)
}

/// Goes over the records of a batch: the row, what it is of if that can be told, and what came of it. Whether it has columns
/// of all these metrics; else there is no record in it.
pub(super) fn records(
    batch: &RecordBatch,
    metrics: &[String],
    each: &mut dyn FnMut(usize, Option<(Place, u64)>, Record),
) -> Result<bool, String> {
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
    let Some(values) = values else { return Ok(false) };
    let number = |name: &str, k: usize| {
        let column: &Float64Array = column(batch, name)?;
        (!column.is_null(k)).then(|| column.value(k))
    };
    let live = batch.schema().fields().iter().any(|field| field.name().starts_with(LATENESS));
    for k in 0..batch.num_rows() {
        let key = keys.filter(|keys| !keys.is_null(k)).and_then(|keys| keys.value(k).try_into().ok());
        let point = points.filter(|points| !points.is_null(k)).and_then(|p| usize::try_from(p.value(k)).ok());
        let place = key.map(|key| Place::Key(Key(key))).or(point.map(Place::Point));
        let record = Record {
            digest: texts.filter(|t| !t.is_null(k)).map(|t| t.value(k).to_owned()).unwrap_or_default(),
            values: values.iter().map(|v| (!v.is_null(k)).then(|| v.value(k))).collect(),
            lateness: if live { lateness_of(|name| number(name, k)) } else { None },
        };
        each(k, place.filter(|_| !seeds.is_null(k)).map(|place| (place, seeds.value(k))), record);
    }
    Ok(true)
}

/// What stands beside the records of a batch; `None`: an older program wrote it, which put nothing there.
pub(super) fn checks_of(batch: &RecordBatch) -> Option<&FixedSizeBinaryArray> {
    column(batch, CHECK).filter(|sums: &&FixedSizeBinaryArray| sums.value_length() == CHECK_BYTES as i32)
}

fn column<'a, A: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Option<&'a A> {
    batch.column_by_name(name)?.as_any().downcast_ref()
}

/// The metrics among the columns of a part, in their order.
pub(super) fn metrics_among<'n>(columns: impl Iterator<Item = &'n str>) -> Vec<String> {
    let others = ["key", "seed", "digest", "invalid", CHECK];
    columns.filter(|name| !others.contains(name) && !name.starts_with(LATENESS)).map(str::to_owned).collect()
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
        assert_eq!(columns(&both[..1]), ["key", "seed", "digest", "goodput_bps", "jain", "check"]);
        assert_eq!(columns(&both).len(), 16);
        assert_eq!(metrics_among(columns(&both).iter().map(String::as_str)), metrics);
    }

    #[test]
    fn a_record_without_a_metric_that_is_wanted_is_none() {
        let bytes = encode(&[kept(1, None)], &["goodput_bps".to_owned(), "jain".to_owned()]).unwrap();
        let unread = decode(bytes, &["overhead".to_owned()], true, |_, _, _| panic!("it has none")).unwrap();
        assert_eq!(unread, Unread { lacking: 1, nameless: vec![] });
    }
}
