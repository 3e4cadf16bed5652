//! Writing captures: pcapng that other tools open, of packets whose headers are there or made from a simulated segment.
//!
//! Payload is left out as if by the snap length; the lengths are true. What became of a packet is noted as a comment
//! ([`crate::truth`]).

use crate::connection::End;
use crate::error::Error;
use crate::file::LinkType;
use pcap_parser::pcapng::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, PcapNGOption, SectionHeaderBlock,
};
use pcap_parser::{Linktype, ToVec};
use std::borrow::Cow;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use truckee_tcp::segment::{SackBlocks, flags as inside};
use truckee_tcp::{Segment, Seq, Span, Time};

/// Bytes of a packet that are written: every header with every option.
pub const SNAP: u32 = 128;
/// Nanoseconds: 10⁻⁹ s.
const NANOSECONDS: u8 = 9;
/// What a window is scaled by in the packets that are made.
const SCALE: u8 = 7;
const TCP: u8 = 6;

/// Writes a pcapng file of raw IP packets with one interface.
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins the file; `place` says where it was captured.
    pub fn new(mut out: W, place: &str) -> Result<Self, Error> {
        let mut section = SectionHeaderBlock {
            block_type: 0,
            block_len1: 0,
            bom: 0,
            major_version: 1,
            minor_version: 0,
            section_len: -1,
            options: vec![option(OptionCode::ShbUserAppl, concat!("truckee ", env!("CARGO_PKG_VERSION")))],
            block_len2: 0,
        };
        let mut interface = InterfaceDescriptionBlock {
            block_type: 0,
            block_len1: 0,
            linktype: Linktype(i32::from(LinkType::RAW.0)),
            reserved: 0,
            snaplen: SNAP,
            options: vec![option(OptionCode::IfName, place)],
            block_len2: 0,
            if_tsresol: NANOSECONDS,
            if_tsoffset: 0,
        };
        put(&mut out, &mut section)?;
        put(&mut out, &mut interface)?;
        Ok(Self { out })
    }

    /// A packet of `wire_len` bytes whose first bytes are `headers`.
    pub fn packet(
        &mut self,
        time: Time,
        headers: &[u8],
        wire_len: u32,
        comment: Option<&str>,
    ) -> Result<(), Error> {
        let data = &headers[..headers.len().min(SNAP as usize)];
        let mut packet = EnhancedPacketBlock {
            block_type: 0,
            block_len1: 0,
            if_id: 0,
            ts_high: (time.nanos() >> 32) as u32,
            ts_low: time.nanos() as u32,
            caplen: data.len() as u32,
            origlen: wire_len.max(data.len() as u32),
            data,
            options: comment.map(|text| option(OptionCode::Comment, text)).into_iter().collect(),
            block_len2: 0,
        };
        put(&mut self.out, &mut packet)
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W, Error> {
        self.out.flush().map_err(Error::Write)?;
        Ok(self.out)
    }
}

fn put(out: &mut impl Write, block: &mut impl ToVec) -> Result<(), Error> {
    let bytes = block.to_vec().map_err(|e| Error::Write(io::Error::other(format!("{e:?}"))))?;
    out.write_all(&bytes).map_err(Error::Write)
}

fn option(code: OptionCode, text: &str) -> PcapNGOption<'_> {
    let text = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
    PcapNGOption { code, len: text.len() as u16, value: Cow::Borrowed(text) }
}

/// What the packets of a simulated connection are made with.
#[derive(Debug, Clone)]
pub struct Maker {
    sender: End,
    receiver: End,
    /// Bytes of payload of a full segment, which a SYN announces.
    mss: u16,
    timestamps: bool,
    sack: bool,
    /// Whether windows are scaled: a SYN must have been there to say so.
    scaled: bool,
    /// Numbers that the ends begin with.
    initial: [u32; 2],
    /// Identifications that they have come to.
    ids: [u16; 2],
}

impl Maker {
    /// For connection `number` of flow `flow`. Ends have addresses of the block for benchmarks (RFC 2544).
    pub fn new(flow: u16, number: u32, mss: u16, timestamps: bool, sack: bool, handshake: bool) -> Self {
        let [high, low] = flow.to_be_bytes();
        let address = |net: u8| IpAddr::from(Ipv4Addr::new(198, 18 + net, high, low));
        let port = 1024 + (number % 60_000) as u16;
        Self {
            sender: End { address: address(0), port },
            receiver: End { address: address(1), port: 80 },
            mss,
            timestamps,
            sack,
            scaled: handshake,
            // Near the end of the numbers, so that they wrap where a connection is long enough.
            initial: [number.wrapping_mul(0x9e37_79b9), !number.wrapping_mul(0x85eb_ca6b)],
            ids: [1, 1],
        }
    }

