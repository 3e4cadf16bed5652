//! Shaping the ACKs that leave this machine: the ACK policies of `truckee-tcp` on real connections.
//!
//! A BPF program on the way out of an interface (`bpf/shape.bpf.c`) cuts ACKs and holds them back, as the numbers say that a
//! policy gives ([`truckee_tcp::ack::Manner`]). A policy that adapts to what comes hears of what arrives, as the program
//! on the way in saw it, and gives new numbers for its connection; a thread does that, and releases held ACKs at their
//! deadlines. The programs hang on links that vanish with the process: nothing stays attached, however it ends.
//!
//! What is due is what the local stack acknowledges: where a policy asks for an ACK per segment and the stack sends fewer,
//! `every` and `delayed` cut at segments, while a division cuts each ACK that there is.
//!
//! [`shaped`] is how a user has it: for a program that is run, or for interfaces, as long as a command lasts.
//!
//! Not for: deciding anything a receiver decides.

#[cfg(live)]
pub mod arrival;
mod counts;
#[cfg(live)]
mod devices;
#[cfg(live)]
pub mod flow;
#[cfg(live)]
#[cfg(test)]
mod layout_tests;
#[cfg(live)]
#[cfg(test)]
mod live;
#[cfg(live)]
mod manner;
mod policy;
#[cfg(live)]
mod program;
#[cfg(live)]
mod release;
#[cfg(live)]
mod running;
pub mod shaped;
mod trial;

pub use counts::{Counts, Lateness, ModeTimes};
pub use policy::Policy;
#[cfg(live)]
pub use running::Shaper;
pub use trial::trial;
pub use truckee_host::Error;

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

/// Shapes ACKs where this build has no live leg: not at all.
#[cfg(not(live))]
#[derive(Debug)]
pub struct Shaper(std::convert::Infallible);

#[cfg(not(live))]
mod absent {
    use super::{Counts, Policy, Request, Shaper};
    use crate::Error;

    impl Shaper {
        /// There is no live leg to start.
        pub fn start(_: &Request) -> Result<Self, Error> {
            Err(Error::NotBuilt)
        }
        /// Cannot be asked for.
        pub fn change(&self, _: usize, _: &Policy) -> Result<(), Error> {
            match self.0 {}
        }
        /// Cannot be asked for.
        pub fn counts(&self) -> Result<Counts, Error> {
            match self.0 {}
        }
        /// Cannot be asked for.
        pub fn check(&self) -> Result<(), Error> {
            match self.0 {}
        }
        /// Cannot be asked for.
        pub fn devices(&self) -> Vec<String> {
            match self.0 {}
        }
        /// Cannot be asked for.
        pub fn stop(self) -> Result<Counts, Error> {
            match self.0 {}
        }
    }
}
