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
        for (neighbour, far) in self.links.two_hop() {
            let relays = self.links.willingness.get(&neighbour).is_some_and(|&willingness| willingness > 0);
            if let Some(&(hop, 1)) = routes.get(&neighbour)
                && relays
                && far != self.node
            {
                routes.entry(far).or_insert((hop, 2));
            }
        }
        // Ring by ring: of the edges of the topology those that lead from this ring to somebody new.
        let mut hops = 1;
        loop {
            let mut ring = BTreeMap::new();
            for (last, to) in self.topology.edges() {
                if let Some(&(hop, so_far)) = routes.get(&last)
                    && so_far == hops
                    && to != self.node
                    && !routes.contains_key(&to)
                {
                    ring.entry(to).or_insert((hop, hops + 1));
                }
            }
            if ring.is_empty() && hops > 1 {
                break;
            }
            routes.extend(ring);
            hops += 1;
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
