use super::*;
use crate::segment::flags::{ACK, RST, SYN};

const FLOW: u32 = 0;
const SERVER: u16 = 20_000;

fn data(seq: u32, len: u32, flags: u8) -> Tcp {
    Tcp { source: 40_000, destination: SERVER, seq, ack: 1, flags, len }
}

fn ack(ack: u32, flags: u8) -> Tcp {
    Tcp { source: SERVER, destination: 40_000, seq: 1, ack, flags, len: 0 }
}

/// Opens a connection with this initial sequence number.
fn open(book: &mut Book, isn: u32) {
    book.begin_measuring();
    book.send(Time::ZERO, FLOW, &data(isn, 0, SYN), true).unwrap();
    let answer = book.send(Time::ns(1), FLOW, &ack(isn.wrapping_add(1), SYN | ACK), false).unwrap();
    book.arrive(Time::ns(2), &answer);
    book.send(Time::ns(2), FLOW, &data(isn.wrapping_add(1), 0, ACK), true).unwrap();
}

#[test]
fn handshake_and_close_are_neither_data_nor_acks_of_data() {
    let mut book = Book::new(false);
    open(&mut book, u32::MAX);
    let first = book.send(Time::ns(10), FLOW, &data(0, 500, ACK), true).unwrap();
    assert_eq!(first.number, 1);
    book.arrive(Time::ns(20), &first);
    let fin = book.send(Time::ns(30), FLOW, &data(500, 0, ACK | 1), true).unwrap();
    book.arrive(Time::ns(40), &fin);
    let last = book.send(Time::ns(50), FLOW, &ack(501, ACK), false).unwrap();
    assert_eq!(last.number, 502, "behind the FIN");
    book.arrive(Time::ns(60), &last);
    book.send(Time::ns(70), FLOW, &ack(501, RST | ACK), false).unwrap();
    let book = book.finish();
    assert_eq!((book.segments_sent, book.segments_received, book.acks_sent), (1, 1, 1));
    assert_eq!((book.bytes_sent, book.bytes_delivered, book.last_delivery), (500, 500, Some(Time::ns(20))));
    assert_eq!(book.rtt_s.min, Some(50e-9));
    assert_eq!(book.connections, 1);
    assert_eq!(book.rounds, [RoundOutcome { segments: 1, acks: 1 }]);
}

#[test]
fn a_server_that_sends_the_data_is_a_sender_like_any() {
    let (mut book, isn) = (Book::new(false), 5000);
    book.begin_measuring();
    let from_client =
        |seq, ack, flags, len| Tcp { source: 40_000, destination: SERVER, seq, ack, flags, len };
    let from_server =
        |seq, flags, len| Tcp { source: SERVER, destination: 40_000, seq, ack: 301, flags, len };
    assert_eq!(book.send(Time::ZERO, FLOW, &from_client(0, 0, SYN, 0), false), None, "of no data yet");
    book.send(Time::ns(1), FLOW, &from_server(isn, SYN | ACK, 0), true).unwrap();
    book.send(Time::ns(2), FLOW, &from_client(1, isn + 1, ACK, 300), false).unwrap();
    let first = book.send(Time::ns(3), FLOW, &from_server(isn + 1, ACK, 1000), true).unwrap();
    book.arrive(Time::ns(4), &first);
    let ack = book.send(Time::ns(4), FLOW, &from_client(301, isn + 1001, ACK, 0), false).unwrap();
    book.arrive(Time::ns(8), &ack);
    let book = book.finish();
    assert_eq!((book.segments_sent, book.bytes_delivered, book.acks_sent), (1, 1000, 1));
    assert_eq!((book.rtt_s.min, book.connections), (Some(5e-9), 1));
}

#[test]
fn requests_the_other_way_are_not_the_flows_data() {
    let mut book = Book::new(true);
    open(&mut book, 0);
    let request = book.send(Time::ns(5), FLOW, &Tcp { len: 300, ..ack(1, ACK) }, false).unwrap();
    book.lose(&request, Time::ns(5), Dropped { at: Time::ns(6), cause: Cause::Channel }, false, "b-a");
    let book = book.finish();
    assert_eq!((book.segments_sent, book.acks_sent, book.ack_drops), (0, 0, Drops::default()));
    assert!(book.dropped.is_empty() && book.segments.is_empty());
}

