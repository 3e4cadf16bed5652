//! The smallest round-trip time where the clock is too coarse to show it.
//!
//! A clock of granularity G shows G for any round trip that is shorter, and a bandwidth–delay product from that is too
//! large. The more often a connection is congested the more it must be so: at every N-th congestion event
//! RTTmin ← γ·RTTmin. N = 5, γ = 0.5. Source: lp, section 3.3.2, algorithm 3.3.4.
//!
//! Choices: the rule applies while the measured RTTmin is not above G, again and again, down to 1 ms; the event that
//! makes N counts at once. Where a round trip above G is measured after all, what was guessed is forgotten.

use crate::Span;

/// No guess is below this.
const FLOOR: Span = Span::ms(1);

/// The rule, and how far it has gone.
#[derive(Debug, Clone, PartialEq)]
pub struct CoarseRttMin {
    every: u64,
    gamma: f64,
    events: u64,
    guess: Option<Span>,
}

impl CoarseRttMin {
    /// Shrinks to `gamma` (0 to 1) of itself at each `every`-th congestion event; never if that is 0.
    pub fn new(every: u64, gamma: f64) -> Self {
        Self { every, gamma, events: 0, guess: None }
    }

    /// A congestion event, while `measured` is the smallest round-trip time that a clock of granularity `clock` has
    /// shown (0: an exact one). Returns what to take for RTTmin.
    pub fn on_congestion(&mut self, measured: Span, clock: Span) -> Span {
        if self.every == 0 || measured > clock {
            (self.events, self.guess) = (0, None);
            return measured;
        }
        self.events += 1;
        if self.events == self.every {
            self.events = 0;
            let shrunk = self.guess.unwrap_or(measured).as_f64() * self.gamma;
            self.guess = Some(Span::truncated(shrunk).max(FLOOR));
        }
        self.guess.map_or(measured, |guess| guess.min(measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::ms(1);

    #[test]
    fn every_fifth_event_halves_down_to_a_millisecond() {
        let mut rule = CoarseRttMin::new(5, 0.5);
        let after: Vec<_> = (0..60).map(|_| rule.on_congestion(500 * MS, 500 * MS)).collect();
        assert_eq!(after[..11], [[500 * MS; 4].as_slice(), &[250 * MS; 5], &[125 * MS; 2]].concat());
        assert_eq!(after[59], MS);
    }

    #[test]
    fn a_round_trip_that_the_clock_can_show_is_left_alone() {
        let mut rule = CoarseRttMin::new(1, 0.5);
        assert_eq!(rule.on_congestion(20 * MS, 10 * MS), 20 * MS);
        assert_eq!(rule.on_congestion(20 * MS, Span::ZERO), 20 * MS, "an exact clock shows all");
        assert_eq!(rule.on_congestion(10 * MS, 10 * MS), 5 * MS);
        assert_eq!(rule.on_congestion(20 * MS, 10 * MS), 20 * MS);
        assert_eq!(rule.on_congestion(10 * MS, 10 * MS), 5 * MS, "from the start again");
    }

    #[test]
    fn a_clock_finer_than_the_floor_is_believed() {
        assert_eq!(CoarseRttMin::new(1, 0.5).on_congestion(MS / 2, MS / 2), MS / 2);
    }

    #[test]
    fn it_can_be_off() {
        let mut rule = CoarseRttMin::new(0, 0.5);
        assert!((0..20).all(|_| rule.on_congestion(500 * MS, 500 * MS) == 500 * MS));
    }
}
