//! `series.parquet` and `queues.parquet`: what changed when.

use crate::store::to_bytes;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use parquet::errors::ParquetError;
use std::sync::Arc;
use truckee_scenario::outcome::{FlowSeries, QueueSeries};

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
    estimator: Option<&'a str>,
    estimate: Option<f64>,
    available: Option<f64>,
    used: Option<f64>,
    detector: Option<&'a str>,
    delay: Option<f64>,
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
    events.extend(series.estimates.iter().map(|p| Event {
        estimator: Some(&p.estimator),
        estimate: p.estimate,
        available: Some(p.available),
        used: Some(p.used),
        ..at("estimate", p.t)
    }));
    events.extend(series.phases.iter().map(|p| Event {
        detector: Some(&p.who),
        verdict: Some(if p.slow_start { "slow-start" } else { "avoidance" }),
        ..at("phase", p.t)
    }));
    events.extend(series.delays.iter().map(|p| Event { delay: Some(p.delay), ..at("delay", p.t) }));
    events
}

/// `series.parquet`.
pub(super) fn series(all: &[FlowSeries]) -> Result<Vec<u8>, ParquetError> {
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
        text("estimator", e().map(|x| x.estimator).collect(), true),
        float("estimate_bps", e().map(|x| x.estimate).collect(), true),
        float("available_bps", e().map(|x| x.available).collect(), true),
        float("used_bps", e().map(|x| x.used).collect(), true),
        text("detector", e().map(|x| x.detector).collect(), true),
        float("delay_s", e().map(|x| x.delay).collect(), true),
    ])
}

/// `queues.parquet`.
pub(super) fn queues(all: &[QueueSeries]) -> Result<Vec<u8>, ParquetError> {
    let points = || all.iter().flat_map(|q| q.points.iter().map(|p| (q.link.as_str(), p)));
    let links = StringArray::from_iter_values(points().map(|(link, _)| link));
    let times = Float64Array::from_iter_values(points().map(|(_, p)| p.t));
    let packets = UInt32Array::from_iter_values(points().map(|(_, p)| p.packets));
    to_bytes(vec![
        (Field::new("link", DataType::Utf8, false), Arc::new(links) as ArrayRef),
        (Field::new("t_s", DataType::Float64, false), Arc::new(times)),
        (Field::new("packets", DataType::UInt32, false), Arc::new(packets)),
    ])
}
