//! What BBRv1 remembers of the path: the widest bandwidth of late, how ACKs lump, and a policer's rate. Bytes and bytes per second.
//! Source: Linux 6.18, lib/win_minmax.c; net/ipv4/tcp_bbr.c: `bbr_update_ack_aggregation`, `bbr_lt_bw_sampling`.

use crate::Time;
use crate::arithmetic::{larger, real, smaller};

/// bbr_bw_rtts: how many rounds a bandwidth is remembered.
const BANDWIDTH_ROUNDS: u64 = 10;
/// bbr_extra_acked_win_rtts.
const AGGREGATION_ROUNDS: u32 = 5;
/// bbr_ack_epoch_acked_reset_thresh, segments.
const EPOCH_MOST: f64 = 1_048_576.0;
/// bbr_extra_acked_max_us, seconds.
const AGGREGATION_MOST: f64 = 0.1;
/// bbr_lt_intvl_min_rtts.
const INTERVAL_ROUNDS: u32 = 4;
/// bbr_lt_loss_thresh: 50/256 of what was delivered.
const POLICED_LOSS: f64 = 50.0 / 256.0;
/// bbr_lt_bw_ratio, bbr_lt_bw_diff: how near two intervals' rates are, relatively or in bytes per second.
const NEAR_RATIO: f64 = 0.125;
const NEAR_RATE: f64 = 500.0;
/// bbr_lt_bw_max_rtts.
const POLICED_ROUNDS: u32 = 48;

/// The largest value of the last rounds, by three candidates, each the best of what came after the one before (K. Nichols).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Widest([(u64, f64); 3]);

impl Widest {
    /// The largest value.
    pub fn value(&self) -> f64 {
        self.0[0].1
    }

    /// A value of this round.
    pub fn note(&mut self, round: u64, value: f64) {
        let (s, new) = (&mut self.0, (round, value));
        if value >= s[0].1 || round - s[2].0 > BANDWIDTH_ROUNDS {
            *s = [new; 3];
            return;
        }
        if value >= s[1].1 {
            (s[1], s[2]) = (new, new);
        } else if value >= s[2].1 {
            s[2] = new;
        }
        let age = round - s[0].0;
        if age > BANDWIDTH_ROUNDS {
            *s = [s[1], s[2], new];
            if round - s[0].0 > BANDWIDTH_ROUNDS {
                *s = [s[1], s[2], new];
            }
        } else if s[1].0 == s[0].0 && age > BANDWIDTH_ROUNDS / 4 {
            (s[1], s[2]) = (new, new);
        } else if s[2].0 == s[1].0 && age > BANDWIDTH_ROUNDS / 2 {
            s[2] = new;
        }
    }
}

/// How much more than expected is acknowledged at once: the most of five to ten rounds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aggregation {
    epoch: Time,
    acked: f64,
    most: [f64; 2],
    at: usize,
    rounds: u32,
}

impl Aggregation {
    /// The epoch begins anew.
    pub fn restart(&mut self, now: Time) {
        (self.epoch, self.acked) = (now, 0.0);
    }

    /// So many bytes have been delivered while `bw` was what the path was taken to carry.
    pub fn on_delivered(
        &mut self,
        now: Time,
        delivered: f64,
        begins_round: bool,
        bw: f64,
        cwnd: f64,
        mss: f64,
    ) {
        if begins_round {
            self.rounds += 1;
            if self.rounds >= AGGREGATION_ROUNDS {
                (self.rounds, self.at) = (0, 1 - self.at);
                self.most[self.at] = 0.0;
            }
        }
        let mut expected = bw * real(now.saturating_sub(self.epoch).nanos()) / 1e9;
        if self.acked <= expected || self.acked + delivered >= EPOCH_MOST * mss {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += delivered;
        let extra = smaller(self.acked - expected, cwnd);
        self.most[self.at] = larger(self.most[self.at], extra);
    }

    /// What the window has room for beside a bandwidth-delay product: no more than 100 ms bring.
    pub fn allowance(&self, bw: f64) -> f64 {
        smaller(larger(self.most[0], self.most[1]), AGGREGATION_MOST * bw)
    }
}

/// What an ACK tells of a policer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    pub now: Time,
    /// Bytes delivered and lost so far, and whether any was lost since the last ACK.
    pub delivered: u64,
    pub lost: u64,
    pub losses: bool,
    pub app_limited: bool,
    pub begins_round: bool,
    /// Whether the bandwidth is being probed in turns.
    pub probes: bool,
}

