//! What depends on the ways packets take: whether there is one, and queues sized in bandwidth-delay products.

use super::diagnostics::Diagnostics;
use super::link::Drafts;
use super::queue::MAX_PACKETS;
use super::{flow, traffic};
use crate::document::tree::Place;
use crate::model::{self, Limit, Link, Medium, NodeId};
use crate::route::{Hop, Routes};
use std::collections::HashSet;
use std::sync::Arc;
use truckee_tcp::Span;
use truckee_tcp::segment::HEADER_BYTES;
use truckee_wireless::MAX_PACKET;

/// Bytes of a packet on a link that no flow crosses.
const DEFAULT_PACKET: u32 = 1500;

/// Most hops of all ways that differ.
const MAX_HOPS: usize = 10_000_000;

/// What the flows that cross a link have in common.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Crossing {
    /// Largest round-trip propagation delay.
    round_trip: Span,
    /// Largest packet, bytes; 0 if no flow crosses the link.
    packet: u32,
}

/// What joins the nodes.
pub(super) struct Joined<'s> {
    pub nodes: &'s [String],
    pub links: &'s [Link],
    pub media: &'s [Medium],
    pub places: &'s [model::Place],
}

/// A flow or cross traffic on its way.
struct Journey<'j> {
    kind: &'static str,
    name: &'j str,
    from: NodeId,
    to: NodeId,
    route: Option<&'j [NodeId]>,
    /// Bytes of its packets; 0 for cross traffic, which has no round trip.
    packet: u32,
    /// Bytes of its largest packets.
    largest: u32,
    place: &'j Place,
}

