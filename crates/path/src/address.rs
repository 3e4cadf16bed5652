//! The addresses of a run's nodes: 10.77.0.0/16 and fd77::/64, from which the node can be told again.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use truckee_scenario::model::NodeId;

/// The most nodes that have addresses.
pub(super) const MOST_NODES: usize = 65_534;

/// Flow i's data goes to TCP port `FLOW_PORT` + i of its `to` node.
pub const FLOW_PORT: u16 = 20_000;

/// The most flows that have ports: below those that Linux gives to clients.
pub(super) const MOST_FLOWS: usize = 32_768 - FLOW_PORT as usize;

/// The IPv4 address of a node, within 10.77.0.0/16.
pub fn address(node: NodeId) -> Ipv4Addr {
    let [high, low] = ((node + 1) as u16).to_be_bytes();
    Ipv4Addr::new(10, 77, high, low)
}

/// The IPv6 address of a node, within fd77::/64.
pub fn address6(node: NodeId) -> Ipv6Addr {
    Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, (node + 1) as u16)
}

/// The node with this address, if it can be one's.
pub(super) fn node_of(address: IpAddr) -> Option<NodeId> {
    let number = match address {
        IpAddr::V4(a) => match a.octets() {
            [10, 77, high, low] => u16::from_be_bytes([high, low]),
            _ => return None,
        },
        IpAddr::V6(a) => match a.segments() {
            [0xfd77, 0, 0, 0, 0, 0, 0, low] => low,
            _ => return None,
        },
    };
    NodeId::from(number).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_can_be_told_from_its_addresses() {
        for node in (0..MOST_NODES).step_by(97).chain([MOST_NODES - 1]) {
            assert_eq!(node_of(address(node).into()), Some(node));
            assert_eq!(node_of(address6(node).into()), Some(node));
        }
        assert_eq!(address(0).to_string(), "10.77.0.1");
        assert_eq!(address6(255).to_string(), "fd77::100");
        for other in ["10.76.0.1", "10.77.0.0", "fe80::1", "ff02::2", "fd77::"] {
            assert_eq!(node_of(other.parse().unwrap()), None, "{other}");
        }
    }
}
