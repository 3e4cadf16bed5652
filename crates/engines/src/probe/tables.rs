//! Probed servers as Parquet: a row a server, a row a test. SI units; nulls where there is no value.

use super::kept::Kept;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field};
use parquet::errors::ParquetError;
use serde_json::Value;
use std::sync::Arc;
use truckee_kernel::probe::{Observation, Spread, Summary, summarise};
use truckee_lab::store::to_bytes;

type Column = (Field, ArrayRef);
/// A part of what a test's repetitions have in common.
type OfSummary = fn(&Summary) -> Spread;

fn words(name: &str, values: impl Iterator<Item = Option<String>>) -> Column {
    (Field::new(name, DataType::Utf8, true), Arc::new(values.collect::<StringArray>()))
}

fn counts(name: &str, values: impl Iterator<Item = Option<u64>>) -> Column {
    (Field::new(name, DataType::UInt64, true), Arc::new(values.collect::<UInt64Array>()))
}

fn numbers(name: &str, values: impl Iterator<Item = Option<f64>>) -> Column {
    (Field::new(name, DataType::Float64, true), Arc::new(values.collect::<Float64Array>()))
}

/// The table of servers.
pub(super) fn servers(all: &[&Kept]) -> Result<Vec<u8>, ParquetError> {
    let at = |pointer: &'static str| all.iter().map(move |k| k.report.pointer(pointer));
    let text = |name, pointer| words(name, at(pointer).map(|v| v.and_then(Value::as_str).map(str::to_owned)));
    let count = |name, pointer| counts(name, at(pointer).map(|v| v.and_then(Value::as_u64)));
    let number = |name, pointer| numbers(name, at(pointer).map(|v| v.and_then(Value::as_f64)));
    to_bytes(vec![
        text("url", "/url"),
        text("tested", "/tested"),
        text("address", "/address"),
        count("status", "/status"),
        count("hops", "/hops"),
        count("answer_bytes", "/answer_bytes"),
        text("reaction", "/verdict/reaction"),
        text("confidence", "/verdict/confidence"),
        count("agreeing", "/verdict/agreeing"),
        count("judged", "/verdict/judged"),
        count("limit", "/verdict/limit"),
        number("cap", "/verdict/cap"),
        count("initial_window", "/verdict/initial_window"),
        count("initial_window_bytes", "/verdict/initial_window_bytes"),
        count("handshake_segments", "/verdict/handshake_segments"),
        count("mss", "/verdict/mss"),
        number("first_retransmission_s", "/verdict/retransmission/first_s"),
        number("retransmitted_segments", "/verdict/retransmission/segments"),
        text("fault", "/not_judged/name"),
        text("fault_words", "/not_judged/words"),
    ])
}

/// The table of sites: of each server and test, what its repetitions have in common.
pub(super) fn sites(all: &[&Kept]) -> Result<Vec<u8>, ParquetError> {
    let rows: Vec<(&str, Summary)> = all
        .iter()
        .flat_map(|k| summarise(&k.tests).into_iter().map(|summary| (k.url.as_str(), summary)))
        .collect();
    let mut columns = vec![
        words("url", rows.iter().map(|(url, _)| Some((*url).to_owned()))),
        words("test", rows.iter().map(|(_, s)| Some(s.test.to_string()))),
        counts("runs", rows.iter().map(|(_, s)| Some(s.runs.into()))),
    ];
    let spreads: [(&str, OfSummary); 4] = [
        ("data_packets", |s| s.data_packets),
        ("retransmitted", |s| s.retransmitted),
        ("packets", |s| s.packets),
        ("data_bytes", |s| s.data_bytes),
    ];
    for (name, get) in spreads {
        let of = || rows.iter().map(|(_, s)| get(s));
        columns.push(counts(&format!("{name}_min"), of().map(|s| Some(s.least))));
        columns.push(numbers(&format!("{name}_mean"), of().map(|s| Some(s.mean))));
        columns.push(counts(&format!("{name}_max"), of().map(|s| Some(s.most))));
    }
    to_bytes(columns)
}

/// The table of tests.
pub(super) fn tests(all: &[&Kept]) -> Result<Vec<u8>, ParquetError> {
    let rows: Vec<(&str, &Observation)> =
        all.iter().flat_map(|k| k.tests.iter().map(|o| (k.url.as_str(), o))).collect();
    let count = |name, get: fn(&Observation) -> Option<u64>| counts(name, rows.iter().map(|(_, o)| get(o)));
    let number = |name, get: fn(&Observation) -> Option<f64>| numbers(name, rows.iter().map(|(_, o)| get(o)));
    let whether = |name, get: fn(&Observation) -> bool| -> Column {
        let values: BooleanArray = rows.iter().map(|(_, o)| Some(get(o))).collect();
        (Field::new(name, DataType::Boolean, false), Arc::new(values))
    };
    to_bytes(vec![
        words("url", rows.iter().map(|(url, _)| Some((*url).to_owned()))),
        words("test", rows.iter().map(|(_, o)| Some(o.test.to_string()))),
        count("repetition", |o| Some(o.repetition.into())),
        words("began", rows.iter().map(|(_, o)| Some(o.began.clone()).filter(|at| !at.is_empty()))),
        number("rtt_s", |o| Some(o.rtt_s)),
        count("ttl", |o| Some(o.ttl.into())),
        count("status", |o| o.status.map(u64::from)),
        count("mss", |o| Some(o.mss.into())),
        count("window_segments", |o| Some(o.window_segments.into())),
        count("window_bytes", |o| Some(o.window_bytes)),
        count("handshake_segments", |o| Some(o.handshake_segments.into())),
        count("acks", |o| Some(o.acks.into())),
        count("withheld", |o| Some(o.withheld.into())),
        count("acked_segments", |o| Some(o.acked_segments.into())),
        count("acked_bytes", |o| Some(o.acked_bytes)),
        count("second_segments", |o| Some(o.second_segments.into())),
        count("second_bytes", |o| Some(o.second_bytes)),
        count("second_largest", |o| Some(o.second_largest.into())),
        count("late_segments", |o| Some(o.late_segments.into())),
        count("retransmitted", |o| Some(o.retransmitted.into())),
        count("early_retransmissions", |o| Some(o.early_retransmissions.into())),
        number("first_retransmission_s", |o| o.first_retransmission_s),
        count("data_packets", |o| Some(o.data_packets.into())),
        count("data_bytes", |o| Some(o.data_bytes)),
        whether("ended", |o| o.ended),
        count("missing_bytes", |o| Some(o.missing_bytes)),
        whether("application_limited", |o| o.application_limited),
    ])
}
