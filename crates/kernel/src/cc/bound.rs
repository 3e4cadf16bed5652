//! How far a port may be from its definition: what `bpf/*.h` say of their arithmetic, as numbers.

use super::port::Port;

/// The largest differences that a port's fixed-point arithmetic explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Of the estimate of bandwidth, relative.
    pub estimate: f64,
    /// Of the window while it grows, segments: 2^-32 an ACK, up to 400,000 ACKs between two losses.
    pub cwnd: f64,
    /// Of ssthresh, and of the window that a response leaves, relative, before they are rounded down to whole segments.
    pub response: f64,
    /// Of the round-trip time at which an answer of a predictor changes, relative.
    pub rtt: f64,
}

impl Bound {
    /// The bound of a port.
    pub fn of(port: &Port) -> Self {
        let by_knee = port.predictor().is_some_and(|p| p.name == "ncpld");
        Self { estimate: 1e-6, cwnd: 1e-4, response: 1e-6, rtt: if by_knee { 1e-6 } else { 1e-8 } }
    }
}
