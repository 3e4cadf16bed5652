//! The whole of BBRv1 as data, and what follows from it at any moment. Source: Linux 6.18, net/ipv4/tcp_bbr.c. Not for: what an
//! event changes.

use super::filters::{Aggregation, Policer, Widest};
use super::turns::{Mode, Turns};
use crate::arithmetic::{larger, real, smaller};
use crate::delivery::Rates;
use crate::pace::GSO_BYTES;
use crate::{Seq, Span, Time};

/// What bbr_pacing_margin_percent leaves.
pub(super) const PACING_MARGIN: f64 = 0.99;
/// TCP_INIT_CWND, segments.
pub(super) const INITIAL_CWND: f64 = 10.0;
/// bbr_cwnd_min_target, segments.
pub(super) const LEAST_CWND: f64 = 4.0;
/// bbr_min_tso_rate, bytes per second: below it a burst may be of one segment.
const SLOW: f64 = 150_000.0;
/// A burst is this part of a second at the pacing rate (sk_pacing_shift 10).
const BURSTS_A_SECOND: f64 = 1024.0;
/// The most segments that a burst is taken for.
const BURST_MOST: f64 = 127.0;

/// `bbr_min_tso_segs`.
pub(super) fn least_burst(rate: f64) -> u64 {
    if rate < SLOW { 1 } else { 2 }
}

/// A repair that is under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repair {
    /// It ends when this is acknowledged.
    pub(super) until: Seq,
    /// Whether an ACK has been dealt with in it, or it is a timeout's.
    pub(super) entered: bool,
}

/// The model and the machine; bytes, bytes per second.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) seed: u64,
    pub(super) drawn: u64,
    pub(super) rates: Rates,
    pub(super) widest: Widest,
    pub(super) aggregation: Aggregation,
    pub(super) policer: Policer,
    pub(super) turns: Turns,
    pub(super) min_rtt: Option<Span>,
    pub(super) min_rtt_stamp: Time,
    /// Rounds, the delivered count that ends this one, and whether the ACK at hand began one.
    pub(super) rounds: u64,
    pub(super) next_round: u64,
    pub(super) round_start: bool,
    /// None before the first event.
    pub(super) pacing_rate: Option<f64>,
    pub(super) paced_by_rtt: bool,
    /// When what has been sent will have left at the pace.
    pub(super) edt: Time,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pub(super) repair: Option<Repair>,
    pub(super) conserving: bool,
    /// The window comes back with the next ACK.
    pub(super) restore: bool,
    pub(super) idle_restart: bool,
    /// Whether the window has limited the sender since the last ACK.
    pub(super) used: bool,
    pub(super) now: Time,
    pub(super) mss: f64,
    pub(super) in_flight: f64,
}

impl Machine {
    pub(super) fn pacing_gain(&self) -> f64 {
        self.turns.pacing_gain(self.policer.rate().is_some())
    }

    /// `bbr_bw`.
    pub(super) fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or(self.widest.value())
    }

    /// `bbr_save_cwnd`.
    pub(super) fn save_cwnd(&mut self, cwnd: f64) {
        let disturbed = self.repair.is_some() || self.turns.mode == Mode::ProbeRtt;
        self.prior_cwnd = if disturbed { larger(self.prior_cwnd, cwnd) } else { cwnd };
    }

    /// `bbr_set_pacing_rate`: before the pipe was ever full it only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * PACING_MARGIN * self.bw();
        if self.turns.full_bw_reached || rate > self.pacing_rate.unwrap_or(0.0) {
            self.pacing_rate = Some(larger(rate, 1.0));
        }
    }

    /// `bbr_tso_segs_goal`: a burst, in segments.
    pub(super) fn burst(&self) -> f64 {
        let rate = self.pacing_rate.unwrap_or(0.0);
        let segments = libm::floor(smaller(rate / BURSTS_A_SECOND, GSO_BYTES) / self.mss);
        smaller(larger(segments, real(least_burst(rate))), BURST_MOST)
    }

    /// `bbr_inflight`: gain·bw·RTTmin and room for bursts, in bytes.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(self.bdp(bw, gain))
    }

    /// `bbr_bdp`, bytes of whole segments.
    pub(super) fn bdp(&self, bw: f64, gain: f64) -> f64 {
        match self.min_rtt {
            None => INITIAL_CWND * self.mss,
            Some(rtt) => libm::ceil(gain * bw * real(rtt.nanos()) / 1e9 / self.mss) * self.mss,
        }
    }

    /// `bbr_quantization_budget`: three bursts, an even number of segments, two more in the phase that probes.
    pub(super) fn quantized(&self, bytes: f64) -> f64 {
        let segments = libm::ceil((bytes / self.mss + 3.0 * self.burst()) / 2.0) * 2.0;
        (segments + if self.turns.is_probing_up() { 2.0 } else { 0.0 }) * self.mss
    }

    /// `bbr_packets_in_net_at_edt`: what of so many bytes will be in the network once all that is paced has left.
    pub(super) fn in_net_at_edt(&self, bytes: f64) -> f64 {
        let delivered = self.bw() * real(self.edt.saturating_sub(self.now).nanos()) / 1e9;
        let burst = if self.pacing_gain() > 1.0 { self.burst() * self.mss } else { 0.0 };
        larger(bytes + burst - delivered, 0.0)
    }

    /// The next of 64 random bits: a hash (SplitMix64, Steele, Lea and Flood 2014) of the seed and a counter.
    pub(super) fn draw(&mut self) -> u64 {
        self.drawn += 1;
        let z = (self.seed ^ self.drawn.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
