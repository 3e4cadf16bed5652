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

#[cfg(not(live))]
mod absent;
#[cfg(live)]
pub mod arrival;
mod counts;
#[cfg(live)]
mod devices;
#[cfg(live)]
pub mod flow;
#[cfg(live)]
mod layout;
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
mod request;
#[cfg(live)]
mod running;
pub mod shaped;
mod trial;

#[cfg(not(live))]
pub use absent::Shaper;
pub use counts::{Counts, Lateness, ModeTimes};
pub use policy::Policy;
pub use request::{Devices, MOST_FLOWS, Request, Scope};
#[cfg(live)]
pub use running::Shaper;
pub use trial::trial;
pub use truckee_host::Error;
