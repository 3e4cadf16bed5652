//! Static routes: the path with the least total delay, ties by hops, then by the order of links in the scenario.

use truckee_scenario::Scenario;
use truckee_tcp::Nanos;

/// The graph of directed links: number 2k is link k forward, 2k + 1 is link k back.
#[derive(Debug)]
pub struct Graph {
    nodes: usize,
    /// (from, to, delay, up) of each directed link.
    links: Vec<(usize, usize, Nanos, bool)>,
    /// Directed links that leave each node.
    leaving: Vec<Vec<usize>>,
}

impl Graph {
    /// The graph of a scenario, all links up.
    pub fn new(scenario: &Scenario) -> Self {
        let mut links = Vec::with_capacity(2 * scenario.links.len());
        let mut leaving = vec![Vec::new(); scenario.nodes.len()];
        for link in &scenario.links {
            for (from, to, direction) in
                [(link.first, link.second, &link.forward), (link.second, link.first, &link.back)]
            {
                leaving[from].push(links.len());
                links.push((from, to, direction.delay, true));
            }
        }
        Self { nodes: scenario.nodes.len(), links, leaving }
    }

    /// Changes a directed link.
    pub fn change(&mut self, link: usize, delay: Option<Nanos>, up: Option<bool>) {
        let entry = &mut self.links[link];
        entry.2 = delay.unwrap_or(entry.2);
        entry.3 = up.unwrap_or(entry.3);
    }

    /// The directed links from one node to another; `None`: there is no way.
    pub fn shortest(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        use std::cmp::Reverse;
        let mut best: Vec<Option<(Nanos, usize)>> = vec![None; self.nodes];
        let mut via: Vec<Option<usize>> = vec![None; self.nodes];
        let mut heap = std::collections::BinaryHeap::new();
        best[from] = Some((0, 0));
        heap.push(Reverse((0, 0, from)));
        while let Some(Reverse((delay, hops, node))) = heap.pop() {
            if node == to {
                break;
            }
            if best[node] != Some((delay, hops)) {
                continue;
            }
            for &link in &self.leaving[node] {
                let (_, next, cost, up) = self.links[link];
                if next != to && self.leaving[next].len() < 2 {
                    continue; // a node with one link is on the way to nowhere
                }
                let reach = (delay.saturating_add(cost), hops + 1);
                if up && best[next].is_none_or(|b| reach < b) {
                    best[next] = Some(reach);
                    via[next] = Some(link);
                    heap.push(Reverse((reach.0, reach.1, next)));
                }
            }
        }
        let mut path = Vec::new();
        let mut node = to;
        while node != from {
            let link = via[node]?;
            path.push(link as u32);
            node = self.links[link].0;
        }
        path.reverse();
        Some(path)
    }

    /// The directed links along the given nodes; `None` where two neighbours have no link. Of parallel links the first
    /// in the scenario is taken.
    pub fn along(&self, nodes: &[usize]) -> Option<Vec<u32>> {
        nodes
            .windows(2)
            .map(|w| self.leaving[w[0]].iter().find(|&&l| self.links[l].1 == w[1]).map(|&l| l as u32))
            .collect()
    }

    /// The same path backwards, link by link.
    pub fn reversed(path: &[u32]) -> Vec<u32> {
        path.iter().rev().map(|l| l ^ 1).collect()
    }
}
