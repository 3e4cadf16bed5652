//! Which neighbours are to relay: a set that is small and covers all who are two hops away. Source: RFC 3626, section
//! 8.3.1, a heuristic.

use super::links::Links;
use crate::{Interface, NodeId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// WILL_NEVER and WILL_ALWAYS (18.8).
const NEVER: u8 = 0;
const ALWAYS: u8 = 7;

/// The relays of all interfaces.
pub(super) fn choose(links: &Links, interfaces: u8, now: Time) -> BTreeSet<NodeId> {
    let neighbours: BTreeSet<NodeId> = links.symmetric(now).map(|hop| hop.neighbour).collect();
    let mut all = BTreeSet::new();
    for interface in (0..interfaces).map(Interface) {
        let near: BTreeMap<NodeId, u8> = links
            .symmetric(now)
            .filter(|hop| hop.interface == interface)
            .map(|hop| (hop.neighbour, links.willingness.get(&hop.neighbour).copied().unwrap_or(NEVER)))
            .filter(|&(_, willingness)| willingness != NEVER)
            .collect();
        // Whom each of them reaches of those who are exactly two hops away.
        let mut reach: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for (neighbour, far) in links.two_hop() {
            if near.contains_key(&neighbour) && !neighbours.contains(&far) {
                reach.entry(neighbour).or_default().insert(far);
            }
        }
        all.extend(cover(&near, &reach));
    }
    all
}

fn cover(near: &BTreeMap<NodeId, u8>, reach: &BTreeMap<NodeId, BTreeSet<NodeId>>) -> BTreeSet<NodeId> {
    let mut left: BTreeMap<NodeId, u32> = BTreeMap::new();
    for far in reach.values().flatten() {
        *left.entry(*far).or_default() += 1;
    }
    // Those who always want to, and those who alone reach somebody.
    let alone = |of: &BTreeSet<NodeId>| of.iter().any(|far| left.get(far) == Some(&1));
    let mut chosen: BTreeSet<NodeId> = near
        .iter()
        .filter(|&(one, &willingness)| willingness == ALWAYS || reach.get(one).is_some_and(alone))
        .map(|(&one, _)| one)
        .collect();
    left.retain(|far, _| !chosen.iter().any(|one| reach.get(one).is_some_and(|of| of.contains(far))));
    // Then, while somebody is not reached: the most willing, of these who reaches most of those left, of these who
    // reaches most at all.
    while !left.is_empty() {
        let most = reach
            .iter()
            .filter(|&(one, _)| !chosen.contains(one))
            .map(|(&one, of)| {
                let new = of.iter().filter(|far| left.contains_key(far)).count();
                (near.get(&one).copied().unwrap_or(NEVER), new, of.len(), std::cmp::Reverse(one))
            })
            .filter(|&(_, new, ..)| new > 0)
            .max();
        let Some((.., std::cmp::Reverse(one))) = most else { break };
        chosen.insert(one);
        if let Some(of) = reach.get(&one) {
            left.retain(|far, _| !of.contains(far));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cover_of(near: &[(u32, u8)], reach: &[(u32, &[u32])]) -> Vec<u32> {
        let near = near.iter().map(|&(node, willingness)| (NodeId(node), willingness)).collect();
        let set = |of: &[u32]| of.iter().copied().map(NodeId).collect();
        let reach = reach.iter().map(|&(node, of)| (NodeId(node), set(of))).collect();
        cover(&near, &reach).into_iter().map(|node| node.0).collect()
    }

    #[test]
    fn who_alone_reaches_somebody_relays_and_covers_the_rest() {
        assert_eq!(cover_of(&[(1, 3), (2, 3), (3, 3)], &[(1, &[7, 8]), (2, &[8, 9]), (3, &[9, 10])]), [1, 3]);
    }

    #[test]
    fn the_more_willing_goes_before_who_reaches_more() {
        let reach: &[(u32, &[u32])] = &[(1, &[7, 8, 9]), (2, &[7, 8, 9]), (3, &[7])];
        assert_eq!(cover_of(&[(1, 3), (2, 3), (3, 3)], reach), [1]);
        assert_eq!(cover_of(&[(1, 3), (2, 3), (3, 6)], reach), [1, 3]);
        assert_eq!(cover_of(&[(1, 3), (2, 3), (3, ALWAYS)], reach), [1, 3]);
    }
}
