use super::*;
use crate::connection::Way;
use crate::file::LinkType;
use crate::wire::{Options, Tcp, flags};
use crate::write::Writer;
use std::net::IpAddr;
use truckee_tcp::Seq;

/// A segment of host `from` to host `to`.
fn packet(from: u8, to: u8, seq: u32, ack: u32, flag_bits: u8, len: u32) -> Packet {
    let host = |k: u8| IpAddr::from([10, 0, 0, k]);
    let ip =
        wire::Ip { source: host(from), destination: host(to), id: Some(0), congestion_experienced: false };
    let tcp = Tcp {
        source: 1000 + u16::from(from),
        destination: 1000 + u16::from(to),
        seq,
        ack,
        flags: flag_bits,
        window: 100,
        len,
        options: Options::default(),
    };
    Packet { ip, tcp }
}

/// What a table makes of these packets, a millisecond apart.
fn captured(packets: &[Packet], limits: Limits) -> Capture {
    let mut table = Table::new(limits, None);
    packets.iter().zip(1..).for_each(|(packet, k)| table.on_packet(Time::ms(k), packet, None));
    table.finish()
}

/// A handshake that offers options, with the client's first number.
fn handshake(first: u32, scale: Option<u8>) -> [Packet; 3] {
    let mut syn = packet(1, 2, first, 0, flags::SYN, 0);
    let mut syn_ack = packet(2, 1, 500, first.wrapping_add(1), flags::SYN | flags::ACK, 0);
    for opening in [&mut syn, &mut syn_ack] {
        opening.tcp.options = Options { mss: Some(1000), scale, ..Options::default() };
    }
    [syn, syn_ack, packet(1, 2, first.wrapping_add(1), 501, flags::ACK, 0)]
}

#[test]
fn a_connection_is_opened_carries_data_and_closes() {
    let mut packets = handshake(7, Some(3)).to_vec();
    packets.extend([
        packet(1, 2, 8, 501, flags::ACK, 1000),
        packet(2, 1, 501, 1008, flags::ACK, 300),
        packet(1, 2, 1008, 801, flags::ACK | flags::FIN, 0),
        packet(2, 1, 801, 1009, flags::ACK | flags::FIN, 0),
        packet(1, 2, 1009, 802, flags::ACK, 0),
    ]);
    let capture = captured(&packets, Limits::default());
    let [c] = capture.connections.as_slice() else { panic!("{:?}", capture.connections) };
    assert_eq!((c.client.as_str(), c.server.as_str(), c.state), ("10.0.0.1:1001", "10.0.0.2:1002", "closed"));
    assert_eq!((c.to_server.unique_bytes, c.to_client.unique_bytes), (1000, 300));
    assert_eq!((c.to_server.packets, c.to_client.packets), (5, 3));
    assert_eq!(c.to_server.window_bytes, Some((800, 800)), "scaled by 2^3");
    assert_eq!((c.handshake.to_server_s, c.handshake.to_client_s), (Some(0.001), Some(0.001)));
    assert_eq!(c.to_server.initial_window_bytes, Some(1000));
    assert_eq!(c.to_server.retransmissions.segments, 0);
}

#[test]
fn numbers_wrap_and_windows_are_scaled_only_if_both_ends_say_so() {
    let first = u32::MAX - 1500;
    let mut packets = handshake(first, None).to_vec();
    for k in 0..4u32 {
        packets.push(packet(1, 2, first.wrapping_add(1 + 1000 * k), 501, flags::ACK, 1000));
        packets.push(packet(2, 1, 501, first.wrapping_add(1001 + 1000 * k), flags::ACK, 0));
    }
    let capture = captured(&packets, Limits::default());
    let to_server = &capture.connections[0].to_server;
    assert_eq!((to_server.unique_bytes, to_server.acked_bytes), (4000, 4000));
    assert_eq!((to_server.retransmissions.segments, to_server.window_bytes), (0, Some((100, 100))));
}

