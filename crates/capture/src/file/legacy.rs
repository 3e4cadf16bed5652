//! The classic capture file: a header, then records. Microseconds or nanoseconds, either byte order, and Kuznetsov's
//! variant with longer record headers.

use super::buffer::{Buffer, LARGEST};
use super::frame::Frame;
use super::interface::{Clock, LinkType};
use crate::Error;
use pcap_parser::pcap::{
    LegacyPcapBlock, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use std::io::Read;

const HEADER: usize = 24;

/// What is no capture, in words.
pub(super) fn describe(head: &[u8]) -> String {
    match head {
        [] => "it is empty".to_owned(),
        [0xfd, b'7', b'z', b'X'] => "it is packed with xz".to_owned(),
        [b'B', b'Z', b'h', _] => "it is packed with bzip2".to_owned(),
        _ => {
            let bytes: Vec<String> = head.iter().map(|b| format!("{b:02x}")).collect();
            format!("it begins with the bytes {}", bytes.join(" "))
        }
    }
}

/// Whether a file that begins so is one.
pub(super) fn is_magic(head: &[u8]) -> bool {
    let magics: [[u8; 4]; 5] = [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x34, 0xcd, 0xb2, 0xa1],
    ];
    magics.iter().any(|magic| head == magic)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Legacy {
    link: LinkType,
    clock: Clock,
    big_endian: bool,
    /// Bytes of a record's header.
    header: usize,
}

impl Legacy {
    pub fn begin<R: Read>(buffer: &mut Buffer<R>) -> Result<Self, Error> {
        let head = buffer.exactly(HEADER, "file header")?.unwrap_or_default();
        let (_, header) = parse_pcap_header(head).map_err(|_| Error::NoCapture { found: describe(head) })?;
        let modified = header.is_modified_format();
        buffer.take(HEADER);
        Ok(Self {
            // The upper bits say how long a frame check sequence is.
            link: LinkType((header.network.0 & 0xffff) as u16),
            clock: if header.is_nanosecond_precision() { Clock::NANOSECONDS } else { Clock::MICROSECONDS },
            big_endian: header.is_bigendian(),
            header: if modified { 24 } else { 16 },
        })
    }

    #[inline]
    pub fn next<'a, R: Read>(&self, buffer: &'a mut Buffer<R>) -> Result<Option<Frame<'a>>, Error> {
        const WHAT: &str = "packet record";
        let offset = buffer.offset();
        let Some(head) = buffer.exactly(self.header, WHAT)? else { return Ok(None) };
        let captured = [head[8], head[9], head[10], head[11]];
        let captured =
            if self.big_endian { u32::from_be_bytes(captured) } else { u32::from_le_bytes(captured) };
        let whole = self.header + captured as usize;
        if whole > LARGEST {
            let reason = format!("a packet record of {captured} bytes, expected at most {LARGEST}");
            return Err(Error::Broken { offset, reason });
        }
        buffer.exactly(whole, WHAT)?;
        let record = self.record(buffer.take(whole));
        let Some(record) = record else {
            return Err(Error::Broken { offset, reason: "a packet record that makes no sense".to_owned() });
        };
        let per_second = if self.clock == Clock::NANOSECONDS { 1_000_000_000 } else { 1_000_000 };
        let units = u64::from(record.ts_sec) * per_second + u64::from(record.ts_usec);
        Ok(Some(Frame {
            time: self.clock.time(units),
            link: self.link,
            wire_len: record.origlen.max(record.caplen),
            data: record.data,
            comment: None,
        }))
    }

    fn record<'a>(&self, bytes: &'a [u8]) -> Option<LegacyPcapBlock<'a>> {
        let parsed = match (self.header, self.big_endian) {
            (HEADER, _) => parse_pcap_frame_modified(bytes),
            (_, true) => parse_pcap_frame_be(bytes),
            (_, false) => parse_pcap_frame(bytes),
        };
        parsed.ok().map(|(_, record)| record)
    }
}