    /// The headers of a segment, and how long its packet is.
    pub fn packet(&mut self, segment: &Segment, from_sender: bool) -> (Vec<u8>, u32) {
        let options = self.options(segment, from_sender);
        let header = 20 + options.len();
        let wire_len = 20 + header as u32 + segment.len;
        let mut packet = self.ip(from_sender, wire_len);
        packet.extend(self.tcp(segment, from_sender, &options));
        let sum = self.checksum(&packet, wire_len);
        packet[36..38].copy_from_slice(&sum.to_be_bytes());
        (packet, wire_len)
    }

    fn ends(&self, from_sender: bool) -> (End, End) {
        if from_sender { (self.sender, self.receiver) } else { (self.receiver, self.sender) }
    }

    fn ip(&mut self, from_sender: bool, wire_len: u32) -> Vec<u8> {
        let (source, destination) = self.ends(from_sender);
        let id = &mut self.ids[usize::from(!from_sender)];
        *id = id.wrapping_add(1).max(1);
        // Longer than IPv4 can say: as BIG TCP has it.
        let total = u16::try_from(wire_len).unwrap_or(0);
        let mut header = vec![0x45, 0];
        header.extend(total.to_be_bytes());
        header.extend(id.to_be_bytes());
        header.extend([0x40, 0, 64, TCP, 0, 0]);
        for end in [source, destination] {
            if let IpAddr::V4(address) = end.address {
                header.extend(address.octets());
            }
        }
        let sum = !fold(sum(&header));
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    }

    fn tcp(&self, segment: &Segment, from_sender: bool, options: &[u8]) -> Vec<u8> {
        let (source, destination) = self.ends(from_sender);
        let index = usize::from(!from_sender);
        let seq = segment.seq.on_wire().wrapping_add(self.initial[index]);
        let acks = segment.has(inside::ACK);
        let ack = if acks { segment.ack.on_wire().wrapping_add(self.initial[1 - index]) } else { 0 };
        let shift = if self.scaled && !segment.has(inside::SYN) { SCALE } else { 0 };
        let window = u16::try_from(segment.window >> shift).unwrap_or(u16::MAX);
        let mut header = Vec::with_capacity(20 + options.len());
        header.extend(source.port.to_be_bytes());
        header.extend(destination.port.to_be_bytes());
        header.extend(seq.to_be_bytes());
        header.extend(ack.to_be_bytes());
        header.extend([((20 + options.len()) as u8 / 4) << 4, flags_of(segment)]);
        header.extend(window.to_be_bytes());
        header.extend([0, 0, 0, 0]);
        header.extend(options);
        header
    }

    fn options(&self, segment: &Segment, from_sender: bool) -> Vec<u8> {
        let mut options = Vec::new();
        if segment.has(inside::SYN) {
            options.extend([2, 4]);
            options.extend(self.mss.to_be_bytes());
            options.extend([1, 3, 3, SCALE]);
            if self.sack {
                options.extend([1, 1, 4, 2]);
            }
        }
        if self.timestamps {
            options.extend([1, 1, 8, 10]);
            options.extend(microseconds(segment.ts_val).to_be_bytes());
            options.extend(microseconds(segment.ts_ecr).to_be_bytes());
        }
        if !segment.sack.is_empty() {
            let room = (40 - options.len() - 4) / 8;
            self.sack_blocks(&segment.sack, segment.ack, from_sender, room, &mut options);
        }
        options
    }

    fn sack_blocks(
        &self,
        sack: &SackBlocks,
        ack: Seq,
        from_sender: bool,
        room: usize,
        options: &mut Vec<u8>,
    ) {
        let base = self.initial[usize::from(from_sender)];
        let blocks: Vec<(Seq, Seq)> = sack.iter(ack).take(room).collect();
        options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for (from, to) in blocks {
            options.extend(from.on_wire().wrapping_add(base).to_be_bytes());
            options.extend(to.on_wire().wrapping_add(base).to_be_bytes());
        }
    }

    /// TCP's checksum, of a payload of zeros.
    fn checksum(&self, packet: &[u8], wire_len: u32) -> u16 {
        let length = wire_len - 20;
        let pseudo = sum(&packet[12..20]) + u32::from(TCP) + (length >> 16) + (length & 0xffff);
        !fold(pseudo + sum(&packet[20..]))
    }
}

/// Time stamps count microseconds.
fn microseconds(time: Time) -> u32 {
    time.ticks(Span::us(1)) as u32
}

fn flags_of(segment: &Segment) -> u8 {
    use crate::wire::flags;
    let pairs = [
        (inside::SYN, flags::SYN),
        (inside::ACK, flags::ACK),
        (inside::FIN, flags::FIN),
        (inside::ECE, flags::ECE),
        (inside::CWR, flags::CWR),
        (inside::PSH, flags::PSH),
    ];
    let set = pairs.iter().filter(|(flag, _)| segment.has(*flag)).map(|(_, bit)| bit);
    set.fold(0, |all, bit| all | bit)
}

/// Sum of 16-bit words (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&b| u32::from(b))).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests;
