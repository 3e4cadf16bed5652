//! Queues.

use truckee_channel::Limit;
use truckee_channel::queue::{ActiveConfig, RedConfig};

/// A queue. The packet in transmission does not count against its limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// What fits.
        limit: Limit,
    },
    /// Random early detection (Floyd & Jacobson 1993).
    Red(RedConfig),
    /// One that decides by how long packets wait.
    Active(ActiveConfig),
}

impl Queue {
    /// What fits.
    pub fn limit(&self) -> Limit {
        match self {
            Self::DropTail { limit } => *limit,
            Self::Red(red) => red.limit,
            Self::Active(config) => config.limit(),
        }
    }

    /// The same, to be changed.
    pub fn limit_mut(&mut self) -> &mut Limit {
        match self {
            Self::DropTail { limit } => limit,
            Self::Red(red) => &mut red.limit,
            Self::Active(config) => config.limit_mut(),
        }
    }
}
