//! What happened on radio media over time.

use crate::store::Columns;
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use std::sync::Arc;
use truckee_scenario::outcome::{FlowOutcome, MediumSeries};

fn text(name: &str, values: StringArray) -> (Field, ArrayRef) {
    (Field::new(name, DataType::Utf8, true), Arc::new(values))
}

fn real(name: &str, values: Float64Array) -> (Field, ArrayRef) {
    (Field::new(name, DataType::Float64, false), Arc::new(values))
}

fn whole(name: &str, values: UInt32Array) -> (Field, ArrayRef) {
    (Field::new(name, DataType::UInt32, false), Arc::new(values))
}

/// The name of a station.
fn name(medium: &MediumSeries, station: u32) -> Option<&str> {
    medium.stations.get(station as usize).map(String::as_str)
}

/// `places.parquet`.
pub fn places(all: &[MediumSeries]) -> Columns {
    let points = || all.iter().flat_map(|medium| medium.places.iter().map(move |point| (medium, point)));
    vec![
        text("medium", points().map(|(medium, _)| Some(medium.medium.as_str())).collect()),
        text("station", points().map(|(medium, p)| name(medium, p.station)).collect()),
        real("t_s", points().map(|(_, p)| p.t).collect()),
        real("x_m", points().map(|(_, p)| p.x).collect()),
        real("y_m", points().map(|(_, p)| p.y).collect()),
    ]
}

/// `frames.parquet`.
pub fn frames(all: &[MediumSeries]) -> Columns {
    let frames = || all.iter().flat_map(|medium| medium.frames.iter().map(move |frame| (medium, frame)));
    vec![
        text("medium", frames().map(|(medium, _)| Some(medium.medium.as_str())).collect()),
        real("t_s", frames().map(|(_, f)| f.t).collect()),
        real("airtime_s", frames().map(|(_, f)| f.airtime).collect()),
        text("from", frames().map(|(medium, f)| name(medium, f.from)).collect()),
        text("to", frames().map(|(medium, f)| f.to.and_then(|to| name(medium, to))).collect()),
        text("kind", frames().map(|(_, f)| Some(f.kind)).collect()),
        real("rate_bps", frames().map(|(_, f)| f.rate).collect()),
        whole("bytes", frames().map(|(_, f)| f.bytes).collect()),
        whole("packets", frames().map(|(_, f)| f.packets).collect()),
        whole("lost", frames().map(|(_, f)| f.lost).collect()),
        text("failure", frames().map(|(_, f)| f.failure).collect()),
    ]
}

/// `hops.parquet`.
pub fn hops(all: &[MediumSeries], flows: &[FlowOutcome]) -> Columns {
    let hops = || all.iter().flat_map(|medium| medium.hops.iter().map(move |hop| (medium, hop)));
    let flow = |flow: u32| flows.get(flow as usize).map(|flow| flow.name.as_str());
    vec![
        text("medium", hops().map(|(medium, _)| Some(medium.medium.as_str())).collect()),
        text("flow", hops().map(|(_, hop)| flow(hop.flow)).collect()),
        real("t_s", hops().map(|(_, hop)| hop.t).collect()),
        text("from", hops().map(|(medium, hop)| name(medium, hop.from)).collect()),
        text("to", hops().map(|(medium, hop)| name(medium, hop.to)).collect()),
    ]
}
