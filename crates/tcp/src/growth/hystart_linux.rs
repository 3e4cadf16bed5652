//! HyStart as Linux has it: a slow start that ends itself at a train of ACKs as long as half the path, or at a delay that has
//! risen. Not a growth rule of its own: a part of [`super::CubicLinux`], and of [`super::HyStartLinuxFirst`].
//!
//! A round lasts until something is acknowledged that was sent after it began; a window below 16 segments is not judged. *ACK
//! train*: ACKs that follow one another within 2 ms from the round's beginning on make a train; once it is longer than
//! (delay_min + allowance)/2 the pipe is taken to be full. A sender that is paced is allowed the whole, since pacing alone
//! stretches its train over half a round. The allowance is for what offload lumps together: four of the largest bursts at the
//! pacing rate, 1 ms at the most. *Delay*: from the ninth sample of a round on, its least round-trip time is above delay_min by
//! more than delay_min/8, within 4 ms and 16 ms. Either sets ssthresh = cwnd: there is no slower phase behind it, as RFC 9406's
//! HyStart++ ([`super::hystart`]) has.
//!
//! Source: Linux 6.18, `hystart_update`, `hystart_ack_delay`, `bictcp_hystart_reset`; S. Ha and I. Rhee, "Taming the elephants:
//! new TCP slow start", 2011, which has RTT/2 for the train and RTT/16 for the delay.

use crate::pace::{self, Pacing};
use crate::{Ack, Seq, Span, Time, Window};

/// hystart_low_window, segments.
const LOW_WINDOW: f64 = 16.0;
/// hystart_ack_delta_us.
const ACK_DELTA: Span = Span::ms(2);
/// HYSTART_MIN_SAMPLES.
const MIN_SAMPLES: u32 = 8;
/// HYSTART_DELAY_MIN, HYSTART_DELAY_MAX.
const DELAY_MIN: Span = Span::ms(4);
const DELAY_MAX: Span = Span::ms(16);
/// The most that is allowed for offload.
const ALLOWANCE: Span = Span::ms(1);

#[derive(Debug, Clone, Copy)]
struct Round {
    began: Time,
    /// The last ACK of its train.
    last: Time,
    /// What was sent from here on belongs to the next.
    end: Seq,
    least: Span,
    samples: u32,
}

/// Trains and delays of one slow start.
#[derive(Debug, Clone, Default)]
pub struct HyStartLinux {
    /// Whether departures are paced.
    paced: bool,
    round: Option<Round>,
    found: bool,
}

impl HyStartLinux {
    /// For a sender that is paced or is not.
    pub fn new(paced: bool) -> Self {
        Self { paced, ..Self::default() }
    }

    /// As at first: a timeout begins another slow start.
    pub fn reset(&mut self) {
        *self = Self::new(self.paced);
    }

    /// An ACK in slow start whose round-trip time is `rtt`, the least of the connection `delay_min`: whether slow start is to end.
    /// It says so once.
    pub fn ends(&mut self, ack: &Ack, rtt: Span, delay_min: Span, w: &Window) -> bool {
        if self.found {
            return false;
        }
        let begun = Round { began: ack.now, last: ack.now, end: ack.highest, least: Span::MAX, samples: 0 };
        let round = match &mut self.round {
            Some(round) if ack.ack <= round.end => round,
            other => other.insert(begun),
        };
        if w.cwnd < LOW_WINDOW * w.mss {
            return false;
        }
        let allowed = delay_min + allowance(w);
        let allowed = if self.paced { allowed } else { allowed / 2 };
        self.found = round.train_is_longer(ack.now, allowed) || round.has_slowed_down(rtt, delay_min);
        self.found
    }
}

impl Round {
    fn train_is_longer(&mut self, now: Time, allowed: Span) -> bool {
        if now - self.last > ACK_DELTA {
            return false;
        }
        self.last = now;
        now - self.began > allowed
    }

