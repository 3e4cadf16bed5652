//! What runs a scenario, by name.
//!
//! [`Simulator`] is the engine of `truckee-net`, and [`OpenSimulator`] the same where runs may be ended early; [`Kernel`] and [`Probe`] are those of `truckee-kernel`, where the feature
//! `kernel` is on. [`drive`] feeds single algorithms lists of events for studies, and [`tap`] writes the packets of a run as
//! a capture, [`trace`] holds two runs against each other segment by segment. This is where the laboratory's seams (`truckee_lab::Engine`, `truckee_lab::study::Drives`) meet what knows
//! protocols.
//!
//! Not for: what is swept or judged (`truckee-lab`), or which engines a program offers (the command says that).

mod builds;
pub mod drive;
#[cfg(feature = "kernel")]
mod live;
#[cfg(feature = "kernel")]
pub mod probe;
mod simulator;
#[cfg(feature = "captures")]
pub mod tap;
#[cfg(feature = "captures")]
pub mod trace;

pub use builds::{KERNEL_BUILD, SIMULATOR_BUILD};
#[cfg(feature = "kernel")]
pub use live::{Kernel, Probe};
pub use simulator::{OpenSimulator, Simulator};
// A run that is steered from outside is nothing that a laboratory could ask for again, and so no engine.
pub use truckee_net::{Error as NetError, Standing, Stepped};

#[cfg(feature = "kernel")]
use truckee_lab::{Cancel, Registry};

/// The engines of this crate, to which a program may add its own: the simulator and, where the feature `kernel` is on, this
/// machine's stack and the prober of it, whose runs end early when `cancel` is wished.
#[cfg(feature = "kernel")]
pub fn all(cancel: &Cancel) -> Registry {
    let cancel = || cancel.clone();
    Registry::default().with(Simulator).with(Kernel { cancel: cancel() }).with(Probe { cancel: cancel() })
}
