//! Segments of a probed connection as bytes: reading those that come, making those that go. IPv4 and IPv6, those TCP
//! options that matter, checksums. Not for: which segments to send (see [`super::observe`]); sockets.

use std::net::SocketAddr;
use truckee_tcp::Time;

/// Flag bits of a TCP header.
pub mod flags {
    /// No more data.
    pub const FIN: u8 = 1;
    /// The first segment of a side.
    pub const SYN: u8 = 2;
    /// Abort.
    pub const RST: u8 = 4;
    /// Hand the data over.
    pub const PSH: u8 = 8;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 16;
}

const TCP: u8 = 6;
const HEADER: usize = 20;
/// Kinds of TCP options (RFC 9293, RFC 7323, RFC 2018).
mod kinds {
    pub const END: u8 = 0;
    pub const NOTHING: u8 = 1;
    pub const LARGEST_SEGMENT: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
}

/// Bytes of all options of a segment, and SACK blocks that have room beside timestamps.
const MOST_OPTIONS: usize = 40;
pub const MOST_SACKS: usize = 3;
/// What goes is to arrive from anywhere.
const TTL: u8 = 64;

/// The two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Ours.
    pub local: SocketAddr,
    /// The server's.
    pub remote: SocketAddr,
}

/// TSval and TSecr.
pub type Stamps = (u32, u32);

/// What the headers of a packet say of the stack that made it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Time to live, or hop limit, as it came.
    pub ttl: u8,
    /// Whether routers may not fragment it; IPv6's never may.
    pub whole: bool,
    /// The window field.
    pub window: u16,
    /// The TCP options of a segment with SYN; empty of others.
    pub options: Vec<u8>,
}

/// What came of the server, one packet as the kernel saw it: perhaps several segments that it has put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// When, ns.
    pub time: Time,
    /// First sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Timestamps, if it has them.
    pub stamps: Option<Stamps>,
    /// What else its headers say.
    pub header: Header,
    /// Payload of each segment but the last, bytes; 0: it is one segment.
    pub segment: u32,
    /// The payload.
    pub payload: Vec<u8>,
}

impl Arrival {
    /// Whether a bit of [`flags`] is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Reads an IP packet of the connection with these ports; `None`: it is another's, or none of TCP.
    pub fn read(packet: &[u8], ends: &Ends, segment: u16, time: Time) -> Option<Self> {
        let segment_bytes = match packet.first()? >> 4 {
            4 => ip4(packet)?,
            6 => ip6(packet)?,
            _ => return None,
        };
        let header = usize::from(segment_bytes.get(12)? >> 4) * 4;
        let ports = (number16(segment_bytes, 0)?, number16(segment_bytes, 2)?);
        if ports != (ends.remote.port(), ends.local.port()) || header < HEADER {
            return None;
        }
        let options = segment_bytes.get(HEADER..header)?;
        let flags = *segment_bytes.get(13)?;
        let four = packet[0] >> 4 == 4;
        Some(Self {
            time,
            seq: number32(segment_bytes, 4)?,
            ack: number32(segment_bytes, 8)?,
            flags,
            stamps: stamps(options),
            header: Header {
                ttl: *packet.get(if four { 8 } else { 7 })?,
                whole: !four || packet.get(6)? & 0x40 != 0,
                window: number16(segment_bytes, 14)?,
                options: if flags & self::flags::SYN == 0 { Vec::new() } else { options.to_vec() },
            },
            segment: u32::from(segment),
            payload: segment_bytes.get(header..)?.to_vec(),
        })
    }
}

/// A segment to send.
#[derive(Debug, Clone, Copy)]
pub struct Departure<'a> {
    /// First sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// The window field.
    pub window: u16,
    /// Timestamps, where the connection has them.
    pub stamps: Option<Stamps>,
    /// SACK blocks, the newest first: the first byte, and behind the last. No more than three fit beside timestamps.
    pub sacks: &'a [(u32, u32)],
    /// What a SYN offers; nothing in other segments.
    pub offer: Option<Offer>,
    /// The payload.
    pub payload: &'a [u8],
}

