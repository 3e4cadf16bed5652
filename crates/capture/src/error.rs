//! Why a capture cannot be read, or not to its end.

use std::io;
use std::path::{Path, PathBuf};

/// Why there are no packets, or no more of them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot open {}: {source}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is wrong is wrong with this file.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// What is wrong.
        error: Box<Error>,
    },
    /// It cannot be read on.
    #[error("cannot read on after byte {offset}: {source}")]
    Read {
        /// Bytes read, after unpacking.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// It is no capture.
    #[error("{found}, expected a capture: pcap or pcapng, plain, or packed with gzip or zstd")]
    NoCapture {
        /// What it looks like.
        found: String,
    },
    /// It ends amid a record.
    #[error("the capture ends at byte {end}, amid the {what} that begins at byte {offset}")]
    CutShort {
        /// `packet record`, `block` or `file header`.
        what: &'static str,
        /// Where it begins, after unpacking.
        offset: u64,
        /// Where the file ends.
        end: u64,
    },
    /// A record that cannot be, after which there is no telling where the next one begins.
    #[error("byte {offset}: {reason}")]
    Broken {
        /// Where it begins, after unpacking.
        offset: u64,
        /// What is found there and what was expected.
        reason: String,
    },
    /// Nothing of that name can be replayed.
    #[error("no estimator, predictor or detector is named \"{name}\"")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// It can, but not over a capture.
    #[error("\"{name}\" {reason}")]
    Unfit {
        /// What was asked for.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Something cannot be written.
    #[error("cannot write the capture: {0}")]
    Write(io::Error),
}

impl Error {
    /// The same, with the name of the file.
    #[must_use]
    pub fn of(self, path: &Path) -> Self {
        match self {
            Self::Open { .. } | Self::File { .. } => self,
            error => Self::File { path: path.to_owned(), error: Box::new(error) },
        }
    }
}
