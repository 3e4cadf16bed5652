//! Whose ACKs are shaped, where, and how.

use super::Policy;
use std::path::PathBuf;

/// Whose ACKs are shaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those of sockets in a control group (v2) or below it: its folder.
    Cgroup(PathBuf),
    /// Everybody's, also what is forwarded.
    Everything,
    /// Those of connections with such a port, ours or the peer's, each by the policy of that index.
    Ports(Vec<(u16, usize)>),
}

/// The interfaces on which ACKs are shaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Devices {
    /// All of the namespace, also those that come later.
    All,
    /// These.
    Named(Vec<String>),
}

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Request {
    /// Whose ACKs.
    pub scope: Scope,
    /// Where.
    pub devices: Devices,
    /// The namespace, by its name under /run/netns; none: that of the calling thread.
    pub namespace: Option<String>,
    /// What is done; one, but with [`Scope::Ports`].
    pub policies: Vec<Policy>,
    /// Most connections that are known at a time; those not heard of for longest make room for others. At most 32,768.
    pub most_flows: u32,
}

/// Most connections that are known at a time, unless less is asked for.
pub const MOST_FLOWS: u32 = 32_768;
