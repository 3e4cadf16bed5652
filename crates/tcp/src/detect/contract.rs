//! The contract of a slow-start detector. Its members have files of their own, and [`super`] lists them.

use crate::{Arrival, Span};

/// Phases of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Phase {
    /// cwnd < ssthresh: it opens by a segment per ACK.
    SlowStart,
    /// Congestion avoidance, or the repair of a loss.
    #[default]
    Avoidance,
}

/// The contract of a detector.
pub trait SlowStartDetector: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// A data segment has come.
    fn on_segment(&mut self, arrival: &Arrival);
    /// The phase that the sender is taken to be in.
    fn phase(&self) -> Phase;
    /// What it looks at, where that is the gaps between segments.
    fn floats(&self) -> Option<Floats> {
        None
    }
}

/// The gaps between segments, as TCP Taba's detector looks at them (Cheskis 2006, section 2.4 and figures 2.2 to 2.4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floats {
    /// The last one.
    pub gap: Span,
    /// MinFloat: the smallest of the last block.
    pub min: Span,
    /// MaxFloat: the largest.
    pub max: Span,
    /// ssum: the round-trip time as the receiver smooths it; none until it has a sample.
    pub rtt: Option<Span>,
}
