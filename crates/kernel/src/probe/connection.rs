//! A connection that the kernel's TCP has opened and this takes over: from then on the kernel's end neither sees nor
//! sends, and every segment is of our own making. Dropped, it is aborted, as the server sees too.
//!
//! Nothing is acknowledged that has not come, and nothing twice: neither optimistic ACKs nor duplicates can be sent.

use super::fault::{Fault, Stop};
use super::http;
use super::line::{self, Bound, Manner};
use super::log::Log;
use super::round_trips::RoundTrips;
use super::sockets::{self, Seen, Sockets};
use super::target::Target;
use super::tls::{Config, Tls};
use super::wire::{Arrival, Departure, Ends, Stamps, flags};
use crate::Error;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The window that is offered, bytes, where the connection's scale allows it: more than any test asks for.
pub const WINDOW: u32 = 1 << 20;
/// Payload of a request's segments, bytes.
const PIECE: usize = 536;
/// After a handshake of TLS nothing is asked for so long, or three round trips: the tickets are away by then, and the
/// window that the certificates have opened is back where it began (RFC 5681, section 4.1).
const IDLE: Duration = Duration::from_secs(1);

/// A connection that has been taken over.
pub struct Connection<'a> {
    sockets: &'a Sockets,
    /// The kernel's end, which keeps the port ours.
    _stream: TcpStream,
    ends: Ends,
    interface: usize,
    /// The next number of ours, and the next of the server's.
    next: u32,
    acked: u32,
    field: u16,
    /// TSval at a time, and the server's last.
    stamps: Option<Stamps>,
    began: Instant,
    /// What opens the answer's records.
    pub tls: Option<Tls>,
    /// The likely round-trip time.
    pub rtt: Duration,
    /// Segments with payload that the server sent in its handshake of TLS.
    pub handshake: u32,
    request: Vec<u8>,
}

impl<'a> Connection<'a> {
    /// Opens one, and takes it over.
    pub fn open(
        sockets: &'a Sockets,
        (target, remote): (&Target, SocketAddr),
        (config, manner): (&Config, &Manner),
        round_trips: &mut RoundTrips,
        cancel: &AtomicBool,
    ) -> Result<Self, Stop> {
        let bound = Bound::new(remote, manner)?;
        sockets.aim(remote, bound.port)?;
        let began = Instant::now();
        let mut stream = bound.connect(manner)?;
        let failed = |e: std::io::Error| Error::system("take a connection over", e);
        let ends = Ends { local: stream.local_addr().map_err(failed)?, remote };
        let seen = drain(sockets, &ends)?;
        let is_first = |s: &&Seen| s.arrival.has(flags::SYN) && s.arrival.has(flags::ACK);
        // Of a packet that is seen at several interfaces the last is the one where it is IP's.
        let first = seen.iter().rfind(is_first).ok_or(Fault::Unseen)?;
        let known = sockets::known(&stream).map_err(failed)?;
        let rtt = round_trips.likely(known.rtt);
        let mut connection = Connection {
            sockets,
            ends,
            interface: first.interface,
            next: first.arrival.ack,
            acked: first.arrival.seq.wrapping_add(1),
            field: (WINDOW >> known.scale).min(u32::from(u16::MAX)) as u16,
            stamps: first.arrival.stamps.map(|(theirs, ours)| (ours, theirs)),
            began,
            tls: None,
            rtt,
            handshake: 0,
            request: http::request(target),
            _stream: stream.try_clone().map_err(failed)?,
        };
        if target.tls() {
            let mut tls = line::secure(&mut stream, target, config, manner, cancel)?;
            line::idle(&mut stream, &mut tls, IDLE.max(3 * rtt), cancel)?;
            connection.follow()?;
            connection.request = tls.seal(&connection.request)?;
            connection.tls = Some(tls);
        }
        sockets::still(&stream).map_err(failed)?;
        if sockets::known(&stream).map_err(failed)?.unacked > 0 {
            return Err(
                Fault::Stalled { seconds: IDLE.as_secs(), after: "after the handshake of TLS" }.into()
            );
        }
        Ok(connection)
    }

