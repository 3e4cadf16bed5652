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
mod book;
mod connection;
mod delays;
mod device;
mod emulator;
mod interface;
mod lane;
mod network;
mod plan;
mod pool;
mod port;
mod pump;
mod refusals;
mod segment;
mod transit;
mod truth;
mod tun;

pub use address::{FLOW_PORT, address, address6};
pub use book::FlowBook;
pub use emulator::{Books, Emulator, Options};
pub use interface::Interface;
pub use plan::Plan;
pub use port::{Port, PortCounters};
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

/// What a lane shows at some moment. Counts are since the run began.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct LaneCounters {
    /// The name of the link's direction.
    pub name: String,
    /// Packets accepted and transmitted, or about to be; those the medium loses included.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets delivered to the far end, copies included.
    pub delivered: u64,
    /// Packets that did not fit into the queue.
    pub queue_drops: u64,
    /// Packets the channel destroyed.
    pub channel_drops: u64,
    /// Packets lost in outages.
    pub outage_drops: u64,
    /// Packets waiting now, the one in transmission not counted.
    pub waiting_packets: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Packets accepted that have yet to arrive, those that wait included.
    pub on_the_way: u64,
}

fn seconds(t: Time) -> f64 {
    t as f64 / 1e9
}