/// Looks for the way of every flow and all traffic. Returns what crosses each link. `complete`: whether all links,
/// nodes and media could be read; if not, a way that is missing is no problem of its own.
pub(super) fn check(
    diag: &Diagnostics<'_>,
    network: &Joined<'_>,
    flows: &[flow::Placed<'_>],
    traffic: &[traffic::Placed<'_>],
    complete: bool,
) -> Vec<Crossing> {
    let mut journeys: Vec<Journey<'_>> =
        flows.iter().map(of_flow).chain(traffic.iter().map(of_traffic)).collect();
    let Joined { nodes, links, media, places } = *network;
    // What a medium has to say of its stations' movements has been said.
    let routes = Routes::with_media(nodes, links, (media, places), None);
    let mut routes = routes.unwrap_or_else(|_| Routes::new(nodes, links));
    // Routes to one target after the other: the search for a target is done once.
    journeys.sort_by_key(|journey| (routes.hub(journey.to), journey.place_order()));
    let mut crossings = vec![Crossing::default(); links.len()];
    let mut stranded = Vec::new();
    let mut ways = HashSet::new();
    let mut hops = 0;
    for journey in &journeys {
        // Journeys with the same ends share their way where none is written.
        let new = journey.route.is_some() || ways.insert((journey.from, journey.to));
        let path = match journey.route {
            Some(route) => routes.along(route).map_err(|at| (route[at], route[at + 1])),
            None => routes.path(journey.from, journey.to).ok_or((journey.from, journey.to)),
        };
        match path {
            Ok(path) => {
                check_length(diag, &path, media, journey);
                hops += if new { path.len() } else { 0 };
                cross(&path, links, journey.packet, &mut crossings);
            }
            Err(gap) => stranded.push((journey, gap)),
        }
        if hops > MAX_HOPS {
            let message = format!("{} \"{}\" makes it {hops} hops of all ways", journey.kind, journey.name);
            diag.report(journey.place, message, Some(format!("at most {MAX_HOPS} hops in all")), None);
            break;
        }
    }
    if complete {
        stranded.sort_by_key(|(journey, _)| journey.place_order());
        for (journey, gap) in stranded {
            refuse(diag, network, journey, gap);
        }
    }
    crossings
}

fn of_flow<'j>(placed: &'j flow::Placed<'_>) -> Journey<'j> {
    let flow = &placed.flow;
    Journey {
        kind: "flow",
        name: &flow.name,
        from: flow.from,
        to: flow.to,
        route: flow.route.as_deref(),
        packet: flow.stack.mss + HEADER_BYTES,
        largest: flow.stack.mss + HEADER_BYTES,
        place: placed.place,
    }
}

fn of_traffic<'j>(placed: &'j traffic::Placed<'_>) -> Journey<'j> {
    let traffic = &placed.traffic;
    Journey {
        kind: "traffic",
        name: &traffic.name,
        from: traffic.from,
        to: traffic.to,
        route: traffic.route.as_deref(),
        packet: 0,
        largest: traffic.packet,
        place: placed.place,
    }
}

impl Journey<'_> {
    fn place_order(&self) -> usize {
        match self.place {
            Place::File { start, .. } => *start,
            Place::Override { .. } => 0,
        }
    }
}

/// Counts a flow on every link of its way.
fn cross(path: &[Hop], links: &[Link], packet: u32, crossings: &mut [Crossing]) {
    if packet == 0 {
        return;
    }
    // A medium has no delay to speak of.
    let crossed = || path.iter().filter_map(|hop| hop.direction()).map(|direction| direction as usize / 2);
    let there_and_back = |link: usize| links[link].forward.delay.saturating_add(links[link].back.delay);
    let round_trip = crossed().map(there_and_back).fold(Span::ZERO, Span::saturating_add);
    for link in crossed() {
        let crossing = &mut crossings[link];
        crossing.round_trip = crossing.round_trip.max(round_trip);
        crossing.packet = crossing.packet.max(packet);
    }
}

/// Refuses packets that are too long for a frame.
fn check_length(diag: &Diagnostics<'_>, path: &[Hop], media: &[Medium], journey: &Journey<'_>) {
    let medium = path.iter().find_map(|hop| match hop {
        Hop::Medium { medium, .. } => Some(*medium),
        Hop::Link { .. } => None,
    });
    if let Some(medium) = medium.filter(|_| journey.largest > MAX_PACKET) {
        let (Journey { kind, name, largest, .. }, medium) = (journey, &media[medium].name);
        let message = format!("{kind} \"{name}\": packets of {largest} bytes over \"{medium}\"");
        diag.report(journey.place, message, Some(format!("at most {MAX_PACKET} bytes, a frame")), None);
    }
}

fn refuse(diag: &Diagnostics<'_>, network: &Joined<'_>, journey: &Journey<'_>, (from, to): (NodeId, NodeId)) {
    let (nodes, media) = (network.nodes, !network.media.is_empty());
    let Journey { kind, name, .. } = journey;
    let (from, to) = (&nodes[from], &nodes[to]);
    let (message, expected) = match journey.route {
        Some(_) => {
            (format!("{kind} \"{name}\": no link joins \"{from}\" and \"{to}\""), "a route along links")
        }
        None => (
            format!("{kind} \"{name}\": no route from \"{from}\" to \"{to}\""),
            if media {
                "stations in reach of each other at the beginning, or links"
            } else {
                "nodes that links connect"
            },
        ),
    };
    diag.report(journey.place, message, Some(expected.to_owned()), None);
}

/// Turns sizes in bandwidth-delay products into whole packets: the direction's rate times the largest round-trip
/// propagation delay of the flows that cross the link, over their largest packet; without flows, the link's own
/// two delays and packets of 1500 bytes. Rounded up, at least 1.
pub(super) fn size_queues(links: &mut [Link], drafts: &[Drafts], crossings: &[Crossing]) {
    for ((link, drafts), crossing) in links.iter_mut().zip(drafts).zip(crossings) {
        let [forward, back] = &**drafts;
        let own = link.forward.delay.saturating_add(link.back.delay);
        let (round_trip, packet) = match crossing.packet {
            0 => (own, DEFAULT_PACKET),
            packet => (crossing.round_trip, packet),
        };
        for (direction, draft) in [(&mut link.forward, forward), (&mut link.back, back)] {
            let Some(products) = draft.products else { continue };
            let bits = direction.rate as f64 * (round_trip.seconds()) * products;
            // Half a millionth of a packet is rounding, not a packet.
            let packets = (bits / (8.0 * f64::from(packet)) - 5e-7).ceil().clamp(1.0, MAX_PACKETS) as u64;
            *Arc::make_mut(direction).queue.limit_mut() = Limit::Packets(packets);
        }
    }
}
