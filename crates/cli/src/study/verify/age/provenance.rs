//! Of which code and when something is.

use serde::{Deserialize, Serialize};

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// When it was made, ISO 8601, UTC.
    pub date: String,
}

/// Of which code and when a stored result is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// When it was made, ISO 8601, UTC.
    pub date: String,
    /// The commit, with a `+` where there were changes beside it.
    pub commit: String,
}
