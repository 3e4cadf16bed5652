//! One run on disk: `result.json`, `flows.parquet`, `series.parquet`.
//!
//! `flows.parquet` has one row a flow: `name`, `sender`, `receiver`, and one column for each flow metric
//! ([`crate::metric`]), null where the flow has no value.
//!
//! `series.parquet` is in long form, one row an event, ordered by flow, kind and time:
//!
//! | column | type | `window` | `segment` | `ack` | `drop` | `loss` |
//! |---|---|---|---|---|---|---|
//! | `flow` | text | the flow's name | | | | |
//! | `t_s` | f64, s | the time | | | | |
//! | `kind` | text | `window` | `segment` | `ack` | `drop` | `loss` |
//! | `cwnd_bytes`, `ssthresh_bytes` | f64 | the sender's | | | | |
//! | `flight_bytes` | u64 | bytes outstanding | | | | |
//! | `rtt_s` | f64, s | the sample, if one was taken | | | | |
//! | `seq` | u64 | | first byte | number acknowledged | first byte, or an ACK's number | first byte |
//! | `len_bytes` | u32 | | payload | | | |
//! | `retransmission` | bool | | sent before | | | |
//! | `is_ack` | bool | | | | an ACK was dropped | |
//! | `cause` | text | | | | `queue`, `channel`, `outage` | true cause |
//! | `verdict` | text | | | | | what the sender took it for |
//! | `event` | text | | | | | `dup-acks`, `timeout`, `ecn` |
//! | `link` | text | | | | the link's direction | |
//!
//! A column is null where the table leaves it empty.

use crate::store::{to_bytes, write_durably};
use crate::{Error, metric};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truckee_scenario::Outcome;
use truckee_scenario::outcome::FlowSeries;

/// Writes a run into `dir`, creating it if need be; `series.parquet` only where the run recorded any. Returns the
/// files written.
pub fn write_run(dir: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(dir).map_err(|e| Error::write(dir, e))?;
    let encode = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot encode the run: {e}"));
    let mut files = Vec::new();
    let mut write = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        write_durably(&path, bytes)?;
        files.push(path);
        Ok::<_, Error>(())
    };
    let json = serde_json::to_vec_pretty(outcome).map_err(|e| encode(&e))?;
    write("result.json", &json)?;
    write("flows.parquet", &flows(outcome)?)?;
    if !outcome.series.is_empty() {
        write("series.parquet", &series(&outcome.series).map_err(|e| encode(&e))?)?;
    }
    Ok(files)
}

fn flows(outcome: &Outcome) -> Result<Vec<u8>, Error> {
    let text = |name: &str, values: Vec<&str>| {
        (Field::new(name, DataType::Utf8, false), Arc::new(StringArray::from_iter_values(values)) as ArrayRef)
    };
    let mut columns = vec![
        text("name", outcome.flows.iter().map(|f| f.name.as_str()).collect()),
        text("sender", outcome.flows.iter().map(|f| f.sender.as_str()).collect()),
        text("receiver", outcome.flows.iter().map(|f| f.receiver.as_str()).collect()),
    ];
    let of_flows: Vec<Vec<_>> = outcome.flows.iter().map(|f| metric::of_flow(f).collect()).collect();
    for (k, info) in metric::list().iter().filter(|i| i.of == "flow").enumerate() {
        let values = Float64Array::from_iter(of_flows.iter().map(|metrics| metrics[k].1));
        columns.push((Field::new(info.name, DataType::Float64, true), Arc::new(values)));
    }
    to_bytes(columns).map_err(|e| Error::Internal(format!("cannot encode the flows: {e}")))
}

/// One row of `series.parquet`; what an event's kind does not have stays `None`.
#[derive(Default)]
struct Event<'a> {
    flow: &'a str,
    t_s: f64,
    kind: &'static str,
    cwnd: Option<f64>,
    ssthresh: Option<f64>,
    flight: Option<u64>,
    rtt: Option<f64>,
    seq: Option<u64>,
    len: Option<u32>,
    retransmission: Option<bool>,
    is_ack: Option<bool>,
    cause: Option<&'static str>,
    verdict: Option<&'static str>,
    event: Option<&'static str>,
    link: Option<&'a str>,
}