#[test]
fn a_drop_is_counted_recorded_and_told_by_either_number() {
    let isn = u32::MAX - 100;
    let mut book = Book::new(true);
    open(&mut book, isn);
    let raw = isn.wrapping_add(1);
    let first = book.send(Time::ns(10), FLOW, &data(raw, 1000, ACK), true).unwrap();
    let drop = Dropped { at: Time::ns(15), cause: Cause::Channel };
    book.lose(&first, Time::ns(10), drop, false, "a-b");
    let again = book.send(Time::ns(40), FLOW, &data(raw, 1000, ACK), true).unwrap();
    book.arrive(Time::ns(50), &again);
    let answer = book.send(Time::ns(50), FLOW, &ack(raw.wrapping_add(1000), ACK), false).unwrap();
    book.lose(&answer, Time::ns(50), Dropped { at: Time::ns(50), cause: Cause::Queue }, false, "b-a");
    let book = book.finish();
    assert_eq!(book.drops, Drops { channel: 1, ..Drops::default() });
    assert_eq!(book.ack_drops, Drops { queue: 1, ..Drops::default() });
    assert_eq!((book.retransmitted_segments, book.retransmitted_bytes), (1, 1000));
    assert_eq!(book.fate(40_000, 500, Time::ns(30)), Some(drop));
    assert_eq!(book.fate_of_raw(40_000, raw.wrapping_add(499), Time::ns(30)), Some(drop));
    assert_eq!(book.fate(40_000, 500, Time::ns(45)), None, "it came the second time");
    assert_eq!(book.fate(40_001, 500, Time::ns(30)), None, "another connection");
    let points: Vec<(u64, bool, &str, &str)> =
        book.dropped.iter().map(|d| (d.seq, d.ack, d.cause, d.link.as_str())).collect();
    assert_eq!(points, [(1, false, "channel", "a-b"), (1001, true, "queue", "b-a")]);
    assert_eq!(book.segments.iter().map(|s| s.retransmission).collect::<Vec<_>>(), [false, true]);
    assert_eq!(
        book.delays,
        [DelayPoint { t: Time::ns(50).seconds(), delay: Span::ns(40).seconds() }],
        "from the first transmission"
    );
}

#[test]
fn a_port_that_serves_again_is_another_connection() {
    let mut book = Book::new(false);
    open(&mut book, 1000);
    let first = book.send(Time::ns(10), FLOW, &data(1001, 100, ACK), true).unwrap();
    let drop = Dropped { at: Time::ns(11), cause: Cause::Queue };
    book.lose(&first, Time::ns(10), drop, false, "a-b");
    // A SYN sent again is no other connection; one with another number is.
    book.send(Time::ns(12), FLOW, &data(1000, 0, SYN), true).unwrap();
    book.send(Time::ns(100), FLOW, &data(9000, 0, SYN), true).unwrap();
    let second = book.send(Time::ns(110), FLOW, &data(9001, 100, ACK), true).unwrap();
    assert_eq!((second.connection, second.number), (1, 1));
    let book = book.finish();
    assert_eq!(book.connections, 2);
    assert_eq!(book.retransmitted_segments, 0);
    assert_eq!(book.fate(40_000, 1, Time::ns(50)), Some(drop));
    assert_eq!(book.fate(40_000, 1, Time::ns(120)), None);
    assert_eq!(book.opened().collect::<Vec<_>>(), [(40_000, Time::ZERO), (40_000, Time::ns(100))]);
}

#[test]
fn what_was_before_the_warm_up_does_not_count_and_is_remembered() {
    let mut book = Book::new(false);
    book.send(Time::ZERO, FLOW, &data(0, 0, SYN), true).unwrap();
    let early = book.send(Time::ns(1), FLOW, &data(1, 100, ACK), true).unwrap();
    book.arrive(Time::ns(10), &early);
    book.begin_measuring();
    let again = book.send(Time::ns(20), FLOW, &data(1, 100, ACK), true).unwrap();
    let next = book.send(Time::ns(21), FLOW, &data(101, 100, ACK), true).unwrap();
    book.arrive(Time::ns(30), &again);
    book.arrive(Time::ns(31), &next);
    book.close();
    let late = book.send(Time::ns(40), FLOW, &data(201, 100, ACK), true).unwrap();
    book.arrive(Time::ns(50), &late);
    let book = book.finish();
    assert_eq!((book.segments_sent, book.retransmitted_segments, book.segments_received), (2, 1, 2));
    assert_eq!(
        (book.bytes_delivered, book.last_delivery, book.longest_stall),
        (100, Some(Time::ns(31)), Some(Span::ns(21)))
    );
}
