//! BBR's states, with the gains of each, and where they stand. Source: draft-ietf-ccwg-bbr-06, section 5.3.

use crate::{Span, Time};

/// BBR.StartupPacingGain.
pub(super) const STARTUP_PACING_GAIN: f64 = 2.77;

/// BBR.state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// BBR.pacing_gain.
    pub fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => 0.5,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    /// BBR.cwnd_gain.
    pub fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// IsInAProbeBWState.
    pub fn probes_bandwidth_in_turns(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// IsProbingBW.
    pub fn is_probing_bandwidth(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// BBR.ack_phase: what ACKs tell of the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Acks {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Where the states stand.
#[derive(Debug, Clone, Default)]
pub struct Cycle {
    /// BBR.full_bw_reached: the pipe was full once.
    pub full_bw_reached: bool,
    pub(super) full_bw_now: bool,
    pub(super) full_bw: f64,
    pub(super) full_bw_count: u32,
    pub(super) drain_start_round: u64,
    pub(super) acks: Acks,
    /// BBR.is_bw_probe_sample: samples are of a probe that has not been answered yet.
    pub is_probe_sample: bool,
    pub(super) probe_up_rounds: u32,
    pub(super) probe_up_acked: f64,
    pub(super) probe_up_acked_per_inc: f64,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
    pub(super) cycle_stamp: Time,
    pub(super) probe_wait: Span,
    pub(super) probe_rtt_done: Option<Time>,
    pub(super) probe_rtt_round_done: bool,
    pub(super) drawn: u64,
}

impl Cycle {
    /// BBR.bw_probe_wait.
    #[cfg(test)]
    pub fn probe_wait(&self) -> Span {
        self.probe_wait
    }

    /// ResetFullBW, with the rate that growth is measured from.
    pub(super) fn reset_full_bw(&mut self, from: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (from, 0, false);
    }
}
