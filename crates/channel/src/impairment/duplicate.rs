//! Duplication: a packet arrives twice with the given probability, the copy a fixed time after the packet.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, chance};
use crate::{Packet, Span};

#[derive(Debug, Clone)]
pub(crate) struct Duplicate {
    probability: f64,
    after: Span,
    rng: Xoshiro256PlusPlus,
}

impl Duplicate {
    pub fn new(probability: f64, after: Span, rng: Xoshiro256PlusPlus) -> Self {
        Self { probability, after, rng }
    }
}

impl Impairment for Duplicate {
    #[inline]
    fn act(&mut self, _: &Packet, passage: &mut Passage) {
        if chance(&mut self.rng, self.probability) {
            passage.duplicate(self.after);
        }
    }

    fn is_clean(&self) -> bool {
        self.probability <= 0.0
    }

    fn keeps_order(&self) -> bool {
        self.is_clean()
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{assert_rate, fate, member};
    use crate::{Effect, Fate, Span};

    #[test]
    fn doubles_the_share_it_should_and_delays_only_the_copy() {
        let mut duplicate = member(&Effect::Duplicate { probability: 0.05, after: Span::ns(7) }, 1);
        let n = 100_000;
        let mut copies = 0;
        for i in 0..n {
            match fate(&mut duplicate, Span::ns(i)) {
                Fate::Arrives { extra: Span::ZERO, copy } => {
                    copies += u64::from(copy.is_some());
                    assert!(copy.is_none_or(|after| after == Span::ns(7)));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_rate(copies, n, 0.05);
    }
}
