//! HyStart++: a slow start that ends itself when round-trip times rise. Not a growth rule of its own: a part of
//! CUBIC, and of [`super::HyStartFirst`].
//!
//! Each round keeps the least of its RTTs. Once eight samples of a round show at least RttThresh = RTTmin of the round
//! before / 8, within 4 ms and 16 ms, more than that round, slow start goes on at a quarter of its pace (Conservative
//! Slow Start, CSS). Five rounds of that end it; a round whose least RTT falls below that of CSS's beginning resumes
//! it. It serves the first slow start only. Without pacing an ACK counts for at most L = 8 segments. Source: RFC 9406,
//! section 4.2 (rule) and 4.3 (constants).

use crate::{Ack, Seq, Span};

const MIN_RTT_THRESH: Span = Span::ms(4);
const MAX_RTT_THRESH: Span = Span::ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L: segments that one ACK may count for.
pub const LIMIT: f64 = 8.0;

/// Conservative slow start.
#[derive(Debug, Clone, Copy)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Span,
    rounds: u32,
}

/// Rounds and their least RTTs.
#[derive(Debug, Clone, Default)]
pub struct HyStart {
    /// windowEnd: an ACK from here on ends the round; none before the first.
    end: Option<Seq>,
    last: Option<Span>,
    current: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
}

impl HyStart {
    /// An ACK in slow start. By what to divide its growth; none: slow start has ended.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<f64> {
        match self.end {
            Some(end) if ack.ack < end => {}
            _ => {
                if self.end.is_some() && self.round_ends() {
                    return None;
                }
                self.end = Some(ack.highest);
            }
        }
        if let Some(rtt) = ack.rtt {
            self.samples += 1;
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
        }
        self.judge();
        Some(if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 })
    }

    /// True: the last round of CSS is over.
    fn round_ends(&mut self) -> bool {
        self.last = self.current.take();
        self.samples = 0;
        let Some(css) = &mut self.conservative else { return false };
        css.rounds += 1; // a round in whose middle CSS began counts too
        css.rounds >= CSS_ROUNDS
    }

    fn judge(&mut self) {
        let (Some(current), true) = (self.current, self.samples >= N_RTT_SAMPLE) else { return };
        if let Some(css) = self.conservative {
            if current < css.baseline {
                self.conservative = None;
            }
        } else if let Some(last) = self.last {
            let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            if current >= last + threshold {
                self.conservative = Some(Conservative { baseline: current, rounds: 0 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    const MS: Span = Span::ms(1);

    /// Rounds of ten ACKs each, with these RTTs in ms: the divisor that holds at each round's end.
    fn divisors(rtts: &[u64]) -> Vec<Option<f64>> {
        let mut hystart = HyStart::default();
        let round = |(k, &rtt): (usize, &u64)| {
            let acks = (0..10u64).map(|a| 10 * k as u64 + a + 1);
            let tell = |ack| Ack {
                ack: Seq::at(ack),
                highest: Seq::at(ack + 10),
                rtt: Some(rtt * MS),
                ..Ack::of_bytes(Time::ZERO, 1)
            };
            acks.map(tell).map(|ack| hystart.on_ack(&ack)).last().flatten()
        };
        rtts.iter().enumerate().map(round).collect()
    }

    #[test]
    fn steady_round_trips_keep_slow_start_going() {
        assert_eq!(divisors(&[100, 103, 111, 120]), [Some(1.0); 4], "an eighth of 100 ms is 12.5 ms");
    }

    #[test]
    fn a_rise_slows_it_down_and_five_rounds_of_that_end_it() {
        let found = divisors(&[100, 113, 113, 114, 115, 116, 117]);
        assert_eq!(found[0], Some(1.0));
        assert_eq!(found[1..6], [Some(4.0); 5]);
        assert_eq!(found[6], None);
    }

    #[test]
    fn a_fall_below_where_that_began_resumes_slow_start() {
        assert_eq!(divisors(&[100, 113, 112, 112]), [Some(1.0), Some(4.0), Some(1.0), Some(1.0)]);
    }

    #[test]
    fn the_threshold_is_at_least_4_ms_and_at_most_16_ms() {
        assert_eq!(divisors(&[10, 13]).last(), Some(&Some(1.0)));
        assert_eq!(divisors(&[10, 14]).last(), Some(&Some(4.0)));
        assert_eq!(divisors(&[1000, 1016]).last(), Some(&Some(4.0)));
    }
}
