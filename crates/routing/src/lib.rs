//! Routing in ad hoc networks: what one node's router does, as a pure state machine, driven by given times.
//!
//! A [`Router`] is told what happens at its node: a message from a neighbour, a packet that wants to go on, a
//! transmission that failed, a time that has come. It answers a packet at once with a [`Verdict`], and keeps what else it
//! has to say ([`Output`]) until it is polled: messages to send, packets that waited for a route and have one now or never
//! will. It does no I/O, has no clock, and never sees a packet's content: a packet that it holds is a number, and who
//! drives it keeps the packet.
//!
//! # How it is driven
//!
//! After each call, outputs are taken until there are none, and the timer is set to [`Router::next`]:
//!
//! ```
//! use truckee_routing::{Output, Router, Time};
//!
//! /// Lets everything happen up to `end` at a node that hears nobody.
//! fn alone(router: &mut dyn Router, end: Time) -> u32 {
//!     let mut bytes = 0;
//!     router.start(Time::ZERO);
//!     while router.next() <= end {
//!         router.advance(router.next());
//!         while let Some(output) = router.poll() {
//!             // Here a simulator puts so many bytes into the queue of the interface.
//!             if let Output::Send { message, .. } = output {
//!                 bytes += message.bytes();
//!             }
//!         }
//!     }
//!     bytes
//! }
//! ```
//!
//! Link-layer feedback, where the medium has some: [`Router::failed`] for each transmission that was given up, and then
//! [`Router::returned`] for the packet itself, if it was one; the same for packets that [`Output::Withdraw`] asks back from
//! the queue. Whoever has no feedback does not call it, and the protocol has to find out by its own messages.
//!
//! # What it is not
//!
//! - Address resolution. A node's number is its address on every layer, so that ARP's part costs nothing here: neither its
//!   requests and replies on the air nor what waits for them. Routing messages that arrive would have told the addresses
//!   of those who sent them.
//! - Data for everyone, and multicast.
//! - The caller's queues, time to live, and what is on the air: the router only says what shall be there.
//!
//! Same configuration, same calls, same seed: the same outputs, on any machine. Each node has a random stream of its own.

pub mod aodv;
pub mod dsdv;
mod error;
mod message;
pub mod olsr;
mod router;

pub use error::ConfigError;
pub use message::{Counters, Kind, Message, UDP_IP};
pub use router::{Cause, Hop, Interface, NodeId, Output, Packet, PacketId, Router, To, Verdict};
pub use truckee_time::{Span, Time};
