//! Segments as bytes of IPv4 packets, and back.

use crate::script::{Counted, Ecn, Packet, TcpOption, bits};
use etherparse::{IpEcn, IpNumber, Ipv4Header, NetSlice, SlicedPacket, TcpHeader, TransportSlice};
use std::net::Ipv4Addr;

/// Two ends, from the packet's sender to its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Who sends.
    pub from: (Ipv4Addr, u16),
    /// Who receives.
    pub to: (Ipv4Addr, u16),
}

/// The bytes of a segment, whose numbers are those on the wire. `None`: its options do not fit.
pub fn bytes(packet: &Packet, ends: Ends) -> Option<Vec<u8>> {
    let mut tcp = TcpHeader::new(ends.from.1, ends.to.1, packet.seq, packet.window.unwrap_or(0));
    tcp.acknowledgment_number = packet.ack.unwrap_or(0);
    tcp.fin = packet.has(bits::FIN);
    tcp.syn = packet.has(bits::SYN);
    tcp.rst = packet.has(bits::RST);
    tcp.psh = packet.has(bits::PSH);
    tcp.ack = packet.has(bits::ACK);
    tcp.urg = packet.has(bits::URG);
    tcp.ece = packet.has(bits::ECE);
    tcp.cwr = packet.has(bits::CWR);
    tcp.ns = packet.has(bits::AE); // its place in RFC 3540's time
    tcp.set_options_raw(&options(packet)).ok()?;
    let payload = vec![0; packet.len as usize];
    let length = u16::try_from(tcp.header_len() + payload.len()).ok()?;
    let mut ip = Ipv4Header::new(length, 64, IpNumber::TCP, ends.from.0.octets(), ends.to.0.octets()).ok()?;
    ip.ecn = IpEcn::try_new(ecn_bits(packet.ecn)).ok()?;
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).ok()?;
    let mut out = Vec::with_capacity(1500);
    ip.write(&mut out).ok()?;
    tcp.write(&mut out).ok()?;
    out.extend(payload);
    Some(out)
}

fn ecn_bits(ecn: Option<Ecn>) -> u8 {
    match ecn {
        Some(Ecn::Ect1) => 1,
        Some(Ecn::Ect0 | Ecn::Ect) => 2,
        Some(Ecn::Ce) => 3,
        Some(Ecn::Not) | None => 0,
    }
}

fn options(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    for option in packet.options() {
        match option {
            TcpOption::Eol => out.push(0),
            TcpOption::Nop => out.push(1),
            TcpOption::Mss(mss) => {
                out.extend([2, 4]);
                out.extend(mss.to_be_bytes());
            }
            TcpOption::Scale(shift) => out.extend([3, 3, *shift]),
            TcpOption::SackOk => out.extend([4, 2]),
            TcpOption::Sack(blocks) => {
                out.extend([5, 2 + 8 * blocks.len() as u8]);
                out.extend(
                    blocks.iter().flat_map(|(from, to)| [from.to_be_bytes(), to.to_be_bytes()]).flatten(),
                );
            }
            TcpOption::Timestamp { val, ecr } => {
                out.extend([8, 10]);
                out.extend([val.to_be_bytes(), ecr.to_be_bytes()].into_iter().flatten());
            }
            TcpOption::AccEcn(fields) => {
                let first = fields.first().map(|&(counted, _)| counted);
                let kind = Counted::ORDERS.iter().find(|(_, order)| Some(order[0]) == first);
                out.extend([kind.map_or(172, |&(kind, _)| kind), 2 + 3 * fields.len() as u8]);
                out.extend(fields.iter().flat_map(|(_, bytes)| bytes.to_be_bytes().into_iter().skip(1)));
            }
            TcpOption::Other(kind) => out.extend([*kind, 2]),
        }
    }
    out
}

