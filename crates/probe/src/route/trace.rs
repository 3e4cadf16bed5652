//! Asking for the way: SYNs with a time to live, and what routers say to them. Not for: showing it.

use super::{Hop, Route};
use crate::Error;
use crate::fault::Fault;
use crate::greet::random;
use crate::line;
use crate::sockets::{self, Sockets};
use crate::stop::Stop;
use crate::wire::{Departure, Ends, Offer, flags};
use nix::sys::socket::{SockaddrStorage, recvfrom};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// No way is longer.
const MOST: u8 = 32;
/// So long a router, or the server, may take to answer; a way that is longer has been longer before.
const WAIT: Span = Span::s(1);
/// So many in a row that say nothing end it: a firewall says nothing of whatever is behind it.
const SILENT: usize = 6;
const LARGEST: u16 = 1460;
/// So much of a message is read, bytes: the headers that it quotes, and more.
const MESSAGE: usize = 1500;

/// What asks for ways.
#[derive(Debug)]
pub struct Tracer {
    four: Socket,
    /// None where there is no IPv6.
    six: Option<Socket>,
}

impl Tracer {
    /// Opens its sockets. Needs `CAP_NET_RAW`.
    pub fn open() -> Result<Self, Error> {
        let open = |domain, protocol| {
            let socket = Socket::new(domain, Type::RAW, Some(protocol))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let four = open(Domain::IPV4, Protocol::ICMPV4);
        let four = four.map_err(|e: std::io::Error| Error::system("hear what routers say (ICMP)", e))?;
        Ok(Self { four, six: open(Domain::IPV6, Protocol::ICMPV6).ok() })
    }

    /// The way to this address.
    pub fn trace(&self, sockets: &Sockets, remote: SocketAddr, cancel: &Cancel) -> Result<Route, Stop> {
        let failed = |e: std::io::Error| Error::system("open a connection without the kernel's TCP", e);
        let stream = sockets::silent(remote).map_err(failed)?;
        let ends = Ends { local: stream.local_addr().map_err(failed)?, remote };
        sockets.aim(remote, ends.local.port())?;
        let first = random(&ends) as u32;
        while self.heard(&ends).is_some() {}
        let mut route = Route { hops: Vec::new(), reached: false };
        for ttl in 1..=MOST {
            let sent = sockets.now();
            route.hops.push(Hop { ttl, address: None, rtt_s: None });
            sockets.send(&syn(first).limited(&ends, ttl), remote)?;
            if let Some((came, next)) = self.answered(sockets, &ends, (sent, first), &mut route, cancel)? {
                route.reached = true;
                if let Some(last) = route.hops.last_mut() {
                    (last.address, last.rtt_s) =
                        (Some(remote.ip()), Some(came.saturating_sub(sent).seconds()));
                }
                let flags = flags::RST | flags::ACK;
                let reset =
                    Departure { seq: first.wrapping_add(1), ack: next, flags, offer: None, ..syn(first) };
                sockets.send(&reset.packet(&ends), remote)?;
                return Ok(route);
            }
            let silent = route.hops.iter().rev().take_while(|hop| hop.address.is_none()).count();
            if silent == SILENT {
                break;
            }
        }
        Ok(route)
    }

    /// Waits for what comes of the last SYN: the server's answer, when it came and what follows its number; none: a router
    /// has said that it ended there, or nobody has said anything.
    fn answered(
        &self,
        sockets: &Sockets,
        ends: &Ends,
        (sent, first): (Time, u32),
        route: &mut Route,
        cancel: &Cancel,
    ) -> Result<Option<(Time, u32)>, Stop> {
        let last = route.hops.len();
        while sockets.now() < sent.saturating_add(WAIT) {
            line::slice(Instant::now() + Duration::from_secs(1), cancel)?;
            let mut come = sockets.waiting(ends)?.into_iter().map(|seen| seen.arrival);
            if let Some(answer) = come.find(|a| a.has(flags::ACK) && a.ack == first.wrapping_add(1)) {
                if answer.has(flags::RST) {
                    return Err(Fault::Refused.into());
                }
                return Ok(Some((answer.time, answer.seq.wrapping_add(1))));
            }
            while let Some((from, ttl)) = self.heard(ends) {
                // A router that was slow is none of those behind it.
                let Some(hop) = route.hops.get_mut(usize::from(ttl).wrapping_sub(1)) else { continue };
                if hop.address.is_none() {
                    hop.address = Some(from);
                    let took = sockets.now().saturating_sub(sent).seconds();
                    hop.rtt_s = (usize::from(ttl) == last).then_some(took);
                }
            }
            if route.hops.last().is_some_and(|hop| hop.address.is_some()) {
                return Ok(None);
            }
            sockets.wait(Span::ms(5))?;
        }
        Ok(None)
    }

    /// What a router says of one of our SYNs, if one says something: who it is, and which.
    fn heard(&self, ends: &Ends) -> Option<(IpAddr, u8)> {
        let socket = if ends.remote.is_ipv4() { &self.four } else { self.six.as_ref()? };
        // What is said of others' packets is heard, too.
        for _ in 0..1000 {
            let mut message = [0; MESSAGE];
            let (size, from) = recvfrom::<SockaddrStorage>(socket.as_raw_fd(), &mut message).ok()?;
            let from = from.and_then(|from| match (from.as_sockaddr_in(), from.as_sockaddr_in6()) {
                (Some(four), _) => Some(IpAddr::V4(four.ip())),
                (_, six) => six.map(|six| IpAddr::V6(six.ip())),
            });
            if let (Some(from), Some(ttl)) = (from, quoted(&message[..size], ends)) {
                return Some((from, ttl));
            }
        }
        None
    }
}

/// The SYN that goes.
fn syn(first: u32) -> Departure<'static> {
    let offer = Some(Offer { mss: LARGEST, scale: 0, sack: false, stamps: false });
    Departure {
        seq: first,
        ack: 0,
        flags: flags::SYN,
        window: u16::MAX,
        stamps: None,
        sacks: &[],
        offer,
        payload: &[],
    }
}

