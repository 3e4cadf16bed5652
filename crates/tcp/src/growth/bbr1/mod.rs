//! BBR, version 1, as Linux has it: rate and window by the path's bandwidth and its shortest round trip, losses next to nothing.
//!
//! bw is the largest delivery rate of ten rounds, RTTmin the shortest round trip of ten seconds (`filters`). Rate = gain·0.99·bw,
//! window = gain·bw·RTTmin + what ACKs lump + three bursts, at least 4 segments, an even number (`turns` has the gains, `modes` what
//! follows what). *Startup* (2/ln 2 for both) ends where three rounds in a row bring less than 25 % more; *Drain* (ln 2/2, 2/ln 2) where no more than
//! bw·RTTmin is in the air; *ProbeBW* goes round eight phases of RTTmin each, 5/4, 3/4 and six of 1 (window 2), from one that is
//! drawn; *ProbeRTT* holds four segments for 200 ms and a round where no round trip was as short for ten seconds. In the first
//! round of a repair what is delivered is replaced and no more (packet conservation), later the window opens again towards its
//! aim, and behind it is what it was; what an ACK shows lost comes off. Two intervals that lose a fifth at the same rate are a
//! policer, whose rate holds for 48 rounds.
//!
//! Left to the reader here: units are bytes and exact nanoseconds, where the kernel has segments, microseconds and jiffies; what
//! is drawn comes from a hash of `seed` and a counter; a window that other parts lower (a restart, a recovery's own) counts as this
//! one has it; the first ten segments open the window where it is used, and not where it is not (a growth rule's contract). The sender should be with SACK. [`super::Bbr`] is the draft's version 3. Source: Linux 6.18, net/ipv4/tcp_bbr.c;
//! N. Cardwell et al., "BBR: congestion-based congestion control", 2016.

mod filters;
mod machine;
mod modes;
mod turns;

use super::Growth;
use crate::arithmetic::{larger, real, smaller};
use crate::delivery::{Heard, Rates};
use crate::pace::Spacing;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Departure, Loss, LossKind, Span, Time, Window};
use filters::{Aggregation, Evidence, Policer, Widest};
use machine::{INITIAL_CWND, LEAST_CWND, Machine, PACING_MARGIN, Repair};
use turns::{HIGH_GAIN, Mode, Turns};

/// The round-trip time before one is known.
const NOMINAL_RTT: Span = Span::ms(1);

/// Bottleneck bandwidth and round-trip propagation time.
#[derive(Debug, Clone)]
pub struct Bbr1(Box<Machine>);

impl Member for Bbr1 {
    const INFO: Info = Info {
        name: "bbr1",
        summary: "BBR's first version, as Linux has it: rate and window by the widest bandwidth and the shortest round trip",
        formula: "pacing = gain·0.99·bw; cwnd = gain·bw·RTTmin + aggregation + 3 bursts; bw: largest rate of 10 rounds",
        source: "Linux 6.18, net/ipv4/tcp_bbr.c; Cardwell et al. 2016",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self(Box::new(Machine {
            seed: args.count("seed", 1, 0..=u64::from(u32::MAX))?,
            drawn: 0,
            rates: Rates::default(),
            widest: Widest::default(),
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            turns: Turns::default(),
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            rounds: 0,
            next_round: 0,
            round_start: false,
            pacing_rate: None,
            paced_by_rtt: false,
            edt: Time::ZERO,
            cwnd: 0.0,
            prior_cwnd: 0.0,
            repair: None,
            conserving: false,
            restore: false,
            idle_restart: false,
            used: false,
            now: Time::ZERO,
            mss: 0.0,
            in_flight: 0.0,
        })))
    }
}

impl Growth for Bbr1 {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {
        self.0.used = true; // the window itself moves in `after_ack`
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        let machine = &mut *self.0;
        machine.see(ack.now, w);
        machine.on_ack(ack, air, w.srtt);
        w.cwnd = machine.cwnd;
    }

    fn on_sent(&mut self, sent: &Departure, w: &Window) {
        self.0.see(sent.now, w);
        self.0.on_sent(sent);
    }

    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.0.see(loss.now, w);
        self.0.on_loss(loss, before);
        w.cwnd = self.0.cwnd;
    }

    fn on_undo(&mut self, now: Time, w: &mut Window) {
        self.0.see(now, w);
        self.0.on_undo();
        w.cwnd = self.0.cwnd;
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.0.pacing_rate
    }

    fn spacing(&self) -> Spacing {
        Spacing::Linux
    }

    fn least_burst(&self, rate: f64) -> u64 {
        machine::least_burst(rate)
    }

    fn outlasts_idleness(&self) -> bool {
        true
    }
}

impl Machine {
    /// Takes in what an event comes with; the first sets everything up (`bbr_init`).
    fn see(&mut self, now: Time, w: &Window) {
        (self.now, self.mss) = (now, w.mss);
        if self.pacing_rate.is_none() {
            (self.cwnd, self.min_rtt, self.min_rtt_stamp) = (w.cwnd, w.rtt_min, now);
            self.pace_nominally(w.srtt);
        }
    }

    /// `bbr_init_pacing_rate_from_rtt`: the window over a round-trip time, once that is known.
    fn pace_nominally(&mut self, srtt: Option<Span>) {
        let rtt = srtt.unwrap_or(NOMINAL_RTT).max(Span::ns(1)).seconds();
        self.pacing_rate = Some(HIGH_GAIN * PACING_MARGIN * self.cwnd / rtt);
        self.paced_by_rtt = srtt.is_some();
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.used |= real(sent.in_flight) + f64::from(sent.bytes) + self.mss > self.cwnd;
        if sent.in_flight == 0 && self.rates.is_app_limited() {
            self.restart_from_idle();
        }
        self.rates.on_sent(sent, self.cwnd);
        let gap = f64::from(sent.bytes) / larger(self.pacing_rate.unwrap_or(0.0), 1.0);
        self.edt = self.edt.max(self.now) + Span::truncated(gap * 1e9);
    }

