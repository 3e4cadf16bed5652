//! The sender's window: what growth rules and loss responses read and write.

use crate::Span;

/// Congestion window, threshold and what surrounds them.
///
/// Windows are in bytes as `f64`, so that an increase of MSS²/cwnd is not lost at large windows; IEEE arithmetic keeps
/// them the same on every machine. Growth rules and responses write `cwnd` and `ssthresh`; the rest they only read.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Window {
    /// Maximum segment size, bytes.
    pub mss: f64,
    /// Congestion window, bytes; never below one MSS.
    pub cwnd: f64,
    /// Slow-start threshold, bytes.
    pub ssthresh: f64,
    /// Bytes sent and not yet acknowledged (FlightSize of RFC 5681) just before the event at hand.
    pub flight: u64,
    /// The receiver's advertised window, bytes.
    pub rwnd: u64,
    /// Smoothed round-trip time, once known.
    pub srtt: Option<Span>,
    /// Smallest round-trip time seen, once known.
    pub rtt_min: Option<Span>,
    /// Granularity of the clock that round-trip times are measured with; 0: exact.
    pub clock: Span,
    /// Whether ssthresh is whole segments ([`crate::Stack::whole_ssthresh`]).
    pub whole: bool,
}

impl Window {
    /// A window of so many bytes over segments of `mss`, of which nothing else is known: no threshold, a receiver who takes
    /// everything, an exact clock.
    pub fn new(mss: f64, cwnd: f64) -> Self {
        Self {
            mss,
            cwnd,
            ssthresh: f64::MAX,
            flight: 0,
            rwnd: u64::MAX,
            srtt: None,
            rtt_min: None,
            clock: Span::ZERO,
            whole: false,
        }
    }

    /// Whether the window opens by slow start (RFC 5681, section 3.1).
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// So many bytes rounded down to whole segments, bytes.
    pub(crate) fn in_whole_segments(&self, bytes: f64) -> f64 {
        libm::floor(bytes / self.mss) * self.mss
    }

    /// Rounds ssthresh down to whole segments, two at least, where it is to be whole.
    pub(crate) fn round_ssthresh(&mut self) {
        if self.whole {
            self.ssthresh = self.in_whole_segments(self.ssthresh).max(2.0 * self.mss);
        }
    }

    /// The window that a halving leaves: ssthresh, or where that is whole the exact half, one segment at least.
    pub(crate) fn halved(&self) -> f64 {
        if self.whole { (self.flight as f64 / 2.0).max(self.mss) } else { self.half_flight() }
    }

    /// Three quarters of the window in whole segments, as a half and a quarter, bytes (Linux, `tcp_current_ssthresh`).
    pub(crate) fn three_quarters(&self) -> f64 {
        self.in_whole_segments(self.cwnd / 2.0) + self.in_whole_segments(self.cwnd / 4.0)
    }

    /// Half the flight, at least two segments (RFC 5681, equation 4), bytes.
    pub fn half_flight(&self) -> f64 {
        (self.flight as f64 / 2.0).max(2.0 * self.mss)
    }
}
