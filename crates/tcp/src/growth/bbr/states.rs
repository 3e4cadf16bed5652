//! What takes BBR from one state to the next. Source: draft-ietf-ccwg-bbr-06, section 5.3.

use super::cycle::{Acks, State};
use super::machine::Machine;
use crate::Span;
use crate::arithmetic::{larger, real};
use crate::delivery::{Heard, Sample};

/// BBRStartupFullLossCnt.
const STARTUP_LOSS_EVENTS: u32 = 6;
/// Rounds without much growth that make a full pipe.
const FULL_BW_ROUNDS: u32 = 3;
/// Less growth than this is not much.
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds after which Drain ends anyhow.
const DRAIN_ROUNDS: u64 = 3;
/// T_reno_bound, rounds.
const RENO_ROUNDS: f64 = 63.0;
/// BBR.ProbeRTTDuration.
const PROBE_RTT_DURATION: Span = Span::ms(200);

impl Machine {
    /// The states that the bandwidth governs (CheckFullBWReached to UpdateProbeBWCyclePhase).
    pub fn advance(&mut self, heard: &Heard) {
        let sample = heard.sample.unwrap_or_default();
        if heard.sample.is_some() {
            self.check_full_bw(&sample);
        }
        self.check_startup_high_loss(&sample);
        if self.state == State::Startup && self.cycle.full_bw_reached {
            self.state = State::Drain;
            self.cycle.drain_start_round = self.model.rounds;
        }
        if self.state == State::Drain {
            let drained = self.in_flight <= self.quantized(self.bdp_multiple(self.model.bw, 1.0));
            if drained || self.model.rounds > self.cycle.drain_start_round + DRAIN_ROUNDS {
                self.start_down();
            }
        }
        if self.cycle.full_bw_reached && !self.adapt_long_term(&sample, heard.delivered) {
            self.turn(&sample);
        }
    }

    /// CheckFullBWReached.
    fn check_full_bw(&mut self, sample: &Sample) {
        let cycle = &mut self.cycle;
        if cycle.full_bw_now || !self.model.round_start || sample.app_limited {
            return;
        }
        if sample.rate >= cycle.full_bw * FULL_BW_GROWTH {
            cycle.reset_full_bw(sample.rate);
            return;
        }
        cycle.full_bw_count += 1;
        cycle.full_bw_now = cycle.full_bw_count >= FULL_BW_ROUNDS;
        cycle.full_bw_reached |= cycle.full_bw_now;
    }

