//! Opening a connection: by the kernel's TCP, which does the handshake of TLS too; then a rule on its socket keeps it still,
//! and the connection is ours. Not for: what is done over it (see [`super::connection`], [`super::observe`]).

use super::client::{Asked, Carried};
use super::connection::{Connection, Standing, WINDOW};
use super::fault::Fault;
use super::http;
use super::line::{self, Bound, Manner};
use super::peer::Peer;
use super::round_trips::RoundTrips;
use super::sockets::{self, Seen, Sockets};
use super::stop::Stop;
use super::target::Target;
use super::tls::Config;
use super::wire::{Arrival, Departure, Ends, flags};
use crate::Error;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::Time;

/// After a handshake of TLS nothing is asked for so long, or three round trips: the tickets are away by then, and the
/// window that the certificates have opened is back where it began (RFC 5681, section 4.1).
const IDLE: Duration = Duration::from_secs(1);
/// A server that answers late does not prolong it for ever.
const LONGEST_IDLE: Duration = Duration::from_secs(5);

/// When a server may fail between what is exchanged before the request, as the handshake of TLS is, and that.
const BEFORE: &str = "before the request";

/// How long nothing is asked for after the handshake of TLS, at this round-trip time.
pub fn idle(rtt: Duration) -> Duration {
    IDLE.max(3 * rtt).min(LONGEST_IDLE)
}

/// The server of a connection whose kernel's end neither sees nor sends any more.
pub struct Taken<'a> {
    sockets: &'a Sockets,
    /// The kernel's end, which keeps the port ours.
    _stream: TcpStream,
    ends: Ends,
    interface: usize,
}

impl<'a> Taken<'a> {
    /// One that is seen by this interface.
    pub fn new(sockets: &'a Sockets, stream: TcpStream, ends: Ends, interface: usize) -> Self {
        Self { sockets, _stream: stream, ends, interface }
    }
}

impl Peer for Taken<'_> {
    fn now(&self) -> Time {
        self.sockets.now()
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        self.sockets.next(&self.ends, self.interface, until)
    }

    fn send(&mut self, segment: &Departure<'_>) -> Result<(), Error> {
        self.sockets.send(&segment.packet(&self.ends), self.ends.remote)
    }

    fn sleep(&mut self, until: Time) {
        std::thread::sleep(until.saturating_sub(self.now()).into());
    }
}

/// Opens a connection, and takes it over. `client`: the program that asks, if one does.
pub fn open<'a>(
    sockets: &'a Sockets,
    (target, remote): (&Target, SocketAddr),
    (config, manner): (&Config, &Manner),
    client: Option<&mut Carried>,
    round_trips: &mut RoundTrips,
    cancel: &Cancel,
) -> Result<Connection<Taken<'a>>, Stop> {
    let bound = Bound::new(remote, manner)?;
    sockets.aim(remote, bound.port)?;
    let began = sockets.now();
    let mut stream = bound.connect(manner)?;
    let failed = |e: std::io::Error| Error::system("take a connection over", e);
    let ends = Ends { local: stream.local_addr().map_err(failed)?, remote };
    let seen = sockets.waiting(&ends)?;
    let is_first = |s: &Seen| s.arrival.has(flags::SYN) && s.arrival.has(flags::ACK);
    // Of a packet that is seen at several interfaces the last is the one where it is IP's.
    let Some(place) = seen.iter().rposition(is_first) else {
        return Err(Fault::Unseen.into());
    };
    let Seen { interface, arrival: first } = &seen[place];
    let known = sockets::known(&stream).map_err(failed)?;
    let rtt = round_trips.likely(known.rtt);
    let mut standing = Standing {
        next: first.ack,
        acked: first.seq.wrapping_add(1),
        field: (WINDOW >> known.scale).min(u32::from(u16::MAX)) as u16,
        stamps: first.stamps.map(|(theirs, ours)| (ours, theirs)),
    };
    let (mut secured, mut handshake) = (None, 0);
    let foreign = client.is_some();
    let asked = match client {
        Some(client) => {
            let mut asked = client.until_its_turn(&mut stream, manner, cancel)?;
            if asked.spoken {
                client.hold(&mut asked, idle(rtt), &mut stream, cancel)?;
            }
            asked
        }
        None if target.tls() => {
            let mut tls = line::secure(&mut stream, target, config, manner, cancel)?;
            line::idle(&mut stream, &mut tls, idle(rtt), cancel)?;
            let request = tls.seal(&http::request(target))?;
            secured = Some(tls);
            Asked { request, spoken: true }
        }
        None => Asked { request: http::request(target), spoken: false },
    };
    if asked.spoken {
        // Who greets at once may have done so before the handshake was looked at.
        for seen in seen[place + 1..].iter().chain(&sockets.waiting(&ends)?) {
            handshake += follow(&mut standing, seen, *interface)?;
        }
    }
    sockets::still(&stream).map_err(failed)?;
    if sockets::known(&stream).map_err(failed)?.unacked > 0 {
        return Err(Fault::Stalled { seconds: IDLE.as_secs(), after: BEFORE }.into());
    }
    let taken = Taken::new(sockets, stream, ends, *interface);
    let mut connection = Connection::new(taken, standing, began, rtt, asked.request);
    (connection.tls, connection.handshake, connection.foreign) = (secured, handshake, foreign);
    connection.ttl = first.header.ttl;
    Ok(connection)
}

/// Catches up with a segment of a handshake of TLS, or of what else was exchanged before the request; how many segments with payload it was.
fn follow(standing: &mut Standing, seen: &Seen, interface: usize) -> Result<u32, Fault> {
    let arrival = &seen.arrival;
    if arrival.has(flags::RST) {
        return Err(Fault::Reset(BEFORE));
    }
    if arrival.has(flags::FIN) {
        return Err(Fault::Closed(BEFORE));
    }
    if seen.interface != interface || arrival.has(flags::SYN) {
        return Ok(0);
    }
    standing.follow(arrival);
    let bytes = arrival.payload.len();
    let size = if arrival.segment == 0 { bytes } else { arrival.segment as usize };
    Ok(bytes.div_ceil(size.max(1)) as u32)
}
