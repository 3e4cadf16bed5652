//! What a run has left on disk, read again: `result.json`, `series.parquet`, `queues.parquet`, and of radio media
//! `places.parquet`, `frames.parquet` and `hops.parquet`.
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
    /// Gaps between segments at the receiver, where a detector looks at them.
    pub(super) floats: Floats,
}

/// Gaps between segments at a receiver, s: each one, the smallest and the largest of its block, and the smoothed
/// round-trip time.
#[derive(Debug, Clone, Default)]
pub(super) struct Floats {
    pub(super) gap: Points,
    pub(super) min: Points,
    pub(super) max: Points,
    pub(super) rtt: Points,
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

/// What happened on a radio medium.
#[derive(Debug, Clone, Default)]
pub(super) struct Air {
    pub(super) medium: String,
    pub(super) stations: Vec<Station>,
    pub(super) frames: Vec<Frame>,
    /// By flow, in the order in which they came to the medium; none in runs that an earlier version kept.
    pub(super) ways: Vec<Way>,
}

/// By whom a flow's data went on: when, from where, to whom; stations by their places in the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    pub(super) flow: String,
    pub(super) hops: Vec<(f64, usize, usize)>,
}

/// A station: where it was when, s and m.
#[derive(Debug, Clone, Default)]
pub(super) struct Station {
    pub(super) name: String,
    pub(super) places: Vec<(f64, f64, f64)>,
}

/// A frame; stations by their places in the list.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) t: f64,
    pub(super) airtime: f64,
    pub(super) from: usize,
    pub(super) to: Option<usize>,
    /// Whether there is a packet in it.
    pub(super) is_data: bool,
    pub(super) packets: u32,
    pub(super) lost: u32,
    pub(super) failure: Option<String>,
}

/// The JSON in a file.
pub(super) fn json(path: &Path) -> Result<Value, Error> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| Error::read(path, e))
}

/// A string in the JSON; empty where there is none.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The entry of a list that has this name.
pub(super) fn entry<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().and_then(|l| l.iter().find(|e| e["name"] == name)).unwrap_or(&Value::Null)
}

/// The entries of a list; none where there is no list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
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

/// The media in `dir`; none where the run recorded none.
pub(super) fn air(dir: &Path) -> Result<Vec<Air>, Error> {
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
            let known = air.ways.iter().position(|way| way.flow == flows.value(row));
            let way = known.unwrap_or_else(|| {
                air.ways.push(Way { flow: flows.value(row).to_owned(), ..Way::default() });
                air.ways.len() - 1
            });
            air.ways[way].hops.push(hop);
        }
        Ok(())
    })?;
    Ok(media)
}

impl Air {
    /// The place of a station in the list.
    fn station(&mut self, name: &str) -> usize {
        let known = self.stations.iter().position(|station| station.name == name);
        known.unwrap_or_else(|| {
            self.stations.push(Station { name: name.to_owned(), places: Vec::new() });
            self.stations.len() - 1
        })
    }
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
            "estimate" => self.put_estimate(row, flow),
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
