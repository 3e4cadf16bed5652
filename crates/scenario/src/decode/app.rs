//! What applications do with flows (`app`), and arrival processes, which applications and cross traffic share.

use super::diagnostics::{Diagnostics, MAX_BYTES, MAX_TIME};
use super::reader::Reader;
use crate::document::tree::{Kind, Value};
use crate::model::{App, Arrivals, Connections, Periods};
use std::sync::Arc;
use truckee_channel::CapacityTrace;
use truckee_tcp::{Profile, Span};

const KINDS: [&str; 6] = ["bulk", "file", "files", "request-response", "segments", "web-page"];
const ARRIVALS: [&str; 6] = ["cbr", "poisson", "on-off", "exponential", "pareto", "trace"];

/// Reads an application; sizes in segments count `mss` bytes each.
pub(super) fn read(diag: &Diagnostics<'_>, value: &Value, mss: u32, profile: Profile) -> Option<App> {
    let reader = Reader::of(diag, value, "an app")?;
    let Some(kind) = reader.kind(&KINDS, None) else {
        reader.abandon();
        return None;
    };
    let size = |key, example| {
        reader.required(key, example).and_then(|value| diag.bytes(value, 1..=MAX_BYTES, mss)).unwrap_or(1)
    };
    let count = || reader.get("count").and_then(|value| diag.count(value, 1..=u64::MAX));
    let app = match kind {
        "bulk" => App::Bulk,
        "file" => App::File { size: size("size", "\"20MB\"") },
        "files" => App::Files {
            size: size("size", "\"20kB\""),
            count: {
                reader.required("count", "10");
                count().unwrap_or(1)
            },
            connections: reader
                .get("connections")
                .and_then(|v| connections(diag, v))
                .unwrap_or(Connections::Separate),
            pause: reader.time("pause", Span::ZERO, Span::ZERO..=MAX_TIME, "ms"),
        },
        "request-response" => App::RequestResponse {
            request: size("request", "\"200B\""),
            response: size("response", "\"20kB\""),
            count: count(),
            think: reader.time("think", Span::ZERO, Span::ZERO..=MAX_TIME, "ms"),
        },
        "web-page" => App::WebPage {
            objects: reader.count("objects", 50, 1..=10_000) as u32,
            mean: size("size", "\"90kB\""),
            connections: reader.count("connections", 6, 1..=100) as u32,
        },
        _ => App::Segments {
            arrivals: reader
                .required("arrivals", "{ kind = \"poisson\", rate = \"1Mbit/s\" }")
                .and_then(|value| {
                    let inner = Reader::of(diag, value, "an arrival process")?;
                    let arrivals = arrivals(&inner, profile);
                    if arrivals.is_some() {
                        inner.finish()
                    } else {
                        inner.abandon()
                    }
                    arrivals
                })
                .unwrap_or(Arrivals::Cbr { rate: 1.0 }),
            size: reader
                .get("size")
                .and_then(|v| diag.bytes(v, 1..=u64::from(mss), mss))
                .unwrap_or(u64::from(mss)) as u32,
            count: count(),
        },
    };
    reader.finish();
    Some(app)
}

fn connections(diag: &Diagnostics<'_>, value: &Value) -> Option<Connections> {
    let parallel = |text: &str| text.strip_prefix("parallel:")?.trim().parse::<u32>().ok();
    let connections = match value.text() {
        Some("one") => Some(Connections::One),
        Some("separate") => Some(Connections::Separate),
        Some(text) => parallel(text).filter(|n| (1..=1000).contains(n)).map(Connections::Parallel),
        None => None,
    };
    if connections.is_none() {
        diag.refuse(value, "\"one\", \"separate\", or \"parallel:6\" (from 1 to 1000)");
    }
    connections
}

/// A short trace written out in the scenario itself; it has no name, for there is no file.
fn times_ms(diag: &Diagnostics<'_>, value: &Value) -> Option<Arc<CapacityTrace>> {
    const EXPECTED: &str =
        "milliseconds as whole numbers, not falling, the last above 0, such as [0, 0, 12, 40]";
    const MOST: usize = 10_000;
    let items = diag.list(value, EXPECTED)?;
    let whole = |item: &Value| match item.kind {
        Kind::Whole(n) => u32::try_from(n).ok(),
        _ => None,
    };
    let mut times: Vec<u32> = Vec::with_capacity(items.len());
    for item in items {
        match whole(item).filter(|ms| times.last().is_none_or(|last| last <= ms)) {
            Some(ms) => times.push(ms),
            None => {
                diag.refuse(item, EXPECTED);
                return None;
            }
        }
    }
    if times.last().is_none_or(|&last| last == 0) || times.len() > MOST {
        diag.refuse(value, &format!("{EXPECTED}; at most {MOST}"));
        return None;
    }
    Some(Arc::new(CapacityTrace { name: String::new(), opportunities_ms: times }))
}

/// Reads an arrival process from the keys of the table it is described in.
pub(super) fn arrivals(reader: &Reader<'_>, profile: Profile) -> Option<Arrivals> {
    let kind = reader.kind(&ARRIVALS, None)?;
    if kind == "trace" {
        if let Some(times) = reader.get("times_ms") {
            return times_ms(reader.diag, times).map(Arrivals::Trace);
        }
        let file = reader.required("file", "\"arrivals.trace\"")?;
        return reader.diag.trace(file).map(Arrivals::Trace);
    }
    let rate = reader.required_rate("rate");
    Some(match kind {
        "cbr" => Arrivals::Cbr { rate },
        "poisson" => Arrivals::Poisson { rate },
        _ => Arrivals::OnOff {
            rate,
            on: reader.required_time("on", Span::ns(1)..=MAX_TIME, "\"500ms\"").unwrap_or(Span::ns(1)),
            off: reader.required_time("off", Span::ZERO..=MAX_TIME, "\"500ms\"").unwrap_or(Span::ZERO),
            periods: if kind == "pareto" {
                let fits = |shape: f64| shape > 1.0;
                let shape = reader.get("shape");
                let shape = shape
                    .and_then(|v| reader.diag.number(v, fits, "a shape above 1, so that the mean is finite"));
                Periods::Pareto { shape: shape.unwrap_or(1.5) }
            } else {
                Periods::Exponential
            },
            whole_packets: match profile.whole_packets() {
                true => reader.choice("bursts", &["packets", "time"]) == "packets",
                false => reader.choice("bursts", &["time", "packets"]) == "packets",
            },
        },
    })
}
