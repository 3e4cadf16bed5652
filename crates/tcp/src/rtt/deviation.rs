//! The timeout's variation as Linux keeps it: the largest mean deviation of a round, which falls slowly, and never below the
//! least timeout. So the timeout is the round-trip time and 200 ms on a steady path, where RFC 6298 would have 200 ms in all.
//!
//! No RFC describes it. Source: Linux 6.18, `tcp_rtt_estimator` and `__tcp_set_rto` (net/ipv4/tcp_input.c, include/net/tcp.h),
//! whose scaled integers are exact times here.

use crate::{Seq, Span};

/// The deviation of round-trip times, and the variation that the timeout goes by.
#[derive(Debug, Clone)]
pub(super) struct Deviation {
    least: Span,
    /// 4·mean deviation.
    mean: Span,
    /// The largest of this round.
    largest: Span,
    /// What stands for 4·RTTVAR.
    variation: Span,
    /// The round ends when this is acknowledged.
    end: Seq,
}

impl Deviation {
    /// Of a timeout that is never less than `least` above the round-trip time.
    pub(super) fn new(least: Span) -> Self {
        Self { least, mean: Span::ZERO, largest: least, variation: least, end: Seq::ZERO }
    }

    /// A sample beside an SRTT, if there was one, which came when everything below `una` was acknowledged and everything below `nxt`
    /// sent.
    #[inline]
    pub(super) fn sample(&mut self, srtt: Option<Span>, rtt: Span, (una, nxt): (Seq, Seq)) {
        let Some(smoothed) = srtt else {
            self.mean = 2 * rtt;
            self.variation = self.mean.max(self.least);
            (self.largest, self.end) = (self.variation, nxt);
            return;
        };
        let (off, quarter) = (smoothed.abs_diff(rtt), self.mean / 4);
        self.mean = match off > quarter {
            // A path that becomes shorter is not one that varies.
            true if rtt < smoothed => self.mean + (off - quarter) / 8,
            true => self.mean + (off - quarter),
            false => self.mean - (quarter - off),
        };
        self.largest = self.largest.max(self.mean);
        self.variation = self.variation.max(self.largest);
        if una > self.end {
            self.variation -= (self.variation - self.largest) / 4;
            (self.largest, self.end) = (self.least, nxt);
        }
    }

    /// What stands for 4·RTTVAR.
    pub(super) fn variation(&self) -> Span {
        self.variation
    }

    /// The next sample is as the first.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::ms(1);

    /// After so many rounds of a sample each.
    fn after(rtts: &[u64]) -> Span {
        let (mut deviation, mut smoothed) = (Deviation::new(200 * MS), None);
        for (round, &rtt) in (0u64..).zip(rtts) {
            let sent = (Seq::at(1000 * round + 1), Seq::at(1000 * round + 1000));
            deviation.sample(smoothed, rtt * MS, sent);
            smoothed = Some(smoothed.map_or(rtt * MS, |srtt| (7 * srtt + rtt * MS) / 8));
        }
        smoothed.unwrap() + deviation.variation()
    }

    #[test]
    fn on_a_steady_path_the_timeout_is_the_round_trip_and_the_least_one() {
        assert_eq!(after(&[50]), 250 * MS);
        assert_eq!(after(&[50; 40]), 250 * MS);
        assert_eq!(after(&[300]), 900 * MS, "twice the first sample above it");
        let settled = after(&[300; 80]);
        assert!(settled >= 500 * MS && settled < 501 * MS, "{settled:?}");
    }

    #[test]
    fn a_longer_round_trip_counts_at_once_and_is_forgotten_by_a_quarter_a_round() {
        let steady = [50; 40].to_vec();
        let spike = after(&[steady.clone(), vec![450]].concat());
        // 4·mdev has come down to nothing, and grows by 400 ms; SRTT by an eighth of that.
        assert!(spike >= 499 * MS && spike <= 501 * MS, "{spike:?}");
        let next = after(&[steady.clone(), vec![450, 50]].concat());
        let later = after(&[steady, vec![450], vec![50; 30]].concat());
        assert!(next > 400 * MS && later < 260 * MS, "{next:?} {later:?}");
    }

    #[test]
    fn a_shorter_one_hardly_counts() {
        let (shorter, longer) = ([500; 60].to_vec(), [500; 60].to_vec());
        let down = after(&[shorter, vec![100]].concat());
        let up = after(&[longer, vec![900]].concat());
        assert!(down < 660 * MS && up > 940 * MS, "{down:?} {up:?}");
    }
}
