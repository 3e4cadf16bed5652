//! Periodic bursts: every packet is lost during `lasting` of every `every`, from the first burst's start to `until`.
//! Their cause is noise (a fade, an interferer), not a link that is away.

use super::Impairment;
use crate::packet::Passage;
use crate::random::{Xoshiro256PlusPlus, up_to};
use crate::{Loss, Packet, Span, Time};

#[derive(Debug, Clone)]
pub(crate) struct Bursts {
    first: Time,
    /// At least 1.
    every: Span,
    lasting: Span,
    until: Time,
}

impl Bursts {
    /// `phase`: start of the first burst, drawn uniformly in [0, every) if not given.
    pub fn new(
        every: Span,
        lasting: Span,
        until: Option<Time>,
        phase: Option<Span>,
        mut rng: Xoshiro256PlusPlus,
    ) -> Self {
        let latest = every.saturating_sub(Span::ns(1)).nanos();
        let first = Time::at(phase.unwrap_or_else(|| Span::ns(up_to(&mut rng, latest))));
        // A burst is at most its period, so a period of 0 has none.
        let lasting = lasting.min(every);
        Self { first, every: every.max(Span::ns(1)), lasting, until: until.unwrap_or(Time::MAX) }
    }
}

impl Impairment for Bursts {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        let running = self.first <= packet.at && packet.at < self.until;
        if running && (packet.at - self.first) % self.every < self.lasting {
            passage.lose(Loss::Error);
        }
    }

    fn is_clean(&self) -> bool {
        self.lasting == Span::ZERO || self.until <= self.first
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{fate, lost, member};
    use crate::{Effect, Fate, Loss, Span, Time};

    #[test]
    fn loses_the_first_part_of_each_period_until_the_end() {
        let effect = Effect::Bursts {
            every: Span::ns(40),
            lasting: Span::ns(10),
            until: Some(Time::ns(90)),
            phase: Some(Span::ns(5)),
        };
        let mut bursts = member(&effect, 1);
        let times: Vec<u64> = (0..200).filter(|&at| lost(&mut bursts, Span::ns(at))).collect();
        let expected: Vec<u64> = (5..15).chain(45..55).chain(85..90).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn the_cause_is_noise() {
        let effect =
            Effect::Bursts { every: Span::ns(2), lasting: Span::ns(2), until: None, phase: Some(Span::ZERO) };
        assert_eq!(fate(&mut member(&effect, 1), Span::ns(u64::MAX - 1)), Fate::Lost(Loss::Error));
    }

    #[test]
    fn a_random_phase_is_uniform_over_the_period() {
        let every = 100u64;
        let mut quarters = [0u32; 4];
        for seed in 0..4_000 {
            let mut bursts = member(
                &Effect::Bursts { every: Span::ns(every), lasting: Span::ns(1), until: None, phase: None },
                seed,
            );
            let starts: Vec<u64> = (0..every).filter(|&at| lost(&mut bursts, Span::ns(at))).collect();
            assert_eq!(starts.len(), 1, "one burst in the first period");
            quarters[starts[0] as usize / 25] += 1;
        }
        // 1000 each, with a standard deviation of 27.
        assert!(quarters.iter().all(|q| (900..1100).contains(q)), "{quarters:?}");
    }
}
