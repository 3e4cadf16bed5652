//! Queues.

use truckee_channel::Limit;
use truckee_channel::queue::ActiveConfig;

/// A queue. The packet in transmission does not count against its limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// What fits.
        limit: Limit,
    },
    /// Random early detection (Floyd & Jacobson 1993).
    Red(Red),
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

/// Parameters of RED.
#[derive(Debug, Clone, PartialEq)]
pub struct Red {
    /// Hard limit.
    pub limit: Limit,
    /// Average queue, packets, below which nothing is marked.
    pub min_threshold: f64,
    /// Average queue, packets, above which everything is (from twice it with `gentle`).
    pub max_threshold: f64,
    /// Marking probability at `max_threshold`.
    pub max_probability: f64,
    /// Weight of a new sample in the average.
    pub weight: f64,
    /// Whether the probability rises from `max_probability` to 1 between one and two `max_threshold`.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked in place of dropped.
    pub ecn: bool,
}
