//! Optimized link state routing. Source: RFC 3626 (Clausen and Jacquet 2003).

mod message;

pub use message::{Body, LinkCode, LinkType, Message, NeighbourType, Packet};
