//! The way to a server, as a traceroute shows it: the SYN of one connection goes again and again with a time to live that
//! grows by one; each router with which it ends says so (RFC 792, RFC 4443), and the one SYN that arrives is answered. The
//! connection ends with a reset then. What goes is addressed to the server, one segment a router and 32 at most, one at a time.
//! split (section 4.3, appendix A.1) has such a list of each server, made by tracepath.
//!
//! Not for: the number of routers on the way back, which the TTL of the server's segments tells without asking
//! ([`hops`]).

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What hosts begin with.
#[cfg(any(live, test))]
const FIRST_TTLS: [u8; 4] = [32, 64, 128, 255];

/// The time to live that a packet probably left with, of which this much is left.
#[cfg(any(live, test))]
pub fn first_ttl(left: u8) -> u8 {
    FIRST_TTLS.into_iter().find(|first| *first >= left).unwrap_or(u8::MAX)
}

/// Routers that a packet has passed, of whose time to live this is left: on the way back to us.
#[cfg(any(live, test))]
pub fn hops(left: u8) -> u8 {
    first_ttl(left) - left
}

/// A router, or the server in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// With what time to live a segment ends there.
    pub ttl: u8,
    /// Who said so; none: nobody did.
    pub address: Option<IpAddr>,
    /// How long that took, s.
    pub rtt_s: Option<f64>,
}

/// The way to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// By the time to live, from 1 on.
    pub hops: Vec<Hop>,
    /// Whether the last of them is the server.
    pub reached: bool,
}

#[cfg(live)]
mod trace;
#[cfg(live)]
pub use trace::Tracer;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routers_are_counted_from_what_hosts_begin_with() {
        assert_eq!([64, 57, 128, 113, 255, 243, 30].map(hops), [0, 7, 0, 15, 0, 12, 2]);
        assert_eq!(first_ttl(65), 128);
    }
}
