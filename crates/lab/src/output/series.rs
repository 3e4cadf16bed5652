//! `series.parquet` and `queues.parquet`: what changed when.

use crate::store::{Columns, real};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
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
    gap: Option<f64>,
    min_float: Option<f64>,
    max_float: Option<f64>,
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
    events.extend(series.gaps.iter().map(|p| Event {
        gap: Some(p.gap),
        min_float: Some(p.min),
        max_float: Some(p.max),
        rtt: p.rtt,
        ..at("gap", p.t)
    }));
    events.extend(series.delays.iter().map(|p| Event { delay: Some(p.delay), ..at("delay", p.t) }));
    events
}

/// The kinds of events, and the columns beside `flow` and `t_s` in which each of them says something.
pub const KINDS: [(&str, &[&str]); 9] = [
    ("window", &["cwnd_bytes", "ssthresh_bytes", "flight_bytes", "rtt_s"]),
    ("segment", &["seq", "len_bytes", "retransmission"]),
    ("ack", &["seq"]),
    ("drop", &["seq", "is_ack", "cause", "link"]),
    ("loss", &["seq", "cause", "verdict", "event"]),
    ("estimate", &["estimator", "estimate_bps", "available_bps", "used_bps"]),
    ("phase", &["detector", "verdict"]),
    ("delay", &["delay_s"]),
    ("gap", &["gap_s", "min_float_s", "max_float_s", "rtt_s"]),
];

/// `series.parquet`, or of one of [`KINDS`] the events with the columns that it has.
pub fn series(all: &[FlowSeries], kind: Option<(&str, &[&str])>) -> Columns {
    let is_wanted = |event: &Event<'_>| kind.is_none_or(|(kind, _)| event.kind == kind);
    let events: Vec<Event<'_>> = all.iter().flat_map(events).filter(is_wanted).collect();
    let e = || events.iter();
    let text = |name, values: StringArray, null| {
        (Field::new(name, DataType::Utf8, null), Arc::new(values) as ArrayRef)
    };
    let flag = |name, values: BooleanArray| {
        (Field::new(name, DataType::Boolean, true), Arc::new(values) as ArrayRef)
    };
    let whole =
        |name, values: UInt64Array| (Field::new(name, DataType::UInt64, true), Arc::new(values) as ArrayRef);
    let times = Float64Array::from_iter_values(e().map(|x| x.t_s));
    let mut columns = vec![
        text("flow", e().map(|x| Some(x.flow)).collect(), false),
        (Field::new("t_s", DataType::Float64, false), Arc::new(times) as ArrayRef),
        text("kind", e().map(|x| Some(x.kind)).collect(), false),
        real("cwnd_bytes", e().map(|x| x.cwnd)),
        real("ssthresh_bytes", e().map(|x| x.ssthresh)),
        whole("flight_bytes", e().map(|x| x.flight).collect()),
        real("rtt_s", e().map(|x| x.rtt)),
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
        real("estimate_bps", e().map(|x| x.estimate)),
        real("available_bps", e().map(|x| x.available)),
        real("used_bps", e().map(|x| x.used)),
        text("detector", e().map(|x| x.detector).collect(), true),
        real("delay_s", e().map(|x| x.delay)),
        real("gap_s", e().map(|x| x.gap)),
        real("min_float_s", e().map(|x| x.min_float)),
        real("max_float_s", e().map(|x| x.max_float)),
    ];
    if let Some((_, own)) = kind {
        columns.retain(|(field, _)| ["flow", "t_s"].iter().chain(own).any(|name| name == field.name()));
    }
    columns
}

/// `queues.parquet`.
pub fn queues(all: &[QueueSeries]) -> Columns {
    let points = || all.iter().flat_map(|q| q.points.iter().map(|p| (q.link.as_str(), p)));
    let links = StringArray::from_iter_values(points().map(|(link, _)| link));
    let times = Float64Array::from_iter_values(points().map(|(_, p)| p.t));
    let packets = UInt32Array::from_iter_values(points().map(|(_, p)| p.packets));
    vec![
        (Field::new("link", DataType::Utf8, false), Arc::new(links) as ArrayRef),
        (Field::new("t_s", DataType::Float64, false), Arc::new(times)),
        (Field::new("packets", DataType::UInt32, false), Arc::new(packets)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use truckee_scenario::outcome::{AckPoint, WindowPoint};

    #[test]
    fn a_kind_of_events_has_its_own_columns_and_what_it_does_not_know_is_no_number() {
        let window = |rtt| WindowPoint { t: 0.5, cwnd: 1460.0, ssthresh: 65535.0, flight: 1460, rtt };
        let series_of = FlowSeries {
            flow: "a".into(),
            window: vec![window(None), window(Some(0.25))],
            acks: vec![AckPoint { t: 0.75, ack: 3 }],
            ..FlowSeries::default()
        };
        let all = [series_of];
        let names = |columns: &Columns| columns.iter().map(|(f, _)| f.name().clone()).collect::<Vec<_>>();
        let windows = series(&all, Some(KINDS[0]));
        assert_eq!(names(&windows), ["flow", "t_s", "cwnd_bytes", "ssthresh_bytes", "flight_bytes", "rtt_s"]);
        let rtt = windows[5].1.as_any().downcast_ref::<Float64Array>().unwrap();
        assert!(rtt.is_null(0) && rtt.values()[0].is_nan() && rtt.value(1) == 0.25);
        assert_eq!(series(&all, None)[0].1.len(), 3);
        for (kind, own) in KINDS {
            let columns = series(&all, Some((kind, own)));
            assert_eq!(columns.len(), 2 + own.len(), "{kind} has columns of these names");
        }
    }
}
