//! The path emulator: a scenario's network between the namespaces of its endpoints, in real time and in this process, so
//! that the cause of every loss is known.
//!
//! A [`Plan`] is made from a scenario and refuses by name what cannot be emulated; each endpoint's namespace gets a
//! [`Tun`]; [`Plan::start`] forwards between them in a thread of its own, and [`Emulator::begin`] sets the clock of the
//! run to 0. Every packet passes, hop by hop, the lanes of its way: one lane is one direction of a link, with its queue,
//! its rate, its delay and its channel, which draws from the same seed as in the simulator. [`Emulator::stop`] returns
//! the books: what every lane did, and what the packets show of every flow. [`standalone`] has one link on its own, between
//! two ends that a user names.
//!
//! Not for: the endpoints' stacks, which run in their namespaces; whole runs (see `truckee-kernel`).

mod counters;
pub mod standalone;

pub use counters::{LaneCounters, PortCounters};
pub use truckee_host::Error;

#[cfg(live)]
mod address;
#[cfg(live)]
mod book;
#[cfg(live)]
mod books;
#[cfg(live)]
mod cause;
#[cfg(live)]
mod company;
#[cfg(live)]
mod connection;
#[cfg(live)]
mod delays;
#[cfg(live)]
mod devices;
#[cfg(live)]
mod ecn;
#[cfg(live)]
mod emulator;
#[cfg(live)]
mod interface;
#[cfg(live)]
mod lane;
#[cfg(live)]
mod late;
#[cfg(live)]
mod listener;
#[cfg(live)]
mod network;
#[cfg(live)]
mod plan;
#[cfg(live)]
mod pool;
#[cfg(live)]
mod port;
#[cfg(live)]
mod pump;
#[cfg(live)]
mod refusals;
#[cfg(live)]
mod segment;
#[cfg(live)]
mod tap;
#[cfg(live)]
mod transit;
#[cfg(live)]
mod truth;
#[cfg(live)]
mod tun;

#[cfg(live)]
pub use {
    address::{FLOW_PORT, address, address6},
    book::FlowBook,
    books::Books,
    cause::Cause,
    emulator::{Emulator, Options},
    interface::Interface,
    late::Late,
    listener::{LossListener, MOST_MISSING, Missing},
    plan::Plan,
    port::Port,
    tap::MOST as MOST_TAPPED,
    truth::Dropped,
    tun::Tun,
};