/// The options of a SYN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Largest segment, bytes.
    pub mss: u16,
    /// Shift of the window, bits.
    pub scale: u8,
    /// Whether SACK is offered.
    pub sack: bool,
    /// Whether timestamps are; the values are the segment's.
    pub stamps: bool,
}

/// What the other end has agreed to, as its SYN says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Its largest segment, bytes, where it says so.
    pub mss: Option<u16>,
    /// Shift of its window, bits, where it scales.
    pub scale: Option<u8>,
    /// Whether it takes SACK blocks.
    pub sack: bool,
    /// Whether it has timestamps.
    pub stamps: bool,
}

impl Agreed {
    /// Reads the options of a SYN. What is cut short counts as not there.
    pub fn read(options: &[u8]) -> Self {
        let mut agreed = Self::default();
        for option in each(options) {
            match option {
                [kinds::LARGEST_SEGMENT, 4, high, low] => {
                    agreed.mss = Some(u16::from_be_bytes([*high, *low]))
                }
                [kinds::WINDOW_SCALE, 3, shift] => agreed.scale = Some(*shift),
                [kinds::SACK_PERMITTED, 2] => agreed.sack = true,
                [kinds::TIMESTAMPS, 10, ..] => agreed.stamps = true,
                _ => {}
            }
        }
        agreed
    }
}

/// The options of a SYN in their order, a word each: `mss`, `sack`, `ts`, `ws`, `nop`, `end`, others by number.
pub fn option_words(options: &[u8]) -> Vec<String> {
    each(options)
        .map(|option| match option.first() {
            Some(&kinds::END) => "end".into(),
            Some(&kinds::NOTHING) => "nop".into(),
            Some(&kinds::LARGEST_SEGMENT) => "mss".into(),
            Some(&kinds::WINDOW_SCALE) => "ws".into(),
            Some(&kinds::SACK_PERMITTED) => "sack".into(),
            Some(&kinds::TIMESTAMPS) => "ts".into(),
            Some(other) => other.to_string(),
            None => String::new(),
        })
        .collect()
}

