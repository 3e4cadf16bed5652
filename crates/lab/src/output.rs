//! One run on disk: `result.json`, `flows.parquet`, `observers.parquet`, `series.parquet`, `queues.parquet`, and of radio
//! media `places.parquet`, `frames.parquet` and `hops.parquet`.
//!
//! `flows.parquet` has one row a flow: `name`, `sender`, `receiver`, and one column for each flow metric
//! ([`crate::metric`]), null where the flow has no value.
//!
//! `observers.parquet` has one row for each predictor, estimator and detector that watched a flow, for the estimator that a
//! sender goes by, called `sender`, and for the detector that a receiver goes by, called `receiver`: `flow`, `kind`
//! (`predictor`, `estimator` or `detector`), `name`, and one column for each metric of any kind, null for the others.
//!
//! `series.parquet` is in long form, one row an event, ordered by flow, kind and time:
//!
//! | column | type | `window` | `segment` | `ack` | `drop` | `loss` | `estimate` |
//! |---|---|---|---|---|---|---|---|
//! | `flow` | text | the flow's name | | | | | |
//! | `t_s` | f64, s | the time | | | | | |
//! | `kind` | text | `window` | `segment` | `ack` | `drop` | `loss` | `estimate` |
//! | `cwnd_bytes`, `ssthresh_bytes` | f64 | the sender's | | | | | |
//! | `flight_bytes` | u64 | bytes outstanding | | | | | |
//! | `rtt_s` | f64, s | the sample, if one was taken | | | | | |
//! | `seq` | u64 | | first byte | number acknowledged | first byte, or an ACK's number | first byte | |
//! | `len_bytes` | u32 | | payload | | | | |
//! | `retransmission` | bool | | sent before | | | | |
//! | `is_ack` | bool | | | | an ACK was dropped | | |
//! | `cause` | text | | | | `queue`, `channel`, `outage` | true cause | |
//! | `verdict` | text | | | | | what the sender took it for | |
//! | `event` | text | | | | | `dup-acks`, `timeout`, `ecn` | |
//! | `link` | text | | | | the link's direction | | |
//! | `estimator` | text | | | | | | whose |
//! | `estimate_bps` | f64, bit/s | | | | | | the estimate, if there is one yet |
//! | `available_bps` | f64, bit/s | | | | | | what was truly available |
//! | `used_bps` | f64, bit/s | | | | | | what the flow used since the reading before |
//!
//! Two kinds more have few columns of their own: `phase` has `detector`, who says so, and `verdict`, `slow-start` or
//! `avoidance`; `delay`, a segment handed to the application, has `delay_s`, f64, s. A column is null where nothing else is
//! said.
//!
//! `queues.parquet` has one row for each change of a queue's length: `link`, the direction; `t_s`, f64, s; `packets`, u32,
//! those that wait from then on, the one in transmission not counted. A queue is empty before its first row.
//!
//! `places.parquet` has one row wherever a station of a medium begins, turns, sets off or ends: `medium`, `station`, text;
//! `t_s`, f64, s; `x_m`, `y_m`, f64, m. It goes straight on in between. `frames.parquet` has one row a frame on the air, in
//! order of their ends: `medium`; `t_s`, when it began, and `airtime_s`, f64, s; `from` and `to`, stations, `to` null for
//! everyone; `kind`, text; `rate_bps`, f64; `bytes`, `packets` and `lost`, u32, packets in it and those of them that the
//! receiver did not get; `failure`, why, null if it got all. `hops.parquet` says by whom flows' data went on: one row where
//! data of a flow first comes to a medium, and one wherever the next station is another one than before: `medium`, `flow`,
//! text; `t_s`, f64, s; `from` and `to`, stations.

mod air;
mod series;
mod swept;

use crate::disk::{self, Begun};
pub use air::{frames, hops, places};
pub use series::{KINDS, queues, series};
pub use swept::{runs, summary};

use crate::store::{Columns, build, real, to_bytes};
use crate::{Error, Metric, metric};
use arrow_array::{ArrayRef, StringArray};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truckee_scenario::Outcome;
use truckee_scenario::outcome::FlowOutcome;

/// The file that makes a directory that of a run.
const RESULT: &str = "result.json";

/// `result.json`.
#[derive(Serialize)]
struct Written<'a> {
    /// Which build of the program wrote it: its version, and digits of its bytes.
    build: String,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