/// The TCP segment that is in a packet, its numbers as on the wire, and its ends. `None`: there is none.
pub fn read(bytes: &[u8]) -> Option<(Packet, Ends)> {
    let sliced = SlicedPacket::from_ip(bytes).ok()?;
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (sliced.net, sliced.transport) else {
        return None;
    };
    let header = ip.header();
    let set = [
        (tcp.fin(), bits::FIN),
        (tcp.syn(), bits::SYN),
        (tcp.rst(), bits::RST),
        (tcp.psh(), bits::PSH),
        (tcp.ack(), bits::ACK),
        (tcp.urg(), bits::URG),
        (tcp.ece(), bits::ECE),
        (tcp.cwr(), bits::CWR),
        (tcp.ns(), bits::AE),
    ];
    let packet = Packet {
        ecn: Some(match header.ecn().value() {
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            3 => Ecn::Ce,
            _ => Ecn::Not,
        }),
        flags: set.into_iter().filter(|&(set, _)| set).map(|(_, bit)| bit).sum(),
        seq: tcp.sequence_number(),
        len: tcp.payload().len() as u32,
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        window: Some(tcp.window_size()),
        options: Some(read_options(tcp.options())),
    };
    let ends = Ends {
        from: (header.source_addr(), tcp.source_port()),
        to: (header.destination_addr(), tcp.destination_port()),
    };
    Some((packet, ends))
}

fn read_options(mut bytes: &[u8]) -> Vec<TcpOption> {
    let mut options = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        let padding = match kind {
            0 => return options, // what follows the end of the list is padding
            1 => true,
            _ => false,
        };
        if padding {
            options.push(TcpOption::Nop);
            bytes = rest;
            continue;
        }
        let length = rest.first().map_or(0, |&length| usize::from(length));
        let Some(body) = bytes.get(2..length) else {
            options.push(TcpOption::Other(kind)); // it does not end within the header
            return options;
        };
        options.push(read_option(kind, body));
        bytes = &bytes[length..];
    }
    options
}

/// An option of that kind, without kind and length.
fn read_option(kind: u8, body: &[u8]) -> TcpOption {
    let number = |at: usize, width: usize| {
        body[at..at + width].iter().fold(0, |whole, &byte| whole << 8 | u32::from(byte))
    };
    let order = Counted::ORDERS.into_iter().find(|&(known, _)| known == kind);
    match (kind, body.len(), order) {
        (2, 2, _) => TcpOption::Mss(number(0, 2) as u16),
        (3, 1, _) => TcpOption::Scale(body[0]),
        (4, 0, _) => TcpOption::SackOk,
        (5, 8 | 16 | 24 | 32, _) => {
            TcpOption::Sack((0..body.len() / 8).map(|n| (number(8 * n, 4), number(8 * n + 4, 4))).collect())
        }
        (8, 8, _) => TcpOption::Timestamp { val: number(0, 4), ecr: number(4, 4) },
        (_, 3 | 6 | 9, Some((_, order))) => {
            let told = order.into_iter().take(body.len() / 3).enumerate();
            TcpOption::AccEcn(told.map(|(n, counted)| (counted, number(3 * n, 3))).collect())
        }
        _ => TcpOption::Other(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::script::What;

    #[test]
    fn what_is_written_is_read_as_it_was() {
        let ends =
            Ends { from: (Ipv4Addr::new(192, 168, 0, 2), 50_000), to: (Ipv4Addr::new(192, 168, 0, 1), 8080) };
        for text in [
            "S 4294967295:4294967295(0) win 1000 <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7>",
            "[ect1] P. 1:1001(1000) ack 5 win 4 <nop,nop,sack 1:2 5:9>",
            "[ce] FEW 1:1(0) win 0 <nop,nop,TS val 4294967295 ecr 7>",
            "R 0:0(0) win 0",
            "SEWA 0:0(0) win 0 <mss 1460>",
            "[ce] .A 1:1(0) ack 1 win 9 <ECN e0b 1 ceb 0 e1b 16777215,nop>",
            ". 1:1(0) ack 1 win 9 <ECN e1b 1001 ceb 7>",
        ] {
            let named = "+0 > . 1:1(0) ack 1 <nop,nop,TS val 7 ecr 0>";
            let script = parse::script("t.pkt", &format!("{named}\n+0 < {text}")).unwrap();
            let What::Comes(packet) = &script.events[1].what else { unreachable!("it comes") };
            let (read, at) = read(&bytes(packet, ends).unwrap()).unwrap();
            assert_eq!((read.to_string(), at), (text.to_owned(), ends));
        }
    }

    #[test]
    fn what_is_no_segment_is_left_alone() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0x60; 40]), None);
        assert_eq!(read(&[0x45; 20]), None);
    }
}
