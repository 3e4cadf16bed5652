//! How far a port was from its definition.

use crate::{Bound, Event};

/// How far a port was from its definition over one connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Number of the connection, as its events have it.
    pub connection: u32,
    /// The sender's TCP port.
    pub local_port: u16,
    /// The receiver's.
    pub remote_port: u16,
    /// ACKs compared.
    pub acks: u64,
    /// Losses compared.
    pub losses: u64,
    /// Largest difference of the estimates of bandwidth, relative.
    pub estimate: f64,
    /// Answers of the predictor that were compared, at ACKs and losses.
    pub verdicts: u64,
    /// Of them, those that were wireless.
    pub wireless: u64,
    /// Of them, those that differed.
    pub differing: u64,
    /// Of those, how many a round-trip time within the bound of the one measured would have changed too.
    pub near: u64,
    /// Largest window, segments.
    pub largest: f64,
    /// Largest difference of the window while it grew, segments.
    pub cwnd: f64,
    /// Largest difference of ssthresh after a loss from the definition's, which is rounded down here, segments.
    pub ssthresh: u64,
    /// Likewise of the window that the response left after a loss.
    pub target: u64,
    /// Repairs after which the kernel's window was above the one that the response left.
    pub beyond: u64,
    /// Events at which what the port itself counts differed: the smallest round-trip time, the bytes delivered.
    pub miscounted: u64,
    /// What the port's arithmetic explains.
    pub bound: Bound,
}

impl Report {
    pub(super) fn new(first: &Event, bound: Bound) -> Self {
        Self {
            connection: first.connection,
            local_port: first.local_port,
            remote_port: first.remote_port,
            acks: 0,
            losses: 0,
            estimate: 0.0,
            verdicts: 0,
            wireless: 0,
            differing: 0,
            near: 0,
            largest: 0.0,
            cwnd: 0.0,
            ssthresh: 0,
            target: 0,
            beyond: 0,
            miscounted: 0,
            bound,
        }
    }

    /// Whether the port did what its definition does, within its bound.
    pub fn within(&self) -> bool {
        let b = &self.bound;
        self.estimate <= b.estimate
            && self.differing == self.near
            && self.cwnd <= b.cwnd
            && self.ssthresh == 0
            && self.target == 0
            && self.beyond == 0
            && self.miscounted == 0
    }
}
