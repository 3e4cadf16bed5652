//! A sender and a receiver tested together, as black boxes, in virtual time.
//!
//! [`pair`] joins them through a [`path`] that a test scripts or a property test draws, and holds them to the
//! [`invariants`] after every event. The other modules are the tests: behaviours by subject, properties, and arbitrary
//! operations on a sender alone. Not for: single members of a family, which are tested beside their code.

mod ack_rate;
mod arbitrary;
mod connection;
mod divided;
mod ecn;
mod handshake;
mod invariants;
mod linux;
mod misbehaving;
mod observers;
mod offload;
mod pacing;
mod pair;
mod path;
mod profile;
mod properties;
mod rack;
mod receiver;
mod recovery;
mod rules;
mod sack;
mod servers;
mod timer;
mod two_way;
mod undo;
mod window;
