//! What can go wrong between an answer and who looks at it.

#[cfg(feature = "pages")]
use std::path::Path;
use std::path::PathBuf;

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A figure cannot be drawn.
    #[error("figure \"{title}\": {reason}")]
    Figure {
        /// The figure's title.
        title: String,
        /// Why.
        reason: String,
    },
    /// A directory holds nothing that a page can be made of.
    #[error(
        "{} holds no result.json, sweep.json, study.json or compare.json; `truckee run`, `sweep`, `study run` and \
         `compare` write them with --out DIR",
        .dir.display()
    )]
    NoReport {
        /// The directory.
        dir: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A page or a study's file could not be encoded.
    #[error("{0}")]
    Internal(String),
    /// What the laboratory keeps cannot be read, or a file not be written.
    #[error(transparent)]
    Lab(#[from] truckee_lab::Error),
}

impl Error {
    /// A read error on `path`.
    #[cfg(feature = "pages")]
    pub(crate) fn read(path: &Path, reason: impl ToString) -> Self {
        Self::Read { path: path.to_owned(), reason: reason.to_string() }
    }
}
