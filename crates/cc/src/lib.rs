//! Congestion controls in the running kernel.
//!
//! A scenario's sender is carried by one that the kernel has, or by a [`Port`]: the same algorithm as a BPF program
//! (`bpf/cc.bpf.c`), given the sender's own parameters when it is loaded ([`Loaded`]). [`control_of`] says which, and
//! refuses by name what no kernel does. A port that records tells what it was told and what it decided, [`Event`] by
//! event, and [`replay`] holds that against the definition in `truckee-tcp`. [`list`], [`load_for_all`] and [`unload`] serve
//! `truckee cc`: controls that stay when the command has ended.
//!
//! Where it was built without the live leg, the published ports are known by name, and that is all.
//!
//! Not for: choosing a control on a socket (`TCP_CONGESTION`), or settings of the stack.

mod published;

pub use published::{Installed, Owner, PORTS, Published, TOLD_BY_RUNS, find};
pub use truckee_host::Error;

#[cfg(not(live))]
mod absent;
#[cfg(live)]
mod bound;
#[cfg(live)]
mod control;
#[cfg(live)]
mod event;
#[cfg(live)]
mod installed;
#[cfg(live)]
mod layout;
#[cfg(live)]
mod load;
#[cfg(live)]
mod number;
#[cfg(live)]
mod params;
#[cfg(live)]
mod port;
#[cfg(live)]
pub mod replay;
#[cfg(live)]
mod told;

#[cfg(not(live))]
pub use absent::{list, load_published, unload};
#[cfg(live)]
pub use {
    bound::Bound,
    control::{Control, control_of},
    event::{Event, Events, Kind, flags, state},
    installed::{allowed, available, list, load_for_all, load_published, unload},
    load::Loaded,
    port::Port,
    told::Teller,
};
