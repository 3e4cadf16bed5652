//! Most ACKs change nothing but sums: how far these may go before the machine has to look again. Whoever has looked says it
//! ([`Machine::find_calm`]); an ACK that stays within ([`Machine::passes_calmly`]) does what a look would do, and no more.

use super::cycle::State;
use super::machine::{Calm, Machine};
use crate::arithmetic::{real, smaller};
use crate::delivery::Brief;
use crate::{Span, Time, Window};

impl Machine {
    /// What nothing changes within; none where much may happen.
    pub(super) fn find_calm(&self) -> Option<Calm> {
        let (model, cycle) = (&self.model, &self.cycle);
        let settled = cycle.full_bw_reached && self.paced_by_rtt && !self.idle_restart && !self.restore;
        if !settled || self.repair.is_some() || model.probe_rtt_expired {
            return None;
        }
        let probe = cycle.cycle_stamp + cycle.probe_wait;
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        let (probe, above, below) = match self.state {
            State::Cruise | State::Down if self.is_time_to_probe() => return None,
            State::Cruise => (probe, least, most),
            State::Down => (probe, self.cruising_inflight(), most),
            State::Refill => (Time::MAX, least, most),
            State::Up if cycle.full_bw_now => return None,
            // While the window limits, a probe raises its bound with every ACK.
            State::Up if model.inflight_long.is_finite() && self.is_cwnd_limited() => return None,
            State::Up if cycle.prev_probe_too_high => (Time::MAX, least, model.inflight_long),
            State::Up => (Time::MAX, least, most),
            State::Startup | State::Drain | State::ProbeRtt => return None,
        };
        let shortest = model.shortest_rtt()?.max(self.rates.rtt_min()?);
        Some(Calm {
            window: self.cwnd,
            mss: self.mss,
            until: probe.min(model.rtt_due(&self.settings)),
            round: model.rounds_begin_at(),
            rtt: shortest.max(Span::ns(1)),
            above: above.floor() as i64,
            below: below.ceil() as i64,
            long: model.inflight_long.floor() as i64,
            extra: model.extra_acked_in_round()?,
            most: smaller(self.max_inflight(), self.inflight_bound()),
        })
    }

    /// Takes in an ACK that stays within; else nothing happens. Whether it did.
    #[inline(always)]
    pub(super) fn passes_calmly(&mut self, ack: &Brief, w: &mut Window) -> bool {
        let Some(calm) = &mut self.calm else { return false };
        let now = ack.now;
        if w.cwnd != calm.window || w.mss != calm.mss || now > calm.until || !ack.more {
            return false;
        }
        let Some((delivered, sample)) = self.rates.of_first(ack) else { return false };
        let model = &mut self.model;
        let in_flight = ack.in_flight as i64;
        if sample.prior_delivered >= calm.round
            || sample.rtt.is_none_or(|rtt| rtt < calm.rtt)
            || in_flight <= calm.above
            || in_flight >= calm.below
            || sample.rate > model.newest_bw()
            || sample.in_flight as i64 > calm.long
        {
            return false;
        }
        let aggregation = model.aggregation(now, delivered);
        if smaller(aggregation.extra, w.cwnd) > calm.extra {
            return false;
        }
        self.rates.pass_first(now, delivered);
        model.note_calmly(&sample, &aggregation);
        w.cwnd = smaller(w.cwnd + real(delivered), calm.most);
        calm.window = w.cwnd;
        self.used = false;
        true
    }
}
