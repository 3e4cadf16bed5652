//! BBR's model of the path: its bandwidth, its round-trip time, how it aggregates ACKs, what losses say of it. Source:
//! draft-ietf-ccwg-bbr-06, section 5.5. Not for: what to do about it; that is the machine.

use super::settings::Settings;
use crate::arithmetic::{larger, real, smaller};
use crate::delivery::{Heard, Rates, Sample};
use crate::{Span, Time};

/// BBR.ExtraAckedFilterLen, rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;

/// Estimates; bytes, bytes per second, nanoseconds. What is not known or not bounded is infinite.
#[derive(Debug, Clone)]
pub struct Model {
    /// Of the cycle before and of this one (BBR.max_bw_filter).
    bandwidths: [f64; 2],
    /// BBR.bw_shortterm.
    pub bw_short: f64,
    /// BBR.bw = min(BBR.max_bw, BBR.bw_shortterm) as of the last ACK.
    pub bw: f64,
    /// BBR.inflight_longterm.
    pub inflight_long: f64,
    /// BBR.inflight_shortterm.
    pub inflight_short: f64,
    bw_latest: f64,
    /// BBR.inflight_latest.
    pub inflight_latest: f64,

    /// BBR.min_rtt.
    pub min_rtt: Option<Span>,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Option<Span>,
    /// BBR.probe_rtt_min_stamp.
    pub probe_rtt_min_stamp: Time,
    /// BBR.probe_rtt_expired: the shortest round trip of late is old.
    pub probe_rtt_expired: bool,

    next_round_delivered: u64,
    /// BBR.round_count.
    pub rounds: u64,
    /// BBR.round_start: the ACK at hand begins a round.
    pub round_start: bool,
    /// BBR.rounds_since_probe_up.
    pub rounds_since_probe: u64,

    loss_round_delivered: u64,
    /// BBR.loss_round_start: the ACK at hand ends a round of judging losses.
    pub loss_round_start: bool,
    loss_in_round: bool,
    /// How many ACKs of this loss round have shown losses.
    pub loss_events: u32,

    /// BBR.extra_acked_interval_start.
    pub extra_acked_start: Time,
    extra_acked_delivered: f64,
    /// Falling values of the last rounds, by round (BBR.extra_acked_filter).
    extra_acked: Vec<(u64, f64)>,
}

/// ACKs that come together: since when, what they have acknowledged, and how much more than expected that is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aggregation {
    start: Time,
    delivered: f64,
    pub(super) extra: f64,
}

impl Model {
    /// Nothing is known yet.
    pub fn new(now: Time, srtt: Option<Span>) -> Self {
        Self {
            bandwidths: [0.0; 2],
            bw_short: f64::INFINITY,
            bw: 0.0,
            inflight_long: f64::INFINITY,
            inflight_short: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            min_rtt: srtt,
            min_rtt_stamp: now,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: now,
            probe_rtt_expired: false,
            next_round_delivered: 0,
            rounds: 0,
            round_start: false,
            rounds_since_probe: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            loss_events: 0,
            extra_acked_start: now,
            extra_acked_delivered: 0.0,
            extra_acked: Vec::new(),
        }
    }

    /// BBR.max_bw.
    pub fn max_bw(&self) -> f64 {
        larger(self.bandwidths[0], self.bandwidths[1])
    }

    /// BBR.extra_acked, bytes.
    pub fn extra_acked(&self) -> f64 {
        self.extra_acked.first().map_or(0.0, |e| e.1)
    }

    /// `bw` over the shortest round trip, bytes; none before one is known.
    pub fn bdp(&self, bw: f64) -> Option<f64> {
        self.min_rtt.map(|rtt| bw * real(rtt.nanos()) / 1e9)
    }