impl Departure<'_> {
    /// The IP packet. Of IPv4 the kernel fills in the identification and the header's checksum.
    pub fn packet(&self, ends: &Ends) -> Vec<u8> {
        let mut tcp = Vec::with_capacity(HEADER + 12 + self.payload.len());
        tcp.extend(ends.local.port().to_be_bytes());
        tcp.extend(ends.remote.port().to_be_bytes());
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        let options = self.options();
        tcp.extend([((HEADER + options.len()) as u8 / 4) << 4, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]); // checksum, urgent pointer
        tcp.extend(options);
        tcp.extend(self.payload);
        let (mut packet, pseudo) = headers(ends, tcp.len() as u16);
        let sum = checksum(pseudo.chunks(2).chain(tcp.chunks(2)));
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        packet.extend(tcp);
        packet
    }

    /// The same with this time to live, which also stands where routers leave it alone and quote it: in the identification of
    /// IPv4, in the flow label of IPv6.
    pub fn limited(&self, ends: &Ends, ttl: u8) -> Vec<u8> {
        let mut packet = self.packet(ends);
        let (limit, told) = if packet[0] >> 4 == 4 { (8, 5) } else { (7, 3) };
        (packet[limit], packet[told]) = (ttl, ttl);
        packet
    }

    /// The options, filled up to whole words.
    fn options(&self) -> Vec<u8> {
        let mut options = Vec::with_capacity(MOST_OPTIONS);
        if let Some(offer) = self.offer {
            options.extend([kinds::LARGEST_SEGMENT, 4]);
            options.extend(offer.mss.to_be_bytes());
            options.extend([kinds::NOTHING, kinds::WINDOW_SCALE, 3, offer.scale]);
            if offer.sack {
                options.extend([kinds::NOTHING, kinds::NOTHING, kinds::SACK_PERMITTED, 2]);
            }
        }
        if let Some((value, echo)) = self.stamps {
            options.extend([kinds::NOTHING, kinds::NOTHING, kinds::TIMESTAMPS, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        let blocks = &self.sacks[..self.sacks.len().min(MOST_SACKS)];
        if !blocks.is_empty() {
            options.extend([kinds::NOTHING, kinds::NOTHING, kinds::SACK, 2 + 8 * blocks.len() as u8]);
            for (from, to) in blocks {
                options.extend(from.to_be_bytes());
                options.extend(to.to_be_bytes());
            }
        }
        options
    }
}

/// The IP header, and the pseudo header that the checksum covers.
fn headers(ends: &Ends, len: u16) -> (Vec<u8>, Vec<u8>) {
    let mut packet = Vec::with_capacity(1500);
    let mut pseudo = Vec::with_capacity(40);
    match (ends.local, ends.remote) {
        (SocketAddr::V4(local), SocketAddr::V4(remote)) => {
            packet.extend([0x45, 0]);
            packet.extend((len + 20).to_be_bytes());
            packet.extend([0, 0, 0x40, 0, TTL, TCP, 0, 0]);
            pseudo.extend(local.ip().octets());
            pseudo.extend(remote.ip().octets());
            packet.extend(&pseudo);
        }
        (local, remote) => {
            packet.extend([0x60, 0, 0, 0]);
            packet.extend(len.to_be_bytes());
            packet.extend([TCP, TTL]);
            for end in [local, remote] {
                match end {
                    SocketAddr::V6(six) => pseudo.extend(six.ip().octets()),
                    SocketAddr::V4(four) => pseudo.extend(four.ip().to_ipv6_mapped().octets()),
                }
            }
            packet.extend(&pseudo);
            pseudo.extend([0, 0]);
        }
    }
    if pseudo.len() == 8 {
        pseudo.extend([0, TCP]);
        pseudo.extend(len.to_be_bytes());
    } else {
        pseudo.extend(len.to_be_bytes());
        pseudo.extend([0, 0, 0, TCP]);
    }
    (packet, pseudo)
}

/// The Internet checksum (RFC 1071) of these words; a last odd byte counts as the upper half of one.
fn checksum<'a>(words: impl Iterator<Item = &'a [u8]>) -> u16 {
    let word = |w: &[u8]| u32::from(w[0]) << 8 | w.get(1).map_or(0, |low| u32::from(*low));
    let mut sum: u32 = words.map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn ip4(packet: &[u8]) -> Option<&[u8]> {
    let header = usize::from(packet[0] & 15) * 4;
    let total = usize::from(number16(packet, 2)?);
    let fragment = number16(packet, 6)? & 0x3fff != 0;
    // A packet put together of more than 64 kB states no length.
    let end = if total == 0 { packet.len() } else { total.min(packet.len()) };
    (packet.get(9) == Some(&TCP) && !fragment).then(|| packet.get(header..end)).flatten()
}

fn ip6(packet: &[u8]) -> Option<&[u8]> {
    let stated = usize::from(number16(packet, 4)?);
    let end = if stated == 0 { packet.len() } else { (HEADER6 + stated).min(packet.len()) };
    (packet.get(6) == Some(&TCP)).then(|| packet.get(HEADER6..end)).flatten()
}

const HEADER6: usize = 40;

/// The timestamps among a header's options.
fn stamps(options: &[u8]) -> Option<Stamps> {
    let found = each(options).find(|option| matches!(option, [kinds::TIMESTAMPS, 10, ..]))?;
    Some((number32(found, 2)?, number32(found, 6)?))
}

/// Each option, as far as they are whole.
fn each(mut options: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let size = match options {
            [] => return None,
            [kinds::END, ..] => options.len(),
            [kinds::NOTHING, ..] => 1,
            [_, size, ..] if *size >= 2 => usize::from(*size),
            _ => return None,
        };
        let (option, rest) = options.split_at_checked(size)?;
        options = rest;
        Some(option)
    })
}

