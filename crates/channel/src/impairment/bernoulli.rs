//! Independent loss: each packet is lost with probability `per`, whatever happened to the others.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, chance};
use crate::{Loss, Packet};

#[derive(Debug, Clone)]
pub(crate) struct Bernoulli {
    per: f64,
    rng: Xoshiro256PlusPlus,
}

impl Bernoulli {
    pub fn new(per: f64, rng: Xoshiro256PlusPlus) -> Self {
        Self { per, rng }
    }
}

impl Impairment for Bernoulli {
    #[inline]
    fn act(&mut self, _: &Packet, passage: &mut Passage) {
        if chance(&mut self.rng, self.per) {
            passage.lose(Loss::Error);
        }
    }

    fn is_clean(&self) -> bool {
        self.per <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{assert_rate, lost, member};
    use crate::{Effect, Span};

    #[test]
    fn loses_the_share_it_should() {
        for (seed, per) in [1e-3, 0.01, 0.3, 0.9].into_iter().enumerate() {
            let mut bernoulli = member(&Effect::Bernoulli { per }, seed as u64);
            let n = 200_000;
            assert_rate((0..n).filter(|&i| lost(&mut bernoulli, Span::ns(i))).count() as u64, n, per);
        }
    }

    #[test]
    fn losses_do_not_depend_on_the_packet_before() {
        let mut bernoulli = member(&Effect::Bernoulli { per: 0.3 }, 7);
        let losses: Vec<bool> = (0..200_000).map(|i| lost(&mut bernoulli, Span::ns(i))).collect();
        let after_a_loss: Vec<bool> = losses.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
        let n = after_a_loss.len() as u64;
        assert_rate(after_a_loss.into_iter().filter(|&x| x).count() as u64, n, 0.3);
    }

    #[test]
    fn loses_everything_at_one() {
        let mut bernoulli = member(&Effect::Bernoulli { per: 1.0 }, 1);
        assert!((0..10_000).all(|i| lost(&mut bernoulli, Span::ns(i))));
    }
}