/// A token bucket on the path, found by two intervals between losses that went at the same rate and lost a fifth.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    /// The last interval's rate.
    bw: f64,
    found: bool,
    /// When the interval began, and what had been delivered and lost by then.
    since: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// Its rate, where there is one.
    pub fn rate(&self) -> Option<f64> {
        self.found.then_some(self.bw)
    }

    /// Nothing is known.
    pub fn forget(&mut self, now: Time, delivered: u64, lost: u64) {
        *self = Self { since: now, delivered, lost, ..Self::default() };
    }

    /// An ACK, or a timeout. Whether a policer is taken for gone that was there.
    pub fn weigh(&mut self, told: &Evidence) -> bool {
        if self.found {
            self.rounds += u32::from(told.probes && told.begins_round);
            let over = self.rounds >= POLICED_ROUNDS;
            if over {
                self.forget(told.now, told.delivered, told.lost);
            }
            return over;
        }
        if !self.sampling {
            if !told.losses {
                return false;
            }
            self.begin(told);
            self.sampling = true;
        }
        if told.app_limited {
            self.forget(told.now, told.delivered, told.lost);
            return false;
        }
        self.rounds += u32::from(told.begins_round);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            self.forget(told.now, told.delivered, told.lost);
        } else if self.rounds >= INTERVAL_ROUNDS && told.losses {
            self.end(told);
        }
        false
    }

    fn begin(&mut self, told: &Evidence) {
        (self.since, self.delivered, self.lost) = (told.now, told.delivered, told.lost);
        self.rounds = 0;
    }

    /// A loss ends the interval, where enough was lost in it.
    fn end(&mut self, told: &Evidence) {
        let lost = real(told.lost.saturating_sub(self.lost));
        let delivered = real(told.delivered.saturating_sub(self.delivered));
        let millis = told.now.saturating_sub(self.since).nanos() / 1_000_000;
        if delivered == 0.0 || lost < POLICED_LOSS * delivered || millis == 0 {
            return;
        }
        let bw = delivered * 1e3 / real(millis);
        let apart = (bw - self.bw).abs();
        if self.bw > 0.0 && (apart <= NEAR_RATIO * self.bw || apart <= NEAR_RATE) {
            (self.bw, self.found, self.rounds) = ((bw + self.bw) / 2.0, true, 0);
        } else {
            self.bw = bw;
            self.begin(told);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_of_ten_rounds_counts_and_then_the_next_best() {
        let mut widest = Widest::default();
        [(0, 100.0), (3, 80.0), (6, 60.0), (10, 50.0)].iter().for_each(|&(round, v)| widest.note(round, v));
        assert_eq!(widest.value(), 100.0);
        widest.note(11, 50.0);
        assert_eq!(widest.value(), 80.0, "that of round 3");
        widest.note(14, 50.0);
        assert_eq!(widest.value(), 60.0, "that of round 6");
        widest.note(15, 70.0);
        assert_eq!(widest.value(), 70.0);
        widest.note(40, 1.0);
        assert_eq!(widest.value(), 1.0, "nothing else is left");
    }

    #[test]
    fn what_comes_at_once_beyond_what_was_expected_is_remembered_for_five_to_ten_rounds() {
        let mut heard = Aggregation::default();
        let mut tell = |ms, bytes, begins| {
            heard.on_delivered(Time::ms(ms), bytes, begins, 10_000.0, 1e6, 1000.0);
            heard
        };
        tell(1000, 100.0, true);
        let lump = tell(1000, 400.0, false);
        assert_eq!(lump.allowance(10_000.0), 500.0);
        assert_eq!(lump.allowance(3000.0), 300.0, "100 ms of a slower path bring less");
        // 10 ms later 100 more were expected, and have come.
        assert_eq!(tell(1010, 100.0, false).allowance(1e9), 500.0);
        // After 50 ms what had come is what was expected: another epoch.
        assert_eq!(tell(1060, 200.0, false).allowance(1e9), 500.0);
        let most: Vec<f64> = (0..10).map(|k| tell(2000 + 1000 * k, 1.0, true).allowance(1e9)).collect();
        assert_eq!(most[7], 500.0);
        assert_eq!(most[8], 1.0, "two windows of five rounds later");
    }

    fn evidence(ms: u64, delivered: u64, lost: u64, begins_round: bool) -> Evidence {
        Evidence {
            now: Time::ms(ms),
            delivered,
            lost,
            losses: true,
            app_limited: false,
            begins_round,
            probes: true,
        }
    }

    /// Four rounds of 100 ms each from here, with so many bytes delivered and lost in all.
    fn interval(policer: &mut Policer, told: &mut Evidence, delivered: u64, lost: u64) {
        for round in 1..=4 {
            told.now += crate::Span::ms(100);
            told.begins_round = true;
            told.losses = round == 4;
            (told.delivered, told.lost) = (told.delivered + delivered / 4, told.lost + lost / 4);
            policer.weigh(told);
        }
    }

    #[test]
    fn two_intervals_at_one_rate_that_lose_a_fifth_are_a_policer_for_48_rounds() {
        let (mut policer, mut told) = (Policer::default(), evidence(1000, 0, 0, false));
        policer.weigh(&told);
        interval(&mut policer, &mut told, 40_000, 8000);
        assert_eq!(policer.rate(), None, "one interval says nothing");
        interval(&mut policer, &mut told, 44_000, 9000);
        // 40,000 and 44,000 bytes in 400 ms.
        assert_eq!(policer.rate(), Some(105_000.0));
        let gone: Vec<bool> = (0..48).map(|_| policer.weigh(&told)).collect();
        assert_eq!(gone.iter().position(|&gone| gone), Some(47));
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn rates_that_differ_or_losses_that_are_few_or_an_application_that_pauses_are_none() {
        for (delivered, lost, app_limited) in
            [(60_000, 16_000, false), (40_000, 4000, false), (40_000, 8000, true)]
        {
            let (mut policer, mut told) = (Policer::default(), evidence(1000, 0, 0, false));
            policer.weigh(&told);
            interval(&mut policer, &mut told, 40_000, 8000);
            told.app_limited = app_limited;
            interval(&mut policer, &mut told, delivered, lost);
            assert_eq!(policer.rate(), None, "{delivered} {lost} {app_limited}");
        }
    }
}
