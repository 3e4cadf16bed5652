//! What is known of a run when it is over.

use super::late::Late;
use super::{FlowBook, PortCounters};
use truckee_scenario::outcome::{Delay, LinkOutcome, QueueSeries, TrafficOutcome};

/// What a run of the emulator showed.
#[derive(Debug, Default)]
pub struct Books {
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<FlowBook>,
    /// One entry a direction of a link: forward, then back.
    pub links: Vec<LinkOutcome>,
    /// One entry a traffic entry.
    pub traffic: Vec<TrafficOutcome>,
    /// One entry a direction of a link, where series are kept.
    pub queues: Vec<QueueSeries>,
    /// One entry a port, in the order of the endpoints.
    pub ports: Vec<PortCounters>,
    /// Packets that no way led on: to addresses of no node, multicast.
    pub strays: u64,
    /// How late packets left, s: what this machine added to what the path asked for.
    pub late_s: Delay,
    /// The same in counts.
    pub late: Late,
}
