//! What the emulator reads of a packet: its ends, and of TCP the header that the books are kept from. IPv4 and IPv6.
//! Not for: checksums and options; nothing here decides whether a packet passes.

use super::address::node_of;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use truckee_scenario::model::NodeId;

/// Flag bits of a TCP header.
pub(super) mod flags {
    pub const SYN: u8 = 2;
    pub const RST: u8 = 4;
    pub const ACK: u8 = 16;
}

const TCP: u8 = 6;
const UDP: u8 = 17;

/// What is read of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tcp {
    pub source: u16,
    pub destination: u16,
    pub seq: u32,
    pub ack: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Payload, bytes.
    pub len: u32,
}

impl Tcp {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// What is read of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Where it goes, if that is the address of a node.
    pub to: Option<NodeId>,
    /// Whether it carries payload of TCP or UDP.
    pub data: bool,
    pub tcp: Option<Tcp>,
}

/// Reads an IP packet; `None`: it is none, or cut short.
pub(super) fn read(packet: &[u8]) -> Option<Header> {
    let (to, protocol, payload) = match packet.first()? >> 4 {
        4 => ip4(packet)?,
        6 => ip6(packet)?,
        _ => return None,
    };
    let tcp = if protocol == Some(TCP) { tcp(payload) } else { None };
    let data = match (protocol, tcp) {
        (Some(UDP), _) => payload.len() > 8,
        (_, Some(tcp)) => tcp.len > 0,
        _ => false,
    };
    Some(Header { to: node_of(to), data, tcp })
}

/// What a queue for each flow tells flows apart by: addresses, protocol and, of TCP and UDP, ports (RFC 8290, section 4.1.1).
/// All fragments of a packet have the same, since only the first has ports.
pub(super) fn flow_key(packet: &[u8]) -> u64 {
    let (addresses, protocol, behind) = match packet.first().map(|first| first >> 4) {
        Some(4) => {
            let fragment = number16(packet, 6).is_none_or(|field| field & 0x3fff != 0);
            let header = usize::from(packet[0] & 15) * 4;
            (packet.get(12..20), packet.get(9), (!fragment).then_some(header))
        }
        Some(6) => (packet.get(8..40), packet.get(6), Some(40)),
        _ => (None, None, None),
    };
    let has_ports = protocol.is_some_and(|protocol| [TCP, UDP].contains(protocol));
    let ports = behind.filter(|_| has_ports).and_then(|at| packet.get(at..at + 4));
    let mut hasher = DefaultHasher::new();
    (addresses, protocol, ports).hash(&mut hasher);
    hasher.finish()
}

type Parts<'a> = (IpAddr, Option<u8>, &'a [u8]);

fn ip4(packet: &[u8]) -> Option<Parts<'_>> {
    let header = usize::from(packet[0] & 15) * 4;
    let total = usize::from(number16(packet, 2)?);
    let payload = packet.get(header..total.min(packet.len()))?;
    let to: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    // Only the first fragment has the header of what it carries.
    let whole = number16(packet, 6)? & 0x1fff == 0;
    Some((IpAddr::from(to), whole.then_some(packet[9]), payload))
}

fn ip6(packet: &[u8]) -> Option<Parts<'_>> {
    let to: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
    let end = (40 + usize::from(number16(packet, 4)?)).min(packet.len());
    // Extension headers do not occur between our nodes; a packet with one is of no protocol known here.
    Some((IpAddr::from(to), Some(packet[6]), packet.get(40..end)?))
}

fn tcp(payload: &[u8]) -> Option<Tcp> {
    let header = usize::from(payload.get(12)? >> 4) * 4;
    let len = payload.len().checked_sub(header)? as u32;
    Some(Tcp {
        source: number16(payload, 0)?,
        destination: number16(payload, 2)?,
        seq: number32(payload, 4)?,
        ack: number32(payload, 8)?,
        flags: *payload.get(13)?,
        len,
    })
}

fn number16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A packet of a flow's connection, as the books know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// Index of the flow.
    pub flow: u32,
    /// Index of the connection in the flow's book.
    pub connection: u32,
    /// From the sender of the data to its receiver.
    pub forward: bool,
    /// Payload, bytes.
    pub len: u32,
    /// Of a packet forward the first byte of its payload, of one back its acknowledgement; the first byte is 1.
    pub number: u64,
}

#[cfg(test)]
pub(super) mod made {
    //! Packets made by hand.

    use super::*;
    use crate::address::{address, address6};

