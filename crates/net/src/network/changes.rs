//! What changes in mid run, and the routes that follow.

use super::{BY_TABLE, FUSED, Network, kind};
use crate::connection::{DESTINATION, Path};
use crate::packet::{Body, DropCause, PacketId, bits};
use std::sync::Arc;
use truckee_scenario::model::{Changed, LinkChange, NodeId, Which};
use truckee_scenario::route::{Hop, backwards};

impl Network<'_> {
    pub(super) fn on_change(&mut self, index: usize) {
        self.agenda.pop();
        let change: &LinkChange = match &self.scenario.changes[index].what {
            Changed::Link(change) => change,
            Changed::Receiver { flow, .. } => return self.change_receiver(*flow, index),
        };
        let directions: &[usize] = match change.direction {
            Which::Both => &[0, 1],
            Which::Forward => &[0],
            Which::Back => &[1],
        };
        for direction in directions {
            let link = 2 * change.link + direction;
            if let Some(tables) = &mut self.tables {
                tables.change(change.link, *direction == 0, change.delay, change.up);
            }
            match change.up {
                Some(true) => self.links.restore(link),
                Some(false) => {
                    for id in self.links.fail(link, self.now) {
                        self.packets.remove(id);
                        self.on_drop(id, link, DropCause::Outage, self.now);
                    }
                }
                None => {}
            }
            if (change.rate.is_some() || change.delay.is_some())
                && let Some(next) = self.links.change(link, self.now, change.rate, change.delay)
            {
                self.agenda.push_arrival(next, kind::arrival(link as u32, kind::NO_LANE));
            }
        }
        if change.delay.is_some() || change.up.is_some() {
            self.find_routes();
            self.recount_load();
        }
    }

    /// Another ACK policy for a flow's connections, those to come included: that of the change with this index.
    fn change_receiver(&mut self, flow: usize, change: usize) {
        let Some(policy) = self.policies[change].take() else { return };
        for index in self.flows[flow].connections() {
            let connection = &mut self.connections[index];
            if connection.open
                && let Some(receiver) = connection.ends.at[DESTINATION].rx_mut()
            {
                receiver.set_policy(policy.clone());
                self.flush(index, DESTINATION);
            }
        }
        Arc::make_mut(&mut self.flows[flow].template).set_policy(policy);
    }

    /// Works the routes out anew. Where there is none at present, the old one stays, and its packets are lost.
    pub(super) fn find_routes(&mut self) {
        let scenario = self.scenario;
        for (index, flow) in scenario.flows.iter().enumerate() {
            let mobile = self.cells.as_ref().is_some_and(|cells| cells.concern(flow.from, flow.to));
            if flow.route.is_some() || mobile {
                continue;
            }
            let first = self.flows[index].first_connection;
            let host = self.flows[index].host;
            let mut current = self.connections[first].forward;
            if host.is_some() {
                current = Path { start: current.start + 1, len: current.len - 1 };
            }
            let Some(hops) = self.other_way(current, flow.from, flow.to) else { continue };
            let forward = self.add_path(&behind(host, &self.numbers(&hops)));
            let back = self.add_path(&self.numbers(&backwards(&hops)));
            for lane in 0..self.flows[index].app.lanes() {
                let connection = &mut self.connections[first + lane];
                (connection.forward, connection.back) = (forward, back);
            }
        }
        let mut first = 0;
        for traffic in &scenario.traffic {
            let sources = first..first + traffic.sources as usize;
            first = sources.end;
            let mobile = self.cells.as_ref().is_some_and(|cells| cells.concern(traffic.from, traffic.to));
            if sources.is_empty() || traffic.route.is_some() || mobile {
                continue;
            }
            let current = self.sources[sources.start].path;
            if let Some(hops) = self.other_way(current, traffic.from, traffic.to) {
                let path = self.add_path(&self.numbers(&hops));
                self.sources[sources].iter_mut().for_each(|source| source.path = path);
            }
        }
    }

    /// The way from one node to another as it is at present; `None`: there is none.
    fn way(&mut self, from: usize, to: usize) -> Option<Vec<Hop>> {
        self.tables.as_mut()?.way(from, to)
    }

    /// The way that has taken the place of `current`, if one has.
    pub(super) fn other_way(&mut self, current: Path, from: usize, to: usize) -> Option<Vec<Hop>> {
        let stretch = current.start as usize..(current.start + current.len) as usize;
        self.way(from, to).filter(|hops| self.paths[stretch] != self.numbers(hops)[..])
    }

    /// Whether the packet follows a route that its owner no longer uses.
    pub(super) fn is_off_route(&self, id: PacketId, at: u32) -> bool {
        let packet = &self.packets[id];
        let index = match packet.body() {
            Body::Segment(index) => index,
            // A datagram is turned away only where its link is down, or a mobile host's first link ends.
            Body::Datagram(source) => return self.cells.is_some() && !self.sources[source].path.holds(at),
            Body::Message(_) | Body::Control(_) => return false,
        };
        let connection = &self.connections[index];
        let path = if packet.is(bits::FORWARD) { connection.forward } else { connection.back };
        !path.holds(at)
    }

    /// Sends a packet at the far end of link `from`, or at `node`, which has no way of its own any longer, on by the node's
    /// table. `at`: its position on the way it had, or [`BY_TABLE`].
    pub(super) fn send_by_table(&mut self, id: PacketId, at: u32, from: usize, node: Option<NodeId>) {
        if self.cells.is_some() && self.by_cells(id, from) {
            return;
        }
        let packet = self.packets[id];
        let at_node = |host| node.unwrap_or_else(|| self.far_end(from, host));
        let (node, to, fixed) = match packet.body() {
            Body::Control(_) => return self.packets.remove(id), // the network of cells has taken all of these
            Body::Datagram(source) => {
                let traffic = &self.scenario.traffic[self.sources[source].traffic];
                (at_node(traffic.from), traffic.to, traffic.route.is_some())
            }
            Body::Segment(index) => {
                let flow = &self.scenario.flows[self.connections[index].flow()];
                let to = if packet.is(bits::FORWARD) { flow.to } else { flow.from };
                (at_node(flow.from), to, flow.route.is_some())
            }
            // Routers have theirs from the medium.
            Body::Message(_) => return,
        };
        let next = match &mut self.tables {
            Some(tables) if !fixed && node != to => tables.next(self.scenario, node, to),
            _ => None,
        };
        if let Some(hop) = next {
            return self.send_over(id, hop);
        }
        self.packets.remove(id);
        if node == to && !fixed {
            return self.on_rare_arrival(id);
        }
        // It is lost at the link that it would have taken, or behind the one that it took last.
        let link = if at == BY_TABLE { from } else { (self.paths[at as usize] & !FUSED) as usize };
        self.on_drop(id, link, DropCause::Outage, self.now);
    }

    /// The node that a link leads to, or `host`: behind the scenario's links come those that stand for the time that a host
    /// takes.
    fn far_end(&self, link: usize, host: NodeId) -> NodeId {
        if link < 2 * self.scenario.links.len() { self.scenario.far_end(link) } else { host }
    }
}

/// A way that begins with the host's own time, if it takes any.
pub(super) fn behind(host: Option<u32>, links: &[u32]) -> Vec<u32> {
    host.into_iter().chain(links.iter().copied()).collect()
}
