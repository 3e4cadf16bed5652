//! The whole of BBR as data, and what follows from it at any moment. Source: draft-ietf-ccwg-bbr-06, section 5.6.4. Not for:
//! what an event changes.

use super::cycle::{Cycle, State};
use super::model::Model;
use super::settings::Settings;
use crate::arithmetic::{larger, smaller};
use crate::delivery::Rates;
use crate::{Seq, Span, Time};

/// BBR.MinPipeCwnd, segments.
const MIN_PIPE_CWND: f64 = 4.0;

/// A repair that is under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repair {
    /// It ends when this is acknowledged.
    pub(super) until: Seq,
    pub(super) timeout: bool,
    pub(super) began: Time,
    /// What the recovery has marked lost is not known yet; without SACK nothing will be.
    pub(super) unmarked: bool,
}

/// Within these bounds an ACK starts no round, changes neither state nor model, and moves only the window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calm {
    /// The window as the last ACK has left it, and a segment: who changes them otherwise is to be looked at.
    pub(super) window: f64,
    pub(super) mss: f64,
    /// Until then nothing is due.
    pub(super) until: Time,
    /// What left before so much was delivered begins no round.
    pub(super) round: u64,
    /// No round trip from here on is the shortest.
    pub(super) rtt: Span,
    /// More bytes than that are in the air, and fewer than this.
    pub(super) above: i64,
    pub(super) below: i64,
    /// No more were when what has arrived left.
    pub(super) long: i64,
    /// No more than this is acknowledged beyond what was expected: it has been in this round.
    pub(super) extra: f64,
    /// What the window grows to.
    pub(super) most: f64,
}

/// The whole of BBR.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) settings: Settings,
    pub(super) rates: Rates,
    /// What nothing changes within, where that is known.
    pub(super) calm: Option<Calm>,
    pub(super) model: Model,
    pub(super) state: State,
    pub(super) cycle: Cycle,
    pub(super) repair: Option<Repair>,
    /// C.has_selective_acks, as far as losses have shown it.
    pub(super) selective: bool,
    /// BBR.prior_cwnd, bytes.
    pub(super) prior_cwnd: f64,
    /// `prior_cwnd` comes back with the next ACK.
    pub(super) restore: bool,
    pub(super) initial_cwnd: f64,
    /// What leaves with no more than this in the air begins a flight: all that does first, and then what does with nothing.
    pub(super) begins_with: u64,
    /// Bytes per second on the wire; none before the first departure.
    pub(super) pacing_rate: Option<f64>,
    pub(super) paced_by_rtt: bool,
    /// Bytes on the wire over bytes of payload.
    pub(super) overhead: f64,
    pub(super) idle_restart: bool,
    /// Whether the window has limited the sender since the last ACK, in this round and in the one before.
    pub(super) used: bool,
    pub(super) limited: [bool; 2],
    // The event at hand, where it is looked at.
    pub(super) now: Time,
    pub(super) mss: f64,
    pub(super) cwnd: f64,
    pub(super) in_flight: f64,
}

impl Machine {
    pub(super) fn min_pipe(&self) -> f64 {
        MIN_PIPE_CWND * self.mss
    }

    /// BDPMultiple.
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.model.bdp(bw).map_or(self.initial_cwnd, |bdp| gain * bdp)
    }

    /// QuantizationBudget.
    pub(super) fn quantized(&self, inflight: f64) -> f64 {
        larger(inflight, self.min_pipe()) + if self.state == State::Up { 2.0 * self.mss } else { 0.0 }
    }

    /// What must not be exceeded for [`State::Down`] to end.
    pub(super) fn cruising_inflight(&self) -> f64 {
        let bdp = self.quantized(self.bdp_multiple(self.model.max_bw(), 1.0));
        smaller(self.inflight_with_headroom(), bdp)
    }

    /// What the window may grow to, by the model.
    pub(super) fn max_inflight(&self) -> f64 {
        let wanted = self.bdp_multiple(self.model.bw, self.state.cwnd_gain()) + self.model.extra_acked();
        self.quantized(wanted)
    }

    /// BoundCwndForModel.
    pub(super) fn inflight_bound(&self) -> f64 {
        let cap = match self.state {
            State::Startup | State::Drain => f64::INFINITY,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Down | State::Refill | State::Up => self.model.inflight_long,
        };
        larger(smaller(cap, self.model.inflight_short), self.min_pipe())
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> f64 {
        smaller(self.bdp_multiple(self.model.bw, 1.0), self.cwnd)
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        larger(self.bdp_multiple(self.model.bw, State::ProbeRtt.cwnd_gain()), self.min_pipe())
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let long = self.model.inflight_long;
        if long.is_infinite() {
            return long;
        }
        larger(long - larger(self.settings.headroom * long, self.mss), self.min_pipe())
    }
}
