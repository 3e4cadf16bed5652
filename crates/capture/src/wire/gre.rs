//! Generic routing encapsulation: where the packet inside begins (RFC 2784 and 2890; PPTP's version by RFC 2637).

use super::link;
use super::skip::{Skip, number16};

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGMENT: u16 = 0x0080;
const VERSION: u16 = 7;
/// Ethernet frames inside, and PPP.
const BRIDGED: u16 = 0x6558;
const PPP: u16 = 0x880b;

/// Bytes before IP, if `data` begins with GRE.
pub(super) fn before_ip(data: &[u8]) -> Result<usize, Skip> {
    let (flags, kind) = (number16(data, 0)?, number16(data, 2)?);
    let words = |bits: &[u16]| bits.iter().filter(|&&bit| flags & bit != 0).count() * 4;
    match flags & VERSION {
        // Routes, which nobody sends, are of any length.
        0 if flags & ROUTING == 0 => {
            let at = 4 + words(&[CHECKSUM, KEY, SEQUENCE]);
            match kind {
                BRIDGED => link::tagged(data, at + 12),
                _ => link::by_type(kind).map(|()| at).map_err(|_| Skip::Tunnel),
            }
        }
        1 if kind == PPP && flags & SEQUENCE == 0 => Err(Skip::NotTcp), // an acknowledgement of PPTP's own
        1 if kind == PPP => link::ppp(data, 8 + words(&[SEQUENCE, ACKNOWLEDGMENT])),
        _ => Err(Skip::Tunnel),
    }
}
