//! Congestion controls where this build has no live leg: their names, and why there is no more.

use crate::{Error, Installed, Published};

/// There is no live leg to ask the kernel with.
pub fn list() -> Result<Vec<Installed>, Error> {
    Err(Error::NotBuilt)
}

/// There is no live leg to load it with.
pub fn load_published(_: &Published) -> Result<(), Error> {
    Err(Error::NotBuilt)
}

/// There is no live leg to remove it with.
pub fn unload(_: &str) -> Result<(), Error> {
    Err(Error::NotBuilt)
}