fn number16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(six: bool) -> Ends {
        let at = |four: &str, sixth: &str| if six { sixth.parse() } else { four.parse() };
        Ends {
            local: at("192.0.2.1:40000", "[2001:db8::1]:40000").unwrap(),
            remote: at("192.0.2.2:80", "[2001:db8::2]:80").unwrap(),
        }
    }

    fn swapped(ends: Ends) -> Ends {
        Ends { local: ends.remote, remote: ends.local }
    }

    fn segment(payload: &[u8]) -> Departure<'_> {
        let flags = flags::ACK | flags::PSH;
        let (stamps, sacks) = (Some((3, 4)), &[(5, 6), (8, u32::MAX)][..]);
        Departure { seq: u32::MAX, ack: 7, flags, window: 512, stamps, sacks, offer: None, payload }
    }

    #[test]
    fn what_is_made_is_read_back_over_both_protocols() {
        for six in [false, true] {
            let packet = segment(b"odd").packet(&ends(six));
            let read = Arrival::read(&packet, &swapped(ends(six)), 2, Time::ns(9)).unwrap();
            let expected = Arrival {
                time: Time::ns(9),
                seq: u32::MAX,
                ack: 7,
                flags: flags::ACK | flags::PSH,
                stamps: Some((3, 4)),
                header: Header { ttl: TTL, whole: true, window: 512, options: Vec::new() },
                segment: 2,
                payload: b"odd".to_vec(),
            };
            assert_eq!(read, expected);
            assert_eq!(
                Arrival::read(&packet, &ends(six), 0, Time::ZERO),
                None,
                "the ports are the other way round"
            );
        }
    }

    #[test]
    fn the_checksum_closes_the_sum() {
        for (six, payload) in [(false, &b"odd"[..]), (true, b"even"), (false, b"")] {
            let packet = segment(payload).packet(&ends(six));
            let tcp = if six { ip6(&packet) } else { ip4(&packet) }.unwrap();
            let (_, pseudo) = headers(&ends(six), tcp.len() as u16);
            assert_eq!(checksum(pseudo.chunks(2).chain(tcp.chunks(2))), 0, "{six} {payload:?}");
        }
        // The example of RFC 1071, section 3.
        let words = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(words.chunks(2)), !0xddf2);
    }

    #[test]
    fn what_a_syn_offers_is_read_back_in_its_order() {
        let offer = Offer { mss: 536, scale: 7, sack: true, stamps: true };
        let syn = Departure { flags: flags::SYN, sacks: &[], offer: Some(offer), ..segment(b"") };
        let read = Arrival::read(&syn.packet(&ends(false)), &swapped(ends(false)), 0, Time::ZERO).unwrap();
        let agreed = Agreed { mss: Some(536), scale: Some(7), sack: true, stamps: true };
        assert_eq!(Agreed::read(&read.header.options), agreed);
        let words = option_words(&read.header.options).join(" ");
        assert_eq!(words, "mss nop ws nop nop sack nop nop ts");
        let plain = Departure { stamps: None, offer: Some(Offer { sack: false, ..offer }), ..syn };
        let read = Arrival::read(&plain.packet(&ends(true)), &swapped(ends(true)), 0, Time::ZERO).unwrap();
        assert_eq!(Agreed::read(&read.header.options), Agreed { sack: false, stamps: false, ..agreed });
        assert_eq!(option_words(&[4, 2, 3, 3, 1, 254, 2, 0, 0]).join(" "), "sack ws 254 end");
    }

    #[test]
    fn padding_is_no_payload_and_fragments_are_not_read() {
        let mut packet = segment(b"").packet(&ends(false));
        packet.extend([0; 6]); // as Ethernet pads it
        assert!(Arrival::read(&packet, &swapped(ends(false)), 0, Time::ZERO).unwrap().payload.is_empty());
        packet[7] = 1;
        assert_eq!(Arrival::read(&packet, &swapped(ends(false)), 0, Time::ZERO), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = Arrival::read(&bytes, &ends(false), 0, Time::ZERO);
        }

        #[test]
        fn options_of_any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = (stamps(&bytes), Agreed::read(&bytes), option_words(&bytes));
        }
    }
}
