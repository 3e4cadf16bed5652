//! Which way packets go where a scenario does not say: least total propagation delay, then fewest hops, then the first
//! node names in order. The reader checks by it that there is a way, and engines follow it, so that all of them agree.
//! Links that go down or change their delay are told by [`Routes::change`]. Not for: when that happens, and what becomes
//! of packets then.

use crate::model::{Link, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use truckee_tcp::Nanos;

/// One link on a way, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// Index of the link.
    pub link: usize,
    /// Whether it is crossed from its first node to its second.
    pub forward: bool,
}

/// An edge of the directed graph.
#[derive(Debug, Clone, Copy)]
struct Edge {
    to: NodeId,
    delay: Nanos,
    hop: Hop,
}

/// Distance to a target: delay, then hops. Each hop counts, so it falls on every step towards the target.
type Distance = (Nanos, u32);

/// One direction of a link, as it is at present.
#[derive(Debug, Clone, Copy)]
struct State {
    from: NodeId,
    edge: Edge,
    /// Position of the link's name among all, which decides between links that are equal otherwise.
    rank: usize,
    up: bool,
}

/// Finds routes in one network. Nodes with a single neighbour never lie on somebody else's way, so the search runs
/// over the others only, and its result is kept for the last target: ask for routes in order of [`Routes::hub`] of
/// their ends and a dumbbell of 50,000 hosts costs two searches.
#[derive(Debug)]
pub struct Routes<'s> {
    nodes: &'s [String],
    /// Directions of links: of link k number 2k is forward, 2k + 1 back.
    directions: Vec<State>,
    /// Whether a direction has changed since the edges below were sorted out.
    stale: bool,
    /// Edges out of each node, the best one to each neighbour.
    out: Vec<Vec<Edge>>,
    /// Edges into each node, likewise.
    into: Vec<Vec<Edge>>,
    /// The same edges, those to nodes with a single neighbour left out.
    core_out: Vec<Vec<Edge>>,
    core_into: Vec<Vec<Edge>>,
    target: Option<(NodeId, Vec<Option<Distance>>)>,
}

impl<'s> Routes<'s> {
    /// The network of `links` over `nodes`, all of them up.
    pub fn new(nodes: &'s [String], links: &[Link]) -> Self {
        let mut by_name: Vec<usize> = (0..links.len()).collect();
        by_name.sort_by_key(|&link| links[link].name.as_str());
        let mut rank = vec![0; links.len()];
        by_name.iter().enumerate().for_each(|(position, &link)| rank[link] = position);
        let mut directions = Vec::with_capacity(2 * links.len());
        for (link, l) in links.iter().enumerate() {
            for (from, to, delay, forward) in
                [(l.first, l.second, l.forward.delay, true), (l.second, l.first, l.back.delay, false)]
            {
                let edge = Edge { to, delay, hop: Hop { link, forward } };
                directions.push(State { from, edge, rank: rank[link], up: true });
            }
        }
        let mut routes = Self {
            nodes,
            directions,
            stale: false,
            out: Vec::new(),
            into: Vec::new(),
            core_out: Vec::new(),
            core_into: Vec::new(),
            target: None,
        };
        routes.sort_out();
        routes
    }

    /// Changes one direction of a link: its delay, or whether it works.
    pub fn change(&mut self, hop: Hop, delay: Option<Nanos>, up: Option<bool>) {
        let state = &mut self.directions[2 * hop.link + usize::from(!hop.forward)];
        state.edge.delay = delay.unwrap_or(state.edge.delay);
        state.up = up.unwrap_or(state.up);
        self.stale = true;
    }

    /// Sorts out the edges that routes may use.
    fn sort_out(&mut self) {
        let mut working: Vec<&State> = self.directions.iter().filter(|state| state.up).collect();
        // Of parallel links the quickest, then the first by name.
        working.sort_by_key(|state| (state.from, state.edge.to, state.edge.delay, state.rank));
        working.dedup_by_key(|state| (state.from, state.edge.to));
        let mut out: Vec<Vec<Edge>> = vec![Vec::new(); self.nodes.len()];
        let mut into = out.clone();
        for State { from, edge, .. } in working {
            out[*from].push(*edge);
            into[edge.to].push(Edge { to: *from, ..*edge });
        }
        let leaf: Vec<bool> =
            (0..self.nodes.len()).map(|n| only_neighbour(&out[n], &into[n]).is_some()).collect();
        let core = |edges: &Vec<Vec<Edge>>| -> Vec<Vec<Edge>> {
            edges.iter().map(|e| e.iter().copied().filter(|edge| !leaf[edge.to]).collect()).collect()
        };
        (self.core_out, self.core_into) = (core(&out), core(&into));
        (self.out, self.into) = (out, into);
        self.target = None;
        self.stale = false;
    }

