//! What a run has left on disk, read again: `result.json`, `series.parquet`, `queues.parquet`, and of radio media
//! `places.parquet`, `frames.parquet` and `hops.parquet`.
//!
//! Not for: writing them (see [`truckee_lab::output`]).

use super::points::{Air, Drop, FlowPoints, Frame, Loss, Points, Recorded};
use crate::Error;
use arrow_array::{Array, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use serde_json::Value;
use std::path::Path;
use truckee_lab::store;

/// The JSON in a file.
pub(super) fn json(path: &Path) -> Result<Value, Error> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| Error::read(path, e))
}

/// All of what the run in `dir` has recorded.
pub(super) fn recorded(dir: &Path) -> Result<Recorded, Error> {
    Ok(Recorded { flows: series(dir)?, queues: queues(dir)?, air: air(dir)? })
}

/// The series of all flows in `dir`, in their order; none where the run recorded none.
pub(super) fn series(dir: &Path) -> Result<Vec<FlowPoints>, Error> {
    let mut flows: Vec<FlowPoints> = Vec::new();
    for_each_batch(&dir.join("series.parquet"), |batch| {
        let columns = Columns::of(batch)?;
        for row in 0..batch.num_rows() {
            let name = columns.flow.value(row);
            if flows.last().is_none_or(|f| f.flow != name) {
                flows.push(FlowPoints { flow: name.to_owned(), ..FlowPoints::default() });
            }
            if let Some(flow) = flows.last_mut() {
                columns.put(row, flow);
            }
        }
        Ok(())
    })?;
    Ok(flows)
}

/// The queues of all links in `dir`: packets waiting; none where the run recorded none.
fn queues(dir: &Path) -> Result<Vec<(String, Points)>, Error> {
    let mut queues: Vec<(String, Points)> = Vec::new();
    for_each_batch(&dir.join("queues.parquet"), |batch| {
        let links: &StringArray = column(batch, "link")?;
        let times: &Float64Array = column(batch, "t_s")?;
        let packets: &UInt32Array = column(batch, "packets")?;
        for row in 0..batch.num_rows() {
            if queues.last().is_none_or(|q| q.0 != links.value(row)) {
                queues.push((links.value(row).to_owned(), Vec::new()));
            }
            if let Some((_, points)) = queues.last_mut() {
                points.push((times.value(row), f64::from(packets.value(row))));
            }
        }
        Ok(())
    })?;
    Ok(queues)
}

/// The media in `dir`; none where the run recorded none.
fn air(dir: &Path) -> Result<Vec<Air>, Error> {
    let mut media: Vec<Air> = Vec::new();
    for_each_batch(&dir.join("places.parquet"), |batch| {
        let (mediums, stations): (&StringArray, &StringArray) =
            (column(batch, "medium")?, column(batch, "station")?);
        let times: &Float64Array = column(batch, "t_s")?;
        let (xs, ys): (&Float64Array, &Float64Array) = (column(batch, "x_m")?, column(batch, "y_m")?);
        for row in 0..batch.num_rows() {
            if media.last().is_none_or(|air| air.medium != mediums.value(row)) {
                media.push(Air { medium: mediums.value(row).to_owned(), ..Air::default() });
            }
            let Some(air) = media.last_mut() else { continue };
            let station = air.station(stations.value(row));
            air.stations[station].places.push((times.value(row), xs.value(row), ys.value(row)));
        }
        Ok(())
    })?;
    for_each_batch(&dir.join("frames.parquet"), |batch| {
        let mediums: &StringArray = column(batch, "medium")?;
        let (times, airtimes): (&Float64Array, &Float64Array) =
            (column(batch, "t_s")?, column(batch, "airtime_s")?);
        let (from, to): (&StringArray, &StringArray) = (column(batch, "from")?, column(batch, "to")?);
        let (kinds, failures): (&StringArray, &StringArray) =
            (column(batch, "kind")?, column(batch, "failure")?);
        let (packets, lost): (&UInt32Array, &UInt32Array) =
            (column(batch, "packets")?, column(batch, "lost")?);
        for row in 0..batch.num_rows() {
            let Some(air) = media.iter_mut().find(|air| air.medium == mediums.value(row)) else { continue };
            let to = (!to.is_null(row)).then(|| air.station(to.value(row)));
            let frame = Frame {
                t: times.value(row),
                airtime: airtimes.value(row),
                from: air.station(from.value(row)),
                to,
                is_data: matches!(kinds.value(row), "data" | "aggregate"),
                packets: packets.value(row),
                lost: lost.value(row),
                failure: (!failures.is_null(row)).then(|| failures.value(row).to_owned()),
            };
            air.frames.push(frame);
        }
        Ok(())
    })?;
    for_each_batch(&dir.join("hops.parquet"), |batch| {
        let (mediums, flows): (&StringArray, &StringArray) =
            (column(batch, "medium")?, column(batch, "flow")?);
        let times: &Float64Array = column(batch, "t_s")?;
        let (from, to): (&StringArray, &StringArray) = (column(batch, "from")?, column(batch, "to")?);
        for row in 0..batch.num_rows() {
            let Some(air) = media.iter_mut().find(|air| air.medium == mediums.value(row)) else { continue };
            let hop = (times.value(row), air.station(from.value(row)), air.station(to.value(row)));
            air.way(flows.value(row)).hops.push(hop);
        }
        Ok(())
    })?;
    Ok(media)
}

