//! The filter of TCP Westwood+, as Linux has it: one sample a round-trip time, and two means one after the other.
//!
//! When an ACK comes more than max(RTT, 50 ms) after the last sample was closed:
//! - s = (bits acked since then)/(time since then), without this very ACK, which opens the next sample;
//! - b ← (7·b + s)/8; B ← (7·B + b)/8. The first sample starts both.
//!
//! RTTmin is the smallest round-trip time since the last retransmission timeout, after which it is found anew.
//!
//! Source: Linux, net/ipv4/tcp_westwood.c (westwood_update_window, westwood_filter, update_rtt_min); Grieco and Mascolo,
//! "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control", 2004.
//!
//! Choices: times are exact where Linux counts jiffies, and rates are not cut to whole bytes a jiffy. RTT is the newest
//! sample of one. Linux's clock starts with the connection, this one with the first ACK.

use super::BandwidthEstimator;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Span, Time, Window};

/// Shortest time of a sample (`TCP_WESTWOOD_RTT_MIN`).
const SHORTEST: Span = Span::ms(50);
/// The share of the new in each mean.
const NEW: f64 = 1.0 / 8.0;

/// One sample a round trip, filtered twice.
#[derive(Debug, Clone, Default)]
pub struct WestwoodPlus {
    /// When the sample began; `None` before the first ACK.
    since: Option<Time>,
    /// Bytes in it.
    bytes: u64,
    /// The newest round-trip time.
    rtt: Option<Span>,
    rtt_min: Option<Span>,
    /// The means, bit/s: of samples, and of that.
    means: Option<(f64, f64)>,
}

impl Member for WestwoodPlus {
    const INFO: Info = Info {
        name: "westwood-plus",
        summary: "one sample of the rate a round-trip time, filtered twice (Westwood+)",
        formula: "s = bits in T / T, T > max(RTT, 50 ms); b = (7·b + s)/8; B = (7·B + b)/8; RTTmin since the last timeout",
        source: "Linux, net/ipv4/tcp_westwood.c; Grieco and Mascolo 2004",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl BandwidthEstimator for WestwoodPlus {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.rtt = Some(rtt);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        let Some(since) = self.since else {
            self.since = Some(ack.now); // what it acknowledges was sent in a time that nobody knows
            return;
        };
        let span = ack.now.saturating_sub(since);
        if let Some(rtt) = self.rtt
            && span > rtt.max(SHORTEST)
        {
            let sample = self.bytes as f64 * 8e9 / span.as_f64();
            let (inner, outer) = self.means.unwrap_or((sample, sample));
            let inner = inner + NEW * (sample - inner);
            self.means = Some((inner, outer + NEW * (inner - outer)));
            (self.bytes, self.since) = (0, Some(ack.now));
        }
        self.bytes = self.bytes.saturating_add(ack.delivered);
    }

    fn on_timeout(&mut self) {
        self.rtt_min = None;
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.means.map(|(_, outer)| outer)
    }

    fn rtt_min(&self) -> Option<Span> {
        self.rtt_min
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;

    const MS: Span = Span::ms(1);

    /// An estimator that has heard of these ACKs: time in ms, bytes, round-trip time in ms.
    fn heard(acks: &[(u64, u64, u64)]) -> WestwoodPlus {
        let mut plus = WestwoodPlus::default();
        for &(now, bytes, rtt) in acks {
            plus.on_ack(&Ack { rtt: Some(rtt * MS), ..Ack::of_bytes(Time::ms(now), bytes) }, &window());
        }
        plus
    }

    #[test]
    fn there_is_one_sample_a_round_trip_and_each_mean_takes_an_eighth() {
        let bps = |acks: &[_]| heard(acks).bits_per_second();
        let first = [(0, 9000, 100), (40, 1000, 100), (80, 1000, 100), (100, 1000, 100)];
        assert_eq!(bps(&first), None, "a round trip has not yet passed");
        // 3000 bytes in 125 ms; the ACK that closes the sample belongs to the next one.
        let second = [&first[..], &[(125, 500, 100)]].concat();
        assert_eq!(bps(&second), Some(192e3));
        // 500 bytes in 125 ms are 32 kbit/s: b = 192 - 160/8 = 172, B = 192 - 20/8 = 189.5 kbit/s.
        let third = [&second[..], &[(250, 0, 100)]].concat();
        assert!((bps(&third).unwrap() - 189.5e3).abs() < 1e-6);
    }

    #[test]
    fn a_sample_is_no_shorter_than_50_ms() {
        assert_eq!(heard(&[(0, 1, 5), (25, 1000, 5), (50, 1000, 5)]).bits_per_second(), None);
        assert_eq!(
            heard(&[(0, 1, 5), (25, 1000, 5), (50, 1000, 5), (100, 1000, 5)]).bits_per_second(),
            Some(160e3)
        );
    }

    #[test]
    fn the_smallest_round_trip_time_is_found_anew_after_a_timeout() {
        let mut plus = heard(&[(0, 1000, 80), (100, 1000, 50), (200, 1000, 90)]);
        assert_eq!(plus.rtt_min(), Some(50 * MS));
        plus.on_timeout();
        plus.on_ack(&Ack { rtt: Some(70 * MS), ..Ack::of_bytes(Time::ms(300), 1000) }, &window());
        assert_eq!(plus.rtt_min(), Some(70 * MS));
    }
}