    /// A TCP packet over IPv4, without checksums.
    pub fn tcp4(from: NodeId, to: NodeId, tcp: &Tcp) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend((40 + tcp.len as u16).to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, TCP, 0, 0]);
        packet.extend(address(from).octets());
        packet.extend(address(to).octets());
        packet.extend(segment(tcp));
        packet
    }

    /// The same over IPv6.
    pub fn tcp6(from: NodeId, to: NodeId, tcp: &Tcp) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((20 + tcp.len as u16).to_be_bytes());
        packet.extend([TCP, 64]);
        packet.extend(address6(from).octets());
        packet.extend(address6(to).octets());
        packet.extend(segment(tcp));
        packet
    }

    fn segment(tcp: &Tcp) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(tcp.source.to_be_bytes());
        bytes.extend(tcp.destination.to_be_bytes());
        bytes.extend(tcp.seq.to_be_bytes());
        bytes.extend(tcp.ack.to_be_bytes());
        bytes.extend([5 << 4, tcp.flags, 0xff, 0xff, 0, 0, 0, 0]);
        bytes.resize(20 + tcp.len as usize, 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use made::{tcp4, tcp6};

    const SEGMENT: Tcp =
        Tcp { source: 40_000, destination: 20_001, seq: u32::MAX, ack: 7, flags: flags::ACK, len: 1000 };

    #[test]
    fn a_segment_reads_alike_over_both_protocols() {
        let header = Header { to: Some(300), data: true, tcp: Some(SEGMENT) };
        assert_eq!(read(&tcp4(1, 300, &SEGMENT)), Some(header));
        assert_eq!(read(&tcp6(1, 300, &SEGMENT)), Some(header));
    }

    #[test]
    fn padding_behind_a_packet_is_no_payload() {
        let mut packet = tcp4(0, 1, &Tcp { len: 0, ..SEGMENT });
        packet.extend([0; 6]); // as Ethernet pads it
        let header = read(&packet).unwrap();
        assert_eq!((header.data, header.tcp.unwrap().len), (false, 0));
    }

    #[test]
    fn later_fragments_and_other_protocols_have_no_segment() {
        let mut fragment = tcp4(0, 1, &SEGMENT);
        fragment[7] = 100;
        assert_eq!(read(&fragment), Some(Header { to: Some(1), data: false, tcp: None }));
        let mut ping = tcp4(0, 1, &SEGMENT);
        ping[9] = 1;
        assert_eq!(read(&ping).unwrap().tcp, None);
        let mut datagram = tcp4(0, 1, &SEGMENT);
        datagram[9] = UDP;
        assert!(read(&datagram).unwrap().data);
    }

    #[test]
    fn packets_of_one_flow_have_one_key_and_others_another() {
        for made in [tcp4 as fn(NodeId, NodeId, &Tcp) -> Vec<u8>, tcp6] {
            let key = |from, to, tcp: Tcp| flow_key(&made(from, to, &tcp));
            let one = key(1, 300, SEGMENT);
            assert_eq!(key(1, 300, Tcp { seq: 5, ack: 9, flags: flags::SYN, len: 3, ..SEGMENT }), one);
            let others = [
                key(1, 300, Tcp { source: 40_001, ..SEGMENT }),
                key(1, 300, Tcp { destination: 20_002, ..SEGMENT }),
                key(2, 300, SEGMENT),
                key(1, 301, SEGMENT),
                key(300, 1, SEGMENT),
            ];
            assert!(others.iter().all(|other| *other != one));
        }
        // Fragments, the first included, are told apart by their addresses and protocol alone.
        let fragment = |field: [u8; 2], source| {
            let mut packet = tcp4(1, 300, &Tcp { source, ..SEGMENT });
            packet[6..8].copy_from_slice(&field);
            flow_key(&packet)
        };
        let first = fragment([0x20, 0], 40_000);
        assert_eq!(fragment([0, 185], 7), first);
        assert_ne!(first, flow_key(&tcp4(1, 300, &SEGMENT)));
        assert_eq!(fragment([0x40, 0], 40_000), flow_key(&tcp4(1, 300, &SEGMENT)), "must not be fragmented");
    }

    #[test]
    fn whatever_comes_is_read_or_refused() {
        use proptest::prelude::*;
        proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..80))| {
            flow_key(&bytes);
            let _ = read(&bytes);
        });
        let packet = tcp4(0, 1, &SEGMENT);
        (0..60)
            .for_each(|cut| assert!(read(&packet[..cut]).is_none_or(|h| h.tcp.is_none_or(|t| t.len < 1000))));
    }
}
