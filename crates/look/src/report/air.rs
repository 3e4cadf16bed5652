//! Radio media on a run's page: what each station did, its airtime over time, and a map that moves.
//!
//! Frames are many: what a map shows of them is gathered in stretches of time, as many as a reader can tell apart.

use super::model::{
    Axis, Cell, Column, Figure, Kind, Map, MapLink, MapStation, MapWay, Section, Series, Table,
};
use super::points::{Air, Frame, Way};
use super::value::{list, text};
use serde_json::Value;
use std::collections::BTreeMap;

/// Stretches of time on a map.
const STRETCHES: usize = 500;
/// Flows whose ways are drawn at most, and colours for them: blue, red and ochre mean something else there.
const WAY_COLOURS: [usize; 4] = [2, 3, 5, 6];
/// Stations whose airtime is drawn at most: those that were longest on the air.
const MOST_STATIONS: usize = 8;

/// The sections of all media; none where there is no medium.
pub(super) fn sections(result: &Value, air: &[Air], end: f64) -> Vec<Section> {
    list(&result["media"])
        .iter()
        .map(|medium| {
            let name = text(&medium["name"]);
            let told = air.iter().find(|air| air.medium == name).filter(|_| end > 0.0);
            Section {
                title: format!("Medium {name}"),
                says: told.map_or_else(String::new, |_| SAYS.to_owned()),
                tables: vec![stations(medium)],
                figures: told.map(|air| airtime(air, end)).into_iter().collect(),
                map: told.map(|air| map(air, end)),
                ..Section::default()
            }
        })
        .collect()
}

const SAYS: &str = "The map follows the pointer in the figures, or its own slider. Lines are frames from station to \
                    station, the wider the more. A broken line is the way that a flow's data went last. Rings are attempts that a receiver did not get, the larger the \
                    greater their share: red because of others, ochre because of noise or distance.";

/// What each station did.
fn stations(medium: &Value) -> Table {
    let numbers = [
        "Airtime",
        "Packets",
        "Attempts",
        "Met others",
        "Noise",
        "Weak",
        "Lost: queue",
        "channel",
        "collision",
        "reach",
        "Mean queue / packets",
    ];
    let row = |s: &Value| {
        let number = |key: &str| s[key].as_f64();
        let met = ["collisions", "receiver_sending", "reserved"].map(|key| number(key).unwrap_or(0.0));
        // Causes that took nothing are not written.
        let lost = |cause: &str| Cell::count(s["drops"][cause].as_f64().or(Some(0.0)));
        vec![
            Cell::words(text(&s["name"])),
            Cell::share(number("airtime")),
            Cell::count(number("packets")),
            Cell::count(number("attempts")),
            Cell::count(Some(met.iter().sum())),
            Cell::count(number("noise")),
            Cell::count(number("weak")),
            lost("queue"),
            lost("channel"),
            lost("collision"),
            lost("reach"),
            Cell::quantity(number("mean_queue_packets"), ""),
        ]
    };
    Table {
        caption: "Each station. Met others: another's frame, a receiver that was sending, a medium that was reserved."
            .to_owned(),
        columns: [Column::words("Station")].into_iter().chain(numbers.map(Column::number)).collect(),
        rows: list(&medium["stations"]).iter().map(row).collect(),
    }
}

/// The stretch of time that a frame counts for.
fn stretch(frame: &Frame, end: f64) -> usize {
    ((frame.t / end * STRETCHES as f64) as usize).min(STRETCHES - 1)
}

/// Each station's share of the time, over time.
fn airtime(air: &Air, end: f64) -> Figure {
    let step = end / STRETCHES as f64;
    let mut shares = vec![vec![0.0; STRETCHES]; air.stations.len()];
    for frame in &air.frames {
        shares[frame.from][stretch(frame, end)] += frame.airtime / step;
    }
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let total = |station: &usize| shares[*station].iter().sum::<f64>();
    order.sort_by(|a, b| total(b).total_cmp(&total(a)));
    let series = order.iter().take(MOST_STATIONS).zip(0..).map(|(&station, colour)| {
        let at = |(k, share): (usize, &f64)| (k as f64 * step, *share);
        let points = shares[station].iter().enumerate().map(at);
        Series::new(&air.stations[station].name, Kind::Step, points).colour(colour % 7).dash(colour / 7)
    });
    Figure {
        title: format!("{}: airtime", air.medium),
        says: format!("Share of the time that a station was sending, in stretches of {step:.3} s."),
        x: Axis::new("Time / s"),
        y: Axis::from_zero("Share of the time"),
        link: super::flow::TIME.to_owned(),
        series: series.collect(),
        ..Figure::default()
    }
}

