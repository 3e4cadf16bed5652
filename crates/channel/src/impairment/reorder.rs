//! Reordering: some packets are held back for a fixed time, so that those behind them overtake. (netem has it the other
//! way round: it delays all packets but the chosen ones, which overtake.)

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, chance};
use crate::{Packet, ReorderWhich, Span};

#[derive(Debug, Clone)]
pub(crate) struct Reorder {
    which: ReorderWhich,
    delay: Span,
    seen: u64,
    rng: Xoshiro256PlusPlus,
}

impl Reorder {
    pub fn new(which: ReorderWhich, delay: Span, rng: Xoshiro256PlusPlus) -> Self {
        Self { which, delay, seen: 0, rng }
    }
}

impl Impairment for Reorder {
    #[inline]
    fn act(&mut self, _: &Packet, passage: &mut Passage) {
        self.seen += 1;
        let chosen = match self.which {
            ReorderWhich::Every(n) => self.seen.is_multiple_of(n),
            ReorderWhich::Probability(p) => chance(&mut self.rng, p),
        };
        if chosen {
            passage.delay(self.delay);
        }
    }

    fn is_clean(&self) -> bool {
        let none = match self.which {
            ReorderWhich::Every(n) => n == 0,
            ReorderWhich::Probability(p) => p <= 0.0,
        };
        none || self.delay == Span::ZERO
    }

    fn keeps_order(&self) -> bool {
        let all = match self.which {
            ReorderWhich::Every(n) => n == 1,
            ReorderWhich::Probability(p) => p >= 1.0,
        };
        all || self.is_clean()
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{assert_rate, fate, member};
    use crate::{Effect, Fate, ReorderWhich, Span};

    /// Ordinals, from 1, of the packets held back.
    fn held(which: ReorderWhich, n: u64) -> Vec<u64> {
        let mut reorder = member(&Effect::Reorder { which, delay: Span::ns(9) }, 1);
        (1..=n)
            .filter(|&i| match fate(&mut reorder, Span::ns(i)) {
                Fate::Arrives { extra, copy: None } if extra == Span::ZERO || extra == Span::ns(9) => {
                    extra == Span::ns(9)
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn holds_back_every_nth() {
        assert_eq!(held(ReorderWhich::Every(4), 13), [4, 8, 12]);
        assert_eq!(held(ReorderWhich::Every(1), 3), [1, 2, 3]);
        assert_eq!(held(ReorderWhich::Every(0), 3), []);
    }

    #[test]
    fn holds_back_the_share_it_should() {
        assert_rate(held(ReorderWhich::Probability(0.02), 100_000).len() as u64, 100_000, 0.02);
    }
}
