//! The TCP header and those of its options that say something of the transfer (RFC 9293, 7323, 2018, 7413, 8684).

use super::skip::{Skip, number16, number32};

/// Flag bits of a TCP header.
pub mod flags {
    /// No more data will follow.
    pub const FIN: u8 = 1;
    /// Opens a connection.
    pub const SYN: u8 = 2;
    /// Ends a connection at once.
    pub const RST: u8 = 4;
    /// Hand it to the application.
    pub const PSH: u8 = 8;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 16;
    /// There is urgent data.
    pub const URG: u8 = 32;
    /// ECN echo.
    pub const ECE: u8 = 64;
    /// Congestion window reduced.
    pub const CWR: u8 = 128;
}

/// Bytes of a header up to the flags and the window: with less captured a packet says nothing.
const LEAST: usize = 16;
/// Bytes of a header without options.
const FIXED: usize = 20;

/// What is read of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    /// Port it is from.
    pub source: u16,
    /// Port it goes to.
    pub destination: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Window as it stands in the header, unscaled.
    pub window: u16,
    /// Payload, bytes.
    pub len: u32,
    /// Its options.
    pub options: Options,
}

impl Tcp {
    /// Whether any of these flag bits is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// What is read of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale, a power of two.
    pub scale: Option<u8>,
    /// Whether the sender takes selective acknowledgements.
    pub sack_permitted: bool,
    /// Selective acknowledgements.
    pub sack: Sack,
    /// Time stamp, and the one that it echoes.
    pub timestamps: Option<(u32, u32)>,
    /// Whether it asks for, or brings, a cookie of TCP Fast Open.
    pub fast_open: bool,
    /// Whether it belongs to a connection of Multipath TCP.
    pub multipath: bool,
    /// Whether some of the options were not captured.
    pub cut_short: bool,
}

/// Up to four blocks `[from, to)` of 32-bit sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sack {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl Sack {
    /// Adds a block; a fifth is dropped, a header has no room for it.
    pub fn push(&mut self, from: u32, to: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (from, to);
            self.len += 1;
        }
    }

    /// The blocks, in the order of the option.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// Reads the header at the start of `captured`, which is what was captured of `len` bytes.
#[inline]
pub(super) fn read(captured: &[u8], len: usize) -> Result<Tcp, Skip> {
    if captured.len() < LEAST {
        return Err(if len < FIXED { Skip::Malformed } else { Skip::CutShort });
    }
    let header = usize::from(captured[12] >> 4) * 4;
    if header < FIXED || header > len {
        return Err(Skip::Malformed);
    }
    let cut = header > captured.len();
    let options = captured.get(FIXED..header.min(captured.len())).unwrap_or_default();
    Ok(Tcp {
        source: number16(captured, 0)?,
        destination: number16(captured, 2)?,
        seq: number32(captured, 4)?,
        ack: number32(captured, 8)?,
        flags: captured[13],
        window: number16(captured, 14)?,
        len: u32::try_from(len - header).map_err(|_| Skip::Malformed)?,
        options: Options { cut_short: cut, ..read_options(options) },
    })
}

fn read_options(mut rest: &[u8]) -> Options {
    let mut options = Options::default();
    // The way nearly all segments of a connection with timestamps have it (RFC 7323, appendix A).
    if let [1, 1, 8, 10, stamps @ ..] = rest
        && stamps.len() == 8
    {
        options.timestamps = stamps_of(stamps);
        return options;
    }
    while let [kind, after @ ..] = rest {
        match kind {
            0 => break,
            1 => rest = after,
            _ => {
                let Some(len) =
                    after.first().map(|&len| usize::from(len)).filter(|len| (2..=rest.len()).contains(len))
                else {
                    break;
                };
                note(&mut options, *kind, &rest[2..len]);
                rest = &rest[len..];
            }
        }
    }
    options
}

fn note(options: &mut Options, kind: u8, value: &[u8]) {
    match (kind, value) {
        (2, &[a, b]) => options.mss = Some(u16::from_be_bytes([a, b])),
        (3, &[shift]) => options.scale = Some(shift),
        (4, []) => options.sack_permitted = true,
        (5, blocks) => {
            for block in blocks.chunks_exact(8) {
                if let (Ok(from), Ok(to)) = (number32(block, 0), number32(block, 4)) {
                    options.sack.push(from, to);
                }
            }
        }
        (8, stamps) if stamps.len() == 8 => options.timestamps = stamps_of(stamps),
        (30, _) => options.multipath = true,
        (34, _) => options.fast_open = true,
        _ => {}
    }
}

fn stamps_of(bytes: &[u8]) -> Option<(u32, u32)> {
    Some((number32(bytes, 0).ok()?, number32(bytes, 4).ok()?))
}
