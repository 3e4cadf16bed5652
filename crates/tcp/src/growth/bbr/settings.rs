//! What a scenario may set of BBR.

use crate::Span;

/// What a scenario may set.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) loss_threshold: f64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_interval: Span,
    pub(super) seed: u64,
}