    /// The node through which `node` is reached: its only neighbour, or itself if it has several or none.
    pub fn hub(&self, node: NodeId) -> NodeId {
        only_neighbour(&self.out[node], &self.into[node]).unwrap_or(node)
    }

    /// The way from `from` to `to`; `None` if there is none. Empty if they are the same node.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        if from == to {
            return Some(Vec::new());
        }
        if self.stale {
            self.sort_out();
        }
        if let Some(direct) = self.last_step(from, to)
            && (self.hub(from) == to || self.hub(to) == from)
        {
            return Some(vec![direct.hop]);
        }
        let (start, end) = (self.hub(from), self.hub(to));
        let mut path = Vec::new();
        if start != from {
            path.push(self.last_step(from, start)?.hop);
        }
        self.aim_at(end);
        let (_, distance) = self.target.as_ref()?;
        let mut here = start;
        while here != end {
            let left = distance[here]?;
            let step = self.core_out[here]
                .iter()
                .filter(|edge| {
                    distance[edge.to].is_some_and(|(d, h)| (d.saturating_add(edge.delay), h + 1) == left)
                })
                .min_by_key(|edge| &self.nodes[edge.to])?;
            path.push(step.hop);
            here = step.to;
        }
        if end != to {
            path.push(self.last_step(end, to)?.hop);
        }
        Some(path)
    }

    /// The hops along the nodes of a written route; of parallel links the quickest, then the first by name.
    ///
    /// # Errors
    /// The position of the first node that no link joins to the next one.
    pub fn along(&self, route: &[NodeId]) -> Result<Vec<Hop>, usize> {
        let step = |(i, pair): (usize, &[NodeId])| self.last_step(pair[0], pair[1]).map(|e| e.hop).ok_or(i);
        route.windows(2).enumerate().map(step).collect()
    }

    fn last_step(&self, from: NodeId, to: NodeId) -> Option<Edge> {
        self.out[from].binary_search_by_key(&to, |edge| edge.to).ok().map(|at| self.out[from][at])
    }

    /// Computes the distances of all nodes with several neighbours to `target` (Dijkstra 1959).
    fn aim_at(&mut self, target: NodeId) {
        if self.target.as_ref().is_some_and(|(known, _)| *known == target) {
            return;
        }
        let mut distance: Vec<Option<Distance>> = vec![None; self.into.len()];
        let mut open = BinaryHeap::from([Reverse(((0, 0), target))]);
        while let Some(Reverse((so_far, node))) = open.pop() {
            if distance[node].is_some() {
                continue;
            }
            distance[node] = Some(so_far);
            for edge in &self.core_into[node] {
                if distance[edge.to].is_none() {
                    open.push(Reverse(((so_far.0.saturating_add(edge.delay), so_far.1 + 1), edge.to)));
                }
            }
        }
        self.target = Some((target, distance));
    }
}