/// Writes a run into `dir`, creating it if need be; `observers.parquet` only where somebody watched, `series.parquet`,
/// `queues.parquet`, `places.parquet`, `frames.parquet` and `hops.parquet` only where the run recorded any. What an earlier run
/// has left there goes: `result.json` is gone first and comes last, so that it never stands beside what is another run's. Returns the files written.
pub fn write_run(dir: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>, Error> {
    disk::folder(dir)?;
    let encode = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot encode the run: {e}"));
    let json = serde_json::to_vec_pretty(&Written { build: build(), outcome }).map_err(|e| encode(&e))?;
    let parquet = |is_there: bool, columns: &dyn Fn() -> Result<Columns, Error>| {
        is_there.then(|| to_bytes(columns()?).map_err(|e| encode(&e))).transpose()
    };
    let files = [
        (RESULT, Some(json)),
        ("flows.parquet", parquet(true, &|| Ok(flows(outcome)))?),
        ("observers.parquet", parquet(!watchers(outcome).is_empty(), &|| observers(outcome))?),
        ("series.parquet", parquet(!outcome.series.is_empty(), &|| Ok(series(&outcome.series, None)))?),
        ("queues.parquet", parquet(!outcome.queues.is_empty(), &|| Ok(queues(&outcome.queues)))?),
        ("places.parquet", parquet(!outcome.air.is_empty(), &|| Ok(places(&outcome.air)))?),
        ("frames.parquet", parquet(!outcome.air.is_empty(), &|| Ok(frames(&outcome.air)))?),
        ("hops.parquet", parquet(!outcome.air.is_empty(), &|| Ok(hops(&outcome.air, &outcome.flows)))?),
    ];
    // Where the disk is full, that is found out before anything is touched.
    let mut begun = Vec::new();
    for (name, bytes) in files {
        let path = dir.join(name);
        let file = bytes.map(|bytes| {
            let mut file = Begun::over(&path)?;
            file.write_all(&bytes).map_err(|e| Error::write(&path, e))?;
            Ok::<_, Error>(file)
        });
        begun.push((path, file.transpose()?));
    }
    disk::remove(&dir.join(RESULT))?;
    let mut written = Vec::new();
    for (path, file) in begun.into_iter().rev() {
        match file {
            Some(file) => {
                file.finish()?;
                written.insert(0, path);
            }
            None => disk::remove(&path)?,
        }
    }
    Ok(written)
}

/// `flows.parquet`.
pub fn flows(outcome: &Outcome) -> Columns {
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
        columns.push(real(info.name, of_flows.iter().map(|metrics| metrics[k].1)));
    }
    columns
}

/// Who watched which flow.
struct Observer<'a> {
    flow: &'a str,
    /// What its metrics are of: `predictor`, `estimator` or `detector`.
    kind: &'static str,
    name: &'a str,
}

fn watchers(outcome: &Outcome) -> Vec<Observer<'_>> {
    fn of(flow: &FlowOutcome) -> impl Iterator<Item = Observer<'_>> {
        let predictors = flow.observers.predictors.iter().map(|p| ("predictor", p.name.as_str()));
        let estimators = flow.observers.estimators.iter().map(|e| ("estimator", e.name.as_str()));
        let detectors = flow.observers.detectors.iter().map(|d| ("detector", d.name.as_str()));
        predictors.chain(estimators).chain(detectors).map(|(kind, name)| Observer {
            flow: &flow.name,
            kind,
            name,
        })
    }
    outcome.flows.iter().flat_map(of).collect()
}

