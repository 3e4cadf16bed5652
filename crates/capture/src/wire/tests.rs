use super::*;

/// An IPv4 header of that protocol with this many bytes after it, as the header says.
fn four(protocol: u8, total: u16) -> Vec<u8> {
    let mut header = vec![0x45, 3, 0, 0, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    header[2..4].copy_from_slice(&total.to_be_bytes());
    header
}

/// An IPv6 header with this next header and payload length.
fn six(next: u8, payload: u16) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0, 0, 0, next, 64];
    header[4..6].copy_from_slice(&payload.to_be_bytes());
    header.extend(std::net::Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1).octets());
    header.extend(std::net::Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2).octets());
    header
}

/// A TCP header with these options (whole words).
fn tcp(options: &[u8]) -> Vec<u8> {
    let mut header = vec![0x1f, 0x90, 0, 80, 0, 0, 3, 0xe8, 0, 0, 7, 0xd0];
    header.extend([((20 + options.len()) as u8 / 4) << 4, flags::ACK, 2, 0, 0, 0, 0, 0]);
    header.extend(options);
    header
}

fn ethernet(kind: u16, tags: &[u16]) -> Vec<u8> {
    let mut header = vec![2; 12];
    for tag in tags {
        header.extend(tag.to_be_bytes());
        header.extend([0, 5]);
    }
    header.extend(kind.to_be_bytes());
    header
}

fn whole(link: LinkType, packet: &[u8]) -> Result<Packet, Skip> {
    read(link, packet, packet.len() as u32)
}

#[test]
fn a_segment_is_found_behind_every_kind_of_first_bytes() {
    let ip = [four(6, 140), tcp(&[]), vec![0; 100]].concat();
    let mut cooked = vec![0; 14];
    cooked.extend(0x0800u16.to_be_bytes());
    let mut cooked2 = 0x0800u16.to_be_bytes().to_vec();
    cooked2.extend([0; 18]);
    let mut tagged2 = 0x8100u16.to_be_bytes().to_vec();
    tagged2.extend([0; 18]);
    tagged2.extend([0, 5, 8, 0]);
    for (link, before) in [
        (LinkType::ETHERNET, ethernet(0x0800, &[])),
        (LinkType::ETHERNET, ethernet(0x0800, &[0x8100])),
        (LinkType::ETHERNET, ethernet(0x0800, &[0x88a8, 0x8100])),
        (LinkType::LINUX_SLL, cooked),
        (LinkType::LINUX_SLL2, cooked2),
        (LinkType::LINUX_SLL2, tagged2),
        (LinkType::NULL, vec![2, 0, 0, 0]),
        (LinkType::LOOP, vec![0, 0, 0, 2]),
        (LinkType::RAW, vec![]),
        (LinkType::IPV4, vec![]),
        (LinkType::ETHERNET, [ethernet(0x8864, &[]), pppoe(), vec![0, 0x21]].concat()),
        (LinkType::ETHERNET, [ethernet(0x8864, &[0x8100]), pppoe(), vec![0, 0x21]].concat()),
        (LinkType(51), [pppoe(), vec![0, 0x21]].concat()),
        (LinkType(9), vec![0, 0x21]),
        (LinkType(9), vec![0x21]),
        (LinkType(9), vec![0xff, 3, 0, 0x21]),
        (LinkType(50), vec![0xff, 3, 0x21]),
        (LinkType(50), vec![0x0f, 0, 8, 0]),
        (LinkType(166), vec![1, 3, 0, 0x21]),
        (LinkType(204), vec![0, 0xff, 3, 0, 0x21]),
        (LinkType(104), vec![0x8f, 0, 8, 0]),
        (LinkType(205), vec![1, 0x0f, 0, 8, 0]),
        (LinkType(242), [vec![7; 40], vec![8, 0, 0, 0]].concat()),
    ] {
        let packet = whole(link, &[before, ip.clone()].concat()).unwrap();
        assert_eq!((packet.tcp.source, packet.tcp.destination), (8080, 80), "{link:?}");
        assert_eq!((packet.tcp.seq, packet.tcp.ack, packet.tcp.window), (1000, 2000, 512));
        assert_eq!((packet.tcp.len, packet.ip.id), (100, Some(0x1234)));
        assert!(packet.ip.congestion_experienced && packet.tcp.has(flags::ACK));
    }
}

/// A PPPoE header of a session.
fn pppoe() -> Vec<u8> {
    vec![0x11, 0, 0, 9, 0, 142]
}

