//! How a server's sender reacts to divided ACKs, how large its initial window is, how it retransmits: from one end, over
//! HTTP, in seven short connections ([`Test`]).
//!
//! The kernel's TCP opens a connection (and does the handshake of TLS); then a rule on its socket keeps it still, and
//! every further segment is made here and sent through a raw socket, while a packet socket sees what comes. Nothing is
//! loaded into the kernel and nothing attached to an interface, so that nothing can be left. It needs Linux,
//! `CAP_NET_RAW` to open its sockets, and `CAP_NET_ADMIN` where the kernel asks for it.
//!
//! After the tests of the split-ACK tool (see the book's page): division in 1, 2, 4, 8 and 12 of the ACKs for the first three segments,
//! all other ACKs withheld, 3 s between the tests.
//!
//! And which TCP it is, over connections that are of our making from the first SYN on ([`Identity`]): how its sender repairs
//! losses that are feigned, which congestion control opens its window, what its stack shows of itself.
//!
//! Not for: lists, tables, files.

mod client;
#[cfg(any(live, test))]
mod control;
mod fault;
mod identity;
mod judge;
mod observation;
mod options;
#[cfg(any(live, test))]
mod recovery;
mod report;
mod route;
mod summary;
mod target;

#[cfg(live)]
mod clock;
#[cfg(live)]
mod connection;
#[cfg(live)]
mod fetch;
#[cfg(live)]
mod greet;
#[cfg(live)]
mod host;
#[cfg(live)]
mod http;
#[cfg(live)]
mod identify;
#[cfg(live)]
mod line;
#[cfg(live)]
mod log;
#[cfg(live)]
mod observe;
#[cfg(live)]
mod open;
#[cfg(live)]
mod peer;
#[cfg(live)]
mod ranges;
#[cfg(live)]
mod round_trips;
#[cfg(live)]
mod sockets;
#[cfg(live)]
mod stop;
#[cfg(live)]
mod tls;
#[cfg(live)]
mod wire;

pub use client::Program;
pub use fault::Fault;
pub use identity::{Control, Finding, Fingerprint, Identity, Recovery, Repairs, Rounds, Second, Unseen};
pub use judge::{Confidence, Reaction, Retransmission, Verdict, judge};
pub use observation::{Cut, Observation, Test};
pub use options::{Options, PAUSE, Trust};
pub use report::{Conclusion, Report, TestFault, Watch};
pub use route::{Hop, Route};
pub use summary::{Spread, Summary, summarise};
pub use target::{Family, Target};
pub use truckee_host::Error;

use truckee_scenario::Cancel;

/// What probes servers.
#[derive(Debug)]
pub struct Prober {
    #[cfg(live)]
    inner: host::Prober,
}

impl Prober {
    /// Opens its sockets. Needs `CAP_NET_RAW` and, with newer kernels, `CAP_NET_ADMIN`. If it is to tell which TCP a server has,
    /// the calling thread gets real-time priority (SCHED_FIFO 1), where that is allowed.
    ///
    /// # Errors
    /// No right to; certificates that cannot be read; not Linux.
    pub fn new(options: &Options) -> Result<Self, Error> {
        #[cfg(live)]
        {
            let _rights = truckee_host::rights::Raised::live();
            Ok(Self { inner: host::Prober::new(options)? })
        }
        #[cfg(not(live))]
        {
            let _ = options;
            Err(Error::NotBuilt)
        }
    }

    /// Probes a server. What is wrong with it, or with the way to it, is part of the report.
    ///
    /// # Errors
    /// What is wrong here; [`Error::Interrupted`] when `cancel` becomes true.
    pub fn probe(&self, target: &Target, watch: &mut dyn Watch, cancel: &Cancel) -> Result<Report, Error> {
        #[cfg(live)]
        {
            let _rights = truckee_host::rights::Raised::live();
            self.inner.probe(target, watch, cancel)
        }
        #[cfg(not(live))]
        {
            let _ = (target, watch, cancel);
            Err(Error::NotBuilt)
        }
    }
}

/// From now on this thread reads and writes files as the owner of this folder, or of the nearest above it that is there:
/// to be called before [`confine`] by who keeps results there. Without its capabilities root is a stranger in another
/// user's folder.
///
/// # Errors
/// The folder cannot be looked at.
pub fn work_as_owner_of(folder: &std::path::Path) -> Result<(), Error> {
    #[cfg(live)]
    return truckee_host::rights::work_as_owner_of(folder);
    #[cfg(not(live))]
    {
        let _ = folder;
        Ok(())
    }
}

/// Gives up every capability of this process but `CAP_NET_ADMIN`, for good: to be called when a [`Prober`] has been made, and before any
/// thread is started.
///
/// # Errors
/// They cannot be given up.
pub fn confine() -> Result<(), Error> {
    #[cfg(live)]
    return sockets::confine();
    #[cfg(not(live))]
    Err(Error::NotBuilt)
}

/// The same, and from now on this process is that of who typed the command, also through sudo: for whom a [`Program`] is run.
///
/// # Errors
/// They cannot be given up; what sudo says of the user is no number.
pub fn confine_as_invoking() -> Result<(), Error> {
    #[cfg(live)]
    return sockets::confine_as_invoking();
    #[cfg(not(live))]
    Err(Error::NotBuilt)
}

#[cfg(live)]
#[cfg(test)]
mod live_faults;
#[cfg(live)]
#[cfg(test)]
mod live_program;
