//! The engine `kernel`: a scenario on the real Linux stack.
//!
//! The scenario's endpoints become network namespaces ([`netns`]), the network between them becomes a path emulator
//! ([`path`]) that runs the channels of `truckee-channel` in real time and knows the cause of every loss, and its
//! senders become congestion controls loaded into the running kernel as BPF ([`cc`]), or those the kernel has. [`replay`]
//! holds each BPF program against its definition in `truckee-tcp`. What a kernel cannot do is refused by name before
//! anything is made, and whatever is made is removed again ([`session`], [`clean`]).
//!
//! All of it needs Linux, and clang when it was built; without them there is only [`Error::NotBuilt`].
//!
//! Not for: deciding anything a sender or a receiver decides (that is in `truckee-tcp`); simulated time.

mod error;

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

#[cfg(live)]
pub mod cc;
#[cfg(not(live))]
#[path = "cc/absent.rs"]
pub mod cc;
#[cfg(live)]
pub mod clean;
#[cfg(live)]
pub mod doctor;
#[cfg(live)]
pub mod netns;
#[cfg(live)]
pub mod path;
#[cfg(live)]
pub mod replay;
#[cfg(live)]
pub mod session;
#[cfg(live)]
pub mod stack;