/// `observers.parquet`; without rows where nobody watched.
///
/// # Errors
/// An observer's name makes no metric, which is a fault of ours.
pub fn observers(outcome: &Outcome) -> Result<Columns, Error> {
    let observers = watchers(outcome);
    let text = |name: &str, of: fn(&Observer<'_>) -> String| {
        let values = StringArray::from_iter_values(observers.iter().map(of));
        (Field::new(name, DataType::Utf8, false), Arc::new(values) as ArrayRef)
    };
    let mut columns = vec![
        text("flow", |o| o.flow.to_owned()),
        text("kind", |o| o.kind.to_owned()),
        text("name", |o| o.name.to_owned()),
    ];
    let kinds = ["predictor", "estimator", "detector"];
    let infos: Vec<_> = metric::list().into_iter().filter(|info| kinds.contains(&info.of)).collect();
    for (k, info) in infos.iter().enumerate() {
        // Predictors and detectors have some metrics of the same name: they share the column.
        if infos[..k].iter().any(|other| other.name == info.name) {
            continue;
        }
        let value = |o: &Observer<'_>| {
            let known = infos.iter().any(|i| i.of == o.kind && i.name == info.name);
            let metric = format!("flow.{}.{}.{}.{}", o.flow, o.kind, o.name, info.name);
            if known { Metric::parse(&metric)?.of(outcome) } else { Ok(None) }
        };
        let values = observers.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        columns.push(real(info.name, values.into_iter()));
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::outcome;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field as Value, Row, RowAccessor};
    use std::fs::File;
    use truckee_scenario::outcome::{
        DetectorAccuracy, DetectorOutcome, DropPoint, EstimatePoint, EstimatorOutcome, FlowSeries,
        LossEvents, Observers, PredictorOutcome, QueueSeries, SegmentPoint, WindowPoint,
    };

    fn rows(path: &Path) -> Vec<Row> {
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

    /// A row's value by the name of its column.
    fn at<'r>(row: &'r Row, column: &str) -> &'r Value {
        row.get_column_iter().find(|(name, _)| *name == column).unwrap().1
    }

    fn word(text: &str) -> Value {
        Value::Str(text.into())
    }

    #[test]
    fn those_who_watch_have_a_row_each_with_the_numbers_of_their_kind() {
        let dir = tempfile::tempdir().unwrap();
        let mut run = outcome(3, &[1e6, 2e6]);
        let loss_events = LossEvents { congestion: 4, congestion_judged_right: 3, ..LossEvents::default() };
        run.flows[1].observers = Observers {
            predictors: vec![PredictorOutcome {
                name: "spike(alpha=0.8)".into(),
                loss_events,
                ..Default::default()
            }],
            estimators: vec![EstimatorOutcome {
                name: "ewma".into(),
                mean_bps: Some(1.5e6),
                ..Default::default()
            }],
            detectors: vec![DetectorOutcome {
                name: "inter-arrival".into(),
                false_alarms: 7,
                accuracy: DetectorAccuracy { all: Some(0.75), ..Default::default() },
                ..Default::default()
            }],
        };
        let files = write_run(dir.path(), &run).unwrap();
        assert!(files[2].ends_with("observers.parquet"));
        let rows = rows(&files[2]);
        assert_eq!(rows.len(), 3);
        assert_eq!(at(&rows[2], "false_alarms"), &Value::Double(7.0));
        assert_eq!(at(&rows[2], "accuracy.all"), &Value::Double(0.75), "a column shared with predictors");
        assert_eq!((at(&rows[0], "flow"), at(&rows[0], "kind")), (&word("flow-2"), &word("predictor")));
        assert_eq!(at(&rows[0], "name"), &word("spike(alpha=0.8)"));
        assert_eq!(at(&rows[0], "loss_events.congestion_judged_right"), &Value::Double(3.0));
        let none = ["mean_bps", "accuracy.wireless"].map(|column| at(&rows[0], column));
        assert_eq!(none, [&Value::Null, &Value::Null]);
        assert_eq!((at(&rows[1], "kind"), at(&rows[1], "name")), (&word("estimator"), &word("ewma")));
        assert_eq!(at(&rows[1], "mean_bps"), &Value::Double(1.5e6));
        assert_eq!(at(&rows[1], "loss_events.congestion"), &Value::Null);
    }

    #[test]
    fn estimates_are_events_of_the_series() {
        let dir = tempfile::tempdir().unwrap();
        let mut run = outcome(3, &[1e6]);
        let point =
            |t, estimate| EstimatePoint { t, estimator: "ewma".into(), estimate, available: 9e6, used: 1e6 };
        run.series = vec![FlowSeries {
            flow: "flow-1".into(),
            estimates: vec![point(0.1, None), point(0.2, Some(8e6))],
            ..FlowSeries::default()
        }];
        let files = write_run(dir.path(), &run).unwrap();
        let rows = rows(&files[2]);
        assert_eq!((at(&rows[1], "kind"), at(&rows[1], "estimator")), (&word("estimate"), &word("ewma")));
        let none = ["estimate_bps", "cwnd_bytes"].map(|column| at(&rows[0], column));
        assert_eq!(none, [&Value::Null, &Value::Null]);
        for (column, rate) in [("estimate_bps", 8e6), ("available_bps", 9e6), ("used_bps", 1e6)] {
            assert_eq!(at(&rows[1], column), &Value::Double(rate));
        }
    }

    #[test]
    fn a_run_over_an_older_one_leaves_nothing_of_that() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorded = outcome(1, &[1.0]);
        recorded.series = vec![FlowSeries { flow: "flow-1".into(), ..FlowSeries::default() }];
        recorded.queues = vec![QueueSeries { link: "a-b".into(), points: Vec::new() }];
        let estimators = vec![EstimatorOutcome { name: "ewma".into(), ..Default::default() }];
        recorded.flows[0].observers = Observers { estimators, ..Observers::default() };
        assert_eq!(write_run(dir.path(), &recorded).unwrap().len(), 5);
        let other = dir.path().join("notes.txt");
        std::fs::write(&other, "the user's").unwrap();
        let files = write_run(dir.path(), &outcome(2, &[1.0])).unwrap();
        let there = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path());
        let mut there: Vec<_> = there.filter(|path| *path != other).collect();
        there.sort_by_key(|path| files.iter().position(|file| file == path));
        assert_eq!(there, files, "and the user's own file stays");
        assert!(other.exists());
    }

    #[test]
    fn a_result_says_which_build_wrote_it() {
        let dir = tempfile::tempdir().unwrap();
        let files = write_run(dir.path(), &outcome(1, &[1.0])).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
        assert_eq!(json["build"], crate::store::build());
    }

    #[test]
    fn without_series_there_is_no_series_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(write_run(&dir.path().join("new"), &outcome(1, &[1.0])).unwrap().len(), 2);
    }
}
