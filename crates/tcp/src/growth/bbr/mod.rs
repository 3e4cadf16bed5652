//! BBR, version 3: a model of the path, its bandwidth and round-trip time, in place of losses, sets rate and window.
//!
//! Each ACK gives a sample of the delivery rate (`rate`) and feeds the model (`model`); a machine of states (`states`)
//! sends now faster, now slower than the model says, to find out whether it still holds; this file paces at
//! gain·bandwidth and bounds what is in the air to gain·bandwidth·RTTmin. Source: draft-ietf-ccwg-bbr-06 (July 2026);
//! names in the comments are the draft's.
//!
//! Startup (pacing gain 2.77, window gain 2) doubles the rate each round until three rounds bring less than 25 % more,
//! or a round loses more than 2 % in six places; Drain (0.5) empties the queue; ProbeBW goes round DOWN (0.9), CRUISE
//! (1), REFILL (1) and UP (1.25, window 2.25), every 2 to 3 s or 62 to 63 rounds; ProbeRTT halves what is in the air
//! for 200 ms where no short round trip was seen for 5 s. Losses while not probing bound rate and window by what was
//! delivered, but by no more than β = 0.7 a round; a probe that loses more than 2 % sets the long-term bound.
//!
//! What is left to the reader there: a segment is sent by itself, so the send quantum is one segment; random waits come
//! from a hash of `seed`, the time and a counter; where the draft's initial window may double while the application
//! does not use it, here it may not (a growth rule's contract); spurious recoveries are not noticed, so nothing is
//! undone; an ECN echo is a loss in its round; without SACK a loss event is one lost segment. As in that draft
//! the window is not reduced when a repair begins, and is after a timeout's again what it was
//! ([`crate::response::Bbr`]).

mod calm;
mod cycle;
mod machine;
mod model;
mod settings;
mod states;

use super::Growth;
use crate::arithmetic::{larger, real, smaller};
use crate::delivery::{Brief, Heard, Rates};
use crate::segment::{HEADER_BYTES, TIMESTAMP_BYTES};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Departure, Loss, LossKind, Seq, Span, Time, Window};
use cycle::{Cycle, STARTUP_PACING_GAIN, State};
use machine::{Machine, Repair};
use model::Model;
use settings::Settings;

/// What BBR.PacingMarginPercent leaves.
const PACING_MARGIN: f64 = 0.99;
/// The round-trip time before one is known.
const NOMINAL_RTT: Span = Span::ms(1);

/// Bottleneck bandwidth and round-trip propagation time.
#[derive(Debug, Clone)]
pub struct Bbr(Box<Machine>);

impl Member for Bbr {
    const INFO: Info = Info {
        name: "bbr",
        summary: "sets rate and window by a model of the path: its bandwidth and its shortest round-trip time",
        formula: "pacing = gain·0.99·bw; cwnd = gain·bw·RTTmin + aggregation; bw: best delivery rate of two cycles",
        source: "draft-ietf-ccwg-bbr-06 (BBRv3)",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let settings = Settings {
            loss_threshold: args.number("loss_threshold", 0.02, 0.0..=1.0)?,
            beta: args.number("beta", 0.7, 0.0..=1.0)?,
            headroom: args.number("headroom", 0.15, 0.0..=1.0)?,
            min_rtt_window: args.time("min_rtt_window", Span::s(10), Span::ms(10)..=Span::s(3600))?,
            probe_rtt_interval: args.time("probe_rtt_interval", Span::s(5), Span::ms(10)..=Span::s(3600))?,
            seed: args.count("seed", 1, 0..=u64::from(u32::MAX))?,
        };
        Ok(Self(Box::new(Machine {
            settings,
            rates: Rates::default(),
            calm: None,
            model: Model::new(Time::ZERO, None),
            state: State::Startup,
            cycle: Cycle::default(),
            repair: None,
            selective: false,
            prior_cwnd: 0.0,
            restore: false,
            initial_cwnd: 0.0,
            begins_with: u64::MAX,
            pacing_rate: None,
            paced_by_rtt: false,
            overhead: 1.0,
            idle_restart: false,
            used: false,
            limited: [false; 2],
            now: Time::ZERO,
            mss: 0.0,
            cwnd: 0.0,
            in_flight: 0.0,
        })))
    }
}

