//! Links whose rate and delay step from time to time, as those of satellites in low orbits do. Not for: what they come to in
//! a run, which is drawn when one begins.

use truckee_tcp::Span;

/// When a link's rate and delay step, and the ranges from which each new value is drawn, evenly. What has no range keeps its
/// value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    /// The time between two steps. Links that step equally often do so at the same moments: the first is drawn from the run's
    /// seed, within one such time from its start. All of them have drawn values from the start on.
    pub every: Span,
    /// Delay, the same both ways.
    pub delay: Option<(Span, Span)>,
    /// Rate of the direction first → second, bit/s.
    pub rate: Option<(u64, u64)>,
    /// Rate of the direction second → first, bit/s.
    pub rate_back: Option<(u64, u64)>,
}
