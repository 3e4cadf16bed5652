//! The table of routes with the fewest hops. Source: RFC 3626, section 10. Of routes with equally many hops, which the
//! RFC leaves open, the one by the neighbour with the least number is taken.

use super::Olsr;
use crate::{Hop, NodeId, Time};
use std::collections::BTreeMap;

impl Olsr {
    pub(super) fn compute_routes(&mut self, now: Time) {
        let mut routes: BTreeMap<NodeId, (Hop, u32)> = BTreeMap::new();
        for hop in self.links.symmetric(now) {
            routes.entry(hop.neighbour).or_insert((hop, 1));
        }
        let mut ring: Vec<NodeId> = routes.keys().copied().collect();
        for &neighbour in &ring {
            if self.links.willingness.get(&neighbour).is_none_or(|&willingness| willingness == 0) {
                continue;
            }
            let Some(&(hop, _)) = routes.get(&neighbour) else { continue };
            for far in self.links.two_hop_by(neighbour).filter(|&far| far != self.node) {
                routes.entry(far).or_insert((hop, 2));
            }
        }
        // Ring by ring, each in the order of its nodes: of whom the topology says that one of this ring is the last before
        // them, those to whom there is no route yet.
        let mut hops = 1;
        while !ring.is_empty() {
            for &last in &ring {
                let Some(&(hop, _)) = routes.get(&last) else { continue };
                for to in self.topology.after(last).filter(|&to| to != self.node) {
                    routes.entry(to).or_insert((hop, hops + 1));
                }
            }
            hops += 1;
            ring.clear();
            ring.extend(routes.iter().filter(|&(_, &(_, so_far))| so_far == hops).map(|(&to, _)| to));
        }
        for (&to, &(hop, hops)) in &routes {
            if self.routes.get(&to) != Some(&(hop, hops)) {
                self.out.route(to, Some(hop), hops);
            }
        }
        for &to in self.routes.keys().filter(|&to| !routes.contains_key(to)) {
            self.out.route(to, None, 0);
        }
        self.routes = routes;
    }
}
