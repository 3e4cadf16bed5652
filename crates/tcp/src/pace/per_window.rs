//! Pacing a window over a round: gain·cwnd/SRTT.
//!
//! The gain is above 1, so that pacing does not hold back a window that is allowed to grow: `slow_start` 2 and
//! `avoidance` 1.2, as in Linux (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). Before the first round-trip time is known
//! nothing is paced. Source: Aggarwal, Savage and Anderson, "Understanding the performance of TCP pacing", 2000.

use super::Pacing;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Span, Window};

/// The window, spread over the smoothed round-trip time.
#[derive(Debug, Clone)]
pub struct PerWindow {
    slow_start: f64,
    avoidance: f64,
}

impl Member for PerWindow {
    const INFO: Info = Info {
        name: "per-window",
        summary: "spreads a window over a round",
        formula: "rate = gain·cwnd/SRTT; gain 2 in slow start, 1.2 after it",
        source: "Aggarwal, Savage and Anderson 2000; Linux, net.ipv4.tcp_pacing_ss_ratio",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            slow_start: args.number("slow_start", 2.0, 0.1..=100.0)?,
            avoidance: args.number("avoidance", 1.2, 0.1..=100.0)?,
        })
    }
}

impl Pacing for PerWindow {
    fn rate(&self, w: &Window) -> Option<f64> {
        let srtt = w.srtt.filter(|&t| t > Span::ZERO)?;
        let gain = if w.in_slow_start() { self.slow_start } else { self.avoidance };
        Some(gain * w.cwnd * 1e9 / srtt.as_f64())
    }
}
