//! Why packets are lost on a path.

/// Why a packet was lost on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It did not fit into a queue.
    Queue,
    /// Noise destroyed it.
    Channel,
    /// It was sent into an outage, a handoff, or a link that was down.
    Outage,
}

impl Cause {
    /// What results call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Channel => "channel",
            Self::Outage => "outage",
        }
    }

    /// What a sender should have taken it for.
    pub fn verdict(self) -> truckee_tcp::Cause {
        match self {
            Self::Queue => truckee_tcp::Cause::Congestion,
            Self::Channel | Self::Outage => truckee_tcp::Cause::Wireless,
        }
    }
}