    /// Catches up with what the kernel's TCP has done in a handshake of TLS.
    fn follow(&mut self) -> Result<(), Stop> {
        for Seen { interface, arrival } in drain(self.sockets, &self.ends)? {
            if arrival.has(flags::RST) {
                return Err(Fault::Reset("after the handshake of TLS").into());
            }
            if arrival.has(flags::FIN) {
                return Err(Fault::Closed("after the handshake of TLS").into());
            }
            if interface == self.interface && !arrival.has(flags::SYN) {
                let end = arrival.seq.wrapping_add(arrival.payload.len() as u32);
                let size =
                    if arrival.segment == 0 { arrival.payload.len() } else { arrival.segment as usize };
                self.handshake += arrival.payload.len().div_ceil(size.max(1)) as u32;
                self.acked = later(self.acked, end);
                self.next = later(self.next, arrival.ack);
                self.heed(&arrival);
            }
        }
        Ok(())
    }

    fn heed(&mut self, arrival: &Arrival) {
        if let (Some(ours), Some((theirs, _))) = (&mut self.stamps, arrival.stamps) {
            ours.1 = later(ours.1, theirs);
        }
    }

    /// A log for the answer that comes next.
    pub fn log(&self) -> Log {
        Log::new(self.acked)
    }

    /// Sends the request, or sends it again.
    pub fn ask(&self) -> Result<(), Error> {
        let mut seq = self.next;
        for piece in self.request.chunks(PIECE) {
            self.send(seq, self.acked, flags::ACK | flags::PSH, piece)?;
            seq = seq.wrapping_add(piece.len() as u32);
        }
        Ok(())
    }

    /// Acknowledges the answer's first `bytes`, which must have come.
    pub fn acknowledge(&self, log: &Log, bytes: u32) -> Result<(), Error> {
        debug_assert!(bytes <= log.contiguous(), "nothing is acknowledged that has not come");
        let bytes = bytes.min(log.contiguous());
        self.send(self.end(), self.acked.wrapping_add(bytes), flags::ACK, &[])
    }

    /// The number behind the request.
    fn end(&self) -> u32 {
        self.next.wrapping_add(self.request.len() as u32)
    }

    fn send(&self, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> Result<(), Error> {
        let elapsed = self.began.elapsed().as_millis() as u32;
        let stamps = self.stamps.map(|(value, echo)| (value.wrapping_add(elapsed), echo));
        let departure = Departure { seq, ack, flags, window: self.field, stamps, payload };
        self.sockets.send(&departure.packet(&self.ends), self.ends.remote)
    }

    /// Takes down what comes next, waiting until `patience` is over; whether anything came.
    pub fn take(&mut self, log: &mut Log, patience: Duration) -> Result<bool, Error> {
        let Some(Seen { interface, arrival }) = self.sockets.next(&self.ends, patience)? else {
            return Ok(false);
        };
        if interface == self.interface {
            self.heed(&arrival);
            log.take(&arrival);
        }
        Ok(true)
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        // Whether the request has gone or not: a server takes one of the two, if any is left to be taken.
        for seq in [self.end(), self.next] {
            let _ = self.send(seq, self.acked, flags::RST | flags::ACK, &[]);
        }
    }
}

/// What has come by now.
fn drain(sockets: &Sockets, ends: &Ends) -> Result<Vec<Seen>, Error> {
    let mut all = Vec::new();
    while let Some(seen) = sockets.next(ends, Duration::ZERO)? {
        all.push(seen);
    }
    Ok(all)
}

/// The later of two numbers that wrap.
fn later(a: u32, b: u32) -> u32 {
    if (b.wrapping_sub(a) as i32) > 0 { b } else { a }
}
