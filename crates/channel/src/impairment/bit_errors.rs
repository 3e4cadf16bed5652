//! Independent bit errors: a packet of L bytes on the wire survives if all of its 8·L bits do, so it is lost with
//! probability 1 − (1 − ber)^(8·L). Long packets are lost more often than ACKs.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, chance};
use crate::{Loss, Packet};

#[derive(Debug, Clone)]
pub(crate) struct BitErrors {
    /// ln(1 − ber): keeps its precision where 1 − ber has lost all.
    log_survival: f64,
    /// The last packet's size and its loss probability: most packets are as long as the one before.
    last: (u32, f64),
    rng: Xoshiro256PlusPlus,
}

impl BitErrors {
    pub fn new(ber: f64, rng: Xoshiro256PlusPlus) -> Self {
        Self { log_survival: libm::log1p(-ber), last: (0, 0.0), rng }
    }

    fn loss_probability(&mut self, bytes: u32) -> f64 {
        if self.last.0 != bytes {
            self.last = (bytes, -libm::expm1(8.0 * f64::from(bytes) * self.log_survival));
        }
        self.last.1
    }
}

impl Impairment for BitErrors {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        let p = self.loss_probability(packet.bytes);
        if chance(&mut self.rng, p) {
            passage.lose(Loss::Error);
        }
    }

    fn is_clean(&self) -> bool {
        self.log_survival >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{assert_rate, fate_of, member};
    use crate::{Effect, Fate, Packet, Time};

    fn losses(ber: f64, bytes: u32, n: u64) -> u64 {
        let mut bit_errors = member(&Effect::BitErrors { ber }, u64::from(bytes));
        let packet = Packet { at: Time::ZERO, bytes, flow: 0, data: true };
        (0..n).filter(|_| matches!(fate_of(&mut bit_errors, &packet), Fate::Lost(_))).count() as u64
    }

    #[test]
    fn longer_packets_are_lost_more_often() {
        for (ber, bytes) in [(1e-5, 40), (1e-5, 1500), (1e-6, 9000), (1e-4, 1040), (0.25, 1)] {
            let n = 200_000;
            assert_rate(losses(ber, bytes, n), n, 1.0 - libm::pow(1.0 - ber, 8.0 * f64::from(bytes)));
        }
    }

    #[test]
    fn sizes_may_alternate() {
        let mut bit_errors = member(&Effect::BitErrors { ber: 1e-4 }, 1);
        let mut count = [0; 2];
        let n = 100_000;
        for i in 0..2 * n {
            let bytes = [1500, 40][i % 2];
            let fate = fate_of(&mut bit_errors, &Packet { at: Time::ZERO, bytes, flow: 0, data: true });
            count[i % 2] += u64::from(matches!(fate, Fate::Lost(_)));
        }
        assert_rate(count[0], n as u64, 1.0 - libm::pow(1.0 - 1e-4, 12_000.0));
        assert_rate(count[1], n as u64, 1.0 - libm::pow(1.0 - 1e-4, 320.0));
    }

    #[test]
    fn rates_below_the_precision_of_one_minus_ber_still_count() {
        // 1 − 1e-17 is 1 in double precision; a packet of 4 GB at that rate is lost with probability 3.4e-7.
        let mut bit_errors = super::BitErrors::new(1e-17, crate::stream(1, "test"));
        let p = bit_errors.loss_probability(u32::MAX);
        assert!((p / (8.0 * f64::from(u32::MAX) * 1e-17) - 1.0).abs() < 1e-6, "{p}");
    }

    #[test]
    fn the_ends_of_the_range_are_exact() {
        assert_eq!(losses(1.0, 1, 1000), 1000);
        assert_eq!(losses(1.0, 0, 1000), 0, "no bits, no errors");
    }
}
