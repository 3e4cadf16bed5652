//! IPv4 and IPv6, in GRE or not: whose packet it is, and how long what it carries.

use super::gre;
use super::skip::{Skip, number16};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is read of an IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ip {
    /// Where it is from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// Identification of IPv4; none in IPv6.
    pub id: Option<u16>,
    /// Whether a router has marked it in place of dropping it (RFC 3168).
    pub congestion_experienced: bool,
}

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
/// IP in IP, IPv6 in IP, ESP, EtherIP, L2TP, MPLS in IP.
const TUNNELS: [u8; 6] = [4, 41, 50, 97, 115, 137];
/// Packets within each other.
const MOST_LAYERS: usize = 4;
/// Extension headers of a packet.
const MOST_HEADERS: usize = 16;
/// CE, the mark of a router (RFC 3168, section 5).
const CE: u8 = 3;

/// What an IP header says, and what it carries.
struct Carried<'a> {
    ip: Ip,
    protocol: u8,
    captured: &'a [u8],
    len: usize,
}

/// What IP says, what was captured of its payload, and how long the payload was. `wire_len`: bytes from the header on.
#[inline]
pub(super) fn read(packet: &[u8], wire_len: usize) -> Result<(Ip, &[u8], usize), Skip> {
    let (mut packet, mut wire_len) = (packet, wire_len);
    for _ in 0..MOST_LAYERS {
        let Carried { ip, protocol, captured, len } = match packet.first().ok_or(Skip::CutShort)? >> 4 {
            4 => four(packet, wire_len)?,
            6 => six(packet, wire_len)?,
            _ => return Err(Skip::NotIp),
        };
        match protocol {
            TCP => return Ok((ip, captured, len)),
            _ => {
                let before = gre::before_ip(captured)?;
                packet = captured.get(before..).ok_or(Skip::CutShort)?;
                wire_len = len.saturating_sub(before);
            }
        }
    }
    Err(Skip::Tunnel)
}

/// How long a packet is by its header, but not longer than what there was of it: some headers lie.
fn believed(said: usize, wire_len: usize) -> usize {
    said.min(wire_len)
}

#[inline]
fn four(packet: &[u8], wire_len: usize) -> Result<Carried<'_>, Skip> {
    let fixed: &[u8; 20] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let header = usize::from(fixed[0] & 15) * 4;
    // 0: the length does not fit (BIG TCP), or the network card was to fill it in.
    let total = match usize::from(number16(packet, 2)?) {
        0 => wire_len,
        total => believed(total, wire_len),
    };
    if header < fixed.len() || total < header {
        return Err(Skip::Malformed);
    }
    by_protocol(fixed[9])?;
    // More fragments follow, or it is not the first.
    if number16(packet, 6)? & 0x3fff != 0 {
        return Err(Skip::Fragment);
    }
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]).into();
    let ip = Ip {
        source: address(12),
        destination: address(16),
        id: Some(number16(packet, 4)?),
        congestion_experienced: fixed[1] & 3 == CE,
    };
    let captured = within(packet, header, total)?;
    Ok(Carried { ip, protocol: fixed[9], captured, len: total - header })
}

fn six(packet: &[u8], wire_len: usize) -> Result<Carried<'_>, Skip> {
    let fixed: &[u8; 40] = packet.first_chunk().ok_or(Skip::CutShort)?;
    // 0: the length is in a hop-by-hop option (RFC 2675), and the capture knows it too.
    let total = match usize::from(number16(packet, 4)?) {
        0 => wire_len,
        payload => believed(fixed.len() + payload, wire_len),
    };
    let (mut next, mut at) = (fixed[6], fixed.len());
    for _ in 0..MOST_HEADERS {
        let len = match next {
            HOP_BY_HOP | ROUTING | DESTINATION => 8 + 8 * usize::from(byte(packet, at + 1)?),
            AUTHENTICATION => 8 + 4 * usize::from(byte(packet, at + 1)?),
            // A fragment that is all of its packet is none (RFC 6946).
            FRAGMENT if number16(packet, at + 2)? & 0xfff9 != 0 => return Err(Skip::Fragment),
            FRAGMENT => 8,
            protocol => {
                by_protocol(protocol)?;
                let len = total.checked_sub(at).ok_or(Skip::Malformed)?;
                let captured = within(packet, at, total)?;
                return Ok(Carried { ip: addresses(fixed), protocol, captured, len });
            }
        };
        next = byte(packet, at)?;
        at += len;
    }
    Err(Skip::Malformed)
}

fn addresses(fixed: &[u8; 40]) -> Ip {
    let address = |from: usize| {
        let bytes: [u8; 16] = std::array::from_fn(|k| fixed[from + k]);
        Ipv6Addr::from(bytes).into()
    };
    let traffic_class = fixed[0] << 4 | fixed[1] >> 4;
    Ip {
        source: address(8),
        destination: address(24),
        id: None,
        congestion_experienced: traffic_class & 3 == CE,
    }
}

/// Whether there may be TCP inside.
fn by_protocol(protocol: u8) -> Result<(), Skip> {
    match protocol {
        TCP | GRE => Ok(()),
        _ if TUNNELS.contains(&protocol) => Err(Skip::Tunnel),
        _ => Err(Skip::NotTcp),
    }
}

fn byte(packet: &[u8], at: usize) -> Result<u8, Skip> {
    packet.get(at).copied().ok_or(Skip::CutShort)
}

/// What was captured of bytes `from..to`: what comes after is padding of the link.
#[inline]
fn within(packet: &[u8], from: usize, to: usize) -> Result<&[u8], Skip> {
    packet.get(from..to.min(packet.len())).ok_or(Skip::CutShort)
}
