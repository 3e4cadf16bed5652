//! How far a port may be from its definition: what `bpf/*.h` say of their arithmetic, as numbers.

use super::port::Port;

/// The largest differences that a port's fixed-point arithmetic explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Of the estimate, relative.
    pub estimate: f64,
    /// Of the window while it grows, segments.
    pub cwnd: f64,
    /// Of ssthresh and of the window it leaves after a loss, segments: whole ones, rounded down.
    pub segments: f64,
    /// Of the round-trip time at which an answer of a predictor changes, relative.
    pub rtt: f64,
}

impl Bound {
    /// The bound of a port.
    pub fn of(port: &Port) -> Self {
        let by_knee = port.predictor().is_some_and(|p| p.name == "ncpld");
        Self { estimate: 1e-6, cwnd: 1e-4, segments: 1.0, rtt: if by_knee { 1e-6 } else { 1e-8 } }
    }
}
