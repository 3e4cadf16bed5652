//! How nodes go from access point to access point: the table `roam` of a `[[node]]`.

use super::cells::given_moves;
use super::diagnostics::{Diagnostics, MAX_TIME};
use super::link::Wiring;
use super::reader::Reader;
use super::{medium, node};
use crate::document::tree::Value;
use crate::model::{Moves, NodeId, Roaming};
use crate::units::Dimension;
use truckee_tcp::Span;

/// dB. What an access point has to be ahead by: chosen, as drivers' defaults are.
const HYSTERESIS: f64 = 6.0;
/// Chosen: scanning left out, authentication and association take some ten milliseconds (Mishra, Shin and Arbaugh 2003, An
/// empirical analysis of the IEEE 802.11 MAC layer handoff process, tables 1 and 2), and a scan of few channels as much again.
const GAP: Span = Span::ms(50);

/// Reads it of all nodes that have it.
pub(super) fn read(
    diag: &Diagnostics<'_>,
    placed: &mut [node::Placed<'_>],
    media: &[medium::Placed<'_>],
    wiring: &Wiring<'_>,
    duration: Span,
) {
    for placed in placed {
        let Some(value) = placed.at.table().and_then(|table| table.get("roam")) else { continue };
        placed.place.roam = one(diag, value, placed.place.node, media, (wiring, duration));
    }
}

/// The access points of a node: one of each medium that it is on and does not serve itself.
pub(super) fn access_points(media: &[medium::Placed<'_>], node: NodeId) -> Vec<NodeId> {
    let of = |placed: &medium::Placed<'_>| {
        let medium = &placed.medium;
        medium.station_of(node)?;
        Some(medium.stations[medium.access_point?].node).filter(|point| *point != node)
    };
    media.iter().filter_map(of).collect()
}

fn one(
    diag: &Diagnostics<'_>,
    value: &Value,
    node: NodeId,
    media: &[medium::Placed<'_>],
    (wiring, duration): (&Wiring<'_>, Span),
) -> Option<Roaming> {
    let reader = Reader::of(diag, value, "how a node roams")?;
    let points = access_points(media, node);
    if points.len() < 2 {
        let message = format!("\"{}\" roams among {} access points", wiring.nodes[node], points.len());
        let help = "each access point has a [[medium]] of its own, and the node is a station of all of them"
            .to_owned();
        diag.report(&value.place, message, Some("two access points at least".into()), Some(help));
        reader.abandon();
        return None;
    }
    let gap = reader.time("gap", GAP, Span::ZERO..=MAX_TIME, "ms");
    let hysteresis = reader
        .get("hysteresis")
        .map(|value| diag.real(value, Dimension::Ratio, 0.0..=100.0, "a ratio from 0dB to 100dB"));
    let point = |value: &Value| {
        let name = diag.name(value)?;
        let found = wiring.find(name).filter(|found| points.contains(found));
        if found.is_none() {
            let known = points.iter().map(|point| wiring.nodes[*point].as_str());
            diag.unknown_name(&value.place, "access point of this node", name, known);
        }
        found
    };
    let to = reader.get("to").map(|value| {
        let items = diag.list(value, "times and access points such as [[\"10s\", \"ap2\"]]")?;
        given_moves(diag, items, duration, gap, point)
    });
    if let (Some(value), Some(_)) = (reader.get("to"), hysteresis) {
        diag.refuse(value, "\"hysteresis\" or \"to\", not both");
    }
    reader.finish();
    Some(match to {
        Some(Some(Moves::Given(to))) => Roaming { hysteresis: None, to, gap },
        Some(_) => return None,
        None => Roaming { hysteresis: Some(hysteresis.unwrap_or(Some(HYSTERESIS))?), to: Vec::new(), gap },
    })
}
