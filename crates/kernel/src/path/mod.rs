//! The path emulator: a scenario's network between the namespaces of its endpoints, in real time and in this process, so
//! that the cause of every loss is known.
//!
//! A [`Plan`] is made from a scenario and refuses by name what cannot be emulated; each endpoint's namespace gets a
//! [`Tun`]; [`Plan::start`] forwards between them in a thread of its own, and [`Emulator::begin`] sets the clock of the
//! run to 0. Every packet passes, hop by hop, the lanes of its way: one lane is one direction of a link, with its queue,
//! its rate, its delay and its channel, which draws from the same seed as in the simulator. [`Emulator::stop`] returns
//! the books: what every lane did, and what the packets show of every flow.
//!
//! Not for: the endpoints' stacks, which run in their namespaces; whole runs (see `run`).

mod address;
pub(crate) mod alone;
mod book;
mod connection;
mod delays;
pub(crate) mod device;
mod emulator;
mod interface;
mod lane;
mod late;
mod network;
mod plan;
mod pool;
mod port;
mod pump;
mod refusals;
mod segment;
mod tap;
mod transit;
mod truth;
mod tun;

pub use crate::counters::{LaneCounters, PortCounters};
pub use address::{FLOW_PORT, address, address6};
pub use book::FlowBook;
pub(crate) use emulator::be_punctual;
pub use emulator::{Books, Emulator, Options};
pub use interface::Interface;
pub use late::Late;
pub use plan::Plan;
pub use port::Port;
pub(crate) use pump::clock;
pub(crate) use tap::MOST as MOST_TAPPED;
pub use truth::Dropped;
pub use tun::Tun;

use truckee_channel::Time;

/// Why a packet was lost on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It did not fit into a queue.
    Queue,
    /// Noise destroyed it.
    Channel,
    /// It was sent into an outage, a handoff, or a link that was down.
    Outage,
}

impl Cause {
    /// What results call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Channel => "channel",
            Self::Outage => "outage",
        }
    }

    /// What a sender should have taken it for.
    pub fn verdict(self) -> truckee_tcp::Cause {
        match self {
            Self::Queue => truckee_tcp::Cause::Congestion,
            Self::Channel | Self::Outage => truckee_tcp::Cause::Wireless,
        }
    }
}

fn seconds(t: Time) -> f64 {
    t as f64 / 1e9
}
