//! Opening a connection without the kernel's TCP, with options of our own choice: it would offer what the machine is set to,
//! and would have answered before a set round trip is over. A silent socket keeps the port meanwhile. Not for: what is done
//! over it (see [`super::identify`], where the handshake of TLS is, too).

use super::connection::{Connection, Standing};
use super::fault::Fault;
use super::line;
use super::open::Taken;
use super::round_trips::RoundTrips;
use super::sockets::{self, Seen, Sockets};
use super::stop::Stop;
use super::wire::{Agreed, Departure, Ends, Header, Offer, flags};
use crate::Error;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// When a SYN goes again that was not answered (RFC 6298, section 2.1).
const AGAIN: Span = Span::s(1);

/// A connection that the server has answered, and that waits for the last of three.
pub struct Greeted<'a> {
    /// The connection.
    pub connection: Connection<Taken<'a>>,
    /// What the SYN-ACK says of its stack.
    pub header: Header,
    /// What it agrees to.
    pub agreed: Agreed,
}

/// What one asks with.
pub struct Greeting {
    /// The options of the SYN.
    pub offer: Offer,
    /// The window that is offered thereafter, bytes.
    pub window: u32,
    /// How long an answer is waited for.
    pub patience: Duration,
    /// What will be asked.
    pub request: Vec<u8>,
}

/// Sends a SYN until it is answered.
pub fn greet<'a>(
    sockets: &'a Sockets,
    remote: SocketAddr,
    greeting: Greeting,
    round_trips: &mut RoundTrips,
    cancel: &Cancel,
) -> Result<Greeted<'a>, Stop> {
    let failed = |e: std::io::Error| Error::system("open a connection without the kernel's TCP", e);
    let stream = sockets::silent(remote).map_err(failed)?;
    let ends = Ends { local: stream.local_addr().map_err(failed)?, remote };
    sockets.aim(remote, ends.local.port())?;
    let Greeting { offer, window, patience, request } = greeting;
    let random = random(&ends);
    let (first, value) = (random as u32, (random >> 32) as u32);
    let began = sockets.now();
    let until = began.saturating_add(patience.into());
    let (mut sent, mut count) = (began, 0);
    let Seen { interface, arrival } = loop {
        if count == 0 || sockets.now() >= sent.saturating_add(AGAIN) {
            (sent, count) = (sockets.now(), count + 1);
            let stamps = offer.stamps.then_some((value, 0));
            let (window, sacks, payload) = (u16::MAX, &[][..], &[][..]);
            let syn = Departure {
                seq: first,
                ack: 0,
                flags: flags::SYN,
                window,
                stamps,
                sacks,
                offer: Some(offer),
                payload,
            };
            sockets.send(&syn.packet(&ends), remote)?;
        }
        if let Some(seen) = answer(sockets, &ends, first)? {
            break seen;
        }
        line::slice(std::time::Instant::now() + Duration::from_secs(1), cancel)?;
        if sockets.now() >= until {
            return Err(Fault::Unreachable(format!("no answer in {} s", patience.as_secs())).into());
        }
        sockets.wait(Span::ms(20))?;
    };
    let sample = if count == 1 { arrival.time.saturating_sub(sent).into() } else { Duration::ZERO };
    let agreed = Agreed::read(&arrival.header.options);
    let scale = if agreed.scale.is_some() { offer.scale } else { 0 };
    let standing = Standing {
        next: first.wrapping_add(1),
        acked: arrival.seq.wrapping_add(1),
        field: (window >> scale).min(u32::from(u16::MAX)) as u16,
        stamps: arrival.stamps.filter(|_| offer.stamps).map(|(theirs, _)| (value, theirs)),
    };
    let rtt = round_trips.likely(sample);
    let taken = Taken::new(sockets, stream, ends, interface);
    let began: Time = began;
    let connection = Connection::new(taken, standing, began, rtt, request);
    Ok(Greeted { connection, header: arrival.header, agreed })
}

/// A number that nobody else can know, for a connection to begin with.
pub fn random(ends: &Ends) -> u64 {
    RandomState::new().hash_one(ends.local.port())
}

/// The SYN-ACK, if it has come.
fn answer(sockets: &Sockets, ends: &Ends, first: u32) -> Result<Option<Seen>, Stop> {
    let mine = |seen: &Seen| seen.arrival.has(flags::ACK) && seen.arrival.ack == first.wrapping_add(1);
    let mut come: Vec<Seen> = sockets.waiting(ends)?.into_iter().filter(mine).collect();
    if come.iter().any(|seen| seen.arrival.has(flags::RST)) {
        return Err(Fault::Refused.into());
    }
    // Of a packet that is seen at several interfaces the last is the one where it is IP's.
    let last = come.iter().rposition(|seen| seen.arrival.has(flags::SYN));
    Ok(last.map(|at| come.swap_remove(at)))
}