    /// IsInflightTooHigh, for what an ACK tells.
    fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        real(sample.lost) > real(sample.in_flight) * self.settings.loss_threshold
    }

    /// CheckStartupHighLoss.
    fn check_startup_high_loss(&mut self, sample: &Sample) {
        let repairing = self.repair.is_some_and(|r| !r.timeout);
        if self.state == State::Startup && !self.cycle.full_bw_reached && repairing {
            let many = self.model.loss_events >= STARTUP_LOSS_EVENTS && self.is_inflight_too_high(sample);
            if (self.model.loss_round_start && many) || !self.selective && self.model.loss_events > 0 {
                self.cycle.full_bw_reached = true;
                let bdp = self.bdp_multiple(self.model.bw, 1.0);
                self.model.inflight_long = bdp.max(self.model.inflight_latest);
            }
        }
        if self.model.loss_round_start {
            self.model.loss_events = 0;
        }
    }

    /// HandleInflightTooHigh.
    pub fn inflight_too_high(&mut self, in_flight: f64, app_limited: bool) {
        self.cycle.prev_probe_too_high = true;
        self.cycle.is_probe_sample = false;
        if !app_limited {
            self.model.inflight_long = in_flight.max(self.target_inflight() * self.settings.beta);
        }
        if self.state == State::Up {
            self.start_down();
        }
    }

    /// AdaptLongTermModel; true: it has decided on a state.
    fn adapt_long_term(&mut self, sample: &Sample, delivered: u64) -> bool {
        let in_turns = self.state.probes_bandwidth_in_turns();
        if self.model.round_start && self.cycle.acks == Acks::ProbeStarting {
            self.cycle.acks = Acks::ProbeFeedback;
        }
        if self.model.round_start && self.cycle.acks == Acks::ProbeStopping {
            self.cycle.is_probe_sample = false;
            self.cycle.acks = Acks::Init;
            if in_turns && !sample.app_limited {
                self.model.advance_max_bw();
            }
            if in_turns && self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_inflight_too_high(sample) && self.model.inflight_long.is_finite() {
            self.model.inflight_long = larger(self.model.inflight_long, real(sample.in_flight));
            if self.state == State::Up {
                self.probe_inflight_upward(real(delivered));
            }
        }
        false
    }

    /// The four states of ProbeBW (UpdateProbeBWCyclePhase).
    fn turn(&mut self, sample: &Sample) {
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe() => self.start_refill(),
            State::Down if self.is_time_to_cruise() => self.state = State::Cruise,
            State::Refill if self.model.round_start => {
                self.cycle.is_probe_sample = true;
                self.start_up(sample);
            }
            State::Up if self.is_time_to_go_down(sample) => {
                self.cycle.prev_probe_too_high = false;
                self.start_down();
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    pub(super) fn is_time_to_probe(&self) -> bool {
        let waited = self.now > self.cycle.cycle_stamp + self.cycle.probe_wait;
        let reno = (self.target_inflight() / self.mss).min(RENO_ROUNDS);
        waited || real(self.model.rounds_since_probe) >= reno
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.cruising_inflight()
    }

    /// C.is_cwnd_limited: in this round or the one before.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.limited[0] || self.limited[1]
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, sample: &Sample) -> bool {
        if self.cycle.prev_probe_too_high && self.in_flight >= self.model.inflight_long {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.model.inflight_long {
            self.cycle.reset_full_bw(sample.rate);
            return false;
        }
        self.cycle.full_bw_now
    }

    /// ProbeInflightLongtermUpward.
    fn probe_inflight_upward(&mut self, delivered: f64) {
        if !self.is_cwnd_limited() || self.cwnd < self.model.inflight_long {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.probe_up_acked += delivered;
        if cycle.probe_up_acked >= cycle.probe_up_acked_per_inc {
            let steps = libm::floor(cycle.probe_up_acked / cycle.probe_up_acked_per_inc);
            cycle.probe_up_acked -= steps * cycle.probe_up_acked_per_inc;
            self.model.inflight_long += steps * self.mss;
        }
        if self.model.round_start {
            self.raise_slope();
        }
    }

    /// RaiseInflightLongtermSlope: 1, 2, 4, … segments a round.
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.cycle.probe_up_rounds);
        self.cycle.probe_up_rounds = (self.cycle.probe_up_rounds + 1).min(30);
        self.cycle.probe_up_acked_per_inc = (self.cwnd / growth).max(self.mss);
    }

    /// StartProbeBW_DOWN.
    fn start_down(&mut self) {
        self.model.reset_signals();
        self.cycle.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait: 2 to 3 s, and a round more or less.
        self.model.rounds_since_probe = self.draw() >> 63;
        self.cycle.probe_wait = Span::s(2) + Span::ns(self.draw() % 1_000_000_001);
        self.cycle.cycle_stamp = self.now;
        self.cycle.acks = Acks::ProbeStopping;
        self.model.start_round(&self.rates);
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL.
    fn start_refill(&mut self) {
        self.model.reset_short_term();
        (self.cycle.probe_up_rounds, self.cycle.probe_up_acked) = (0, 0.0);
        self.cycle.prev_probe_precautionary = false;
        self.cycle.acks = Acks::Refilling;
        self.model.start_round(&self.rates);
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, sample: &Sample) {
        self.cycle.acks = Acks::ProbeStarting;
        self.model.start_round(&self.rates);
        self.cycle.reset_full_bw(sample.rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// CheckProbeRTT.
    pub fn check_probe_rtt(&mut self, heard: &Heard) {
        if self.state != State::ProbeRtt && self.model.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(self.cwnd);
            self.state = State::ProbeRtt;
            self.cycle.probe_rtt_done = None;
            self.cycle.acks = Acks::ProbeStopping;
            self.model.start_round(&self.rates);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt();
        }
        if heard.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT.
    fn probe_rtt(&mut self) {
        self.rates.limited_by_application(self.in_flight as u64); // its low rates tell nothing of the path
        if self.cycle.probe_rtt_done.is_some() {
            self.cycle.probe_rtt_round_done |= self.model.round_start;
            if self.cycle.probe_rtt_round_done {
                self.check_probe_rtt_done();
            }
        } else if self.in_flight <= self.probe_rtt_cwnd() {
            self.cycle.probe_rtt_done = Some(self.now + PROBE_RTT_DURATION);
            self.cycle.probe_rtt_round_done = false;
            self.model.start_round(&self.rates);
        }
    }

    /// CheckProbeRTTDone, and ExitProbeRTT.
    pub fn check_probe_rtt_done(&mut self) {
        if self.cycle.probe_rtt_done.is_none_or(|done| self.now <= done) {
            return;
        }
        self.model.probe_rtt_min_stamp = self.now;
        self.restore = true;
        self.model.reset_short_term();
        self.state = State::Startup;
        if self.cycle.full_bw_reached {
            self.start_down();
            self.state = State::Cruise;
        }
    }

    /// The next of 64 random bits: a hash (SplitMix64, Steele, Lea and Flood 2014) of the seed, the time and a counter.
    fn draw(&mut self) -> u64 {
        self.cycle.drawn += 1;
        let mix = |z: u64| {
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let step = self.settings.seed.wrapping_add(self.cycle.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mix(mix(step) ^ self.now.nanos())
    }
}
