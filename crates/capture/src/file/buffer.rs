//! A window onto the input that grows up to a bound. Not for: what the bytes mean.

use crate::Error;
use std::io::{ErrorKind, Read};

/// Bytes read at once.
const AT_ONCE: usize = 1 << 18;
/// The largest record or block that is read: ample for the largest packet there is (BIG TCP, 512 kB).
pub(super) const LARGEST: usize = 1 << 24;

pub(super) struct Buffer<R> {
    source: R,
    bytes: Vec<u8>,
    /// What has been read and not been taken is `from..to` of `bytes`.
    from: usize,
    to: usize,
    /// Where `from` is in the input.
    offset: u64,
    ended: bool,
}

impl<R: Read> Buffer<R> {
    pub fn new(source: R) -> Self {
        Self { source, bytes: vec![0; AT_ONCE], from: 0, to: 0, offset: 0, ended: false }
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `len` bytes, or as many as there are; they are not taken.
    pub fn at_most(&mut self, len: usize) -> Result<&[u8], Error> {
        if self.to - self.from < len {
            self.fill(len)?;
        }
        Ok(&self.bytes[self.from..self.to.min(self.from + len)])
    }

    /// The next `len` bytes of a `what`, not taken; `None` if the input ends just here.
    #[inline]
    pub fn exactly(&mut self, len: usize, what: &'static str) -> Result<Option<&[u8]>, Error> {
        if self.to - self.from < len {
            self.fill(len)?;
        }
        let there = self.to - self.from;
        if there >= len {
            Ok(Some(&self.bytes[self.from..self.from + len]))
        } else if there == 0 {
            Ok(None)
        } else {
            Err(Error::CutShort { what, offset: self.offset, end: self.offset + there as u64 })
        }
    }

    /// Takes bytes that have been read, and gives them.
    #[inline]
    pub fn take(&mut self, len: usize) -> &[u8] {
        let at = self.from;
        let len = len.min(self.to - at);
        self.from += len;
        self.offset += len as u64;
        &self.bytes[at..at + len]
    }

    /// Reads until there are `len` bytes, or the input ends.
    #[cold]
    fn fill(&mut self, len: usize) -> Result<(), Error> {
        self.bytes.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        if self.bytes.len() < len {
            self.bytes.resize(len.next_power_of_two(), 0);
        }
        while self.to < len && !self.ended {
            match self.source.read(&mut self.bytes[self.to..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.to += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    self.ended = true;
                    return Err(Error::Read { offset: self.offset + self.to as u64, source });
                }
            }
        }
        Ok(())
    }
}
