//! The table `cells`: a Cellular IP network, and the mobile hosts in it.

use super::diagnostics::{Diagnostics, MAX_TIME};
use super::link::Wiring;
use super::reader::Reader;
use super::{flow, traffic};
use crate::cells::{radio, uplinks};
use crate::document::tree::{Kind, Place, Value};
use crate::model::{Cells, Change, Handoff, Link, MobileHost, Moves, NodeId};
use crate::units::format_time;
use truckee_tcp::{Span, Time};

/// Most base stations, and most mobile hosts.
const MAX_STATIONS: usize = 1000;
/// Most moves of a host.
const MAX_MOVES: u64 = 1_000_000;

/// What else a file says that a Cellular IP network has to do with.
pub(super) struct Rest<'r, 'd> {
    pub wiring: &'r Wiring<'d>,
    pub links: &'r [Link],
    pub flows: &'r [flow::Placed<'d>],
    pub traffic: &'r [traffic::Placed<'d>],
    pub changes: &'r [Change],
    pub duration: Span,
}

/// Reads the table.
pub(super) fn read(diag: &Diagnostics<'_>, value: &Value, rest: &Rest<'_, '_>) -> Option<Cells> {
    let reader = Reader::of(diag, value, "a Cellular IP network")?;
    let gateway = reader.required("gateway", "\"gateway\"").and_then(|value| node(diag, value, rest));
    let stations = reader.required("stations", "[\"bs1\", \"bs2\"]").and_then(|value| {
        let items = diag.list(value, "a list of nodes such as [\"bs1\", \"bs2\"]")?;
        few(diag, value, items)?.iter().map(|item| node(diag, item, rest)).collect::<Option<Vec<_>>>()
    });
    // Typical values of draft-ietf-mobileip-cellularip-00 (2000), protocol parameters (section 3.1 of the memo on its authors'
    // page, comet.columbia.edu/cellularip/spec.htm), from memory: of its text no more than the contents could be had.
    let time = |key, default| reader.time(key, default, Span::ms(1)..=MAX_TIME, "s");
    let (route_update, route_timeout) = (time("route_update", Span::s(3)), time("route_timeout", Span::s(9)));
    let (paging_update, paging_timeout) =
        (time("paging_update", Span::s(180)), time("paging_timeout", Span::s(540)));
    let active_timeout = time("active_timeout", Span::s(5));
    let replace = reader.choice("old_ways", &["expire", "replaced"]) == "replaced";
    let update_bytes = reader.count("update_bytes", 52, 28..=1500) as u32;
    let hosts = reader.required("host", "[{ node = \"phone\", at = \"bs1\" }]");
    let hosts =
        hosts.and_then(|value| few(diag, value, diag.list(value, "a list of mobile hosts, [[cells.host]]")?));
    reader.finish();
    let mut cells = Cells {
        gateway: gateway?,
        stations: stations?,
        hosts: Vec::new(),
        route_update,
        route_timeout,
        paging_update,
        paging_timeout,
        active_timeout,
        replace,
        update_bytes,
    };
    check_tree(diag, &value.place, &cells, rest)?;
    let items = hosts?;
    for item in items {
        cells.hosts.extend(host(diag, item, &cells, rest));
    }
    if cells.hosts.len() == items.len() {
        check_rest(diag, &value.place, &cells, rest);
    }
    Some(cells)
}

/// As many base stations or hosts as there may be.
fn few<'v>(diag: &Diagnostics<'_>, value: &Value, items: &'v [Value]) -> Option<&'v [Value]> {
    if items.len() > MAX_STATIONS {
        diag.refuse(value, &format!("at most {MAX_STATIONS}"));
        return None;
    }
    Some(items)
}

fn node(diag: &Diagnostics<'_>, value: &Value, rest: &Rest<'_, '_>) -> Option<NodeId> {
    rest.wiring.node(diag, value, diag.name(value)?)
}

