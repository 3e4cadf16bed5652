//! The congestion mark in an IP header (RFC 3168). Not for: TCP's echo of it, which is the stacks'.

/// The field's two bits: what it says when congestion was experienced.
const CE: u8 = 0b11;

/// Whether a packet says that it may be marked in place of dropped: its ECN field is not 0 (RFC 3168, section 5). One that was
/// marked before may be marked again.
pub(super) fn is_capable(packet: &[u8]) -> bool {
    match packet {
        [first, class, ..] if first >> 4 == 4 => class & CE != 0,
        [first, class, ..] if first >> 4 == 6 => class >> 4 & CE != 0,
        _ => false,
    }
}

/// Marks an IP packet as one that experienced congestion; of IPv4 the header's checksum follows (RFC 1624, equation 3).
pub(super) fn mark(packet: &mut [u8]) {
    match packet {
        [first, class, rest @ ..] if *first >> 4 == 4 && rest.len() >= 18 => {
            let before = u16::from_be_bytes([*first, *class]);
            *class |= CE;
            let after = u16::from_be_bytes([*first, *class]);
            let [.., high, low] = &mut rest[..10] else { return };
            let sum = u32::from(!u16::from_be_bytes([*high, *low])) + u32::from(!before) + u32::from(after);
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            [*high, *low] = (!(folded as u16)).to_be_bytes();
        }
        [first, class, ..] if *first >> 4 == 6 => *class |= CE << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The checksum of an IPv4 header (RFC 791): it comes to 0 over a header that has it.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let sum: u32 = words.sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        !((folded & 0xffff) + (folded >> 16)) as u16
    }

    /// A header of 20 bytes with its checksum.
    fn header(class: u8, rest: [u8; 18]) -> Vec<u8> {
        let mut header = vec![0x45, class];
        header.extend(rest);
        header[10..12].fill(0);
        let sum = checksum(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    }

    #[test]
    fn a_marked_header_s_checksum_is_that_of_the_header_as_it_is() {
        proptest!(|(class in any::<u8>(), rest in any::<[u8; 18]>())| {
            let before = header(class, rest);
            let mut marked = before.clone();
            mark(&mut marked);
            prop_assert_eq!(marked[1], class | CE);
            prop_assert_eq!(checksum(&marked), 0);
            prop_assert_eq!(&marked[2..10], &before[2..10]);
            prop_assert_eq!(&marked[12..], &before[12..]);
        });
    }

    #[test]
    fn the_field_is_where_each_protocol_has_it() {
        let four = |class| header(class, [0; 18]);
        // There the class lies across two bytes.
        let six = |class: u8| [vec![0x60 | class >> 4, class << 4], vec![0; 38]].concat();
        for of in [four as fn(u8) -> Vec<u8>, six] {
            assert!(!is_capable(&of(0b1011_1000)), "a code point of its own is no ECN");
            assert!((1..=3).all(|field| is_capable(&of(0b1011_1000 | field))));
            let mut marked = of(0b1011_1001);
            mark(&mut marked);
            assert_eq!(marked, of(0b1011_1011));
        }
        let mut none = vec![0xff; 40];
        mark(&mut none);
        assert_eq!((none, is_capable(&[0xff; 40])), (vec![0xff; 40], false));
        mark(&mut []);
        mark(&mut [0x45, 1]);
    }
}
