//! Cross traffic: the tables under `[[traffic]]`.

use super::app;
use super::diagnostics::{Diagnostics, MAX_TIME};
use super::link::Wiring;
use super::reader::Reader;
use crate::document::tree::{Place, Value};
use crate::model::Traffic;
use crate::units::format_time;
use std::collections::BTreeSet;
use truckee_tcp::{Profile, Span, Time};

/// Most sources of a scenario.
const MAX_SOURCES: u64 = 100_000;
/// Largest packet on the wire: IPv4's.
const MAX_PACKET: u64 = 65_535;

/// Cross traffic and where it was written.
pub(super) struct Placed<'d> {
    pub traffic: Traffic,
    pub place: &'d Place,
}

/// Reads all cross traffic.
pub(super) fn read<'d>(
    diag: &'d Diagnostics<'d>,
    items: &'d [Value],
    wiring: &Wiring<'_>,
    profile: Profile,
) -> Vec<Placed<'d>> {
    let mut names = BTreeSet::new();
    let mut sources = 0u64;
    let mut list = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(reader) = Reader::of(diag, item, "traffic") else { continue };
        let traffic = entry(&reader, index, wiring, profile);
        let arrivals_known = reader.get("kind").and_then(Value::text).is_some();
        if traffic.is_some() || arrivals_known {
            reader.finish()
        } else {
            reader.abandon()
        }
        let Some(traffic) = traffic else { continue };
        sources = sources.saturating_add(u64::from(traffic.sources));
        if sources > MAX_SOURCES {
            let message = format!("traffic \"{}\" makes it {sources} sources in all", traffic.name);
            diag.report(
                &item.place,
                message,
                Some(format!("at most {MAX_SOURCES} sources in a scenario")),
                None,
            );
        }
        if !names.insert(traffic.name.clone()) {
            let message = format!("a second traffic is called \"{}\"", traffic.name);
            diag.report(&item.place, message, Some("a name of its own".into()), None);
        }
        list.push(Placed { traffic, place: &item.place });
    }
    list
}

fn entry(reader: &Reader<'_>, index: usize, wiring: &Wiring<'_>, profile: Profile) -> Option<Traffic> {
    let diag = reader.diag;
    let name = match reader.get("name") {
        Some(value) => diag.name(value).unwrap_or_default().to_owned(),
        None => format!("traffic-{}", index + 1),
    };
    let (from, to) = (reader.required("from", "\"server\""), reader.required("to", "\"phone\""));
    let route = reader.get("route");
    let sources = reader.count("sources", 1, 1..=u64::from(u32::MAX)) as u32;
    let packet =
        reader.get("packet").and_then(|value| diag.bytes(value, 1..=MAX_PACKET, 1500)).unwrap_or(1500) as u32;
    let start = Time::at(reader.time("start", Span::ZERO, Span::ZERO..=MAX_TIME, "s"));
    let stop = reader.get("stop").and_then(|value| diag.moment(value, Span::ns(1)..=MAX_TIME));
    if stop.is_some_and(|stop| stop <= start) {
        let place = reader.get("stop").map_or(reader.place, |value| &value.place);
        let message = format!("it stops before it starts, at {}", format_time(start.since_start()));
        diag.report(place, message, Some("a stop after the start".into()), None);
    }
    let arrivals = app::arrivals(reader, profile);
    let (from, to) = wiring.pair(diag, from?, to?, None)?;
    let route = match route {
        Some(value) => Some(wiring.route(diag, value, (from, to), None)?),
        None => None,
    };
    Some(Traffic { name, from, to, sources, arrivals: arrivals?, packet, start, stop, route })
}
