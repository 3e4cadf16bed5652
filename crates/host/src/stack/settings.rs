//! What a flow wants of the stacks at its ends, in the kernel's terms. Not for: how it is found out, and written.

use super::sockets::SocketSettings;
use crate::netns::Metrics;

/// A sysctl to be written in a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sysctl {
    /// Its name under `net.ipv4.`; it holds for IPv6 too.
    pub name: &'static str,
    /// Its value: whole numbers.
    pub value: String,
    /// Whether a kernel that does not have it does as wanted anyway, or is as near as it gets.
    pub may_lack: bool,
    /// How flows that share a namespace come to terms about it.
    pub terms: Terms,
}

/// How flows that want different values of a sysctl come to terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// Not at all.
    None,
    /// It is an option that is there if both ends want it: the end that receives the data may want it for another flow.
    Negotiated,
    /// It is a limit: the highest does for all.
    Highest,
}

/// What one flow wants of the stacks at its two ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// Sysctls where the data comes from.
    pub sender: Vec<Sysctl>,
    /// Sysctls where the data goes.
    pub receiver: Vec<Sysctl>,
    /// What the sender's route to the receiver says.
    pub route: Metrics,
    /// What the receiver's route to the sender says.
    pub route_back: Metrics,
    /// The MTU that its segments need, bytes (IPv4).
    pub mtu: u32,
    /// Most segments that TCP hands the device as one packet, at both ends; `None`: as the kernel likes.
    pub gso_max_segs: Option<u32>,
    /// Options of its sockets, at both ends.
    pub sockets: SocketSettings,
    /// Initial slow-start threshold, segments. A congestion control of ours sets it when the connection is there: the
    /// kernel takes it from its cache of destinations, not from the route.
    pub initial_ssthresh: Option<u32>,
    /// What of the era cannot be had, in sentences.
    pub stated: Vec<&'static str>,
}
