//! Media of IEEE 802.11: the tables under `[[medium]]`.

mod routing;
mod settings;

use super::diagnostics::Diagnostics;
use super::link::Wiring;
use super::reader::Reader;
use super::{node, queue};
use crate::document::tree::{Place, Value};
use crate::model::{self, Limit, Medium, NodeId, Queue, Routing, Station};
pub(crate) use settings::rate_name;
use std::collections::{BTreeSet, HashMap};
use truckee_wireless::{ConfigError, MediumConfig, Position};

/// Most stations of one medium.
const MAX_STATIONS: usize = 1000;
/// Packets in a station's queue, as ns-2 has it; and where aggregates are made, which take many at a time.
const QUEUE: u64 = 50;
const AGGREGATING_QUEUE: u64 = 500;
/// dBm.
const POWER: f64 = 15.0;

/// A medium and where it was written.
pub(super) struct Placed<'d> {
    pub medium: Medium,
    pub place: &'d Place,
}

/// Reads all media. `nodes`: those that have a place.
pub(super) fn read<'d>(
    diag: &'d Diagnostics<'d>,
    items: &'d [Value],
    nodes: &[node::Placed<'_>],
    wiring: &Wiring<'_>,
) -> Vec<Placed<'d>> {
    let mut names = BTreeSet::new();
    let mut list = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(reader) = Reader::of(diag, item, "a medium") else { continue };
        let name = match reader.own("name") {
            Some(value) => diag.name(value).unwrap_or_default().to_owned(),
            None => format!("medium-{}", index + 1),
        };
        let (medium, known) = entry(&reader, name.clone(), nodes, wiring);
        // The standard decides which keys there are.
        if known {
            reader.finish();
        } else {
            reader.abandon();
        }
        if !names.insert(name.clone()) {
            let message = format!("a second medium is called \"{name}\"");
            diag.report(&item.place, message, Some("a name of its own".into()), None);
        }
        list.extend(medium.map(|medium| Placed { medium, place: &item.place }));
    }
    list
}

