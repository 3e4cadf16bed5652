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
//! After each call, outputs are taken until there are none, and the timer is set to [`Router::next`]. Two nodes in reach of
//! each other:
//!
//! ```
//! use truckee_routing::{Config, Hop, Interface, NodeId, Output, Packet, PacketId, Time, Verdict, dsdv};
//!
//! # fn main() -> Result<(), truckee_routing::ConfigError> {
//! let config = Config::Dsdv(dsdv::Config::default());
//! let (radio, seed) = (Interface(0), 1);
//! let mut routers = [config.router(NodeId(0), 1, seed)?, config.router(NodeId(1), 1, seed)?];
//! for router in &mut routers {
//!     router.start(Time::ZERO);
//! }
//! loop {
//!     let who = usize::from(routers[1].next() < routers[0].next());
//!     let now = routers[who].next();
//!     if now > Time::s(3) {
//!         break;
//!     }
//!     routers[who].advance(now);
//!     while let Some(output) = routers[who].poll() {
//!         // Here a simulator puts `message.bytes()` bytes into the queue of the interface.
//!         if let Output::Send { message, .. } = output {
//!             routers[1 - who].receive(now, NodeId(who as u32), radio, &message);
//!         }
//!     }
//! }
//! let packet = Packet { id: PacketId(7), from: NodeId(0), to: NodeId(1), previous: None, ttl: 64 };
//! let verdict = routers[0].route(Time::s(3), &packet);
//! assert_eq!(verdict, Verdict::Forward(Hop { interface: radio, neighbour: NodeId(1) }));
//! assert_eq!(routers[0].counters().packets, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Link-layer feedback, where the medium has some: [`Router::returned`] for each packet, and [`Router::failed`] for each
//! message, whose transmission was given up; the former also for packets that [`Output::Withdraw`] asks back from the queue.
//! Whoever has no feedback does not call them, and the protocol has to find out by its own messages.
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

mod address;
pub mod aodv;
mod buffer;
mod config;
pub mod dsdv;
mod error;
mod kind;
mod message;
pub mod olsr;
mod outbox;
mod router;

pub use address::{Hop, Interface, NodeId, PacketId};
pub use buffer::BufferConfig;
pub use config::Config;
pub use error::ConfigError;
pub use kind::Kind;
pub use message::{Counters, Message, UDP_IP};
pub use router::{Cause, Output, Packet, Return, Router, To, Verdict};
pub use truckee_channel::{Span, Time};
