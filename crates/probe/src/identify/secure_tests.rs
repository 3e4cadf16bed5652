//! A server of TLS behind the handshake, in a time that passes as the connection says.

use super::*;
use crate::Trust;
use crate::connection::Standing;
use crate::tls;
use crate::wire::{Arrival, Departure, Header, flags};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Read;
use std::rc::Rc;
use std::sync::Arc;

/// Where the server's numbers begin: they wrap within its certificate.
const BASE: u32 = u32::MAX - 300;
const RTT: Span = Span::ms(20);
const MSS: usize = 536;

/// What the server has had of its client.
#[derive(Debug, Default)]
struct Had {
    /// Acknowledgements: when, and of how many of its bytes.
    acks: Vec<(Time, u32)>,
    /// What was asked.
    text: Vec<u8>,
    /// Flights that came twice.
    again: u32,
}

struct Server {
    now: Time,
    tls: rustls::ServerConnection,
    back: VecDeque<Arrival>,
    /// The next byte of the client's, and of its own.
    expected: u32,
    next: u32,
    /// So many packets with data are lost on their way to it.
    lose: u32,
    had: Rc<RefCell<Had>>,
}

impl Server {
    fn new(lose: u32) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["example.org".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let tls = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let (back, had) = Default::default();
        Self { now: Time::ZERO, tls, back, expected: 1, next: 0, lose, had }
    }

    fn answer(&mut self) {
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut bytes).unwrap();
        }
        for piece in bytes.chunks(MSS) {
            let (stamps, header, segment) = (None, Header::default(), 0);
            let (seq, ack, payload) = (BASE.wrapping_add(self.next), self.expected, piece.to_vec());
            let time = self.now + RTT;
            self.back.push_back(Arrival {
                time,
                seq,
                ack,
                flags: flags::ACK,
                stamps,
                header,
                segment,
                payload,
            });
            self.next += piece.len() as u32;
        }
    }
}

impl Peer for Server {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        if self.back.front().is_some_and(|arrival| arrival.time <= until.max(self.now)) {
            let arrival = self.back.pop_front();
            self.now = self.now.max(arrival.iter().map(|a| a.time).max().unwrap_or(self.now));
            return Ok(arrival);
        }
        self.now = self.now.max(until);
        Ok(None)
    }

    fn send(&mut self, departure: &Departure<'_>) -> Result<(), Error> {
        if departure.flags & flags::RST != 0 {
            return Ok(());
        }
        self.had.borrow_mut().acks.push((self.now, departure.ack.wrapping_sub(BASE)));
        if departure.payload.is_empty() {
            return Ok(());
        }
        if self.lose > 0 {
            self.lose -= 1;
            return Ok(());
        }
        if departure.seq != self.expected {
            self.had.borrow_mut().again += 1;
            return Ok(());
        }
        self.expected += departure.payload.len() as u32;
        let mut records = departure.payload;
        while !records.is_empty() {
            self.tls.read_tls(&mut records).unwrap();
            self.tls.process_new_packets().unwrap();
        }
        let _ = self.tls.reader().read_to_end(&mut self.had.borrow_mut().text);
        self.answer();
        Ok(())
    }

    fn sleep(&mut self, until: Time) {
        self.now = self.now.max(until);
    }
}

/// Does the handshake with a server and asks; what that has had, and how much of its own has come.
fn asked(server: Server, held: Span) -> (Had, u32) {
    let had = Rc::clone(&server.had);
    let standing = Standing { next: 1, acked: BASE, field: u16::MAX, stamps: None };
    let mut connection = Connection::new(server, standing, Time::ZERO, RTT.into(), Vec::new());
    let mut tls = Tls::new(&tls::config(&Trust::Anyone).unwrap(), "example.org").unwrap();
    let patience = Duration::from_secs(10);
    secure(&mut connection, &mut tls, b"GET / HTTP/1.1\r\n\r\n", held, patience, &Cancel::new()).unwrap();
    connection.ask().unwrap();
    let segments = connection.handshake;
    drop(connection);
    (Rc::try_unwrap(had).unwrap().into_inner(), segments)
}

#[test]
fn what_is_asked_behind_the_handshake_is_read() {
    let (had, segments) = asked(Server::new(0), Span::ZERO);
    assert_eq!(had.text, b"GET / HTTP/1.1\r\n\r\n");
    assert!((2..=10).contains(&segments), "{segments}");
    assert_eq!(had.again, 0);
}

#[test]
fn a_flight_that_is_lost_is_said_again() {
    let (had, _) = asked(Server::new(1), Span::ZERO);
    assert_eq!(had.text, b"GET / HTTP/1.1\r\n\r\n");
}

#[test]
fn the_server_sees_the_set_round_trip_from_its_first_segment_on() {
    let held = Span::ms(130);
    let (had, _) = asked(Server::new(0), held);
    // The third of the handshake's three waits, and whatever acknowledges its certificate does.
    assert_eq!(had.acks[0].0, Time::ZERO + held);
    let came = had.acks[0].0 + RTT;
    let first = had.acks.iter().find(|(_, bytes)| *bytes > 0).unwrap();
    assert_eq!(first.0, came + held, "{had:?}");
}
