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
//! Not for: lists, tables, files.

mod fault;
mod judge;
mod observation;
mod target;

#[cfg(live)]
mod clock;
#[cfg(live)]
mod connection;
#[cfg(live)]
mod fetch;
#[cfg(live)]
mod host;
#[cfg(live)]
mod http;
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
mod round_trips;
#[cfg(live)]
mod sockets;
#[cfg(live)]
mod stop;
#[cfg(live)]
mod tls;
#[cfg(live)]
mod wire;

pub use fault::Fault;
pub use judge::{Confidence, Reaction, Retransmission, Verdict, judge};
pub use observation::{Observation, Test};
pub use target::{Family, Target};
pub use truckee_host::Error;

use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use truckee_scenario::Lateness;

/// Whom to trust over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The system's certificates.
    System,
    /// Those in a file (PEM).
    File(PathBuf),
    /// Anyone: what is measured does not hang on who answers.
    Anyone,
}

/// How to probe.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which of IP's versions.
    pub family: Family,
    /// Whether to go along with redirects, to the same host.
    pub follow: bool,
    /// Whom to trust.
    pub trust: Trust,
    /// Largest segment to announce, bytes; `None`: what the path takes.
    pub mss: Option<u32>,
    /// Which tests.
    pub tests: Vec<Test>,
    /// How often each.
    pub repeat: u32,
    /// Between two connections to a server.
    pub pause: Duration,
    /// How long a server is watched after the last ACK.
    pub watch: Duration,
    /// How long one is waited for in a connection: for its handshakes, and then for its answer. All connections of the
    /// tests together, three times as long, beside two seconds each.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            family: Family::Any,
            follow: false,
            trust: Trust::System,
            mss: None,
            tests: Test::ALL.to_vec(),
            repeat: 3,
            pause: PAUSE,
            watch: Duration::from_secs(3),
            patience: Duration::from_secs(10),
        }
    }
}

/// Between two connections to a server, unless its owner wants it otherwise.
pub const PAUSE: Duration = Duration::from_secs(3);

impl Options {
    /// How long the tests of a server take: without the time it takes to answer.
    pub fn lasts(&self) -> Duration {
        (self.pause + self.watch) * self.connections().saturating_sub(1)
    }

    /// Connections to a server, one after the other; redirects come on top.
    pub fn connections(&self) -> u32 {
        1 + self.repeat * self.tests.len() as u32
    }

    /// Whether the pause between two connections will do for who has this address: a stranger gets [`PAUSE`] at least.
    pub fn spares(&self, address: IpAddr) -> bool {
        self.pause >= PAUSE || target::is_near(address)
    }

    /// The most ACKs that a server gets in a test.
    pub fn most_acks(&self) -> u32 {
        self.tests.iter().map(|t| t.most_acks()).max().unwrap_or(0)
    }
}

/// A test that showed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestFault {
    /// Which.
    pub test: Test,
    /// Which time, from 1 on.
    pub repetition: u32,
    /// Why.
    pub fault: Fault,
}

/// What is said of a server in the end.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// How it reacts.
    Verdict(Verdict),
    /// Why that cannot be said.
    NotJudged(Fault),
}

/// Everything about a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The URL as given.
    pub url: String,
    /// The URL tested, after redirects.
    pub tested: String,
    /// Its address; none: it was not found.
    pub address: Option<SocketAddr>,
    /// The status of its answer; none: there was none.
    pub status: Option<u16>,
    /// Bytes of the answer, as far as it was read.
    pub answer_bytes: u64,
    /// Whether that was all.
    pub answer_whole: bool,
    /// What is said of it.
    #[serde(flatten)]
    pub conclusion: Conclusion,
    /// What each test showed.
    pub tests: Vec<Observation>,
    /// Tests that showed nothing.
    pub faults: Vec<TestFault>,
    /// How late this machine was, where the path to the server was one of its own; `None`: the server is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
}

impl Report {
    /// One of a server of which nothing is known yet.
    #[cfg(live)]
    fn of(target: &Target) -> Self {
        Self {
            url: target.to_string(),
            tested: target.to_string(),
            address: None,
            status: None,
            answer_bytes: 0,
            answer_whole: false,
            conclusion: Conclusion::NotJudged(Fault::Unseen),
            tests: Vec::new(),
            faults: Vec::new(),
            lateness: None,
        }
    }
}

/// Who is told how it goes.
pub trait Watch {
    /// The server has answered an ordinary request; the tests begin.
    fn answered(&mut self, report: &Report);
    /// A test is done.
    fn tested(&mut self, observation: &Observation);
    /// A test showed nothing.
    fn failed(&mut self, test: Test, fault: &Fault);
}

impl Watch for () {
    fn answered(&mut self, _: &Report) {}
    fn tested(&mut self, _: &Observation) {}
    fn failed(&mut self, _: Test, _: &Fault) {}
}

/// What probes servers.
#[derive(Debug)]
pub struct Prober {
    #[cfg(live)]
    inner: host::Prober,
}

impl Prober {
    /// Opens its sockets. Needs `CAP_NET_RAW` and, with newer kernels, `CAP_NET_ADMIN`.
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
    pub fn probe(
        &self,
        target: &Target,
        watch: &mut dyn Watch,
        cancel: &AtomicBool,
    ) -> Result<Report, Error> {
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
pub fn confine() -> Result<(), Error> {
    #[cfg(live)]
    return sockets::confine();
    #[cfg(not(live))]
    Err(Error::NotBuilt)
}

#[cfg(live)]
#[cfg(test)]
mod live_faults;
