//! Congestion controls in the running kernel.
//!
//! A scenario's sender is carried by one that the kernel has, or by a [`Port`]: the same algorithm as a BPF program
//! (`bpf/cc.bpf.c`), given the sender's own parameters when it is loaded ([`Loaded`]). [`control_of`] says which, and
//! refuses by name what no kernel does. A port that records tells what it was told and what it decided, [`Event`] by
//! event, and [`crate::replay`] holds that against the definition. [`list`], [`load_for_all`] and [`unload`] serve
//! `truckee cc`: controls that stay when the command has ended.
//!
//! Not for: choosing a control on a socket (`TCP_CONGESTION`), or settings of the stack.

mod bound;
mod control;
mod event;
mod installed;
mod load;
mod number;
mod params;
mod port;
mod published;

pub use bound::Bound;
pub use control::{Control, control_of};
pub use event::{Event, Events, Kind, flags, state};
pub use installed::{allowed, available, list, load_for_all, load_published, unload};
pub use load::Loaded;
pub(crate) use load::refused;
pub use port::Port;
pub use published::{Installed, Owner, PORTS, Published, find};