fn entry(
    reader: &Reader<'_>,
    name: String,
    nodes: &[node::Placed<'_>],
    wiring: &Wiring<'_>,
) -> (Option<Medium>, bool) {
    let diag = reader.diag;
    let config = settings::read(reader);
    let known = config.is_some();
    let rate = config.as_ref().and_then(|config| settings::rate(reader, config));
    let power = reader.get("power").and_then(|value| node::power(diag, value)).unwrap_or(POWER);
    let queue = queue(reader, config.as_ref());
    let stations = stations(reader, nodes, power, wiring);
    let access_point = reader.get("access_point").and_then(|value| {
        let name = diag.text(value, "the name of a node")?;
        let node = wiring.node(diag, value, name)?;
        let found = stations.iter().position(|station| station.node == node);
        if found.is_none() {
            let message = format!("\"{name}\" is no station of this medium");
            diag.report(&value.place, message, Some("one of its stations".into()), None);
        }
        found
    });
    let routing = routing::read(reader);
    if let (Some(value), Routing::Protocol(_), Some(_)) = (reader.get("routing"), &routing, access_point) {
        let message = "a routing protocol where there is an access point".to_owned();
        diag.report(
            &value.place,
            message,
            Some("a medium without \"access_point\", or \"static\"".into()),
            None,
        );
    }
    let (Some(config), Some(rate)) = (config, rate) else { return (None, known) };
    let medium = Medium { name, config, stations, access_point, power, rate, queue, routing };
    check(reader, &medium);
    (Some(medium), known)
}

fn queue(reader: &Reader<'_>, config: Option<&MediumConfig>) -> Queue {
    let diag = reader.diag;
    let aggregates = config.is_some_and(|config| config.aggregation.is_some());
    let limit = Limit::Packets(if aggregates { AGGREGATING_QUEUE } else { QUEUE });
    let Some(value) = reader.get("queue") else { return Queue::DropTail { limit } };
    let Some(draft) = queue::read(diag, value) else { return Queue::DropTail { limit } };
    let table = value.table();
    let refuse = |key: &str, why: &str| {
        let place = table.and_then(|t| t.get(key)).map_or(&value.place, |value| &value.place);
        diag.report(place, format!("{key} {why}"), Some("a queue without it".into()), None);
    };
    if draft.products.is_some() {
        refuse("size", "in bandwidth-delay products, which a medium does not have");
    }
    if draft.ack_filter {
        refuse("ack_filter", "is for links");
    }
    if draft.after_channel {
        refuse("after_channel", "is for links, whose channel acts at once");
    }
    let mut queue = draft.queue;
    if let (Queue::DropTail { limit: Limit::None }, None) = (&queue, table.and_then(|t| t.get("size"))) {
        *queue.limit_mut() = limit;
    }
    queue
}

/// The stations by name, or all nodes that have a place.
fn stations(
    reader: &Reader<'_>,
    nodes: &[node::Placed<'_>],
    power: f64,
    wiring: &Wiring<'_>,
) -> Vec<Station> {
    let diag = reader.diag;
    let by_node: HashMap<NodeId, &node::Placed<'_>> =
        nodes.iter().map(|placed| (placed.place.node, placed)).collect();
    let station =
        |placed: &node::Placed<'_>| Station { node: placed.place.node, power: placed.power.unwrap_or(power) };
    let mut stations = Vec::new();
    let mut seen = BTreeSet::new();
    let expected = "a list of nodes such as [\"ap\", \"phone\"], or \"n*\" for n1, n2, …";
    match reader.get("stations") {
        None => stations.extend(nodes.iter().map(station)),
        Some(value) => {
            for item in diag.list(value, expected).unwrap_or_default() {
                let Some(name) = diag.text(item, expected) else { continue };
                for (node, name) in named(diag, item, name, wiring) {
                    match by_node.get(&node) {
                        Some(placed) if seen.insert(node) => stations.push(station(placed)),
                        Some(_) => {
                            let message = format!("\"{name}\" is a station of this medium already");
                            diag.report(&item.place, message, Some("each node once".into()), None);
                        }
                        None => {
                            let help =
                                format!("write [[node]] with name = \"{name}\" and at = [\"0m\", \"80m\"]");
                            let message = format!("\"{name}\" has no place");
                            diag.report(&item.place, message, Some("nodes with a place".into()), Some(help));
                        }
                    }
                }
            }
        }
    }
    let place = reader.get("stations").map_or(reader.place, |value| &value.place);
    if stations.len() < 2 {
        let message = format!("a medium of {} stations", stations.len());
        let help = "write [[node]] with a name and at = [\"0m\", \"80m\"] for each".to_owned();
        diag.report(place, message, Some("two stations at least".into()), Some(help));
    }
    if stations.len() > MAX_STATIONS {
        let message = format!("a medium of {} stations", stations.len());
        diag.report(place, message, Some(format!("at most {MAX_STATIONS} stations")), None);
        stations.truncate(2);
    }
    stations
}

/// The node of a name, or those of a name with a star: n1, n2, … up to the first that is missing.
fn named(diag: &Diagnostics<'_>, item: &Value, name: &str, wiring: &Wiring<'_>) -> Vec<(NodeId, String)> {
    if !name.contains('*') {
        return wiring.node(diag, item, name).map(|node| (node, name.to_owned())).into_iter().collect();
    }
    let copies = (1..).map(|k: u64| name.replace('*', &k.to_string()));
    let there: Vec<String> = copies.take_while(|name| wiring.has_node(name)).collect();
    if there.is_empty() {
        wiring.node(diag, item, &name.replace('*', "1"));
    }
    there.into_iter().filter_map(|name| Some((wiring.node(diag, item, &name)?, name))).collect()
}

/// What the medium itself has to say of its settings.
fn check(reader: &Reader<'_>, medium: &Medium) {
    let somewhere = vec![Position::default(); medium.stations.len()];
    let stations = medium.station_configs(&somewhere);
    if stations.len() < 2 {
        return;
    }
    if let Err(ConfigError { place, value, expected }) =
        truckee_wireless::Medium::new(&medium.config, &stations, 0)
    {
        let message = format!("medium \"{}\": {place} {value}", medium.name);
        reader.diag.report(reader.place, message, Some(expected), None);
    }
}

/// Refuses routing protocols where links change in mid run: who has lost his way goes by tables, which know nothing of
/// them.
pub(super) fn check_changes(diag: &Diagnostics<'_>, media: &[Placed<'_>], changes: usize) {
    let routed = |placed: &&Placed<'_>| placed.medium.routing != Routing::Static;
    for Placed { medium, place } in media.iter().filter(routed).filter(|_| changes > 0) {
        let message = format!("\"{}\" has a routing protocol, and links change in mid run", medium.name);
        diag.report(place, message, Some("one of them".into()), None);
    }
}

/// Refuses stations that nobody ever reaches.
pub(super) fn check_reach(
    diag: &Diagnostics<'_>,
    media: &[Placed<'_>],
    nodes: &[String],
    (placed, places): (&[node::Placed<'_>], &[model::Place]),
) {
    for Placed { medium, place } in media {
        let moves = |station: &Station| {
            medium.movement(places, station.node).is_some_and(|movement| movement.moves())
        };
        if medium.stations.iter().any(moves) {
            continue;
        }
        let Ok(at) = medium.places(nodes, places, None) else { continue };
        let mut reached = vec![false; medium.stations.len()];
        for (a, b) in medium.pairs_in_reach(&at, medium.best_case()) {
            (reached[a], reached[b]) = (true, true);
        }
        for (station, _) in medium.stations.iter().zip(reached).filter(|(_, reached)| !reached) {
            let name = &nodes[station.node];
            let range = medium.slowest_rate().map_or(0.0, |rate| {
                medium.config.range(station.power + medium.best_case(), rate, model::REACH_PACKET)
            });
            let message = format!("\"{name}\" is out of reach of all others of \"{}\" for ever", medium.name);
            let expected = format!("stations within {range:.0} m of each other, or some that move");
            let node = placed.iter().find(|placed| placed.place.node == station.node);
            diag.report(node.map_or(place, |node| &node.at.place), message, Some(expected), None);
        }
    }
}