#[test]
fn a_segment_is_found_within_gre_also_where_it_is_bridged_or_pptp() {
    let inner = [four(6, 140), tcp(&[]), vec![0; 100]].concat();
    for before in [
        vec![0, 0, 8, 0],
        vec![0xb0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1],
        [vec![0, 0, 0x65, 0x58], ethernet(0x0800, &[])].concat(),
        vec![0x30, 0x81, 0x88, 0x0b, 0, 142, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 3, 0, 0x21],
    ] {
        let total = 20 + before.len() + inner.len();
        let packet = [four(47, total as u16), before.clone(), inner.clone()].concat();
        let packet = whole(LinkType::RAW, &packet).unwrap();
        assert_eq!((packet.tcp.seq, packet.tcp.len, packet.ip.id), (1000, 100, Some(0x1234)), "{before:x?}");
        let six = [six(47, (total - 20) as u16), before.clone(), inner.clone()].concat();
        assert_eq!(whole(LinkType::IPV6, &six).unwrap().tcp.len, 100, "{before:x?}");
    }
    let deeper = |inner: Vec<u8>| [four(47, 24 + inner.len() as u16), vec![0, 0, 8, 0], inner].concat();
    let twice = deeper(deeper(inner.clone()));
    assert_eq!(whole(LinkType::RAW, &twice).unwrap().tcp.len, 100);
    let bottomless = (0..9).fold(inner, |inner, _| deeper(inner));
    assert_eq!(whole(LinkType::RAW, &bottomless), Err(Skip::Tunnel));
}

#[test]
fn a_length_beyond_the_frame_is_not_believed() {
    let lying = [four(6, 60_000), tcp(&[]), vec![0; 979]].concat();
    assert_eq!(whole(LinkType::RAW, &lying).unwrap().tcp.len, 979);
    let lying = [six(6, 60_000), tcp(&[]), vec![0; 979]].concat();
    assert_eq!(whole(LinkType::RAW, &lying).unwrap().tcp.len, 979);
    // Cut by the snap length, the frame is as long as it was on the wire.
    let cut = [four(6, 1040), tcp(&[])].concat();
    assert_eq!(read(LinkType::RAW, &cut, 1040).unwrap().tcp.len, 1000);
    let behind_ethernet = [ethernet(0x0800, &[]), four(6, 60_000), tcp(&[])].concat();
    assert_eq!(read(LinkType::ETHERNET, &behind_ethernet, 14 + 1040).unwrap().tcp.len, 1000);
}

#[test]
fn padding_of_the_link_is_no_payload_and_a_missing_length_is_the_captures() {
    let ip = [four(6, 40), tcp(&[]), vec![0; 6]].concat();
    assert_eq!(whole(LinkType::RAW, &ip).unwrap().tcp.len, 0);
    // A super-segment whose length IPv4 cannot say, cut by the snap length.
    let big = [four(6, 0), tcp(&[])].concat();
    assert_eq!(read(LinkType::RAW, &big, 100_040).unwrap().tcp.len, 100_000);
    let jumbo = [six(0, 0), vec![6, 0, 0xc2, 4, 0, 1, 0x86, 0xb4], tcp(&[])].concat();
    assert_eq!(read(LinkType::RAW, &jumbo, 100_040 + 28).unwrap().tcp.len, 100_000);
}

#[test]
fn extension_headers_are_passed_over() {
    let hop = vec![60, 0, 1, 4, 0, 0, 0, 0];
    let destination = vec![44, 0, 1, 4, 0, 0, 0, 0];
    let atomic = vec![6, 0, 0, 0, 0, 0, 0, 9];
    let packet = [six(0, 24 + 20 + 7), hop, destination, atomic, tcp(&[]), vec![0; 7]].concat();
    let packet = whole(LinkType::IPV6, &packet).unwrap();
    assert_eq!((packet.tcp.len, packet.ip.id), (7, None));
}

#[test]
fn options_are_read_whatever_stands_between_them() {
    let options = [
        2, 4, 5, 0xb4, // MSS 1460
        3, 3, 7, 1, // scale 7
        4, 2, 30, 4, 0, 0, // SACK permitted, Multipath TCP
        34, 2, 99, 4, 1, 2, // Fast Open, one that nobody knows
        8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, // time stamps, the end
    ];
    let read = whole(LinkType::RAW, &[four(6, 20 + 20 + 32), tcp(&options)].concat()).unwrap().tcp.options;
    assert_eq!((read.mss, read.scale, read.timestamps), (Some(1460), Some(7), Some((1, 2))));
    assert!(read.sack_permitted && read.multipath && read.fast_open && !read.cut_short);
    let blocks = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
    let read = whole(LinkType::RAW, &[four(6, 20 + 20 + 20), tcp(&blocks)].concat()).unwrap().tcp.options;
    assert_eq!(read.sack.blocks(), [(1, 2), (3, 4)]);
}

