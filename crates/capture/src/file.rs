//! Packets of a capture file, one at a time: pcap in its kinds, and pcapng.
//!
//! Framing and endless input are dealt with here, so that what is read up to a fault is never lost; what a record or
//! block says is read by the library. A pcapng block that makes no sense is skipped and counted, since its length still
//! tells where the next one begins. Not for: what is in a packet.

mod buffer;
mod frame;
mod interface;
mod legacy;
mod ng;

pub use frame::Frame;
pub use interface::LinkType;

use crate::Error;
use buffer::Buffer;
use std::io::Read;

/// The two kinds of file.
#[derive(Debug)]
enum Format {
    Legacy(legacy::Legacy),
    Ng(ng::Section),
}

/// A capture being read.
pub struct Reader<R> {
    buffer: Buffer<R>,
    format: Format,
    /// Blocks that made no sense.
    skipped: u64,
    /// What was odd first, in words.
    oddity: Option<String>,
}

impl<R: Read> Reader<R> {
    /// Begins to read; fails where it is no capture.
    pub fn new(source: R) -> Result<Self, Error> {
        let mut buffer = Buffer::new(source);
        let head = buffer.at_most(4)?;
        let format = if head == ng::MAGIC {
            Format::Ng(ng::Section::default())
        } else if legacy::is_magic(head) {
            Format::Legacy(legacy::Legacy::begin(&mut buffer)?)
        } else {
            return Err(Error::NoCapture { found: legacy::describe(head) });
        };
        Ok(Self { buffer, format, skipped: 0, oddity: None })
    }

    /// The next packet; `None` at the end. After an error there are no more.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        match &mut self.format {
            Format::Legacy(legacy) => legacy.next(&mut self.buffer),
            Format::Ng(section) => section.next(&mut self.buffer, &mut self.skipped, &mut self.oddity),
        }
    }

    /// Bytes read so far, unpacked.
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }

    /// `pcap` or `pcapng`.
    pub fn format(&self) -> &'static str {
        match self.format {
            Format::Legacy(_) => "pcap",
            Format::Ng(_) => "pcapng",
        }
    }

    /// Blocks that made no sense and were skipped, and what was wrong with the first of them.
    pub fn skipped(&self) -> (u64, Option<&str>) {
        (self.skipped, self.oddity.as_deref())
    }
}

#[cfg(test)]
mod tests;