/// Goes over a Parquet file; one that is not there has no rows.
fn for_each_batch(path: &Path, each: impl FnMut(&RecordBatch) -> Result<(), String>) -> Result<(), Error> {
    match std::fs::read(path) {
        Ok(bytes) => for_each_batch_of(path, bytes, each),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Error::read(path, e)),
    }
}

fn for_each_batch_of(
    path: &Path,
    bytes: Vec<u8>,
    each: impl FnMut(&RecordBatch) -> Result<(), String>,
) -> Result<(), Error> {
    store::for_each_batch(bytes, |_| true, each).map_err(|e| Error::read(path, e))
}

fn column<'a, A: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a A, String> {
    batch
        .column_by_name(name)
        .and_then(|c| c.as_any().downcast_ref())
        .ok_or_else(|| format!("no column {name} of the right type"))
}

/// The columns of `series.parquet` that a page shows.
struct Columns<'a> {
    flow: &'a StringArray,
    t: &'a Float64Array,
    kind: &'a StringArray,
    cwnd: &'a Float64Array,
    ssthresh: &'a Float64Array,
    flight: &'a UInt64Array,
    rtt: &'a Float64Array,
    seq: &'a UInt64Array,
    retransmission: &'a BooleanArray,
    is_ack: &'a BooleanArray,
    cause: &'a StringArray,
    verdict: &'a StringArray,
    event: &'a StringArray,
    link: &'a StringArray,
    estimator: &'a StringArray,
    estimate: &'a Float64Array,
    available: &'a Float64Array,
    used: &'a Float64Array,
    /// Runs kept by an earlier version have none.
    delay: Option<&'a Float64Array>,
    /// Nor these: the gap, and the smallest and largest of its block.
    gaps: Option<[&'a Float64Array; 3]>,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Self, String> {
        Ok(Self {
            flow: column(batch, "flow")?,
            t: column(batch, "t_s")?,
            kind: column(batch, "kind")?,
            cwnd: column(batch, "cwnd_bytes")?,
            ssthresh: column(batch, "ssthresh_bytes")?,
            flight: column(batch, "flight_bytes")?,
            rtt: column(batch, "rtt_s")?,
            seq: column(batch, "seq")?,
            retransmission: column(batch, "retransmission")?,
            is_ack: column(batch, "is_ack")?,
            cause: column(batch, "cause")?,
            verdict: column(batch, "verdict")?,
            event: column(batch, "event")?,
            link: column(batch, "link")?,
            estimator: column(batch, "estimator")?,
            estimate: column(batch, "estimate_bps")?,
            available: column(batch, "available_bps")?,
            used: column(batch, "used_bps")?,
            delay: column(batch, "delay_s").ok(),
            gaps: ["gap_s", "min_float_s", "max_float_s"]
                .map(|name| column(batch, name).ok())
                .into_iter()
                .collect::<Option<Vec<_>>>()
                .and_then(|all| all.try_into().ok()),
        })
    }

    fn put(&self, row: usize, flow: &mut FlowPoints) {
        let t = self.t.value(row);
        let float = |column: &Float64Array| (!column.is_null(row)).then(|| (t, column.value(row)));
        let seq = self.seq.value(row) as f64;
        let word = |column: &StringArray| column.value(row).to_owned();
        match self.kind.value(row) {
            "window" => {
                flow.cwnd.extend(float(self.cwnd));
                flow.ssthresh.extend(float(self.ssthresh));
                flow.flight.push((t, self.flight.value(row) as f64));
                flow.rtt.extend(float(self.rtt));
            }
            "segment" if self.retransmission.value(row) => flow.again.push((t, seq)),
            "segment" => flow.sent.push((t, seq)),
            "ack" => flow.acks.push((t, seq)),
            "drop" => flow.drops.push(Drop {
                t,
                seq,
                is_ack: self.is_ack.value(row),
                cause: word(self.cause),
                link: word(self.link),
            }),
            "loss" => flow.losses.push(Loss {
                t,
                seq,
                truth: word(self.cause),
                verdict: word(self.verdict),
                event: word(self.event),
            }),
            "estimate" => {
                let truth = (self.available.value(row), self.used.value(row));
                flow.read_estimate(self.estimator.value(row), t, float(self.estimate).map(|p| p.1), truth);
            }
            "delay" => flow.delay.extend(self.delay.and_then(float)),
            "gap" => {
                let floats = &mut flow.floats;
                let all = [&mut floats.gap, &mut floats.min, &mut floats.max];
                for (points, column) in all.into_iter().zip(self.gaps.into_iter().flatten()) {
                    points.extend(float(column));
                }
                floats.rtt.extend(float(self.rtt));
            }
            _ => {}
        }
    }
}