/// The node at the other end of all these edges, if it is one only.
fn only_neighbour(out: &[Edge], into: &[Edge]) -> Option<NodeId> {
    let first = out.first().or(into.first())?.to;
    out.iter().chain(into).all(|edge| edge.to == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Direction, Limit, Queue};

    fn link(name: &str, first: NodeId, second: NodeId, delay: Nanos, back: Nanos) -> Link {
        let direction = |delay| Direction {
            rate: 1,
            delay,
            queue: Queue::DropTail { limit: Limit::None },
            ack_filter: false,
            after_channel: false,
            channel: Default::default(),
        };
        Link {
            name: name.into(),
            first,
            second,
            forward: direction(delay),
            back: direction(back),
            quick_start: true,
        }
    }

    fn nodes(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("n{i}")).collect()
    }

    fn links_of(path: Option<Vec<Hop>>) -> Vec<usize> {
        path.unwrap().iter().map(|hop| hop.link).collect()
    }

    #[test]
    fn the_least_delay_wins_then_fewest_hops_then_names() {
        let nodes = nodes(4);
        // 0-1-3 and 0-2-3 take 20 each; 0-3 directly takes 20 too.
        let square = [
            link("a", 0, 2, 10, 10),
            link("b", 2, 3, 10, 10),
            link("c", 0, 1, 10, 10),
            link("d", 1, 3, 10, 10),
        ];
        assert_eq!(links_of(Routes::new(&nodes, &square).path(0, 3)), [2, 3]);
        let mut with_direct = square.to_vec();
        with_direct.push(link("e", 0, 3, 20, 20));
        assert_eq!(links_of(Routes::new(&nodes, &with_direct).path(0, 3)), [4]);
        with_direct[4].forward.delay = 21;
        assert_eq!(links_of(Routes::new(&nodes, &with_direct).path(0, 3)), [2, 3]);
        assert_eq!(links_of(Routes::new(&nodes, &with_direct).path(3, 0)), [4]);
    }

    #[test]
    fn hosts_with_one_neighbour_are_reached_through_it() {
        let nodes = nodes(4);
        let dumbbell = [link("a", 0, 1, 1, 1), link("b", 1, 2, 5, 5), link("c", 3, 2, 1, 1)];
        let mut routes = Routes::new(&nodes, &dumbbell);
        let path = routes.path(0, 3).unwrap();
        assert_eq!(path.iter().map(|h| h.forward).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(links_of(routes.path(0, 1)), [0]);
        assert_eq!(links_of(routes.path(3, 0)), [2, 1, 0]);
    }

    #[test]
    fn two_hosts_on_one_link_reach_each_other() {
        let nodes = nodes(2);
        let pair = [link("slow", 0, 1, 9, 9), link("quick", 0, 1, 3, 3)];
        assert_eq!(links_of(Routes::new(&nodes, &pair).path(0, 1)), [1]);
    }

    /// The distance by Bellman and Ford, over one direction after the other.
    fn distance(routes: &Routes<'_>, from: NodeId, to: NodeId) -> Option<Distance> {
        let mut best: Vec<Option<Distance>> = vec![None; routes.nodes.len()];
        best[from] = Some((0, 0));
        for _ in 0..routes.nodes.len() {
            for state in routes.directions.iter().filter(|s| s.up) {
                if let Some((delay, hops)) = best[state.from] {
                    let reach = (delay + state.edge.delay, hops + 1);
                    let known = &mut best[state.edge.to];
                    *known = Some(known.map_or(reach, |k| k.min(reach)));
                }
            }
        }
        best[to]
    }

    #[test]
    fn routes_through_changing_links_are_shortest_and_joined() {
        use proptest::prelude::*;
        let change = (0..12usize, any::<bool>(), prop::option::of(0..20u64), prop::option::of(any::<bool>()));
        let ends = prop::collection::vec((0..6usize, 1..6usize, 0..20u64, 0..20u64), 1..12);
        proptest!(|(ends in ends, changes in prop::collection::vec(change, 0..12))| {
            let nodes = nodes(6);
            let links: Vec<Link> = ends
                .iter()
                .enumerate()
                .map(|(i, &(a, step, delay, back))| link(&format!("l{i}"), a, (a + step) % 6, delay, back))
                .collect();
            let mut routes = Routes::new(&nodes, &links);
            for (link, forward, delay, up) in changes {
                routes.change(Hop { link: link % links.len(), forward }, delay, up);
                for (from, to) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                    let path = routes.path(from, to);
                    let expected = distance(&routes, from, to);
                    prop_assert_eq!(path.is_some(), expected.is_some());
                    let Some(path) = path else { continue };
                    let mut here = from;
                    let mut reached = (0, 0);
                    for hop in path {
                        let state = &routes.directions[2 * hop.link + usize::from(!hop.forward)];
                        prop_assert!(state.up && state.from == here);
                        here = state.edge.to;
                        reached = (reached.0 + state.edge.delay, reached.1 + 1);
                    }
                    prop_assert_eq!((here, Some(reached)), (to, expected));
                }
            }
        });
    }

    #[test]
    fn a_node_that_is_entered_and_left_by_different_neighbours_lies_on_ways() {
        let nodes = nodes(3);
        let row = [link("a", 0, 1, 1, 1), link("b", 1, 2, 1, 1)];
        let mut routes = Routes::new(&nodes, &row);
        for link in [0, 1] {
            routes.change(Hop { link, forward: false }, None, Some(false));
        }
        assert_eq!(links_of(routes.path(0, 2)), [0, 1]);
        assert_eq!(routes.path(2, 0), None);
    }

    #[test]
    fn islands_have_no_route() {
        let nodes = nodes(6);
        let islands =
            [link("a", 0, 1, 1, 1), link("b", 2, 3, 1, 1), link("c", 3, 4, 1, 1), link("d", 1, 5, 1, 1)];
        let mut routes = Routes::new(&nodes, &islands);
        assert_eq!(routes.path(0, 2), None);
        assert_eq!(routes.path(1, 3), None);
        assert_eq!(routes.along(&[0, 1, 2]), Err(1));
    }
}
