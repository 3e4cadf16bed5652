//! What runs a scenario, by name.
//!
//! [`Simulator`] is the engine of `truckee-net`; [`Kernel`] and [`Probe`] are those of `truckee-kernel`, where the feature
//! `kernel` is on. [`drive`] feeds single algorithms lists of events for studies, and [`tap`] writes the packets of a run as
//! a capture. This is where the laboratory's seams (`truckee_lab::Engine`, `truckee_lab::study::Drives`) meet what knows
//! protocols.
//!
//! Not for: what is swept or judged (`truckee-lab`), or which engines a program offers (the command says that).

pub mod drive;
#[cfg(feature = "kernel")]
mod live;
#[cfg(feature = "kernel")]
pub mod probe;
mod simulator;
#[cfg(feature = "captures")]
pub mod tap;

#[cfg(feature = "kernel")]
pub use live::{Kernel, Probe};
pub use simulator::Simulator;

/// What decides the simulator's records: the digits of its sources and of the versions that they are built on.
pub const SIMULATOR_BUILD: &str = env!("TRUCKEE_SIM_BUILD");
/// The same of the live engines, whether or not they are built in.
pub const KERNEL_BUILD: &str = env!("TRUCKEE_KERNEL_BUILD");
