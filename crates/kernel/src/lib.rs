//! The engine `kernel`: a scenario on the real Linux stack.
//!
//! It joins the crates of the live leg. The scenario's endpoints become network namespaces (`truckee-host`), the network
//! between them becomes a path emulator (`truckee-path`) that runs the channels of `truckee-channel` in real time and knows
//! the cause of every loss, and its senders become congestion controls loaded into the running kernel as BPF
//! (`truckee-cc`), or those the kernel has; ACK policies are carried out on the way out of the receiver
//! (`truckee-shape`). [`probe`] asks servers elsewhere how they react to divided ACKs (`truckee-probe`), or one of our own.
//! What a kernel cannot do is refused by name before anything is made, and whatever is made is removed again.
//!
//! What a command needs of those crates is had from here, so that it has one name for the live leg.
//!
//! All of it needs Linux, and clang when it was built; without them there is only [`Error::NotBuilt`].
//!
//! Not for: deciding anything a sender or a receiver decides (that is in `truckee-tcp`); simulated time.

pub mod doctor;
#[cfg(live)]
mod lateness;
pub mod probe;
#[cfg(live)]
mod run;

pub use truckee_cc as cc;
pub use truckee_host::{BUILT, Error, clean, signals};
pub use truckee_path::{LaneCounters, PortCounters, standalone};
pub use truckee_shape as shape;
pub use truckee_shape::shaped;

use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Cancel, Outcome, Scenario};

/// Has this process read and write what its user names with that user's rights, whatever capabilities its file has: they
/// are in effect only around what the live leg does. To be called when the program starts, before any thread does.
///
/// # Errors
/// It cannot be done, or the program's file is set-user-ID root.
pub fn lower_rights() -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    return truckee_host::rights::lower();
    #[cfg(not(target_os = "linux"))]
    Ok(())
}

/// Whether this build and this machine can run scenarios; an error says what is missing.
pub fn check() -> Result<(), Error> {
    doctor::ready()
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
/// is wished it ends with [`Error::Interrupted`]. Whatever happens, nothing is left.
pub fn run(scenario: &Scenario, series: bool, cancel: &Cancel) -> Result<Outcome, Error> {
    #[cfg(live)]
    return run::run(scenario, &run::Options { series, ..run::Options::default() }, cancel);
    #[cfg(not(live))]
    {
        let _ = (scenario, series, cancel);
        Err(Error::NotBuilt)
    }
}

/// The same, with every packet of the flows at that end of theirs besides.
pub fn run_tapped(scenario: &Scenario, vantage: Vantage, cancel: &Cancel) -> Result<Outcome, Error> {
    #[cfg(live)]
    return run::run(scenario, &run::Options { series: true, packets: Some(vantage), busy: false }, cancel);
    #[cfg(not(live))]
    {
        let _ = (scenario, vantage, cancel);
        Err(Error::NotBuilt)
    }
}