#[test]
fn a_syn_with_another_number_begins_another_connection() {
    let packets = [handshake(7, None), handshake(7, None), handshake(8000, None)].concat();
    let capture = captured(&packets, Limits::default());
    assert_eq!(capture.connections.iter().map(|c| c.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((capture.connections[0].syn_again, capture.connections[1].syn_again), (2, 0));
}

#[test]
fn who_answers_is_the_server_also_where_the_syn_is_missing() {
    let capture = captured(&handshake(7, None)[1..], Limits::default());
    assert_eq!(capture.connections[0].client, "10.0.0.1:1001");
    let amid = [packet(2, 1, 90_000, 80_000, flags::ACK, 100), packet(1, 2, 80_000, 90_100, flags::ACK, 0)];
    let capture = captured(&amid, Limits::default());
    let c = &capture.connections[0];
    assert_eq!((c.client.as_str(), c.to_server.unique_bytes), ("10.0.0.2:1002", 100));
    assert_eq!((c.to_server.acked_bytes, c.to_server.initial_window_bytes), (100, None));
}

/// The bytes each way of the only connection that these packets are, each byte once.
fn unique(packets: &[Packet]) -> (u64, u64) {
    let capture = captured(packets, Limits::default());
    let [c] = capture.connections.as_slice() else { panic!("{:?}", capture.connections) };
    (c.to_server.unique_bytes, c.to_client.unique_bytes)
}

/// Data each way after a handshake: 1000 bytes, and 300 from number 501 on.
fn data_each_way() -> [Packet; 2] {
    [packet(1, 2, 8, 501, flags::ACK, 1000), packet(2, 1, 501, 1008, flags::ACK, 300)]
}

#[test]
fn a_reset_that_answers_a_syn_does_not_number_the_data_of_the_syn_that_is_granted() {
    const FAR: u32 = 3_000_000_000;
    let packets = [
        packet(1, 2, 7, 0, flags::SYN, 0),
        packet(2, 1, 0, 8, flags::RST | flags::ACK, 0),
        packet(1, 2, 7, 0, flags::SYN, 0),
        packet(2, 1, FAR, 8, flags::SYN | flags::ACK, 0),
        packet(1, 2, 8, FAR + 1, flags::ACK, 1000),
        packet(2, 1, FAR + 1, 1008, flags::ACK, 300),
        packet(1, 2, 1008, FAR + 301, flags::ACK, 0),
    ];
    assert_eq!(unique(&packets), (1000, 300));
}

#[test]
fn a_stray_reset_before_the_syn_changes_neither_ends_nor_numbers() {
    let stray = [packet(2, 1, 90_000, 8, flags::RST | flags::ACK, 0)];
    let packets = [&stray[..], &handshake(7, None), &data_each_way()].concat();
    let capture = captured(&packets, Limits::default());
    let [stray, c] = capture.connections.as_slice() else { panic!("{:?}", capture.connections) };
    assert_eq!((stray.to_server.packets, stray.state), (1, "reset"));
    assert_eq!((c.client.as_str(), c.handshake.client.is_some()), ("10.0.0.1:1001", true));
    assert_eq!((c.to_server.unique_bytes, c.to_client.unique_bytes), (1000, 300));
}

#[test]
fn numbers_that_are_not_those_of_a_closed_connection_are_anothers_whose_syn_was_not_captured() {
    let closing = [
        packet(1, 2, 1008, 801, flags::ACK | flags::FIN, 0),
        packet(2, 1, 801, 1009, flags::ACK | flags::FIN, 0),
        packet(1, 2, 1009, 802, flags::ACK, 0),
    ];
    let again = [packet(2, 1, 501, 1009, flags::ACK, 300), packet(1, 2, 1009, 802, flags::ACK, 0)];
    let next = [
        packet(1, 2, 3_000_000_000, 70_000_000, flags::ACK, 100),
        packet(2, 1, 70_000_000, 3_000_000_100, flags::ACK, 200),
    ];
    let packets = [&handshake(7, None)[..], &data_each_way(), &closing, &again, &next].concat();
    let capture = captured(&packets, Limits::default());
    let [first, second] = capture.connections.as_slice() else { panic!("{:?}", capture.connections) };
    assert_eq!(
        (first.to_server.unique_bytes, first.to_client.unique_bytes, first.state),
        (1000, 300, "closed")
    );
    assert_eq!((second.to_server.unique_bytes, second.to_client.unique_bytes), (100, 200));
}

#[test]
fn the_last_of_several_syn_acks_numbers_the_data() {
    let first = packet(2, 1, 70_000, 8, flags::SYN | flags::ACK, 0);
    let old = packet(2, 1, 2_000_000_000, 4_000_000, flags::SYN | flags::ACK, 0);
    for before in
        [vec![packet(1, 2, 7, 0, flags::SYN, 0), first], vec![packet(1, 2, 7, 0, flags::SYN, 0), old]]
    {
        let packets = [&before[..], &handshake(7, None), &data_each_way()].concat();
        assert_eq!(unique(&packets), (1000, 300));
    }
    // Once data has passed, a SYN-ACK that answers another SYN is another connection's, one that answers this is old.
    let again = [&handshake(7, None)[..], &data_each_way(), &[first]].concat();
    assert_eq!(unique(&again), (1000, 300));
    let others = packet(2, 1, 70_000, 5_000_000, flags::SYN | flags::ACK, 0);
    let capture =
        captured(&[&handshake(7, None)[..], &data_each_way(), &[others]].concat(), Limits::default());
    assert_eq!(capture.connections.len(), 2);
}

#[test]
fn two_syns_that_cross_are_one_connection() {
    let mut packets = vec![packet(1, 2, 7, 0, flags::SYN, 0), packet(2, 1, 500, 0, flags::SYN, 0)];
    packets.extend([
        packet(1, 2, 7, 501, flags::SYN | flags::ACK, 0),
        packet(2, 1, 500, 8, flags::SYN | flags::ACK, 0),
    ]);
    packets.extend(data_each_way());
    assert_eq!(unique(&packets), (1000, 300));
}

#[test]
fn what_was_sent_before_the_capture_began_counts_when_it_is_sent_again() {
    let first = 90_000u32;
    let data = |seq| packet(1, 2, seq, 500, flags::ACK, 1000);
    let ack = |ack| packet(2, 1, 500, ack, flags::ACK, 0);
    let packets = [
        data(first),
        ack(first - 3000),
        data(first + 1000),
        data(first - 3000),
        data(first - 2000),
        ack(first - 1000),
    ];
    let packets = [&packets[..], &[data(first - 1000), ack(first + 2000)]].concat();
    let capture = captured(&packets, Limits::default());
    let d = &capture.connections[0].to_server;
    assert_eq!((d.unique_bytes, d.bytes, d.missing_bytes, d.acked_bytes), (5000, 5000, 0, 5000));
    assert_eq!((d.most_in_flight_bytes, d.retransmissions.segments), (5000, 3));
    // Also where the numbers wrap, and where the first that was seen is an ACK.
    for first in [500u32, 0] {
        let data = |k: u32| packet(1, 2, first.wrapping_add(1000u32.wrapping_mul(k)), 500, flags::ACK, 1000);
        let ack = |k: u32| packet(2, 1, 500, first.wrapping_add(1000u32.wrapping_mul(k)), flags::ACK, 0);
        let d = &captured(&[ack(1), data(1), data(0), data(u32::MAX), ack(2)], Limits::default());
        let d = &d.connections[0].to_client;
        assert_eq!((d.unique_bytes, d.bytes, d.missing_bytes), (3000, 3000, 0), "{first}");
    }
}

#[test]
fn a_sack_block_below_the_ack_or_within_the_next_one_is_a_duplicate() {
    let mut below = packet(2, 1, 501, 2008, flags::ACK, 0);
    below.tcp.options.sack.push(8, 1008);
    let mut within = packet(2, 1, 501, 2008, flags::ACK, 0);
    within.tcp.options.sack.push(4008, 5008);
    within.tcp.options.sack.push(3008, 5008);
    let mut packets = handshake(7, None).to_vec();
    packets.extend((0..5).map(|k| packet(1, 2, 8 + 1000 * k, 501, flags::ACK, 1000)));
    packets.extend([below, within]);
    let capture = captured(&packets, Limits::default());
    let to_server = &capture.connections[0].to_server;
    assert_eq!(to_server.retransmissions.dsacks, 2);
    assert_eq!(to_server.most_in_flight_bytes, 5000);
}

#[test]
fn there_are_never_more_connections_than_allowed_and_none_is_lost_from_the_sums() {
    let limits = Limits { followed: 4, reported: 3, ..Limits::default() };
    let packets: Vec<Packet> =
        (0..200u8).map(|k| packet(k, 250, 10, 10, flags::ACK, 100 + u32::from(k))).collect();
    let capture = captured(&packets, limits);
    assert_eq!(capture.connections.len(), 3);
    let shown: Vec<u64> = capture.connections.iter().map(|c| c.to_server.bytes).collect();
    assert_eq!(shown, [297, 298, 299], "the largest");
    assert_eq!((capture.others.connections, capture.others.packets), (197, 197));
    let all: u64 = (0..200).map(|k| 100 + k).sum();
    assert_eq!(capture.others.bytes + shown.iter().sum::<u64>(), all);
}

#[test]
fn what_is_kept_over_all_connections_is_bounded() {
    let limits = Limits { bytes: 50_000, ..Limits::default() };
    let mut table = Table::new(limits, None);
    for k in 0..20_000u32 {
        let host = (k % 100) as u8;
        table.on_packet(Time::ms(u64::from(k)), &packet(host, 250, 10 + 10 * k, 10, flags::ACK, 5), None);
        let held: usize = table.followed.iter().map(|e| e.connection.size()).sum();
        assert_eq!(held, table.kept, "the books of the books");
        assert!(held <= 51_000, "{held}");
    }
    assert!(table.finish().connections.len() > 100);
}

#[test]
fn a_capture_that_ends_amid_a_packet_shows_what_came_before() {
    let mut writer = Writer::new(Vec::new(), "here").unwrap();
    let mut maker = crate::write::Maker::new(0, 0, 1000, false, false, true);
    for k in 0..3 {
        let segment = truckee_tcp::Segment {
            seq: Seq::at(1 + 1000 * k),
            ack: Seq::FIRST,
            len: 1000,
            flags: truckee_tcp::flags::ACK,
            ..Default::default()
        };
        let (headers, len) = maker.packet(&segment, true);
        let dropped = (k == 1).then(|| crate::truth::comment("queue", "a-b"));
        writer.packet(Time::ms(k), &headers, len, dropped.as_deref()).unwrap();
    }
    let file = writer.finish().unwrap();
    let capture = read(&file[..file.len() - 7], Limits::default(), None, |_| true).unwrap();
    assert_eq!((capture.packets, capture.connections[0].to_server.bytes), (2, 2000));
    assert!(capture.ended_early.unwrap().contains("amid the block"));
    let stopped = read(&file[..], Limits::default(), None, |_| false).unwrap();
    assert_eq!((stopped.packets, stopped.ended_early.as_deref()), (0, Some("interrupted")));
    let skipped = Skip::Link(LinkType(7));
    let mut table = Table::new(Limits::default(), None);
    table.on_skip(skipped);
    assert_eq!(table.finish().skipped["link type 7"], 1);
}

#[test]
fn a_watcher_hears_of_the_connection_it_wants() {
    struct Count(u64, u64);
    impl Watch for Count {
        fn wants(&mut self, connection: &Connection) -> bool {
            connection.number == self.0
        }
        fn on_step(&mut self, connection: &Connection, _: &Packet, step: &Step) {
            assert_eq!((connection.number, step.way), (self.0, Some(Way::ToServer)));
            self.1 += 1;
        }
    }
    let mut count = Count(2, 0);
    let mut table = Table::new(Limits::default(), Some(&mut count));
    for k in 0..9u8 {
        table.on_packet(Time::ms(u64::from(k)), &packet(k % 3, 250, 10, 10, flags::ACK, 5), None);
    }
    table.finish();
    assert_eq!(count.1, 3);
}
