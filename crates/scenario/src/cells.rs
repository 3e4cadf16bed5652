//! Which links a Cellular IP network is made of.

use crate::model::{Cells, Link, NodeId};
use std::collections::BTreeMap;

/// Of each base station that the gateway's tree reaches, the direction of the link on which packets leave it towards the
/// gateway: of link k, 2k is forward and 2k + 1 back.
pub fn uplinks(cells: &Cells, links: &[Link]) -> BTreeMap<NodeId, u32> {
    let mut up = BTreeMap::new();
    let mut front = vec![cells.gateway];
    while let Some(node) = front.pop() {
        for (k, link) in (0..).zip(links) {
            let child = match node {
                node if node == link.first => (link.second, 2 * k + 1),
                node if node == link.second => (link.first, 2 * k),
                _ => continue,
            };
            if cells.stations.contains(&child.0) && !up.contains_key(&child.0) {
                up.insert(child.0, child.1);
                front.push(child.0);
            }
        }
    }
    up
}

/// Of each base station (or the gateway) that a host has a link to, the direction of that link from there to the host,
/// numbered likewise.
pub fn radio(links: &[Link], host: NodeId) -> BTreeMap<NodeId, u32> {
    let of = |(k, link): (u32, &Link)| match host {
        host if host == link.second => Some((link.first, 2 * k)),
        host if host == link.first => Some((link.second, 2 * k + 1)),
        _ => None,
    };
    (0..).zip(links).filter_map(of).collect()
}
