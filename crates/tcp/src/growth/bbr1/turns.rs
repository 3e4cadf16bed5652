//! The modes of BBRv1 and their gains. Source: Linux 6.18, net/ipv4/tcp_bbr.c: `bbr_update_gains`.

use crate::Time;

/// bbr_high_gain: 2/ln 2, as 256ths.
pub(super) const HIGH_GAIN: f64 = 739.0 / 256.0;
/// bbr_drain_gain: its inverse, as 256ths.
pub(super) const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// bbr_cwnd_gain.
const CWND_GAIN: f64 = 2.0;
/// bbr_pacing_gain: one phase probes, one drains, six cruise.
pub(super) const PHASES: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// What it is about at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turns {
    pub(super) mode: Mode,
    pub(super) phase: usize,
    /// When the phase began.
    pub(super) since: Time,
    /// The bandwidth that the next rounds have to exceed by a fourth, and how many have not.
    pub(super) full_bw: f64,
    pub(super) full_bw_rounds: u32,
    pub(super) full_bw_reached: bool,
    /// When ProbeRTT is long enough, and whether a round has passed in it.
    pub(super) probe_rtt_done: Option<Time>,
    pub(super) probe_rtt_round_done: bool,
}

impl Turns {
    /// Whether it is in the phase that sends faster than the path.
    pub(super) fn is_probing_up(&self) -> bool {
        self.mode == Mode::ProbeBw && self.phase == 0
    }

    /// For the pace; `policed`: under a policer's rate it only cruises.
    pub(super) fn pacing_gain(&self, policed: bool) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw if policed => 1.0,
            Mode::ProbeBw => PHASES[self.phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    /// For the window.
    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }
}