    /// `bbr_cwnd_event`.
    fn restart_from_idle(&mut self) {
        self.idle_restart = true;
        self.aggregation.restart(self.now);
        match self.turns.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_ssthresh`, `bbr_set_state`. An ECN echo is nothing to it.
    fn on_loss(&mut self, loss: &Loss, before: f64) {
        if loss.kind == LossKind::EcnEcho {
            return;
        }
        self.save_cwnd(before);
        let timeout = loss.kind == LossKind::Timeout;
        if timeout {
            self.turns.full_bw = 0.0;
            self.round_start = true;
            self.cwnd = self.mss;
            self.weigh_policer(true, false);
        }
        let entered = self.repair.is_some_and(|repair| repair.entered) || timeout;
        self.repair = Some(Repair { until: self.rates.highest, entered });
    }

    /// `bbr_undo_cwnd`, and what `tcp_try_undo_recovery` makes of the state.
    fn on_undo(&mut self) {
        (self.turns.full_bw, self.turns.full_bw_rounds) = (0.0, 0);
        self.policer.forget(self.now, self.rates.delivered, self.rates.lost);
        self.restore |= self.repair.take().is_some();
    }

    /// `bbr_main`.
    fn on_ack(&mut self, ack: &Ack, air: &Air, srtt: Option<Span>) {
        let heard = self.rates.on_ack(ack, air);
        self.in_flight = real(air.in_flight);
        let prior_in_flight = self.in_flight + real(heard.delivered) + real(heard.lost);
        self.update_bandwidth(&heard);
        self.advance(&heard, prior_in_flight);
        self.update_min_rtt(&heard, air.in_flight);
        if !self.paced_by_rtt && srtt.is_some() {
            self.pace_nominally(srtt);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(ack, air, &heard);
        if !air.more && !air.repairing && self.in_flight < self.cwnd {
            self.rates.limited_by_application(air.in_flight);
        }
    }

    /// `bbr_update_bw`, `bbr_update_ack_aggregation`.
    fn update_bandwidth(&mut self, heard: &Heard) {
        self.round_start = false;
        let Some(sample) = heard.sample.filter(|sample| sample.rate > 0.0) else { return };
        if sample.prior_delivered >= self.next_round {
            self.next_round = self.rates.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        self.weigh_policer(heard.lost > 0, sample.app_limited);
        if !sample.app_limited || sample.rate >= self.widest.value() {
            self.widest.note(self.rounds, sample.rate);
        }
        let (delivered, bw) = (real(heard.delivered), self.bw());
        self.aggregation.on_delivered(self.now, delivered, self.round_start, bw, self.cwnd, self.mss);
    }

    /// `bbr_lt_bw_sampling`.
    fn weigh_policer(&mut self, losses: bool, app_limited: bool) {
        let gone = self.policer.weigh(&Evidence {
            now: self.now,
            delivered: self.rates.delivered,
            lost: self.rates.lost,
            losses,
            app_limited,
            begins_round: self.round_start,
            probes: self.turns.mode == Mode::ProbeBw,
        });
        if gone {
            self.probe_bandwidth();
        }
    }

    /// `bbr_set_cwnd`.
    fn set_cwnd(&mut self, ack: &Ack, air: &Air, heard: &Heard) {
        let (delivered, used) = (real(heard.delivered), std::mem::take(&mut self.used));
        if delivered > 0.0 && !self.recover_or_restore(ack, air, heard) {
            let bw = self.bw();
            let allowance = if self.turns.full_bw_reached { self.aggregation.allowance(bw) } else { 0.0 };
            let target = self.quantized(self.bdp(bw, self.turns.cwnd_gain()) + allowance);
            if self.turns.full_bw_reached {
                self.cwnd = smaller(self.cwnd + delivered, target);
            } else if self.cwnd < target || used && self.arrived() < INITIAL_CWND * self.mss {
                self.cwnd += delivered;
            }
            self.cwnd = larger(self.cwnd, LEAST_CWND * self.mss);
        }
        if self.turns.mode == Mode::ProbeRtt {
            self.cwnd = smaller(self.cwnd, LEAST_CWND * self.mss);
        }
    }

    /// What has arrived, of which the SYN is a segment (tcp_rcv_state_process).
    fn arrived(&self) -> f64 {
        real(self.rates.delivered) + self.mss
    }

    /// `bbr_set_cwnd_to_recover_or_restore`; whether packets are conserved.
    fn recover_or_restore(&mut self, ack: &Ack, air: &Air, heard: &Heard) -> bool {
        let delivered = real(heard.delivered);
        if heard.lost > 0 {
            self.cwnd = larger(self.cwnd - real(heard.lost), self.mss);
        }
        let over = self.repair.is_some_and(|repair| ack.ack >= repair.until) && !air.repairing;
        if over {
            self.repair = None;
            self.restore = true;
        }
        if self.repair.as_mut().is_some_and(|repair| !std::mem::replace(&mut repair.entered, true)) {
            self.conserving = true;
            self.next_round = self.rates.delivered;
            self.cwnd = self.in_flight + delivered;
        } else if std::mem::take(&mut self.restore) {
            self.cwnd = larger(self.cwnd, self.prior_cwnd);
            self.conserving = false;
        }
        if self.conserving {
            self.cwnd = larger(self.cwnd, self.in_flight + delivered);
        }
        self.cwnd = larger(self.cwnd, self.mss);
        self.conserving
    }
}

#[cfg(test)]
mod tests;