/// Where stations are, and who sends to whom with what success.
fn map(air: &Air, end: f64) -> Map {
    let mut stretches: Vec<BTreeMap<(usize, usize), MapLink>> = vec![BTreeMap::new(); STRETCHES];
    for frame in air.frames.iter().filter(|frame| frame.is_data || frame.failure.is_some()) {
        let Some(to) = frame.to else { continue };
        let link = stretches[stretch(frame, end)].entry((frame.from, to)).or_insert(MapLink {
            from: frame.from,
            to,
            ..MapLink::default()
        });
        let lost = f64::from(frame.lost.max(u32::from(frame.failure.is_some())));
        link.sent += f64::from(frame.packets.max(1));
        match frame.failure.as_deref() {
            Some("noise" | "weak") => link.faded += lost,
            Some(_) => link.met += lost,
            None => {}
        }
    }
    let stations = air.stations.iter().map(|station| {
        let mut places = MapStation { name: station.name.clone(), ..MapStation::default() };
        for &(t, x, y) in &station.places {
            places.t.push(t);
            places.x.push(x);
            places.y.push(y);
        }
        places
    });
    Map {
        title: format!("{}: map", air.medium),
        end,
        link: super::flow::TIME.to_owned(),
        stations: stations.collect(),
        stretches: stretches.into_iter().map(|links| links.into_values().collect()).collect(),
        ways: air.ways.iter().zip(WAY_COLOURS).map(way).collect(),
    }
}

/// A flow's way, in one of the colours for ways.
fn way((way, colour): (&Way, usize)) -> MapWay {
    let mut drawn = MapWay { flow: way.flow.clone(), colour, ..MapWay::default() };
    for &(t, from, to) in &way.hops {
        drawn.t.push(t);
        drawn.from.push(from);
        drawn.to.push(to);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::points::Station;

    fn frame(t: f64, from: usize, to: usize, failure: Option<&str>) -> Frame {
        Frame {
            t,
            airtime: 0.01,
            from,
            to: Some(to),
            is_data: true,
            packets: 1,
            lost: u32::from(failure.is_some()),
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn a_map_has_each_frame_in_its_stretch_and_what_became_of_it() {
        let station = |name: &str, x: f64| Station { name: name.into(), places: vec![(0.0, x, 0.0)] };
        let frames = vec![
            frame(0.0, 0, 1, None),
            frame(0.001, 0, 1, Some("collision")),
            frame(0.5, 1, 0, Some("noise")),
            frame(1.0, 0, 1, None),
        ];
        let way = Way { flow: "f".into(), hops: vec![(0.25, 0, 1)] };
        let stations = vec![station("a", 0.0), station("b", 9.0)];
        let air = Air { medium: "m".into(), stations, frames, ways: vec![way] };
        let map = map(&air, 1.0);
        assert_eq!((map.ways[0].t[0], map.ways[0].from[0], map.ways[0].to[0]), (0.25, 0, 1));
        assert_eq!(map.stretches.len(), STRETCHES);
        let first = &map.stretches[0][0];
        assert_eq!((first.from, first.to, first.sent, first.met, first.faded), (0, 1, 2.0, 1.0, 0.0));
        let middle = &map.stretches[STRETCHES / 2][0];
        assert_eq!((middle.from, middle.sent, middle.met, middle.faded), (1, 1.0, 0.0, 1.0));
        assert_eq!(map.stretches[STRETCHES - 1].len(), 1, "what begins at the end counts for the last one");
        let airtime = airtime(&air, 1.0);
        assert_eq!(airtime.series.len(), 2);
        assert!((airtime.series[0].y[0] - 0.02 * STRETCHES as f64).abs() < 1e-9);
    }
}