impl Bbr {
    /// As [`Growth::after_ack`], where the ACK changes nothing but sums; else nothing happens. Whether it did.
    #[inline(always)]
    pub(crate) fn passes_calmly(&mut self, ack: &Brief, w: &mut Window) -> bool {
        self.0.passes_calmly(ack, w)
    }
}

impl Growth for Bbr {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {
        self.0.used = true; // the window itself moves in `after_ack`
    }

    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.0.see(loss.now, w);
        self.0.on_loss(loss, before);
    }

    #[inline]
    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        if !self.0.passes_calmly(&Brief::of(ack, air), w) {
            self.0.look(ack, air, w);
        }
    }

    fn on_sent(&mut self, sent: &Departure, w: &Window) {
        // Apart, so that what is rare costs the others nothing.
        match sent.in_flight <= self.0.begins_with {
            true => self.0.begin_flight(sent, w),
            false => self.0.on_sent(sent, w),
        }
    }

    #[inline]
    fn pacing_rate(&self) -> Option<f64> {
        self.0.pacing_rate
    }

    fn outlasts_idleness(&self) -> bool {
        true
    }
}

impl Machine {
    /// Takes in an ACK, whatever it changes.
    #[inline(never)]
    fn look(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        self.see(ack.now, w);
        self.in_flight = real(air.in_flight);
        self.on_ack(ack, air, w.srtt);
        w.cwnd = self.cwnd;
        self.calm = self.find_calm();
    }

    /// Takes in what an event comes with; the first sets everything up (OnInit).
    fn see(&mut self, now: Time, w: &Window) {
        (self.now, self.mss, self.cwnd) = (now, w.mss, w.cwnd);
        if self.pacing_rate.is_none() {
            (self.initial_cwnd, self.begins_with) = (w.cwnd, 0);
            self.overhead = (w.mss + f64::from(HEADER_BYTES)) / w.mss;
            self.model = Model::new(now, w.srtt);
            self.pace_nominally(w.srtt);
        }
    }

    /// InitPacingRate: the initial window over a round-trip time, once that is known.
    fn pace_nominally(&mut self, srtt: Option<Span>) {
        let rtt = srtt.unwrap_or(NOMINAL_RTT).max(Span::ns(1)).seconds();
        self.pacing_rate = Some(STARTUP_PACING_GAIN * self.overhead * self.initial_cwnd / rtt);
        self.paced_by_rtt = srtt.is_some();
    }

    /// The first of all leaves, or the first with nothing in the air.
    #[inline(never)]
    fn begin_flight(&mut self, sent: &Departure, w: &Window) {
        self.see(sent.now, w);
        if sent.in_flight == 0 && self.rates.is_app_limited() {
            self.restart_from_idle();
        }
        self.on_sent(sent, w);
    }

    #[inline(always)]
    fn on_sent(&mut self, sent: &Departure, w: &Window) {
        let bytes = f64::from(sent.bytes);
        if real(sent.in_flight) + bytes + w.mss > w.cwnd {
            (self.used, self.limited[1]) = (true, true);
            if self.state == State::Up {
                self.calm = None;
            }
        }
        self.rates.on_sent(sent, w.cwnd);
    }

    /// HandleRestartFromIdle.
    fn restart_from_idle(&mut self) {
        self.calm = None;
        self.idle_restart = true;
        self.model.extra_acked_start = self.now;
        if self.state.probes_bandwidth_in_turns() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }

    fn on_loss(&mut self, loss: &Loss, before: f64) {
        self.calm = None;
        if loss.kind == LossKind::EcnEcho {
            self.model.note_loss(&self.rates);
            return;
        }
        self.save_cwnd(before);
        let timeout = loss.kind == LossKind::Timeout;
        self.repair = Some(Repair { until: self.rates.highest, timeout, began: self.now, unmarked: true });
    }

