//! pcapng: sections of blocks, each with interfaces of its own (draft-ietf-opsawg-pcapng).

use super::buffer::{Buffer, LARGEST};
use super::frame::Frame;
use super::interface::{Clock, LinkType};
use crate::Error;
use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, SimplePacketBlock, parse_block_be,
    parse_block_le,
};
use pcap_parser::traits::PcapNGPacketBlock;
use std::borrow::Cow;
use std::io::Read;
use truckee_tcp::Time;

/// What a section begins with, in either byte order.
pub(super) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Bytes of type, length and, of a section's first block, the mark of the byte order.
const HEAD: usize = 12;
/// Interfaces of a section that are kept.
const MOST_INTERFACES: usize = 1 << 16;
/// The obsolete Packet Block.
const PACKET_BLOCK: u32 = 2;

/// An interface of the present section.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: LinkType,
    snap: u32,
    clock: Clock,
}

#[derive(Debug, Default)]
pub(super) struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Time of the packet before, for blocks without one.
    last: Time,
}

/// Where a packet lies within its block, as its block goes out of sight.
struct Packet {
    time: Time,
    link: LinkType,
    wire_len: u32,
    data: (usize, usize),
    comment: Option<(usize, usize)>,
}

impl Section {
    pub fn next<'a, R: Read>(
        &mut self,
        buffer: &'a mut Buffer<R>,
        skipped: &mut u64,
        oddity: &mut Option<String>,
    ) -> Result<Option<Frame<'a>>, Error> {
        let (len, packet) = loop {
            let offset = buffer.offset();
            let Some(len) = self.length(buffer)? else { return Ok(None) };
            let Some(block) = buffer.exactly(len, "block")? else { return Ok(None) };
            match self.read(block) {
                Ok(Some(packet)) => break (len, packet),
                Ok(None) => {}
                Err(reason) => {
                    *skipped += 1;
                    oddity.get_or_insert_with(|| format!("byte {offset}: {reason}"));
                }
            }
            buffer.take(len);
        };
        let block = buffer.take(len);
        let Packet { time, link, wire_len, data, comment } = packet;
        let comment = comment.and_then(|(from, to)| std::str::from_utf8(&block[from..to]).ok());
        Ok(Some(Frame { time, link, wire_len, data: &block[data.0..data.1], comment }))
    }

    /// Bytes of the block that comes next. A section's first block sets the byte order.
    fn length<R: Read>(&mut self, buffer: &mut Buffer<R>) -> Result<Option<usize>, Error> {
        let offset = buffer.offset();
        let Some(head) = buffer.exactly(HEAD, "block")? else { return Ok(None) };
        let broken = |reason: String| Err(Error::Broken { offset, reason });
        if head[..4] == MAGIC {
            self.big_endian = match head[8..12] {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => {
                    return broken("a section header without a mark of its byte order".to_owned());
                }
            };
        }
        let len = self.number(&head[4..8]) as usize;
        match len {
            _ if len < HEAD => broken(format!("a block of {len} bytes, expected at least {HEAD}")),
            _ if len > LARGEST => broken(format!("a block of {len} bytes, expected at most {LARGEST}")),
            _ => Ok(Some(len)),
        }
    }

    fn number(&self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// What a block says: a packet, or something to remember, or nothing of interest; an error says what is wrong.
    fn read(&mut self, bytes: &[u8]) -> Result<Option<Packet>, String> {
        let parsed = if self.big_endian { parse_block_be(bytes) } else { parse_block_le(bytes) };
        let kind = self.number(&bytes[..4]);
        let (_, block) = parsed.map_err(|_| format!("a block of type {kind} that makes no sense"))?;
        match block {
            Block::SectionHeader(_) => {
                self.interfaces.clear();
                Ok(None)
            }
            Block::InterfaceDescription(interface) => self.note(&interface).map(|()| None),
            Block::EnhancedPacket(packet) => self.enhanced(&packet, bytes).map(Some),
            Block::SimplePacket(packet) => self.simple(&packet, bytes).map(Some),
            Block::Unknown(_) if kind == PACKET_BLOCK => self.obsolete(bytes).map(Some),
            _ => Ok(None),
        }
    }

    fn note(&mut self, block: &InterfaceDescriptionBlock<'_>) -> Result<(), String> {
        let number = self.interfaces.len();
        if number == MOST_INTERFACES {
            return Err(format!("more than {MOST_INTERFACES} interfaces"));
        }
        let option = |code| block.options.iter().find(|o| o.code == code).and_then(|o| o.as_bytes().ok());
        let resolution = option(OptionCode::IfTsresol).and_then(|b| b.first().copied()).unwrap_or(6);
        let offset =
            option(OptionCode::IfTsoffset).and_then(|b| <[u8; 8]>::try_from(b).ok()).unwrap_or_default();
        let offset = if self.big_endian { i64::from_be_bytes(offset) } else { i64::from_le_bytes(offset) };
        let clock = Clock::new(resolution, offset);
        // The packets of later interfaces are found by their number, so that this one must be kept all the same.
        self.interfaces.push(Interface {
            link: LinkType((block.linktype.0 & 0xffff) as u16),
            snap: block.snaplen,
            clock: clock.unwrap_or(Clock::MICROSECONDS),
        });
        match clock {
            Some(_) => Ok(()),
            None => {
                Err(format!("interface {number} with the time resolution {resolution}, read as microseconds"))
            }
        }
    }

    fn interface(&self, number: u32) -> Result<Interface, String> {
        let known = self.interfaces.len();
        let found = self.interfaces.get(number as usize).copied();
        found.ok_or_else(|| format!("a packet of interface {number}, but only {known} are described"))
    }

    fn enhanced(&mut self, packet: &EnhancedPacketBlock<'_>, block: &[u8]) -> Result<Packet, String> {
        let Interface { link, clock, .. } = self.interface(packet.if_id)?;
        self.last = clock.time(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low));
        let comment = packet.options.iter().find(|o| o.code == OptionCode::Comment).and_then(|o| {
            let Cow::Borrowed(value) = &o.value else { return None };
            Some(within(block, &value[..value.len().min(usize::from(o.len))]))
        });
        Ok(Packet {
            time: self.last,
            link,
            wire_len: packet.origlen.max(packet.caplen),
            data: within(block, packet.packet_data()),
            comment,
        })
    }

    /// A packet without a time: that of the one before.
    fn simple(&mut self, packet: &SimplePacketBlock<'_>, block: &[u8]) -> Result<Packet, String> {
        let Interface { link, snap, .. } = self.interface(0)?;
        let (from, to) = within(block, packet.packet_data());
        let most = if snap == 0 { usize::MAX } else { snap as usize };
        let data = (from, from + (to - from).min(most));
        Ok(Packet { time: self.last, link, wire_len: packet.origlen, data, comment: None })
    }

    /// The obsolete Packet Block: interface and drops in two bytes each, then as the enhanced one.
    fn obsolete(&mut self, block: &[u8]) -> Result<Packet, String> {
        const HEADER: usize = 28;
        if block.len() < HEADER + 4 {
            return Err("an obsolete packet block that makes no sense".to_owned());
        }
        let number = [block[8], block[9]];
        let number = if self.big_endian { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) };
        let Interface { link, clock, .. } = self.interface(u32::from(number))?;
        let at = |from: usize| self.number(&block[from..from + 4]);
        let (high, low, captured, original) = (at(12), at(16), at(20), at(24));
        if captured as usize > block.len() - HEADER - 4 {
            return Err(format!("an obsolete packet block whose {captured} bytes do not fit"));
        }
        self.last = clock.time(u64::from(high) << 32 | u64::from(low));
        Ok(Packet {
            time: self.last,
            link,
            wire_len: original.max(captured),
            data: (HEADER, HEADER + captured as usize),
            comment: None,
        })
    }
}

/// Where `part` lies in `whole`, of which it is a slice.
fn within(whole: &[u8], part: &[u8]) -> (usize, usize) {
    let from = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len());
    (from, (from + part.len()).min(whole.len()))
}
