//! What a noisy path does to one packet: loses it, delays it, doubles it, or paces it by a recorded capacity.
//! Not for: queues, rates and routes, which belong to the network.
//!
//! A [`ChannelConfig`] says what shall happen; a [`Channel`] makes it happen, packet by packet, from a seed. Each effect
//! has a random stream of its own, so that changing one effect leaves the others' draws as they were. A recorded
//! capacity is not an effect on a packet but takes the place of the link's rate: [`Capacity`].

mod capacity;
mod channel;
mod config;
mod delay_table;
mod impairment;
mod packet;
mod quantile;
pub mod queue;
pub mod random;

pub use capacity::{Capacity, TraceError};
pub use channel::Channel;
pub use config::*;
pub use delay_table::{DelayTable, DelayTableError};
pub use packet::{CROSS_TRAFFIC, Fate, Loss, MAX_EXTRA, Packet};
pub use queue::Limit;
pub use random::{stream, stream_seed};
pub use truckee_time::{Span, Time};