    /// Rounds, the bandwidth, and what one round delivered at best (UpdateLatestDeliverySignals, UpdateMaxBw).
    pub fn on_sample(&mut self, sample: Option<&Sample>, rates: &Rates) {
        (self.loss_round_start, self.round_start) = (false, false);
        let Some(sample) = sample else { return };
        self.bw_latest = larger(self.bw_latest, sample.rate);
        self.inflight_latest = larger(self.inflight_latest, real(sample.delivered));
        if sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = rates.delivered;
            self.loss_round_start = true;
        }
        if sample.prior_delivered >= self.next_round_delivered {
            self.start_round(rates);
            self.rounds += 1;
            self.rounds_since_probe += 1;
            self.round_start = true;
        }
        if sample.rate > 0.0 && (sample.rate >= self.max_bw() || !sample.app_limited) {
            self.bandwidths[1] = larger(self.bandwidths[1], sample.rate);
        }
    }

    /// What is sent from now on makes a round of its own.
    pub fn start_round(&mut self, rates: &Rates) {
        self.next_round_delivered = rates.delivered;
    }

    /// The cycle before is forgotten, unless this one has learnt nothing (AdvanceMaxBwFilter).
    pub fn advance_max_bw(&mut self) {
        if self.bandwidths[1] > 0.0 {
            self.bandwidths = [self.bandwidths[1], 0.0];
        }
    }

    /// A loss has been noticed (NoteLoss).
    pub fn note_loss(&mut self, rates: &Rates) {
        if !self.loss_in_round {
            self.loss_round_delivered = rates.delivered;
        }
        self.loss_in_round = true;
        self.loss_events += 1;
    }

    /// Once a round: after losses outside of a probe, what was delivered bounds what is sent
    /// (UpdateCongestionSignals).
    pub fn adapt_to_losses(&mut self, probing: bool, cwnd: f64, beta: f64) {
        if !self.loss_round_start {
            return;
        }
        if std::mem::take(&mut self.loss_in_round) && !probing {
            let bw = if self.bw_short.is_finite() { self.bw_short } else { self.max_bw() };
            let inflight = if self.inflight_short.is_finite() { self.inflight_short } else { cwnd };
            self.bw_short = self.bw_latest.max(beta * bw);
            self.inflight_short = self.inflight_latest.max(beta * inflight);
        }
    }

    /// The last thing an ACK does (AdvanceLatestDeliverySignals, BoundBWForModel).
    pub fn close(&mut self, sample: Option<&Sample>) {
        if let Some(sample) = sample.filter(|_| self.loss_round_start) {
            self.bw_latest = sample.rate;
            self.inflight_latest = real(sample.delivered);
        }
        self.bw = smaller(self.max_bw(), self.bw_short);
    }

    /// Forgets this cycle's losses (ResetCongestionSignals).
    pub fn reset_signals(&mut self) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// Forgets the bounds that losses have set (ResetShortTermModel).
    pub fn reset_short_term(&mut self) {
        (self.bw_short, self.inflight_short) = (f64::INFINITY, f64::INFINITY);
    }

    /// What comes of an ACK that shows so many bytes to have been delivered.
    #[inline(always)]
    pub(super) fn aggregation(&self, now: Time, newly: u64) -> Aggregation {
        let (mut start, mut delivered) = (self.extra_acked_start, self.extra_acked_delivered);
        let mut expected = self.bw * real(now.saturating_sub(start).nanos()) / 1e9;
        if delivered <= expected {
            (delivered, start, expected) = (0.0, now, 0.0);
        }
        delivered += real(newly);
        Aggregation { start, delivered, extra: delivered - expected }
    }

    /// How much more than expected has been acknowledged at once (UpdateACKAggregation).
    pub fn on_aggregation(&mut self, now: Time, heard: &Heard, full_bw_reached: bool, cwnd: f64) {
        let aggregation = self.aggregation(now, heard.delivered);
        (self.extra_acked_start, self.extra_acked_delivered) = (aggregation.start, aggregation.delivered);
        let extra = smaller(aggregation.extra, cwnd);
        let of_round = self.extra_acked.last().filter(|e| e.0 == self.rounds);
        if of_round.is_none_or(|e| e.1 < extra) {
            self.note_extra_acked(extra, full_bw_reached);
        }
    }

    /// What was acknowledged at once beyond what was expected is the most of this round.
    #[inline(never)]
    fn note_extra_acked(&mut self, extra: f64, full_bw_reached: bool) {
        let length = if full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        let row = &mut self.extra_acked;
        row.drain(..row.partition_point(|e| e.0 + length <= self.rounds));
        row.truncate(row.partition_point(|e| e.1 > extra));
        if row.last().is_none_or(|e| e.0 < self.rounds) {
            row.push((self.rounds, extra));
        }
    }

    /// The most that was acknowledged at once beyond what was expected in this round, if that is noted.
    pub(super) fn extra_acked_in_round(&self) -> Option<f64> {
        self.extra_acked.last().filter(|e| e.0 == self.rounds).map(|e| e.1)
    }

    /// The best delivery rate of this cycle.
    #[inline(always)]
    pub(super) fn newest_bw(&self) -> f64 {
        self.bandwidths[1]
    }

    /// The shortest round trip of late.
    pub(super) fn shortest_rtt(&self) -> Option<Span> {
        self.probe_rtt_min_delay
    }

    /// Until when a round trip that is not the shortest changes nothing.
    pub(super) fn rtt_due(&self, settings: &Settings) -> Time {
        (self.probe_rtt_min_stamp + settings.probe_rtt_interval)
            .min(self.min_rtt_stamp + settings.min_rtt_window)
    }

    /// What left when so much was delivered, or more, begins a round, or one of judging losses.
    pub(super) fn rounds_begin_at(&self) -> u64 {
        self.next_round_delivered.min(self.loss_round_delivered)
    }

    /// Takes in a sample that changes nothing but sums.
    #[inline(always)]
    pub(super) fn note_calmly(&mut self, sample: &Sample, aggregation: &Aggregation) {
        (self.loss_round_start, self.round_start) = (false, false);
        self.bw_latest = larger(self.bw_latest, sample.rate);
        self.inflight_latest = larger(self.inflight_latest, real(sample.delivered));
        (self.extra_acked_start, self.extra_acked_delivered) = (aggregation.start, aggregation.delivered);
    }

    /// The shortest round trip of late, and for ProbeRTT that of later still (UpdateMinRTT).
    pub fn on_rtt(&mut self, now: Time, rtt: Option<Span>, settings: &Settings) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + settings.probe_rtt_interval;
        if let Some(rtt) = rtt
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = now;
        }
        let expired = now > self.min_rtt_stamp + settings.min_rtt_window;
        if let Some(delay) = self.probe_rtt_min_delay
            && (expired || self.min_rtt.is_none_or(|least| delay < least))
        {
            self.min_rtt = Some(delay);
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rate: f64, app_limited: bool) -> Sample {
        Sample { rate, app_limited, prior_delivered: 1 << 40, ..Sample::default() }
    }

    fn model(rates: &[(f64, bool)]) -> Model {
        let mut model = Model::new(Time::ZERO, None);
        for &(rate, limited) in rates {
            model.on_sample(Some(&sample(rate, limited)), &Rates::default());
        }
        model
    }

    #[test]
    fn the_bandwidth_is_the_best_of_two_cycles_and_the_applications_rate_counts_only_above_it() {
        let mut m = model(&[(100.0, false), (50.0, false), (80.0, true)]);
        assert_eq!(m.max_bw(), 100.0);
        m.advance_max_bw();
        m.on_sample(Some(&sample(70.0, false)), &Rates::default());
        m.on_sample(Some(&sample(90.0, true)), &Rates::default());
        assert_eq!(m.max_bw(), 100.0, "the cycle before");
        m.advance_max_bw();
        m.advance_max_bw();
        assert_eq!(m.max_bw(), 70.0, "a cycle without samples forgets nothing");
        m.on_sample(Some(&sample(75.0, true)), &Rates::default());
        assert_eq!(m.max_bw(), 75.0);
    }

    #[test]
    fn losses_bound_by_what_was_delivered_but_not_by_more_than_beta() {
        for (latest, bound) in [(95.0, 95.0), (20.0, 70.0)] {
            let mut m = model(&[(100.0, false)]);
            m.bw_latest = latest;
            m.note_loss(&Rates::default());
            m.loss_round_start = true;
            m.adapt_to_losses(false, 1e4, 0.7);
            assert_eq!(m.bw_short, bound);
            assert_eq!(m.inflight_short, 7e3);
        }
        let mut m = model(&[(100.0, false)]);
        m.note_loss(&Rates::default());
        m.loss_round_start = true;
        m.adapt_to_losses(true, 1e4, 0.7);
        assert_eq!(m.bw_short, f64::INFINITY, "a probe expects losses");
    }

    #[test]
    fn a_batch_of_acks_is_remembered_for_ten_rounds() {
        let mut m = model(&[]);
        m.bw = 1000.0;
        let heard = |delivered| Heard { delivered, ..Heard::default() };
        m.on_aggregation(Time::ZERO, &heard(50), true, 1e6);
        m.on_aggregation(Time::ZERO, &heard(450), true, 1e6);
        assert_eq!(m.extra_acked(), 500.0);
        m.rounds = 9;
        m.on_aggregation(Time::s(1), &heard(10), true, 1e6);
        assert_eq!(m.extra_acked(), 500.0);
        m.rounds = 10;
        m.on_aggregation(Time::s(2), &heard(10), true, 1e6);
        assert_eq!(m.extra_acked(), 10.0);
    }
}
