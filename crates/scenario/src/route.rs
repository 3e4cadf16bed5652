//! Which way packets go where a scenario does not say: least total propagation delay, then fewest hops, then the first
//! node names in order. The reader checks by it that there is a way, and engines follow it, so that all of them agree.
//! Links that go down or change their delay are told by [`Routes::change`]. A hop over a medium takes no delay here. Not
//! for: when links change, and what becomes of packets then.

mod hop;

use crate::model::{Link, Medium, NodeId, Place};
pub use hop::{Hop, backwards};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use truckee_tcp::Span;
use truckee_wireless::ConfigError;

/// What routes go by besides links: pairs of stations that reach each other.
#[derive(Debug, Clone, Default)]
struct Air {
    /// Each in both directions, one after the other.
    pairs: Vec<Hop>,
    /// Ends of the pairs.
    ends: Vec<(NodeId, NodeId)>,
    /// Which of the pairs are apart at present.
    apart: BTreeSet<usize>,
}

/// An edge of the directed graph.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    delay: Span,
    /// Number of the direction of the link; behind those of all links come the pairs of stations.
    direction: u32,
}

/// Distance to a target: delay, then hops. Each hop counts, so it falls on every step towards the target.
type Distance = (Span, u32);

/// Edges of each node, side by side.
#[derive(Debug, Default)]
struct Edges {
    /// Where those of each node begin, and where those of the last end.
    begins: Vec<u32>,
    edges: Vec<Edge>,
}

impl Edges {
    /// Of so many nodes; `of` tells whose an edge is, by which they are in order.
    fn new(nodes: usize, edges: Vec<Edge>, of: impl Fn(&Edge) -> u32) -> Self {
        let mut begins = Vec::with_capacity(nodes + 1);
        let mut at = 0;
        for node in 0..=nodes as u32 {
            at += edges[at..].iter().take_while(|edge| of(edge) < node).count();
            begins.push(at as u32);
        }
        Self { begins, edges }
    }

    fn at(&self, node: NodeId) -> &[Edge] {
        &self.edges[self.begins[node] as usize..self.begins[node + 1] as usize]
    }
}

/// Finds routes in one network. Nodes with a single neighbour never lie on somebody else's way, so the search runs
/// over the others only, and its result is kept for the last target: ask for routes in order of [`Routes::hub`] of
/// their ends and a dumbbell of 200,000 hosts costs two searches.
#[derive(Debug)]
pub struct Routes<'s> {
    nodes: &'s [String],
    links: &'s [Link],
    media: &'s [Medium],
    air: Air,
    /// Directions of links that have changed: delay, and whether they work.
    changed: BTreeMap<u32, (Span, bool)>,
    /// Whether one has changed since the edges below were sorted out.
    stale: bool,
    /// Edges out of each node, the best one to each neighbour.
    out: Edges,
    /// The only neighbour of each node that has one only.
    only: Vec<Option<u32>>,
    /// The edges between the other nodes: out of each, and into each.
    core_out: Edges,
    core_into: Edges,
    target: Option<(NodeId, Vec<Option<Distance>>)>,
}

impl<'s> Routes<'s> {
    /// The network of `links` over `nodes`, all of them up.
    pub fn new(nodes: &'s [String], links: &'s [Link]) -> Self {
        Self::joined(nodes, links, &[], Air::default())
    }

    /// The same with media, whose stations are joined that reach each other at the beginning of a run of this seed, or all, where a protocol
    /// finds the way.
    /// Without a seed all of a medium are where it decides the place of any.
    ///
    /// # Errors
    /// The name of a medium, and what cannot be there.
    pub fn with_media(
        nodes: &'s [String],
        links: &'s [Link],
        (media, places): (&'s [Medium], &[Place]),
        seed: Option<u64>,
    ) -> Result<Self, (&'s str, ConfigError)> {
        let mut air = Air::default();
        for (index, medium) in media.iter().enumerate() {
            let at = medium.places(nodes, places, seed).map_err(|error| (medium.name.as_str(), error))?;
            for (from, to) in medium.pairs(&at) {
                let hop = Hop::Medium { medium: index, from, to };
                let (a, b) = (medium.stations[from].node, medium.stations[to].node);
                air.pairs.extend([hop, hop.reversed()]);
                air.ends.extend([(a, b), (b, a)]);
            }
        }
        Ok(Self::joined(nodes, links, media, air))
    }

    fn joined(nodes: &'s [String], links: &'s [Link], media: &'s [Medium], air: Air) -> Self {
        let mut routes = Self {
            nodes,
            links,
            media,
            air,
            changed: BTreeMap::new(),
            stale: false,
            out: Edges::default(),
            only: Vec::new(),
            core_out: Edges::default(),
            core_into: Edges::default(),
            target: None,
        };
        routes.sort_out();
        routes
    }

    /// Changes one direction of a link: its delay, or whether it works.
    pub fn change(&mut self, link: usize, forward: bool, delay: Option<Span>, up: Option<bool>) {
        let written = if forward { self.links[link].forward.delay } else { self.links[link].back.delay };
        let direction = 2 * link as u32 + u32::from(!forward);
        let state = self.changed.entry(direction).or_insert((written, true));
        *state = (delay.unwrap_or(state.0), up.unwrap_or(state.1));
        self.stale = true;
    }

    /// Two stations of a medium speak to each other from now on, or no longer.
    pub fn join(&mut self, medium: usize, (a, b): (usize, usize), joined: bool) {
        for (index, hop) in self.air.pairs.iter().enumerate() {
            let Hop::Medium { medium: of, from, to } = *hop else { continue };
            if of == medium && ((from, to) == (a, b) || (from, to) == (b, a)) {
                if joined {
                    self.air.apart.remove(&index)
                } else {
                    self.air.apart.insert(index)
                };
            }
        }
        self.stale = true;
    }

    /// The step that an edge stands for.
    fn hop(&self, direction: u32) -> Hop {
        let behind = (direction as usize).checked_sub(2 * self.links.len());
        behind.map_or(Hop::of(direction), |pair| self.air.pairs[pair])
    }

    /// The name by which parallel edges are told apart.
    fn name(&self, edge: &Edge) -> Cow<'s, str> {
        match self.hop(edge.direction) {
            Hop::Link { link, .. } => self.links[link].label(self.nodes),
            Hop::Medium { medium, .. } => Cow::Borrowed(&self.media[medium].name),
        }
    }

