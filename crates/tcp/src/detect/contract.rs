//! The contract of a slow-start detector. Its members have files of their own, and [`super`] lists them.

use crate::Arrival;

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
}