#[test]
fn options_that_lie_end_the_options_and_nothing_else() {
    for options in [[8, 10, 0, 0], [2, 0, 0, 0], [2, 1, 0, 0], [5, 255, 0, 0], [3, 4, 0, 0]] {
        let packet = whole(LinkType::RAW, &[four(6, 44), tcp(&options)].concat()).unwrap();
        assert_eq!(packet.tcp.options, Options::default(), "{options:?}");
    }
}

#[test]
fn a_packet_cut_short_says_what_was_captured_of_it() {
    let packet =
        [four(6, 20 + 32 + 1000), tcp(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]), vec![0; 1000]].concat();
    let read_of = |len: usize| read(LinkType::RAW, &packet[..len], packet.len() as u32);
    let cut = read_of(40).unwrap().tcp;
    assert_eq!((cut.len, cut.options.timestamps, cut.options.cut_short), (1000, None, true));
    let full = read_of(60).unwrap().tcp;
    assert_eq!((full.len, full.options.timestamps, full.options.cut_short), (1000, Some((1, 2)), false));
    for len in 0..36 {
        assert_eq!(read_of(len), Err(Skip::CutShort), "{len}");
    }
}

#[test]
fn what_is_no_tcp_segment_is_passed_over_with_its_reason() {
    let segment = tcp(&[]);
    let fragment = |at: usize, byte: u8| {
        let mut header = four(6, 40);
        header[at] = byte;
        [header, segment.clone()].concat()
    };
    let mut short = tcp(&[]);
    short[12] = 0x40;
    let cases = [
        (LinkType::ETHERNET, ethernet(0x0806, &[]), Skip::NotIp),
        (LinkType::ETHERNET, ethernet(0x8847, &[]), Skip::Tunnel),
        (LinkType::ETHERNET, ethernet(0x0800, &[0x8100; 9]), Skip::Malformed),
        (LinkType(127), vec![0; 60], Skip::Link(LinkType(127))),
        (LinkType::RAW, four(17, 20), Skip::NotTcp),
        (LinkType::RAW, [four(47, 24), vec![0, 0, 0x88, 0xbe]].concat(), Skip::Tunnel),
        (LinkType::RAW, [four(47, 24), vec![0x40, 0, 8, 0]].concat(), Skip::Tunnel),
        (
            LinkType::RAW,
            [four(47, 32), vec![0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 9, 0, 0, 0, 1]].concat(),
            Skip::NotTcp,
        ),
        (LinkType::RAW, four(47, 20), Skip::CutShort),
        (LinkType::RAW, [four(47, 24), vec![0, 0, 8, 0]].concat().repeat(6), Skip::CutShort),
        (LinkType(9), vec![0, 0x2d, 0, 0], Skip::Compressed),
        (LinkType(9), vec![0xc0, 0x21, 0, 0], Skip::NotIp),
        (LinkType(9), vec![0, 0x3d, 0, 0], Skip::Tunnel),
        (LinkType(104), vec![0x0f, 0, 0x80, 0x35], Skip::NotIp),
        (LinkType(242), vec![0; 30], Skip::CutShort),
        (LinkType::RAW, six(41, 0), Skip::Tunnel),
        (LinkType::RAW, fragment(6, 0x20), Skip::Fragment),
        (LinkType::RAW, fragment(7, 1), Skip::Fragment),
        (LinkType::RAW, vec![0x70; 40], Skip::NotIp),
        (LinkType::RAW, fragment(0, 0x44), Skip::Malformed),
        (LinkType::RAW, fragment(3, 10), Skip::Malformed),
        (LinkType::RAW, [four(6, 40), short].concat(), Skip::Malformed),
        (LinkType::RAW, [four(6, 30), segment[..10].to_vec()].concat(), Skip::Malformed),
    ];
    for (link, packet, why) in cases {
        assert_eq!(whole(link, &packet), Err(why), "{link:?} {packet:02x?}");
    }
}

mod random {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_or_passed_over(
            link in prop_oneof![
                Just(0u16), Just(1), Just(9), Just(50), Just(51), Just(101), Just(104), Just(113), Just(242), Just(276)
            ],
            mut bytes in prop::collection::vec(any::<u8>(), 0..200),
            wire in any::<u32>(),
            tidy in any::<bool>(),
        ) {
            if tidy && link == 101 && bytes.len() > 20 {
                bytes[0] = 0x45;
                bytes[9] = 6;
                bytes[6..8].fill(0);
            }
            if let Ok(packet) = read(LinkType(link), &bytes, wire) {
                prop_assert!(packet.tcp.options.sack.blocks().len() <= 4);
            }
        }
    }
}
