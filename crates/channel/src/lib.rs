//! What a noisy path does to one packet: loses it, delays it, doubles it, or paces it by a recorded capacity.
//! Not for: queues, rates and routes, which belong to the network.

/// A point in time: nanoseconds since the start of the run.
pub type Time = u64;
/// A span of time in nanoseconds.
pub type Nanos = u64;

mod config;
pub use config::*;
