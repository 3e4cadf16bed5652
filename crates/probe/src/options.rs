//! How to probe.

use super::observation::Test;
use super::target::{self, Family};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Whether to ask which TCP it is, too.
    pub identify: bool,
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
            identify: false,
            pause: PAUSE,
            watch: Duration::from_secs(3),
            patience: Duration::from_secs(10),
        }
    }
}

/// How long the connections of a repetition take by which it is asked which TCP it is, about: some fifty rounds of 150 ms, and
/// what timers take.
const IDENTIFYING: Duration = Duration::from_secs(12);

/// Between two connections to a server, unless its owner wants it otherwise.
pub const PAUSE: Duration = Duration::from_secs(3);

impl Options {
    /// How long the tests of a server take: without the time it takes to answer.
    pub fn lasts(&self) -> Duration {
        let tests = (self.pause + self.watch) * (self.repeat * self.tests.len() as u32);
        let rest =
            self.pause * self.identifying() + IDENTIFYING * if self.identify { self.repeat } else { 0 };
        tests + rest
    }

    /// Connections by which it is asked which TCP a server has.
    fn identifying(&self) -> u32 {
        if self.identify { 1 + 3 * self.repeat } else { 0 }
    }

    /// Connections to a server, one after the other; redirects come on top.
    pub fn connections(&self) -> u32 {
        1 + self.repeat * self.tests.len() as u32 + self.identifying()
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