/// Base stations and gateway have to be a tree that meets the outside at the gateway alone.
fn check_tree(diag: &Diagnostics<'_>, place: &Place, cells: &Cells, rest: &Rest<'_, '_>) -> Option<()> {
    let refuse = |message: String, expected: &str| {
        diag.report(place, message, Some(expected.to_owned()), None);
        None
    };
    let name = |node: NodeId| &rest.wiring.nodes[node];
    let mut known = vec![cells.gateway];
    for station in &cells.stations {
        if known.contains(station) {
            return refuse(format!("\"{}\" stands there twice", name(*station)), "each node once");
        }
        known.push(*station);
    }
    let up = uplinks(cells, rest.links);
    if let Some(lost) = cells.stations.iter().find(|station| !up.contains_key(station)) {
        let message = format!("no links lead from \"{}\" to the gateway", name(*lost));
        return refuse(message, "a tree of base stations with the gateway at its head");
    }
    let inner = rest.links.iter().filter(|link| cells.holds(link.first) && cells.holds(link.second)).count();
    if inner > cells.stations.len() {
        let message = format!("{inner} links among {} base stations and a gateway", cells.stations.len());
        return refuse(message, "a tree, which has as many links as base stations");
    }
    Some(())
}

fn host(diag: &Diagnostics<'_>, item: &Value, cells: &Cells, rest: &Rest<'_, '_>) -> Option<MobileHost> {
    let reader = Reader::of(diag, item, "a mobile host")?;
    let node = reader.required("node", "\"phone\"").and_then(|value| {
        let node = node(diag, value, rest)?;
        let taken = cells.holds(node) || cells.host(node).is_some();
        if taken {
            diag.refuse(value, "a node of its own, no base station and no other host's");
        }
        (!taken).then_some(node)
    });
    let radio = node.map(|node| radio(rest.links, node)).unwrap_or_default();
    // A base station that is there, and that the host has a link to.
    let station = |value: &Value| {
        let name = diag.name(value)?;
        let known = || cells.stations.iter().map(|station| rest.wiring.nodes[*station].as_str());
        let Some(found) = rest.wiring.find(name).filter(|found| cells.holds(*found)) else {
            diag.unknown_name(&value.place, "base station", name, known());
            return None;
        };
        if node.is_some() && !radio.contains_key(&found) {
            let message = format!("no link joins the mobile host and \"{name}\"");
            diag.report(
                &value.place,
                message,
                Some("a base station that the host has a link to".into()),
                None,
            );
            return None;
        }
        Some(found)
    };
    let at = reader.required("at", "\"bs1\"").and_then(station);
    let gap = reader.time("gap", Span::ZERO, Span::ZERO..=MAX_TIME, "ms");
    let handoff = match reader.choice("handoff", &["hard", "semisoft"]) {
        "semisoft" => Handoff::Semisoft {
            delay: reader.time("semisoft_delay", Span::ms(100), Span::ns(1)..=MAX_TIME, "ms"),
            hold: reader.time("hold", Span::ZERO, Span::ZERO..=MAX_TIME, "ms"),
        },
        _ => Handoff::Hard,
    };
    let lasts = match handoff {
        Handoff::Hard => gap,
        Handoff::Semisoft { delay, .. } => gap.saturating_add(delay),
    };
    let moves = moves(&reader, rest.duration, lasts, station);
    reader.finish();
    if let Some(stray) = radio.keys().find(|far| !cells.holds(**far)) {
        let message = format!("a link joins the mobile host and \"{}\"", rest.wiring.nodes[*stray]);
        diag.report(&item.place, message, Some("links to base stations alone".into()), None);
    }
    Some(MobileHost { node: node?, at: at?, handoff, gap, moves: moves? })
}

