//! What takes BBRv1 from one mode to the next. Source: Linux 6.18, net/ipv4/tcp_bbr.c: `bbr_update_cycle_phase`,
//! `bbr_check_full_bw_reached`, `bbr_check_drain`, `bbr_update_min_rtt`.

use super::machine::{LEAST_CWND, Machine};
use super::turns::{Mode, PHASES};
use crate::Span;
use crate::delivery::Heard;

/// bbr_cycle_rand: where a cycle begins is drawn among so many, all but the one that drains.
const BEGINNINGS: u64 = 7;
/// bbr_full_bw_thresh, bbr_full_bw_cnt.
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
/// bbr_min_rtt_win_sec.
const MIN_RTT_WINDOW: Span = Span::s(10);
/// bbr_probe_rtt_mode_ms.
const PROBE_RTT: Span = Span::ms(200);

impl Machine {
    /// The modes that the bandwidth governs; `prior` bytes were in flight before the ACK.
    pub(super) fn advance(&mut self, heard: &Heard, prior: f64) {
        if self.turns.mode == Mode::ProbeBw && self.phase_is_over(heard.lost > 0, prior) {
            self.next_phase();
        }
        self.check_full_bw(heard);
        if self.turns.mode == Mode::Startup && self.turns.full_bw_reached {
            self.turns.mode = Mode::Drain;
        }
        if self.turns.mode == Mode::Drain
            && self.in_net_at_edt(self.in_flight) <= self.inflight(self.widest.value(), 1.0)
        {
            self.probe_bandwidth();
        }
    }

    /// `bbr_is_next_cycle_phase`.
    fn phase_is_over(&self, losses: bool, prior: f64) -> bool {
        let lasted = self.min_rtt.is_some_and(|rtt| self.now.saturating_sub(self.turns.since) > rtt);
        let (gain, bw) = (self.pacing_gain(), self.widest.value());
        if gain > 1.0 {
            lasted && (losses || self.in_net_at_edt(prior) >= self.inflight(bw, gain))
        } else if gain < 1.0 {
            lasted || self.in_net_at_edt(prior) <= self.inflight(bw, 1.0)
        } else {
            lasted
        }
    }

    /// `bbr_advance_cycle_phase`.
    fn next_phase(&mut self) {
        self.turns.phase = (self.turns.phase + 1) % PHASES.len();
        self.turns.since = self.now;
    }

    /// `bbr_reset_probe_bw_mode`.
    pub(super) fn probe_bandwidth(&mut self) {
        self.turns.mode = Mode::ProbeBw;
        self.turns.phase = PHASES.len() - 1 - (self.draw() % BEGINNINGS) as usize;
        self.next_phase();
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_bw(&mut self, heard: &Heard) {
        let app_limited = heard.sample.is_some_and(|sample| sample.app_limited);
        if self.turns.full_bw_reached || !self.round_start || app_limited {
            return;
        }
        let bw = self.widest.value();
        if bw >= self.turns.full_bw * FULL_BW_GROWTH {
            (self.turns.full_bw, self.turns.full_bw_rounds) = (bw, 0);
            return;
        }
        self.turns.full_bw_rounds += 1;
        self.turns.full_bw_reached = self.turns.full_bw_rounds >= FULL_BW_ROUNDS;
    }

    /// `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, heard: &Heard, in_flight: u64) {
        let expired = self.now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = heard.sample.and_then(|sample| sample.rtt)
            && (expired || self.min_rtt.is_none_or(|least| rtt < least))
        {
            (self.min_rtt, self.min_rtt_stamp) = (Some(rtt), self.now);
        }
        if expired && !self.idle_restart && self.turns.mode != Mode::ProbeRtt {
            self.save_cwnd(self.cwnd);
            self.turns.mode = Mode::ProbeRtt;
            self.turns.probe_rtt_done = None;
        }
        if self.turns.mode == Mode::ProbeRtt {
            self.probe_rtt(in_flight);
        }
        if heard.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Holds few segments for 200 ms and a round.
    fn probe_rtt(&mut self, in_flight: u64) {
        self.rates.limited_by_application(in_flight); // its low rates tell nothing of the path
        if self.turns.probe_rtt_done.is_some() {
            self.turns.probe_rtt_round_done |= self.round_start;
            if self.turns.probe_rtt_round_done {
                self.check_probe_rtt_done();
            }
        } else if self.in_flight <= LEAST_CWND * self.mss {
            self.turns.probe_rtt_done = Some(self.now + PROBE_RTT);
            self.turns.probe_rtt_round_done = false;
            self.next_round = self.rates.delivered;
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.turns.probe_rtt_done.is_none_or(|done| self.now <= done) {
            return;
        }
        self.min_rtt_stamp = self.now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.turns.full_bw_reached {
            self.probe_bandwidth();
        } else {
            self.turns.mode = Mode::Startup;
        }
    }
}
