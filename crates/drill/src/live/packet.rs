//! Segments as bytes of IPv4 packets, and back.

use crate::script::{Ecn, Packet, TcpOption, bits};
use etherparse::{
    IpEcn, IpNumber, Ipv4Header, NetSlice, SlicedPacket, TcpHeader, TcpOptionElement, TransportSlice,
};
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

fn read_options(bytes: &[u8]) -> Vec<TcpOption> {
    let mut options = Vec::new();
    for option in etherparse::TcpOptionsIterator::from_slice(bytes) {
        options.push(match option {
            Ok(TcpOptionElement::Noop) => TcpOption::Nop,
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => TcpOption::Mss(mss),
            Ok(TcpOptionElement::WindowScale(shift)) => TcpOption::Scale(shift),
            Ok(TcpOptionElement::SelectiveAcknowledgementPermitted) => TcpOption::SackOk,
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, rest)) => {
                TcpOption::Sack(std::iter::once(first).chain(rest.into_iter().flatten()).collect())
            }
            Ok(TcpOptionElement::Timestamp(val, ecr)) => TcpOption::Timestamp { val, ecr },
            Err(etherparse::TcpOptionReadError::UnknownId(kind)) => TcpOption::Other(kind),
            Err(_) => TcpOption::Other(0),
        });
    }
    options
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
        ] {
            let script = parse::script("t.pkt", &format!("+0 < {text}")).unwrap();
            let What::Comes(packet) = &script.events[0].what else { unreachable!("it comes") };
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