/// With what time to live the segment of this connection went that a message of ICMP quotes: that it has ended on its way, or
/// goes no farther. [`Departure::limited`] has written it where routers leave it alone.
fn quoted(message: &[u8], ends: &Ends) -> Option<u8> {
    let (kinds, message, four) = match (ends.local, ends.remote) {
        // Of IPv4 the packet is had with its header.
        (SocketAddr::V4(_), SocketAddr::V4(_)) => {
            ([11, 3], message.get(usize::from(message.first()? & 15) * 4..)?, true)
        }
        _ => ([3, 1], message, false),
    };
    if !kinds.contains(message.first()?) {
        return None;
    }
    let packet = message.get(8..)?;
    let (to, tcp, ttl): (IpAddr, _, u8) = if four {
        let to: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
        (to.into(), packet.get(usize::from(packet.first()? & 15) * 4..)?, *packet.get(5)?)
    } else {
        let to: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
        (to.into(), packet.get(40..)?, *packet.get(3)?)
    };
    let port = |at: usize| Some(u16::from_be_bytes(tcp.get(at..at + 2)?.try_into().ok()?));
    let ours = to == ends.remote.ip() && port(0)? == ends.local.port() && port(2)? == ends.remote.port();
    ours.then_some(ttl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(six: bool) -> Ends {
        let at = |four: &str, sixth: &str| if six { sixth.parse() } else { four.parse() };
        Ends {
            local: at("192.0.2.1:40000", "[2001:db8::1]:40000").unwrap(),
            remote: at("192.0.2.2:80", "[2001:db8::2]:80").unwrap(),
        }
    }

    /// What a router says of a SYN that went with this time to live: its headers, and 8 bytes.
    fn message(six: bool, kind: u8, ttl: u8) -> Vec<u8> {
        let packet = syn(7).limited(&ends(six), ttl);
        let mut said = if six { Vec::new() } else { vec![0x45; 20] };
        said.extend([kind, 0, 0, 0, 0, 0, 0, 0]);
        said.extend(&packet[..if six { 48 } else { 28 }]);
        said
    }

    #[test]
    fn a_router_names_the_segment_that_ended_with_it() {
        for (six, ended, nowhere) in [(false, 11, 3), (true, 3, 1)] {
            assert_eq!(quoted(&message(six, ended, 9), &ends(six)), Some(9));
            assert_eq!(quoted(&message(six, nowhere, 12), &ends(six)), Some(12));
            assert_eq!(quoted(&message(six, 0, 9), &ends(six)), None, "an answer to a ping");
            let mut other = ends(six);
            other.local.set_port(1);
            assert_eq!(quoted(&message(six, ended, 9), &other), None, "another connection's");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_read_or_left(bytes in prop::collection::vec(any::<u8>(), 0..80), six: bool) {
            let _ = quoted(&bytes, &ends(six));
        }
    }
}
