//! Nodes' tables: from a destination to the next hop. Packets go by them that have no way of their own any longer, since
//! routes have changed under them; one that carries a way never looks here. Not for: finding routes, which is
//! `truckee_scenario::route`'s.

use std::collections::HashMap;
use truckee_scenario::Scenario;
use truckee_scenario::model::NodeId;
use truckee_scenario::route::{Hop, Routes};
use truckee_tcp::Span;

/// The tables of all nodes, filled in as they are asked for.
#[derive(Debug)]
pub struct Tables<'s> {
    routes: Routes<'s>,
    /// By node and destination.
    next: HashMap<(NodeId, NodeId), Option<Hop>>,
}

impl<'s> Tables<'s> {
    /// By routes as they are at the beginning.
    pub fn of(routes: Routes<'s>) -> Self {
        Self { routes, next: HashMap::new() }
    }

    /// A direction of a link changes.
    pub fn change(&mut self, link: usize, forward: bool, delay: Option<Span>, up: Option<bool>) {
        self.routes.change(link, forward, delay, up);
        self.next.clear();
    }

    /// Two stations of a medium speak to each other from now on, or no longer.
    pub fn join(&mut self, medium: usize, pair: (usize, usize), joined: bool) {
        self.routes.join(medium, pair, joined);
        self.next.clear();
    }

    /// The way from one node to another; `None`: there is none.
    pub fn way(&mut self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        self.routes.path(from, to)
    }

    /// The hop by which a packet at `node` comes nearer to the node `to`, which is another; `None`: there is no way.
    pub fn next(&mut self, scenario: &Scenario, node: NodeId, to: NodeId) -> Option<Hop> {
        if let Some(known) = self.next.get(&(node, to)) {
            return *known;
        }
        let way = self.way(node, to);
        let Some(way) = way else {
            self.next.insert((node, to), None);
            return None;
        };
        let mut here = node;
        for &hop in &way {
            self.next.insert((here, to), Some(hop));
            here = scenario.end_of(hop);
        }
        way.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_scenario::Document;

    #[test]
    fn a_packet_that_asks_at_each_node_takes_the_shortest_way() {
        let text = r#"
            duration = "1s"
            topology = { kind = "parking-lot", hops = 4, rate = "1Mbit/s", delay = "5ms" }
            link = [{ between = ["r2", "r4"], rate = "1Mbit/s", delay = "8ms" }]
        "#;
        let scenario = Document::parse("t.toml", text).unwrap().scenario().unwrap();
        let mut tables = Tables::of(Routes::new(&scenario.nodes, &scenario.links));
        let shortcut = scenario.links.len() - 1;
        for up in [true, false] {
            tables.change(shortcut, true, None, Some(up));
            for (from, to) in
                (0..scenario.nodes.len()).flat_map(|a| (0..a).flat_map(move |b| [(a, b), (b, a)]))
            {
                let (mut here, mut hops) = (from, Vec::new());
                while here != to {
                    let hop = tables.next(&scenario, here, to).unwrap();
                    hops.push(hop);
                    here = scenario.end_of(hop);
                }
                assert_eq!(Some(hops), tables.way(from, to));
            }
        }
    }

    #[test]
    fn where_no_way_leads_there_is_no_next_link() {
        let text = "duration = \"1s\"\nlink = [{ between = [\"a\", \"b\"], rate = \"1Mbit/s\" }]";
        let scenario = Document::parse("t.toml", text).unwrap().scenario().unwrap();
        let mut tables = Tables::of(Routes::new(&scenario.nodes, &scenario.links));
        tables.change(0, true, None, Some(false));
        let back = Hop::Link { link: 0, forward: false };
        assert_eq!((tables.next(&scenario, 0, 1), tables.next(&scenario, 1, 0)), (None, Some(back)));
    }
}
