//! A Cellular IP network as TOML.

use super::toml::{array, moment, quoted, time};
use crate::Scenario;
use crate::model::{Cells, Handoff, MobileHost, Moves, NodeId};

/// The tables of the network and of its hosts: heading, keys, values.
pub fn text(scenario: &Scenario, cells: &Cells) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let name = |node: &NodeId| quoted(&scenario.nodes[*node]);
    let network = vec![
        ("gateway", name(&cells.gateway)),
        ("stations", array(cells.stations.iter().map(name))),
        ("route_update", time(cells.route_update)),
        ("route_timeout", time(cells.route_timeout)),
        ("paging_update", time(cells.paging_update)),
        ("paging_timeout", time(cells.paging_timeout)),
        ("active_timeout", time(cells.active_timeout)),
        ("old_ways", quoted(if cells.replace { "replaced" } else { "expire" })),
        ("update_bytes", cells.update_bytes.to_string()),
    ];
    let hosts = cells.hosts.iter().map(|host| ("[[cells.host]]", host_lines(host, name)));
    [("[cells]", network)].into_iter().chain(hosts).collect()
}

fn host_lines(host: &MobileHost, name: impl Fn(&NodeId) -> String) -> Vec<(&'static str, String)> {
    let mut lines = vec![("node", name(&host.node)), ("at", name(&host.at)), ("gap", time(host.gap))];
    match host.handoff {
        Handoff::Hard => lines.push(("handoff", quoted("hard"))),
        Handoff::Semisoft { delay, hold } => lines.extend([
            ("handoff", quoted("semisoft")),
            ("semisoft_delay", time(delay)),
            ("hold", time(hold)),
        ]),
    }
    match &host.moves {
        Moves::Given(moves) => {
            let pair = |(at, to): &(_, NodeId)| array([moment(*at), name(to)]);
            lines.push(("moves", array(moves.iter().map(pair))));
        }
        Moves::Round { every, among, poisson } => lines.extend([
            ("every", time(*every)),
            ("among", array(among.iter().map(&name))),
            ("times", quoted(if *poisson { "poisson" } else { "regular" })),
        ]),
    }
    lines
}
