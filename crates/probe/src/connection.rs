//! A connection that has been taken over from the kernel's TCP: every segment is of our own making from then on. Dropped,
//! it is aborted, as the server sees too. Not for: opening one (see [`super::open`]).
//!
//! Nothing is acknowledged that has not come, so that no optimistic ACK can be sent. A duplicate ACK answers a segment that has
//! come (see [`super::identify`]), and none is sent without one.

use super::log::Log;
use super::peer::Peer;
use super::tls::Tls;
use super::wire::{Arrival, Departure, Stamps, flags};
use crate::Error;
use std::time::Duration;
use truckee_tcp::Span;
use truckee_tcp::Time;

/// The window that is offered, bytes, where the connection's scale allows it: more than any test asks for.
pub const WINDOW: u32 = 1 << 20;
/// Payload of a request's segments, bytes.
const PIECE: usize = 536;
const MILLISECOND: Span = Span::ms(1);

/// Where a connection stands when it is taken over.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// The next number of ours.
    pub next: u32,
    /// The next number of the server's.
    pub acked: u32,
    /// The window field.
    pub field: u16,
    /// TSval by now, and the server's last.
    pub stamps: Option<Stamps>,
}

impl Standing {
    /// Catches up with a segment that the kernel's TCP has dealt with.
    pub fn follow(&mut self, arrival: &Arrival) {
        self.acked = later(self.acked, arrival.seq.wrapping_add(arrival.payload.len() as u32));
        self.next = later(self.next, arrival.ack);
        self.heed(arrival);
    }

    fn heed(&mut self, arrival: &Arrival) {
        if let (Some(ours), Some((theirs, _))) = (&mut self.stamps, arrival.stamps) {
            ours.1 = later(ours.1, theirs);
        }
    }
}

/// A connection that has been taken over.
pub struct Connection<P: Peer> {
    peer: P,
    standing: Standing,
    /// When the timestamps were what they were.
    began: Time,
    /// What opens the answer's records.
    pub tls: Option<Tls>,
    /// The likely round-trip time.
    pub rtt: Duration,
    /// Segments with payload that the server sent before the request: in its handshake of TLS, or to a program.
    pub handshake: u32,
    /// Time to live that the server's first segment came with.
    pub ttl: u8,
    /// Whether a program of one's own asks, in words that need not be HTTP.
    pub foreign: bool,
    request: Vec<u8>,
}

impl<P: Peer> Connection<P> {
    /// Takes one over. `began`: when its timestamps were what `standing` says.
    pub fn new(peer: P, standing: Standing, began: Time, rtt: Duration, request: Vec<u8>) -> Self {
        Self { peer, standing, began, tls: None, rtt, handshake: 0, ttl: 0, foreign: false, request }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.peer.now()
    }

    /// Does nothing until then.
    pub fn sleep(&mut self, until: Time) {
        self.peer.sleep(until);
    }

    /// A log for the answer that comes next.
    pub fn log(&self) -> Log {
        Log::new(self.standing.acked)
    }

    /// Sends the request, or sends it again.
    pub fn ask(&mut self) -> Result<(), Error> {
        let Standing { next: mut seq, acked, .. } = self.standing;
        let request = std::mem::take(&mut self.request);
        let mut sent = Ok(());
        for piece in request.chunks(PIECE) {
            sent = sent.and_then(|()| self.send(seq, acked, flags::ACK | flags::PSH, piece));
            seq = seq.wrapping_add(piece.len() as u32);
        }
        self.request = request;
        sent
    }

    /// All that was asked has come to the server, and what `log` has of its answer has come here: this is asked next.
    pub fn go_on(&mut self, log: &Log, request: Vec<u8>) {
        self.standing.next = self.end();
        self.standing.acked = self.standing.acked.wrapping_add(log.contiguous());
        self.request = request;
    }

    /// Acknowledges the answer's first `bytes`, which must have come.
    pub fn acknowledge(&mut self, log: &Log, bytes: u32) -> Result<(), Error> {
        debug_assert!(bytes <= log.contiguous(), "nothing is acknowledged that has not come");
        let bytes = bytes.min(log.contiguous());
        self.send(self.end(), self.standing.acked.wrapping_add(bytes), flags::ACK, &[])
    }

    /// Acknowledges the answer's first `bytes`, and the blocks beyond that have come as well (SACK, the newest first). Where
    /// these bytes were acknowledged before it is a duplicate, which whoever calls owes to a segment.
    pub fn reply(&mut self, bytes: u32, blocks: &[(u32, u32)]) -> Result<(), Error> {
        let first = self.standing.acked;
        let number = |at: u32| first.wrapping_add(at);
        let sacks: Vec<_> = blocks.iter().map(|&(from, to)| (number(from), number(to))).collect();
        self.transmit(self.end(), number(bytes), flags::ACK, &sacks, &[])
    }

    /// Ends the server's handshake, where that was done without the kernel's TCP.
    pub fn greet(&mut self) -> Result<(), Error> {
        self.send(self.standing.next, self.standing.acked, flags::ACK, &[])
    }

    /// The number behind the request.
    fn end(&self) -> u32 {
        self.standing.next.wrapping_add(self.request.len() as u32)
    }

    fn send(&mut self, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> Result<(), Error> {
        self.transmit(seq, ack, flags, &[], payload)
    }

    fn transmit(
        &mut self,
        seq: u32,
        ack: u32,
        flags: u8,
        sacks: &[(u32, u32)],
        payload: &[u8],
    ) -> Result<(), Error> {
        let elapsed = self.peer.now().saturating_sub(self.began).ticks(MILLISECOND) as u32;
        let stamps = self.standing.stamps.map(|(value, echo)| (value.wrapping_add(elapsed), echo));
        let window = self.standing.field;
        self.peer.send(&Departure { seq, ack, flags, window, stamps, sacks, offer: None, payload })
    }

    /// Takes down what comes next, waiting until `until` at most; when it came, if anything did.
    pub fn take(&mut self, log: &mut Log, until: Time) -> Result<Option<Time>, Error> {
        let Some(arrival) = self.peer.next(until)? else { return Ok(None) };
        self.standing.heed(&arrival);
        log.take(&arrival);
        Ok(Some(arrival.time))
    }
}

impl<P: Peer> Drop for Connection<P> {
    fn drop(&mut self) {
        // Whether the request has gone or not: a server takes one of the two, if any is left to be taken.
        for seq in [self.end(), self.standing.next] {
            let _ = self.send(seq, self.standing.acked, flags::RST | flags::ACK, &[]);
        }
    }
}

/// The later of two numbers that wrap.
fn later(a: u32, b: u32) -> u32 {
    if (b.wrapping_sub(a) as i32) > 0 { b } else { a }
}