    /// SaveCwnd.
    fn save_cwnd(&mut self, cwnd: f64) {
        let disturbed = self.repair.is_some() || self.state == State::ProbeRtt;
        self.prior_cwnd = if disturbed { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn on_ack(&mut self, ack: &Ack, air: &Air, srtt: Option<Span>) {
        if ack.peer_time.is_some() {
            self.overhead = (self.mss + f64::from(HEADER_BYTES + TIMESTAMP_BYTES)) / self.mss;
        }
        let heard = self.rates.on_ack(ack, air);
        let sample = heard.sample.as_ref();
        self.on_lost(&heard, air);
        self.model.on_sample(sample, &self.rates);
        if self.model.round_start {
            self.limited = [self.limited[1], false];
        }
        self.model.adapt_to_losses(self.state.is_probing_bandwidth(), self.cwnd, self.settings.beta);
        self.model.on_aggregation(self.now, &heard, self.cycle.full_bw_reached, self.cwnd);
        self.advance(&heard);
        self.model.on_rtt(self.now, sample.and_then(|s| s.rtt), &self.settings);
        self.check_probe_rtt(&heard);
        self.model.close(sample);
        if !self.paced_by_rtt && srtt.is_some() {
            self.pace_nominally(srtt);
        }
        self.set_pacing_rate(self.state.pacing_gain());
        if self.repair.is_some_and(|r| ack.ack >= r.until) && !air.repairing {
            self.repair = None;
            self.restore = true;
        }
        self.set_cwnd(&heard);
        if !air.more && !air.repairing && self.in_flight < self.cwnd {
            self.rates.limited_by_application(air.in_flight);
        }
    }

    /// HandleLostPacket for what the ACK has shown to be lost.
    fn on_lost(&mut self, heard: &Heard, air: &Air) {
        let unmarked = match &mut self.repair {
            Some(repair) => std::mem::take(&mut repair.unmarked),
            None => false,
        };
        if heard.lost > 0 {
            self.selective = true;
            if let Some(repair) = self.repair.filter(|r| r.timeout && unmarked) {
                self.rates.lost_before(repair.began);
            }
            self.model.note_loss(&self.rates);
            let packet = air.newest_lost.and_then(|sent| self.rates.find(sent, Seq::MAX)).copied();
            let Some(packet) = packet.filter(|_| self.cycle.is_probe_sample) else { return };
            let (in_flight, lost) =
                (real(packet.in_flight), real(self.rates.lost.saturating_sub(packet.lost)));
            if lost > in_flight * self.settings.loss_threshold {
                let at_loss = in_flight_at_loss(in_flight, lost, f64::from(packet.bytes), &self.settings);
                self.inflight_too_high(at_loss, packet.app_limited);
            }
        } else if unmarked && !self.selective {
            self.model.note_loss(&self.rates);
            if let Some(sample) = heard.sample.filter(|_| self.cycle.is_probe_sample) {
                self.inflight_too_high(real(sample.in_flight), sample.app_limited);
            }
        }
    }

    /// SetPacingRateWithGain: before the pipe was ever full it only rises.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * PACING_MARGIN * self.model.bw * self.overhead;
        let present = self.pacing_rate.unwrap_or(0.0);
        if rate > 0.0 && (self.cycle.full_bw_reached || rate > present) {
            self.pacing_rate = Some(rate);
        }
    }

    /// SetCwnd.
    fn set_cwnd(&mut self, heard: &Heard) {
        if std::mem::take(&mut self.restore) {
            self.cwnd = larger(self.cwnd, self.prior_cwnd);
        }
        let used = std::mem::take(&mut self.used);
        let delivered = real(heard.delivered);
        let max_inflight = self.max_inflight();
        let unproven = real(self.rates.delivered) < self.initial_cwnd && used;
        if self.cycle.full_bw_reached {
            self.cwnd = smaller(self.cwnd + delivered, max_inflight);
        } else if self.cwnd < max_inflight || unproven {
            self.cwnd += delivered;
        }
        self.cwnd = larger(self.cwnd, self.min_pipe());
        if self.state == State::ProbeRtt {
            self.cwnd = smaller(self.cwnd, self.probe_rtt_cwnd());
        }
        self.cwnd = smaller(self.cwnd, self.inflight_bound());
    }
}

/// InflightAtLoss: with how much in the air losses crossed the threshold.
fn in_flight_at_loss(in_flight: f64, lost: f64, bytes: f64, settings: &Settings) -> f64 {
    let (before, lost_before) = (in_flight - bytes, lost - bytes);
    let threshold = settings.loss_threshold.min(0.99);
    before + (threshold * before - lost_before) / (1.0 - threshold)
}

#[cfg(test)]
mod tests;
