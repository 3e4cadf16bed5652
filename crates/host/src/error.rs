//! Why something live could not be done.

use std::io;

/// An error of the live leg.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This build has no live leg.
    #[error(
        "this truckee was built without its live leg, which needs Linux, and clang at build time (apt-get install clang libelf-dev, then build again)"
    )]
    NotBuilt,
    /// The machine lacks something.
    #[error("{what}; {mend} (truckee doctor tells more)")]
    Missing {
        /// What is missing.
        what: String,
        /// What mends it.
        mend: String,
    },
    /// The scenario asks for something a kernel run cannot express.
    #[error("{place}: {why}")]
    Refused {
        /// The flow, link, node or key.
        place: String,
        /// What cannot be done, and what could be in its place.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was being done, in words that follow "cannot".
        doing: String,
        /// What it said.
        source: io::Error,
    },
    /// The kernel or libbpf refused a BPF program.
    #[error("cannot {doing}: {reason}")]
    Bpf {
        /// What was being done.
        doing: String,
        /// What was said, the verifier's last words included.
        reason: String,
    },
    /// A program could not be started.
    #[error("{command}: {why}")]
    NotRun {
        /// The program.
        command: String,
        /// What a shell says of it: 127, it is not there; 126, it cannot be run.
        status: u8,
        /// Why.
        why: String,
    },
    /// A run ended before its time.
    #[error("{0}")]
    Broken(String),
    /// Ctrl-C, or a signal to end.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Only a user with root's capabilities may do that.
    #[cfg(live)]
    pub fn without_right(doing: &str) -> Self {
        Self::Missing {
            what: format!("no right to {doing}"),
            mend: "run as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN".into(),
        }
    }

    /// The operating system refused what was being done; `doing` follows "cannot".
    pub fn system(doing: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System { doing: doing.into(), source: source.into() }
    }
}
