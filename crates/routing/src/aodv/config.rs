//! AODV's settings. Source: RFC 3561, section 10.

use super::SequenceNumber;
use crate::error::{count, span};
use crate::{BufferConfig, ConfigError};
use truckee_channel::Span;

/// What may be set. The default has the RFC's values; what the RFC leaves open is said where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// ACTIVE_ROUTE_TIMEOUT: a route that is not used is valid for so long.
    pub active_route_timeout: Span,
    /// MY_ROUTE_TIMEOUT: for so long a route is valid that its destination has told of.
    pub my_route_timeout: Span,
    /// DELETE_PERIOD: for so long a route that is no longer valid is remembered.
    pub delete_period: Span,
    /// NET_DIAMETER: hops that a search may go at most.
    pub net_diameter: u8,
    /// NODE_TRAVERSAL_TIME: what a hop takes, queues and all, on average.
    pub node_traversal_time: Span,
    /// RREQ_RETRIES: how often a search of the whole network is repeated.
    pub rreq_retries: u32,
    /// RREQ_RATELIMIT: searches a second at most; one more waits.
    pub rreq_rate_limit: u32,
    /// RERR_RATELIMIT: errors told a second at most; one more is not told.
    pub rerr_rate_limit: u32,
    /// TTL_START: how far a search goes at first. Equal to `net_diameter`: there is no expanding ring.
    pub ttl_start: u8,
    /// TTL_INCREMENT: by how much farther the next one goes.
    pub ttl_increment: u8,
    /// TTL_THRESHOLD: what would go farther than this goes as far as `net_diameter`.
    pub ttl_threshold: u8,
    /// TIMEOUT_BUFFER: hops by which a search in a ring is waited for longer than it needs.
    pub timeout_buffer: u32,
    /// Whether link-layer feedback is heeded (6.10, "any suitable link layer notification").
    pub link_layer: bool,
    /// Hellos (6.9); none: neighbours are lost by link-layer feedback alone. None by default.
    pub hello: Option<Hello>,
    /// Local repair (6.12), which is left to the implementation; on by default.
    pub local_repair: Option<Repair>,
    /// Whether a source's own packets that come back wait for another route instead of ending; left open; by default
    /// they do.
    pub salvage: bool,
    /// Searches ask for gratuitous replies (G, 6.6.3).
    pub gratuitous: bool,
    /// Only destinations answer (D).
    pub destination_only: bool,
    /// Replies ask for an acknowledgement (A, 6.8).
    pub acknowledge: bool,
    /// What is passed on to everyone waits up to so long, evenly distributed, so that neighbours do not send at once. The
    /// RFC has none; ns-2 and ns-3 have 10 ms, as the default here.
    pub jitter: Span,
    /// Packets that wait for a route. The RFC gives no numbers; 64 packets and 30 s, as ns-2 and ns-3 have it.
    pub buffer: BufferConfig,
    /// The own sequence number at the beginning. 0 by default; a test of the wrap begins short of it.
    pub sequence: SequenceNumber,
}

/// Hellos (6.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// HELLO_INTERVAL.
    pub interval: Span,
    /// ALLOWED_HELLO_LOSS: a neighbour who said hello and of whom nothing is heard for so many intervals is lost.
    pub allowed_loss: u32,
}

impl Default for Hello {
    fn default() -> Self {
        Self { interval: Span::s(1), allowed_loss: 2 }
    }
}

/// Local repair (6.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair {
    /// MAX_REPAIR_TTL: who is farther than this from the destination does not repair.
    pub max_ttl: u8,
    /// LOCAL_ADD_TTL: by how much farther a search goes than the destination was.
    pub add_ttl: u8,
}

impl Default for Repair {
    /// 0.3·NET_DIAMETER.
    fn default() -> Self {
        Self { max_ttl: 10, add_ttl: 2 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            active_route_timeout: Span::s(3),
            my_route_timeout: Span::s(6),
            delete_period: Span::s(15),
            net_diameter: 35,
            node_traversal_time: Span::ms(40),
            rreq_retries: 2,
            rreq_rate_limit: 10,
            rerr_rate_limit: 10,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            link_layer: true,
            hello: None,
            local_repair: Some(Repair::default()),
            salvage: true,
            gratuitous: false,
            destination_only: false,
            acknowledge: false,
            jitter: Span::ms(10),
            buffer: BufferConfig { packets: 64, per_destination: 64, time: Span::s(30) },
            sequence: SequenceNumber(0),
        }
    }
}

impl Config {
    /// NET_TRAVERSAL_TIME.
    pub fn net_traversal_time(&self) -> Span {
        self.node_traversal_time * (2 * u64::from(self.net_diameter))
    }

    /// PATH_DISCOVERY_TIME: for so long a search is known again.
    pub fn path_discovery_time(&self) -> Span {
        self.net_traversal_time() * 2
    }

    /// RING_TRAVERSAL_TIME: for so long the answer to a search of so many hops is waited for.
    pub fn ring_traversal_time(&self, ttl: u8) -> Span {
        self.node_traversal_time * (2 * (u64::from(ttl) + u64::from(self.timeout_buffer)))
    }

    /// NEXT_HOP_WAIT: for so long an acknowledgement of a reply is waited for.
    pub fn next_hop_wait(&self) -> Span {
        self.node_traversal_time + Span::ms(10)
    }

    /// BLACKLIST_TIMEOUT: for so long searches of a neighbour are ignored whom a reply did not reach.
    pub fn blacklist_timeout(&self) -> Span {
        self.net_traversal_time() * u64::from(self.rreq_retries.max(1))
    }

    /// How far a search goes that would go so far: beyond the threshold it is the whole network's.
    pub(super) fn ring(&self, ttl: u32) -> u8 {
        match u8::try_from(ttl) {
            Ok(ttl) if ttl <= self.ttl_threshold => ttl.min(self.net_diameter),
            _ => self.net_diameter,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (least, most) = (Span::ms(1), Span::s(86_400));
        span("active_route_timeout", self.active_route_timeout, least, most)?;
        span("my_route_timeout", self.my_route_timeout, least, most)?;
        // A route that is forgotten while somebody upstream still uses it may come back as a loop.
        span("delete_period", self.delete_period, self.active_route_timeout, most)?;
        count("net_diameter", self.net_diameter.into(), 1, 255)?;
        span("node_traversal_time", self.node_traversal_time, least, Span::s(10))?;
        count("rreq_retries", self.rreq_retries, 0, 16)?;
        count("rreq_rate_limit", self.rreq_rate_limit, 1, 10_000)?;
        count("rerr_rate_limit", self.rerr_rate_limit, 1, 10_000)?;
        count("ttl_start", self.ttl_start.into(), 1, self.net_diameter.into())?;
        count("ttl_increment", self.ttl_increment.into(), 1, 255)?;
        count("timeout_buffer", self.timeout_buffer, 0, 255)?;
        span("jitter", self.jitter, Span::ZERO, Span::s(1))?;
        if let Some(hello) = self.hello {
            span("hello.interval", hello.interval, Span::ms(10), most)?;
            count("hello.allowed_loss", hello.allowed_loss, 1, 100)?;
        }
        if let Some(repair) = self.local_repair {
            count("local_repair.max_ttl", repair.max_ttl.into(), 1, 255)?;
            count("local_repair.add_ttl", repair.add_ttl.into(), 0, 255)?;
        }
        self.buffer.check()
    }
}
