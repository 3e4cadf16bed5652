//! The engine `kernel`: a scenario on the real Linux stack.
//!
//! The scenario's endpoints become network namespaces ([`netns`]), the network between them becomes a path emulator
//! ([`path`]) that runs the channels of `truckee-channel` in real time and knows the cause of every loss, and its
//! senders become congestion controls loaded into the running kernel as BPF ([`cc`]), or those the kernel has. [`replay`]
//! holds each BPF program against its definition in `truckee-tcp`. [`probe`] asks servers elsewhere how they react to divided ACKs. What a kernel cannot do is refused by name before
//! anything is made, and whatever is made is removed again ([`session`], [`clean`]).
//!
//! All of it needs Linux, and clang when it was built; without them there is only [`Error::NotBuilt`].
//!
//! Not for: deciding anything a sender or a receiver decides (that is in `truckee-tcp`); simulated time.

pub mod clean;
mod counters;
pub mod doctor;
mod error;
pub mod probe;
pub mod shape;
pub mod shaped;
pub mod standalone;

pub use counters::{LaneCounters, PortCounters};
pub use error::Error;

/// Whether this build has the live leg.
pub const BUILT: bool = cfg!(live);

#[cfg(live)]
mod live {
    /// The compiled BPF programs: name and object.
    pub(crate) static OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));
}
#[cfg(live)]
pub(crate) use live::OBJECTS;

/// The compiled BPF program of `bpf/NAME.bpf.c`.
#[cfg(live)]
pub(crate) fn object(name: &str) -> Result<&'static [u8], Error> {
    OBJECTS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes).ok_or_else(|| Error::Bpf {
        doing: format!("find the BPF program \"{name}\""),
        reason: "it is not part of this build".to_owned(),
    })
}

#[cfg(live)]
pub mod cc;
#[cfg(not(live))]
#[path = "cc/absent.rs"]
pub mod cc;
#[cfg(live)]
mod cgroup;
#[cfg(live)]
mod lateness;
#[cfg(live)]
pub mod netns;
#[cfg(live)]
pub mod path;
#[cfg(live)]
pub mod replay;
#[cfg(target_os = "linux")]
mod rights;
#[cfg(live)]
mod run;
#[cfg(live)]
pub mod session;
#[cfg(live)]
pub mod stack;
#[cfg(live)]
#[cfg(test)]
mod wire;

use std::sync::atomic::AtomicBool;
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// Has this process read and write what its user names with that user's rights, whatever capabilities its file has: they
/// are in effect only around what the live leg does. To be called when the program starts, before any thread does.
///
/// # Errors
/// It cannot be done, or the program's file is set-user-ID root.
pub fn lower_rights() -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    return rights::lower();
    #[cfg(not(target_os = "linux"))]
    Ok(())
}

/// Whether this build and this machine can run scenarios; an error says what is missing.
pub fn check() -> Result<(), Error> {
    use doctor::Capability::*;
    doctor::check(&[Linux, Built, Privileges, Namespaces, Tun])
}

/// Why no run of this scenario can be made on this kernel: what is to be mended in its file. Nothing is made, and whether
/// the machine can run anything is not asked.
pub fn refuses(scenario: &Scenario) -> Option<Error> {
    #[cfg(live)]
    return run::refuses(scenario);
    #[cfg(not(live))]
    {
        let _ = scenario;
        None
    }
}

/// Runs a scenario on the stack of this machine's kernel, in real time; with time series where `series`. When `cancel`
/// becomes true it ends with [`Error::Interrupted`]. Whatever happens, nothing is left.
pub fn run(scenario: &Scenario, series: bool, cancel: &AtomicBool) -> Result<Outcome, Error> {
    #[cfg(live)]
    return run::run(scenario, &run::Options { series, ..run::Options::default() }, cancel);
    #[cfg(not(live))]
    {
        let _ = (scenario, series, cancel);
        Err(Error::NotBuilt)
    }
}

/// The same, with every packet of the flows at that end of theirs besides.
pub fn run_tapped(scenario: &Scenario, vantage: Vantage, cancel: &AtomicBool) -> Result<Outcome, Error> {
    #[cfg(live)]
    return run::run(scenario, &run::Options { series: true, packets: Some(vantage), busy: false }, cancel);
    #[cfg(not(live))]
    {
        let _ = (scenario, vantage, cancel);
        Err(Error::NotBuilt)
    }
}