    fn has_slowed_down(&mut self, rtt: Span, delay_min: Span) -> bool {
        self.least = self.least.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least > delay_min + (delay_min / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

/// What offload may add to a train: `hystart_ack_delay`.
fn allowance(w: &Window) -> Span {
    let rate = pace::Linux::default().rate(w);
    rate.map_or(Span::ZERO, |rate| ALLOWANCE.min(Span::truncated(4.0 * pace::GSO_BYTES / rate * 1e9)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;

    const MS: Span = Span::ms(1);

    /// ACKs at these times in ms, with these round-trip times in ms, all of one round, in a window of so many segments: the
    /// number of the one that ends slow start, from 1.
    fn ended(hystart: &mut HyStartLinux, segments: f64, acks: &[(u64, u64)]) -> Option<usize> {
        let w = window(segments, 1e6);
        let ends = |&(at, rtt): &(u64, u64)| {
            let ack = Ack { ack: Seq::at(2), highest: Seq::at(1000), ..Ack::of_bytes(Time::ms(at), 1000) };
            hystart.ends(&ack, rtt * MS, 100 * MS, &w)
        };
        acks.iter().position(ends).map(|at| at + 1)
    }

    /// One ACK each `gap` ms.
    fn train(gap: u64, acks: u64) -> Vec<(u64, u64)> {
        (0..acks).map(|k| (1000 + gap * k, 100)).collect()
    }

    #[test]
    fn a_train_longer_than_half_the_path_ends_slow_start() {
        // 20 segments in 100 ms are paced at 400 kB/s: the allowance is its most, 1 ms, and (100 + 1)/2 ms are 50.5.
        assert_eq!(ended(&mut HyStartLinux::default(), 20.0, &train(2, 40)), Some(27), "52 ms on");
        assert_eq!(ended(&mut HyStartLinux::new(true), 20.0, &train(2, 80)), Some(52), "102 ms on");
    }

    #[test]
    fn a_gap_breaks_the_train_for_the_rest_of_the_round() {
        let mut acks = train(2, 10);
        acks.extend(train(1, 100).iter().map(|&(at, rtt)| (at + 21, rtt)));
        assert_eq!(ended(&mut HyStartLinux::default(), 20.0, &acks), None);
    }

    #[test]
    fn from_the_ninth_sample_on_a_delay_above_an_eighth_ends_it() {
        let of = |rtt| (0..20).map(move |k| (1000 + 10 * k, rtt)).collect::<Vec<_>>();
        assert_eq!(ended(&mut HyStartLinux::default(), 20.0, &of(113)), Some(9), "above 100 ms and 12.5");
        assert_eq!(ended(&mut HyStartLinux::default(), 20.0, &of(112)), None);
        let mut quick = of(120);
        quick[4].1 = 101;
        assert_eq!(
            ended(&mut HyStartLinux::default(), 20.0, &quick),
            None,
            "one that was quick speaks for its round"
        );
    }

    #[test]
    fn a_window_below_sixteen_segments_is_not_judged() {
        assert_eq!(ended(&mut HyStartLinux::default(), 15.9, &train(2, 40)), None);
    }

    #[test]
    fn it_says_so_once_and_again_after_a_timeout() {
        let mut hystart = HyStartLinux::default();
        assert!(ended(&mut hystart, 20.0, &train(2, 40)).is_some());
        assert_eq!(ended(&mut hystart, 20.0, &train(2, 40)), None);
        hystart.reset();
        assert!(ended(&mut hystart, 20.0, &train(2, 40)).is_some());
    }

    #[test]
    fn a_fast_path_is_allowed_less() {
        let w = |segments| window(segments, 1e9);
        assert_eq!(allowance(&w(1000.0)), MS);
        // 60,000 segments of 1000 bytes in 100 ms go at 1.2 GB/s: four bursts of 65,215 bytes take 217 µs.
        assert_eq!(allowance(&w(60_000.0)), Span::ns(217_383));
    }
}