/// When a host moves; `lasts`: how long a handoff takes.
fn moves(
    reader: &Reader<'_>,
    duration: Span,
    lasts: Span,
    station: impl Fn(&Value) -> Option<NodeId>,
) -> Option<Moves> {
    let diag = reader.diag;
    let Some(every) = reader.get("every") else {
        let given = reader.get("moves").map_or(Some(&[] as &[Value]), |value| diag.list(value, PAIRS))?;
        return given_moves(diag, given, duration, lasts, station);
    };
    if let Some(value) = reader.get("moves") {
        diag.refuse(value, "\"moves\" or \"every\", not both");
    }
    let every = diag.time(every, lasts.max(Span::ms(1))..=MAX_TIME, "s");
    let among = reader.required("among", "[\"bs1\", \"bs2\"]").and_then(|value| {
        let items = diag.list(value, "base stations such as [\"bs1\", \"bs2\"]")?;
        if items.len() < 2 {
            diag.refuse(value, "two base stations at least");
        }
        items.iter().map(&station).collect::<Option<Vec<_>>>()
    });
    let poisson = reader.choice("times", &["regular", "poisson"]) == "poisson";
    let (every, among) = (every?, among?);
    if let Some(value) = reader.get("every").filter(|_| duration.ticks(every) > MAX_MOVES) {
        diag.refuse(value, &format!("at most {MAX_MOVES} moves in {}", format_time(duration)));
    }
    Some(Moves::Round { every, among, poisson })
}

const PAIRS: &str = "a list of times and base stations such as [[\"10s\", \"bs2\"]]";

pub(super) fn given_moves(
    diag: &Diagnostics<'_>,
    given: &[Value],
    duration: Span,
    lasts: Span,
    station: impl Fn(&Value) -> Option<NodeId>,
) -> Option<Moves> {
    let mut moves: Vec<(Time, NodeId)> = Vec::new();
    for item in given {
        let Kind::List(pair) = &item.kind else {
            diag.refuse(item, PAIRS);
            return None;
        };
        let [at, to] = pair.as_slice() else {
            diag.refuse(item, PAIRS);
            return None;
        };
        let (at, to) = (diag.moment(at, Span::ZERO..=duration)?, station(to)?);
        if moves.last().is_some_and(|(before, _)| at < before.saturating_add(lasts)) {
            let message = "this handoff begins before the one in front of it has ended".to_owned();
            diag.report(&item.place, message, Some("handoffs in order of time".into()), None);
        }
        moves.push((at, to));
    }
    Some(Moves::Given(moves))
}

/// What the rest of the file asks of such a network that it does not do.
fn check_rest(diag: &Diagnostics<'_>, place: &Place, cells: &Cells, rest: &Rest<'_, '_>) {
    let refuse = |place: &Place, message: String, expected: &str| {
        diag.report(place, message, Some(expected.to_owned()), None);
    };
    let is_host = |node: NodeId| cells.host(node).is_some();
    let name = |link: &Link| link.label(&rest.wiring.nodes).into_owned();
    for link in rest.links {
        let inside = |node: NodeId| cells.stations.contains(&node) || is_host(node);
        let outside = |node: NodeId| !cells.holds(node) && !is_host(node);
        if inside(link.first) && outside(link.second) || outside(link.first) && inside(link.second) {
            let message = format!("link \"{}\" leads out of the network, past the gateway", name(link));
            refuse(place, message, "one way in and out, at the gateway");
        }
        let filters = link.forward.ack_filter || link.back.ack_filter;
        if filters && (inside(link.first) || inside(link.second)) {
            let message = format!("link \"{}\" filters ACKs, of which there may be copies there", name(link));
            refuse(place, message, "no ack_filter on links of base stations and mobile hosts");
        }
    }
    if rest.changes.iter().filter_map(Change::of_link).any(|change| change.up.is_some()) {
        let message = "a change takes a link down or up".to_owned();
        refuse(place, message, "links of which handoffs alone decide whether they are up");
    }
    let flows = rest.flows.iter().map(|placed| {
        let flow = &placed.flow;
        let more = flow.route.is_some() || flow.processing > Span::ZERO;
        (placed.place, flow.from, flow.to, more)
    });
    let traffic = rest.traffic.iter().map(|placed| {
        let traffic = &placed.traffic;
        (placed.place, traffic.from, traffic.to, traffic.route.is_some())
    });
    for (place, from, to, more) in flows.chain(traffic) {
        if !is_host(from) && !is_host(to) {
            continue;
        }
        if cells.holds(from) || cells.holds(to) {
            let message = "a mobile host's other end is a base station or the gateway".to_owned();
            refuse(place, message, "an end behind the gateway, or another mobile host");
        }
        if more {
            let message = "a mobile host's way is the network's to find, and it sends at once".to_owned();
            refuse(place, message, "no route and no processing where an end is a mobile host");
        }
    }
}
