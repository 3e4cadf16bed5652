//! What comes before IP: Ethernet with its VLAN tags, Linux cooked, PPP and Cisco's HDLC, IP over InfiniBand, loopback, or
//! nothing.

use super::skip::{Skip, number16};
use crate::file::LinkType;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: customers', providers', and those of the time before there was a standard.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// A session of PPP over Ethernet (RFC 2516).
const PPPOE: u16 = 0x8864;
/// MPLS (both kinds), MACsec: there are packets inside.
const TUNNELS: [u16; 3] = [0x8847, 0x8848, 0x88e5];
/// VLAN tags of a packet.
const MOST_TAGS: usize = 8;
/// Bytes of a PPPoE header.
const PPPOE_HEADER: usize = 6;
/// Where the EtherType of IP over InfiniBand is: after the pseudo-header with both addresses (RFC 4391, section 6, as
/// libpcap has it).
const IPOIB_TYPE: usize = 40;
/// Address bytes of Cisco's HDLC: unicast and broadcast.
const CISCO: [u8; 2] = [0x0f, 0x8f];

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
        LinkType::PPP | LinkType::PPP_HDLC => framed(data, 0)?,
        LinkType::PPP_WITH_DIRECTION => framed(data, 1)?,
        // pppd puts the direction in place of the address.
        LinkType::PPP_PPPD => ppp(data, if data.get(1) == Some(&3) { 2 } else { 0 })?,
        LinkType::PPPOE => ppp(data, PPPOE_HEADER)?,
        LinkType::CISCO_HDLC => cisco(data, 0)?,
        LinkType::CISCO_HDLC_WITH_DIRECTION => cisco(data, 1)?,
        LinkType::IPOIB => {
            by_type(number16(data, IPOIB_TYPE)?)?;
            IPOIB_TYPE + 4
        }
        // A protocol family: 4 bytes in either order, numbered otherwise by each system. The IP version tells as much.
        LinkType::NULL | LinkType::LOOP => 4,
        LinkType::RAW | LinkType::RAW_OLD | LinkType::RAW_BSD | LinkType::IPV4 | LinkType::IPV6 => 0,
        _ => return Err(Skip::Link(link)),
    };
    data.get(at..).map(|packet| (packet, at)).ok_or(Skip::CutShort)
}

/// Where IP begins, if the EtherType is at `at`, whatever tags there are.
#[inline]
pub(super) fn tagged(data: &[u8], mut at: usize) -> Result<usize, Skip> {
    for _ in 0..=MOST_TAGS {
        let kind = number16(data, at)?;
        if kind == PPPOE {
            return ppp(data, at + 2 + PPPOE_HEADER);
        }
        if !VLAN.contains(&kind) {
            by_type(kind)?;
            return Ok(at + 2);
        }
        at += 4;
    }
    Err(Skip::Malformed)
}

/// Where IP begins in a frame of PPP or of Cisco's HDLC; the first byte tells which.
fn framed(data: &[u8], at: usize) -> Result<usize, Skip> {
    match data.get(at) {
        Some(address) if CISCO.contains(address) => cisco(data, at),
        _ => ppp(data, at),
    }
}

/// Address, control and an EtherType (RFC 1547, section 4.3.1).
fn cisco(data: &[u8], at: usize) -> Result<usize, Skip> {
    by_type(number16(data, at + 2)?)?;
    Ok(at + 4)
}

/// Where IP begins, if PPP does at `at`: address and control may be left out, and the first byte of the protocol (RFC
/// 1661, sections 6.5 and 6.6).
pub(super) fn ppp(data: &[u8], at: usize) -> Result<usize, Skip> {
    let at = if data.get(at..at + 2) == Some(&[0xff, 3]) { at + 2 } else { at };
    let first = *data.get(at).ok_or(Skip::CutShort)?;
    let (protocol, len) = if first & 1 == 1 { (u16::from(first), 1) } else { (number16(data, at)?, 2) };
    match protocol {
        0x21 | 0x57 => Ok(at + len),
        // TCP whose header is sent as a difference to the one before, or makes ready for that (RFC 1144).
        0x2d | 0x2f => Err(Skip::Compressed),
        // Multilink, MPLS.
        0x3d | 0x281 | 0x283 => Err(Skip::Tunnel),
        _ => Err(Skip::NotIp),
    }
}

#[inline]
pub(super) fn by_type(kind: u16) -> Result<(), Skip> {
    match kind {
        IPV4 | IPV6 => Ok(()),
        _ if TUNNELS.contains(&kind) => Err(Skip::Tunnel),
        _ => Err(Skip::NotIp),
    }
}
