//! Links: which nodes they join, and what each direction does.

use super::{NodeId, Queue, Steps};
use std::borrow::Cow;
use std::sync::Arc;
use truckee_channel::ChannelConfig;
use truckee_tcp::Span;

/// A duplex link between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its own name, if it has one: see [`Self::label`]. Of many links few have.
    pub name: Option<Box<str>>,
    /// First node.
    pub first: NodeId,
    /// Second node.
    pub second: NodeId,
    /// Direction first → second. Links that are alike share it.
    pub forward: Arc<Direction>,
    /// Direction second → first.
    pub back: Arc<Direction>,
    /// Whether its routers know the Quick-Start option (RFC 4782).
    pub quick_start: bool,
    /// Whether its rate and delay step from time to time, in mid run. Links that are alike share it.
    pub steps: Option<Arc<Steps>>,
}

impl Link {
    /// What it is called, among these nodes: its own name, or `first-second`.
    pub fn label<'l>(&'l self, nodes: &[String]) -> Cow<'l, str> {
        match &self.name {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("{}-{}", nodes[self.first], nodes[self.second])),
        }
    }
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Bit/s, above 0.
    pub rate: u64,
    /// Propagation delay.
    pub delay: Span,
    /// The queue in front of it.
    pub queue: Queue,
    /// Whether an ACK that waits is superseded by a newer one of its connection (RFC 3449, section 5.2.1).
    pub ack_filter: bool,
    /// Whether the channel acts before the queue, in place of behind the transmitter: what it loses takes no place there
    /// and no time.
    pub after_channel: bool,
    /// What the medium does to packets.
    pub channel: ChannelConfig,
}
