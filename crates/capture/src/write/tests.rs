use super::*;
use crate::wire::{self, flags};

fn maker() -> Maker {
    Maker::new(1, 2, 1460, true, true, true)
}

#[test]
fn a_made_packet_says_what_the_segment_says() {
    let mut maker = maker();
    let syn = Segment {
        seq: Seq::ZERO,
        window: 65535,
        flags: inside::SYN,
        ts_val: Time::us(5),
        ..Segment::default()
    };
    let (bytes, len) = maker.packet(&syn, true);
    let opened = wire::read(LinkType::RAW, &bytes, len).unwrap();
    assert_eq!((opened.tcp.flags, opened.tcp.window, opened.tcp.len), (flags::SYN, 65535, 0));
    let o = opened.tcp.options;
    assert_eq!((o.mss, o.scale, o.sack_permitted, o.timestamps), (Some(1460), Some(7), true, Some((5, 0))));

    let mut sack = SackBlocks::default();
    sack.push(Seq::at(1001), Seq::at(2001), Seq::at(3001));
    let ack = Segment {
        seq: Seq::FIRST,
        ack: Seq::at(1001),
        window: 12_800,
        flags: inside::ACK,
        sack,
        ts_val: Time::us(9),
        ts_ecr: Time::us(5),
        ..Segment::default()
    };
    let (bytes, len) = maker.packet(&ack, false);
    let answer = wire::read(LinkType::RAW, &bytes, len).unwrap().tcp;
    assert_eq!((answer.source, answer.destination), (opened.tcp.destination, opened.tcp.source));
    assert_eq!(answer.ack, opened.tcp.seq.wrapping_add(1001));
    assert_eq!((answer.window, answer.options.timestamps), (100, Some((9, 5))));
    let first = opened.tcp.seq;
    assert_eq!(answer.options.sack.blocks(), [(first.wrapping_add(2001), first.wrapping_add(3001))]);
}

#[test]
fn data_is_pushed_where_its_sender_pushes_it() {
    let mut maker = maker();
    let pushed = [0, inside::PSH].map(|psh| {
        let data = Segment { len: 1000, flags: inside::ACK | psh, ..Segment::default() };
        let (bytes, len) = maker.packet(&data, true);
        wire::read(LinkType::RAW, &bytes, len).unwrap().tcp.flags & flags::PSH != 0
    });
    assert_eq!(pushed, [false, true]);
}

#[test]
fn identifications_count_up_and_checksums_hold() {
    let mut maker = maker();
    let data =
        Segment { seq: Seq::FIRST, ack: Seq::FIRST, len: 1000, flags: inside::ACK, ..Segment::default() };
    let ids: Vec<u16> = (0..3)
        .map(|_| {
            let (bytes, len) = maker.packet(&data, true);
            assert_eq!(len, 20 + 32 + 1000);
            assert_eq!(fold(sum(&bytes[..20])), 0xffff, "IPv4's");
            let pseudo = sum(&bytes[12..20]) + u32::from(TCP) + (len - 20);
            assert_eq!(fold(pseudo + sum(&bytes[20..])), 0xffff, "TCP's");
            wire::read(LinkType::RAW, &bytes, len).unwrap().ip.id.unwrap()
        })
        .collect();
    assert_eq!(ids, [2, 3, 4]);
}