fn events(series: &FlowSeries) -> Vec<Event<'_>> {
    let at = |kind, t_s| Event { flow: &series.flow, kind, t_s, ..Event::default() };
    let mut events = Vec::new();
    events.extend(series.window.iter().map(|p| Event {
        cwnd: Some(p.cwnd),
        ssthresh: Some(p.ssthresh),
        flight: Some(p.flight),
        rtt: p.rtt,
        ..at("window", p.t)
    }));
    events.extend(series.segments.iter().map(|p| Event {
        seq: Some(p.seq),
        len: Some(p.len),
        retransmission: Some(p.retransmission),
        ..at("segment", p.t)
    }));
    events.extend(series.acks.iter().map(|p| Event { seq: Some(p.ack), ..at("ack", p.t) }));
    events.extend(series.drops.iter().map(|p| Event {
        seq: Some(p.seq),
        is_ack: Some(p.ack),
        cause: Some(p.cause),
        link: Some(&p.link),
        ..at("drop", p.t)
    }));
    events.extend(series.losses.iter().map(|p| Event {
        seq: Some(p.seq),
        cause: Some(p.truth),
        verdict: Some(p.verdict),
        event: Some(p.kind),
        ..at("loss", p.t)
    }));
    events
}

fn series(all: &[FlowSeries]) -> Result<Vec<u8>, ParquetError> {
    let events: Vec<Event<'_>> = all.iter().flat_map(events).collect();
    let e = || events.iter();
    let text = |name, values: StringArray, null| {
        (Field::new(name, DataType::Utf8, null), Arc::new(values) as ArrayRef)
    };
    let float = |name, values: Float64Array, null| {
        (Field::new(name, DataType::Float64, null), Arc::new(values) as ArrayRef)
    };
    let flag = |name, values: BooleanArray| {
        (Field::new(name, DataType::Boolean, true), Arc::new(values) as ArrayRef)
    };
    let whole =
        |name, values: UInt64Array| (Field::new(name, DataType::UInt64, true), Arc::new(values) as ArrayRef);
    to_bytes(vec![
        text("flow", e().map(|x| Some(x.flow)).collect(), false),
        float("t_s", e().map(|x| Some(x.t_s)).collect(), false),
        text("kind", e().map(|x| Some(x.kind)).collect(), false),
        float("cwnd_bytes", e().map(|x| x.cwnd).collect(), true),
        float("ssthresh_bytes", e().map(|x| x.ssthresh).collect(), true),
        whole("flight_bytes", e().map(|x| x.flight).collect()),
        float("rtt_s", e().map(|x| x.rtt).collect(), true),
        whole("seq", e().map(|x| x.seq).collect()),
        (
            Field::new("len_bytes", DataType::UInt32, true),
            Arc::new(e().map(|x| x.len).collect::<UInt32Array>()),
        ),
        flag("retransmission", e().map(|x| x.retransmission).collect()),
        flag("is_ack", e().map(|x| x.is_ack).collect()),
        text("cause", e().map(|x| x.cause).collect(), true),
        text("verdict", e().map(|x| x.verdict).collect(), true),
        text("event", e().map(|x| x.event).collect(), true),
        text("link", e().map(|x| x.link).collect(), true),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::outcome;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    use std::fs::File;
    use truckee_scenario::outcome::{DropPoint, SegmentPoint, WindowPoint};

    fn rows(path: &Path) -> Vec<parquet::record::Row> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_run_is_written_whole() {
        let dir = tempfile::tempdir().unwrap();
        let mut run = outcome(3, &[1e6, 2e6]);
        run.series = vec![FlowSeries {
            flow: "flow-1".into(),
            window: vec![WindowPoint { t: 0.5, cwnd: 1460.0, ssthresh: 65535.0, flight: 1460, rtt: None }],
            segments: vec![SegmentPoint { t: 0.25, seq: 1, len: 1460, retransmission: false }],
            drops: vec![DropPoint { t: 0.3, seq: 1, ack: false, cause: "channel", link: "a-b".into() }],
            ..FlowSeries::default()
        }];
        let files = write_run(dir.path(), &run).unwrap();
        assert_eq!(files.len(), 3);
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
        assert_eq!(json["flows"][1]["goodput_bps"], 2e6);
        let flows = rows(&files[1]);
        assert_eq!((flows.len(), flows[1].get_double(3).unwrap()), (2, 2e6));
        let series = rows(&files[2]);
        assert_eq!(series.len(), 3);
        let kinds: Vec<_> = series.iter().map(|r| r.get_string(2).unwrap().as_str()).collect();
        assert_eq!(kinds, ["window", "segment", "drop"]);
        assert_eq!(series[2].get_string(11).unwrap(), "channel");
        assert!(series[1].get_double(3).is_err(), "a segment has no cwnd");
    }

    #[test]
    fn without_series_there_is_no_series_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(write_run(&dir.path().join("new"), &outcome(1, &[1.0])).unwrap().len(), 2);
    }
}
