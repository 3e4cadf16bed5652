//! What comes before IP: Ethernet with its VLAN tags, Linux cooked, loopback, or nothing.

use super::{Skip, number16};
use crate::file::LinkType;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: customers', providers', and those of the time before there was a standard.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// MPLS (both kinds), PPPoE, MACsec: there are packets inside.
const TUNNELS: [u16; 4] = [0x8847, 0x8848, 0x8864, 0x88e5];
/// VLAN tags of a packet.
const MOST_TAGS: usize = 8;

/// The packet from its IP header on, and how many bytes came before.
#[inline]
pub(super) fn strip(link: LinkType, data: &[u8]) -> Result<(&[u8], usize), Skip> {
    let at = match link {
        LinkType::ETHERNET => tagged(data, 12)?,
        LinkType::LINUX_SLL => tagged(data, 14)?,
        LinkType::LINUX_SLL2 => match number16(data, 0)? {
            kind if VLAN.contains(&kind) => tagged(data, 22)?,
            kind => {
                by_type(kind)?;
                20
            }
        },
        // A protocol family: 4 bytes in either order, numbered otherwise by each system. The IP version tells as much.
        LinkType::NULL | LinkType::LOOP => 4,
        LinkType::RAW | LinkType::RAW_OLD | LinkType::RAW_BSD | LinkType::IPV4 | LinkType::IPV6 => 0,
        _ => return Err(Skip::Link(link)),
    };
    data.get(at..).map(|packet| (packet, at)).ok_or(Skip::CutShort)
}

/// Where IP begins, if the EtherType is at `at`, whatever tags there are.
#[inline]
fn tagged(data: &[u8], mut at: usize) -> Result<usize, Skip> {
    for _ in 0..=MOST_TAGS {
        let kind = number16(data, at)?;
        if !VLAN.contains(&kind) {
            by_type(kind)?;
            return Ok(at + 2);
        }
        at += 4;
    }
    Err(Skip::Malformed)
}

#[inline]
fn by_type(kind: u16) -> Result<(), Skip> {
    match kind {
        IPV4 | IPV6 => Ok(()),
        _ if TUNNELS.contains(&kind) => Err(Skip::Tunnel),
        _ => Err(Skip::NotIp),
    }
}
