//! Why something with a server ended: by a fault of its own, or for a reason here.

use super::fault::Fault;
use crate::Error;

/// Why something with a server ended.
#[derive(Debug)]
pub enum Stop {
    /// Its fault, or the path's.
    Fault(Fault),
    /// Ours.
    Error(Error),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