    /// The directions of links that work, as they are at present, and the pairs of stations.
    fn working(&self) -> impl Iterator<Item = Edge> {
        let edges = self.links.iter().zip((0..).step_by(2)).flat_map(|(link, number)| {
            let (first, second) = (link.first as u32, link.second as u32);
            [
                Edge { from: first, to: second, delay: link.forward.delay, direction: number },
                Edge { from: second, to: first, delay: link.back.delay, direction: number + 1 },
            ]
        });
        let edges = edges.filter_map(|edge| match self.changed.get(&edge.direction) {
            None => Some(edge),
            Some(&(delay, up)) => up.then_some(Edge { delay, ..edge }),
        });
        let first = 2 * self.links.len() as u32;
        let pair = |(&(from, to), direction)| Edge {
            from: from as u32,
            to: to as u32,
            delay: Span::ZERO,
            direction,
        };
        let joined =
            self.air.ends.iter().zip(first..).enumerate().filter(|(i, _)| !self.air.apart.contains(i));
        edges.chain(joined.map(move |(_, end)| pair(end)))
    }

    /// Sorts out the edges that routes may use.
    fn sort_out(&mut self) {
        let mut working: Vec<Edge> = self.working().collect();
        // Of parallel links the quickest, then the first by name.
        working.sort_unstable_by(|a, b| {
            let (one, other) = ((a.from, a.to, a.delay), (b.from, b.to, b.delay));
            one.cmp(&other)
                .then_with(|| self.name(a).cmp(&self.name(b)))
                .then_with(|| a.direction.cmp(&b.direction))
        });
        working.dedup_by_key(|edge| (edge.from, edge.to));
        let nodes = self.nodes.len();
        self.only = only_neighbours(nodes, &working);
        let inner =
            |edge: &&Edge| self.only[edge.from as usize].is_none() && self.only[edge.to as usize].is_none();
        let core: Vec<Edge> = working.iter().filter(inner).copied().collect();
        let mut core_into = core.clone();
        core_into.sort_by_key(|edge| (edge.to, edge.from));
        self.core_out = Edges::new(nodes, core, |edge| edge.from);
        self.core_into = Edges::new(nodes, core_into, |edge| edge.to);
        self.out = Edges::new(nodes, working, |edge| edge.from);
        self.target = None;
        self.stale = false;
    }

