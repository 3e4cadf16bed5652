//! What a run has left on disk, read again: `result.json`, `series.parquet`, `queues.parquet`.
//!
//! Not for: writing them (see [`truckee_lab::output`]).

use crate::Error;
use arrow_array::{Array, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use serde_json::Value;
use std::path::Path;
use truckee_lab::store;

/// Time and value.
pub(super) type Points = Vec<(f64, f64)>;

/// The time series of one flow; times in seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct FlowPoints {
    pub(super) flow: String,
    /// Congestion window, bytes.
    pub(super) cwnd: Points,
    /// Slow-start threshold, bytes.
    pub(super) ssthresh: Points,
    /// Bytes outstanding.
    pub(super) flight: Points,
    /// RTT samples, s.
    pub(super) rtt: Points,
    /// Delays of segments, s.
    pub(super) delay: Points,
    /// First bytes of segments sent for the first time.
    pub(super) sent: Points,
    /// First bytes of segments sent again.
    pub(super) again: Points,
    /// Numbers acknowledged.
    pub(super) acks: Points,
    pub(super) drops: Vec<Drop>,
    pub(super) losses: Vec<Loss>,
    /// By estimator, bit/s.
    pub(super) estimates: Vec<(String, Points)>,
    /// What was available, bit/s.
    pub(super) available: Points,
    /// What the flow used, bit/s.
    pub(super) used: Points,
}

/// A packet dropped.
#[derive(Debug, Clone)]
pub(super) struct Drop {
    pub(super) t: f64,
    pub(super) seq: f64,
    pub(super) is_ack: bool,
    pub(super) cause: String,
    pub(super) link: String,
}

/// A loss event.
#[derive(Debug, Clone)]
pub(super) struct Loss {
    pub(super) t: f64,
    pub(super) seq: f64,
    pub(super) truth: String,
    pub(super) verdict: String,
    pub(super) event: String,
}

/// The JSON in a file.
pub(super) fn json(path: &Path) -> Result<Value, Error> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| Error::read(path, e))
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
pub(super) fn queues(dir: &Path) -> Result<Vec<(String, Points)>, Error> {
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
            "estimate" => self.put_estimate(row, flow),
            "delay" => flow.delay.extend(self.delay.and_then(float)),
            _ => {}
        }
    }

    fn put_estimate(&self, row: usize, flow: &mut FlowPoints) {
        let t = self.t.value(row);
        let name = self.estimator.value(row);
        let place = flow.estimates.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
            flow.estimates.push((name.to_owned(), Vec::new()));
            flow.estimates.len() - 1
        });
        // Every estimator is read at the same times, with the same truth beside it.
        if place == 0 {
            flow.available.push((t, self.available.value(row)));
            flow.used.push((t, self.used.value(row)));
        }
        if !self.estimate.is_null(row) {
            flow.estimates[place].1.push((t, self.estimate.value(row)));
        }
    }
}
