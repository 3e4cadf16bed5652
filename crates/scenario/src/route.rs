//! Which way packets go where a scenario does not say: least total propagation delay, then fewest hops, then the first
//! node names in order. Engines may use it so that all of them agree. Not for: routes that change in mid run.

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

/// Finds routes in one network. Nodes with a single neighbour never lie on somebody else's way, so the search runs
/// over the others only, and its result is kept for the last target: ask for routes in order of [`Routes::hub`] of
/// their ends and a dumbbell of 50,000 hosts costs two searches.
pub struct Routes<'s> {
    nodes: &'s [String],
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
    /// The network of `links` over `nodes`.
    pub fn new(nodes: &'s [String], links: &[Link]) -> Self {
        let mut out: Vec<Vec<Edge>> = vec![Vec::new(); nodes.len()];
        let mut into = out.clone();
        for (link, l) in links.iter().enumerate() {
            for (from, to, delay, forward) in
                [(l.first, l.second, l.forward.delay, true), (l.second, l.first, l.back.delay, false)]
            {
                let hop = Hop { link, forward };
                out[from].push(Edge { to, delay, hop });
                into[to].push(Edge { to: from, delay, hop });
            }
        }
        let name = |edge: &Edge| links[edge.hop.link].name.as_str();
        for edges in out.iter_mut().chain(&mut into) {
            // Of parallel links the quickest, then the first by name.
            edges.sort_by(|a, b| (a.to, a.delay, name(a)).cmp(&(b.to, b.delay, name(b))));
            edges.dedup_by_key(|edge| edge.to);
        }
        let leaf: Vec<bool> = out.iter().map(|edges| edges.len() < 2).collect();
        let core = |edges: &Vec<Vec<Edge>>| -> Vec<Vec<Edge>> {
            edges.iter().map(|e| e.iter().copied().filter(|edge| !leaf[edge.to]).collect()).collect()
        };
        let (core_out, core_into) = (core(&out), core(&into));
        Self { nodes, out, into, core_out, core_into, target: None }
    }

    /// The node through which `node` is reached: its only neighbour, or itself if it has several or none.
    pub fn hub(&self, node: NodeId) -> NodeId {
        match self.out[node].as_slice() {
            [only] => only.to,
            _ => node,
        }
    }

    /// The way from `from` to `to`; `None` if there is none. Empty if they are the same node.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        if from == to {
            return Some(Vec::new());
        }
        if let Some(direct) = self.last_step(from, to)
            && (self.out[from].len() == 1 || self.out[to].len() == 1)
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

    /// The hops along the nodes of a written route.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Direction, Limit, Queue};

    fn link(name: &str, first: NodeId, second: NodeId, delay: Nanos, back: Nanos) -> Link {
        let direction = |delay| Direction {
            rate: 1,
            delay,
            queue: Queue::DropTail { limit: Limit::None },
            channel: Default::default(),
        };
        Link { name: name.into(), first, second, forward: direction(delay), back: direction(back) }
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