    /// The node through which `node` is reached: its only neighbour, or itself if it has several or none.
    pub fn hub(&self, node: NodeId) -> NodeId {
        self.only[node].map_or(node, |neighbour| neighbour as NodeId)
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
            return Some(vec![direct]);
        }
        let (start, end) = (self.hub(from), self.hub(to));
        let mut path = Vec::new();
        if start != from {
            path.push(self.last_step(from, start)?);
        }
        self.aim_at(end);
        let (_, distance) = self.target.as_ref()?;
        let mut here = start;
        while here != end {
            let left = distance[here]?;
            let nearer = |edge: &&Edge| {
                distance[edge.to as usize].is_some_and(|(d, h)| (d.saturating_add(edge.delay), h + 1) == left)
            };
            let steps = self.core_out.at(here).iter().filter(nearer);
            let step = steps.min_by_key(|edge| &self.nodes[edge.to as usize])?;
            path.push(self.hop(step.direction));
            here = step.to as NodeId;
        }
        if end != to {
            path.push(self.last_step(end, to)?);
        }
        Some(path)
    }

    /// The hops along the nodes of a written route; of parallel links the quickest, then the first by name. Stations of a
    /// medium need not be in reach of each other.
    ///
    /// # Errors
    /// The position of the first node that no link joins to the next one.
    pub fn along(&self, route: &[NodeId]) -> Result<Vec<Hop>, usize> {
        let step = |(i, pair): (usize, &[NodeId])| {
            self.last_step(pair[0], pair[1]).or_else(|| self.by_medium(pair[0], pair[1])).ok_or(i)
        };
        route.windows(2).enumerate().map(step).collect()
    }

    /// The step between two stations of a medium.
    fn by_medium(&self, a: NodeId, b: NodeId) -> Option<Hop> {
        self.media.iter().enumerate().find_map(|(index, medium)| {
            let (from, to) = (medium.station_of(a)?, medium.station_of(b)?);
            medium.joins(from, to).then_some(Hop::Medium { medium: index, from, to })
        })
    }

    fn last_step(&self, from: NodeId, to: NodeId) -> Option<Hop> {
        let edges = self.out.at(from);
        let at = edges.binary_search_by_key(&to, |edge| edge.to as NodeId).ok()?;
        Some(self.hop(edges[at].direction))
    }

    /// Computes the distances of all nodes with several neighbours to `target` (Dijkstra 1959).
    fn aim_at(&mut self, target: NodeId) {
        if self.target.as_ref().is_some_and(|(known, _)| *known == target) {
            return;
        }
        let mut distance: Vec<Option<Distance>> = vec![None; self.nodes.len()];
        let mut open = BinaryHeap::from([Reverse(((Span::ZERO, 0), target))]);
        while let Some(Reverse((so_far, node))) = open.pop() {
            if distance[node].is_some() {
                continue;
            }
            distance[node] = Some(so_far);
            for edge in self.core_into.at(node) {
                let from = edge.from as NodeId;
                if distance[from].is_none() {
                    open.push(Reverse(((so_far.0.saturating_add(edge.delay), so_far.1 + 1), from)));
                }
            }
        }
        self.target = Some((target, distance));
    }
}

/// Of each node the one at the other end of all its edges, if it is one only.
fn only_neighbours(nodes: usize, edges: &[Edge]) -> Vec<Option<u32>> {
    const SEVERAL: u32 = u32::MAX;
    let mut only: Vec<Option<u32>> = vec![None; nodes];
    for edge in edges {
        for (node, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
            let known = &mut only[node as usize];
            *known = Some(if known.is_none_or(|known| known == other) { other } else { SEVERAL });
        }
    }
    only.into_iter().map(|other| other.filter(|other| *other != SEVERAL)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Direction, Limit, Queue};
    use std::sync::Arc;

    fn link(name: &str, first: NodeId, second: NodeId, delay: u64, back: u64) -> Link {
        let direction = |delay| {
            Arc::new(Direction {
                rate: 1,
                delay: Span::ns(delay),
                queue: Queue::DropTail { limit: Limit::None },
                ack_filter: false,
                after_channel: false,
                channel: Default::default(),
            })
        };
        Link {
            name: Some(name.into()),
            first,
            second,
            forward: direction(delay),
            back: direction(back),
            quick_start: true,
            steps: None,
        }
    }

    fn nodes(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("n{i}")).collect()
    }

    fn links_of(path: Option<Vec<Hop>>) -> Vec<usize> {
        let link = |hop: &Hop| match hop {
            Hop::Link { link, .. } => *link,
            Hop::Medium { .. } => panic!("{hop:?}"),
        };
        path.unwrap().iter().map(link).collect()
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
        Arc::make_mut(&mut with_direct[4].forward).delay = Span::ns(21);
        assert_eq!(links_of(Routes::new(&nodes, &with_direct).path(0, 3)), [2, 3]);
        assert_eq!(links_of(Routes::new(&nodes, &with_direct).path(3, 0)), [4]);
    }

    #[test]
    fn hosts_with_one_neighbour_are_reached_through_it() {
        let nodes = nodes(4);
        let dumbbell = [link("a", 0, 1, 1, 1), link("b", 1, 2, 5, 5), link("c", 3, 2, 1, 1)];
        let mut routes = Routes::new(&nodes, &dumbbell);
        let path = routes.path(0, 3).unwrap();
        let forward = [(0, true), (1, true), (2, false)];
        assert_eq!(path, forward.map(|(link, forward)| Hop::Link { link, forward }));
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
        best[from] = Some((Span::ZERO, 0));
        for _ in 0..routes.nodes.len() {
            for edge in routes.working() {
                if let Some((delay, hops)) = best[edge.from as usize] {
                    let reach = (delay + edge.delay, hops + 1);
                    let known = &mut best[edge.to as usize];
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
                routes.change(link % links.len(), forward, delay.map(Span::ns), up);
                for (from, to) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                    let path = routes.path(from, to);
                    let expected = distance(&routes, from, to);
                    prop_assert_eq!(path.is_some(), expected.is_some());
                    let Some(path) = path else { continue };
                    let mut here = from;
                    let mut reached = (Span::ZERO, 0);
                    for hop in path {
                        let edge = routes.working().find(|edge| Hop::of(edge.direction) == hop).unwrap();
                        prop_assert_eq!(edge.from as usize, here);
                        here = edge.to as usize;
                        reached = (reached.0 + edge.delay, reached.1 + 1);
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
            routes.change(link, false, None, Some(false));
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
