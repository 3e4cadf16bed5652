//! Where the bytes of a capture come from: a file or standard input, plain or packed with gzip or zstd.
//!
//! What it is packed with is told by its first bytes, not by its name. Several packed parts one after the other are
//! one. Not for: what the bytes mean.

use crate::Error;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes taken from the system at once.
const AT_ONCE: usize = 1 << 18;

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    if path == Path::new("-") {
        return unpacked(io::stdin().lock()).map_err(failed);
    }
    let file = File::open(path).map_err(failed)?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    unpacked(file).map_err(failed)
}

/// The bytes of `packed`, unpacked if they need be.
pub fn unpacked<'a>(packed: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut packed = packed;
    let mut head = Vec::new();
    packed.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let (gzip, zstd) = (head.starts_with(&GZIP), head == ZSTD);
    let whole = io::Cursor::new(head).chain(packed);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(AT_ONCE, whole)))
    } else if zstd {
        Box::new(Frames::new(BufReader::with_capacity(AT_ONCE, whole)))
    } else {
        Box::new(whole)
    })
}

/// The frames of a zstd file, one after the other. The decoder refuses windows above 100 MiB.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether a frame has been begun and not read to its end.
    within: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), within: false }
    }

    /// Begins the next frame, if there is one.
    fn begin(&mut self) -> io::Result<()> {
        use FrameDecoderError::ReadFrameHeaderError as Header;
        while !self.within && !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => self.within = true,
                Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            self.begin()?;
            if !self.within {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
            }
            match self.decoder.read(into)? {
                0 => self.within = false,
                n => return Ok(n),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn read(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        unpacked(packed)?.read_to_end(&mut all)?;
        Ok(all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    #[test]
    fn bytes_are_the_same_however_they_are_packed_and_in_however_many_parts() {
        let bytes: Vec<u8> = (0..300_000u32).map(|k| (k % 251) as u8).collect();
        let (a, b) = bytes.split_at(100_000);
        assert_eq!(read(&bytes).unwrap(), bytes);
        assert_eq!(read(&[gzip(a), gzip(b)].concat()).unwrap(), bytes);
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        assert_eq!(read(&[zstd(a), skipped, zstd(b)].concat()).unwrap(), bytes);
        for short in [&b""[..], b"a", b"ab"] {
            assert_eq!(read(short).unwrap(), short);
        }
    }

    #[test]
    fn what_is_packed_and_broken_is_an_error_after_what_could_be_unpacked() {
        let bytes = vec![7; 300_000];
        for packed in [gzip(&bytes), zstd(&bytes)] {
            assert!(read(&packed[..packed.len() / 2]).is_err());
        }
    }

    #[test]
    fn a_missing_file_and_a_directory_are_named() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("absent.pcap")] {
            let message = open(&path).err().unwrap().to_string();
            assert!(message.contains(path.to_str().unwrap()), "{message}");
        }
    }
}
