//! What can go wrong with a server, each by its name: a fault is never taken for a finding. Not for: what goes wrong here,
//! which is [`crate::Error`].

use super::observation::{MOST_OF_A_SEGMENT, MOST_OF_A_TEST, Test};
use serde::Serialize;
use std::net::IpAddr;

/// Why a connection to a server showed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Its name has no address.
    #[error("{host} does not resolve: {why}")]
    Unresolved {
        /// The name.
        host: String,
        /// What the resolver said.
        why: String,
    },
    /// Nobody listens.
    #[error("the connection is refused")]
    Refused,
    /// It does not answer, or no way leads there.
    #[error("no connection: {0}")]
    Unreachable(String),
    /// The answers to the handshake do not pass where the probe could see them.
    #[error("what comes of the server cannot be seen as IP packets here")]
    Unseen,
    /// It reset the connection.
    #[error("the server resets the connection {0}")]
    Reset(&'static str),
    /// It ended the connection before it had answered.
    #[error("the server closes the connection {0}")]
    Closed(&'static str),
    /// Nothing comes any more.
    #[error("the server stalls: nothing in {seconds} s {after}")]
    Stalled {
        /// How long.
        seconds: u64,
        /// After what.
        after: &'static str,
    },
    /// Too little comes.
    #[error("too slow: {bytes} bytes in {seconds} s")]
    Slow {
        /// So much came.
        bytes: u64,
        /// In so long.
        seconds: u64,
    },
    /// It keeps one waiting in each connection.
    #[error(
        "too slow: it kept {connections} connections waiting for {seconds} s in all (three times --patience is what a server gets)"
    )]
    Dawdles {
        /// In so many connections.
        connections: u32,
        /// So long it was waited for in all.
        seconds: u64,
    },
    /// Its address is somebody's whom a short pause is not for.
    #[error("{0} may be a stranger's, who gets 3 s at least between two connections (--pause)")]
    Stranger(IpAddr),
    /// Its address is somebody's whom so many ACKs are not for.
    #[error(
        "{address} may be a stranger's, who gets {MOST_OF_A_SEGMENT} ACKs for a segment and {MOST_OF_A_TEST} in a test at most, and not those of test {test}"
    )]
    Crowded {
        /// Its address.
        address: IpAddr,
        /// The test with more.
        test: Test,
    },
    /// A client program of one's own did not ask.
    #[error("the program: {0}")]
    Program(String),
    /// The handshake of TLS failed.
    #[error("TLS fails: {0}")]
    Tls(String),
    /// What came is no HTTP.
    #[error("no answer in HTTP/1: {0}")]
    NoHttp(String),
    /// It answers with another status than success.
    #[error("the server answers with status {0}")]
    Status(u16),
    /// It sends elsewhere, and was not to be followed.
    #[error("the server redirects to {0} (--follow goes along where the host is the same)")]
    Redirected(String),
    /// It sends to another host.
    #[error("the server redirects to another host, {0}, which must be given itself")]
    Elsewhere(String),
    /// It sends on and on.
    #[error("the server redirects for ever: {0} times")]
    Redirects(usize),
    /// There is too little to judge by.
    #[error(
        "the response is too short to judge: {bytes} bytes, and {need} are needed (a longer object, or --mss 536)"
    )]
    Short {
        /// So long it is.
        bytes: u64,
        /// So long it should be.
        need: u64,
    },
    /// Packets were lost on the way, so that the counts mean nothing.
    #[error("the path lost packets: {0} bytes never came")]
    Lost(u64),
    /// Its application, and not its window, ends the first flight.
    #[error(
        "the first flight ends where the server's application paused, and not with its window (a file does, where a page that is made in parts does not)"
    )]
    ApplicationLimited,
    /// This machine stood still for so long that the server's timers may have gone off.
    #[error(
        "this machine stood still for {milliseconds} ms in the middle of the test, which shows nothing then"
    )]
    Stood {
        /// How long.
        milliseconds: u64,
    },
    /// Its first flight is another in each test.
    #[error(
        "the first flight is another in each test, {least} to {most} segments: the tests cannot be held against each other"
    )]
    Unsteady {
        /// The smallest, segments.
        least: u32,
        /// The largest.
        most: u32,
    },
    /// Too few tests were made.
    #[error("too few tests to judge by: test A is needed, and one of C, D and E")]
    TooFew,
    /// Its window never opens.
    #[error("the window stays at {segments} segments, of which none can be left out")]
    Narrow {
        /// So wide.
        segments: u32,
    },
    /// Only tests of one's own were.
    #[error(
        "tests of one's own are shown and no verdict is by them: that takes test A, and one of C, D and E"
    )]
    Own,
    /// No test of divided ACKs was asked for.
    #[error("no test of divided ACKs was asked for")]
    Unasked,
    /// More comes than was allowed.
    #[error("the server sends more than a test allows")]
    Flood,
}

impl Fault {
    /// One word for it, which stays as it is.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unresolved { .. } => "unresolved",
            Self::Refused => "refused",
            Self::Unreachable(_) => "unreachable",
            Self::Unseen => "unseen",
            Self::Reset(_) => "reset",
            Self::Closed(_) => "closed",
            Self::Stalled { .. } => "stalled",
            Self::Slow { .. } | Self::Dawdles { .. } => "slow",
            Self::Stranger(_) | Self::Crowded { .. } => "stranger",
            Self::Program(_) => "program",
            Self::Tls(_) => "tls",
            Self::NoHttp(_) => "no-http",
            Self::Status(_) => "status",
            Self::Redirected(_) => "redirected",
            Self::Elsewhere(_) => "elsewhere",
            Self::Redirects(_) => "redirects",
            Self::Short { .. } => "short",
            Self::Lost(_) => "lost",
            Self::ApplicationLimited => "application-limited",
            Self::Stood { .. } => "stood-still",
            Self::Unsteady { .. } => "unsteady",
            Self::TooFew => "too-few",
            Self::Narrow { .. } => "narrow",
            Self::Own => "own",
            Self::Unasked => "unasked",
            Self::Flood => "flood",
        }
    }
}

impl Serialize for Fault {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fault = serializer.serialize_struct("fault", 2)?;
        fault.serialize_field("name", self.name())?;
        fault.serialize_field("words", &self.to_string())?;
        fault.end()
    }
}
