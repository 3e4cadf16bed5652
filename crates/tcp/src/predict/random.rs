//! The predictor that guesses: either answer, half of the time. Source: lp, section 4.1.5.
//!
//! A guess is a function of `seed` and of the loss, so that a run is the same each time and the guess does not depend on
//! who else asks.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss};

/// Guesses.
#[derive(Debug, Clone)]
pub struct Random {
    seed: u64,
}

impl Member for Random {
    const INFO: Info = Info {
        name: "random",
        summary: "guesses: the lower bound",
        formula: "congestion or wireless, each with probability ½",
        source: "Martignon, NewReno-LP, section 4.1.5",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { seed: args.count("seed", 1, 0..=u64::from(u32::MAX))? })
    }
}

/// Spreads every bit of `x` over the result (the finaliser of SplitMix64, Steele et al. 2014).
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl LossPredictor for Random {
    fn verdict(&self, loss: &Loss) -> Cause {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let drawn = [self.seed, loss.seq.number(), loss.now.nanos()]
            .iter()
            .fold(0u64, |h, &x| mix(h.wrapping_add(STEP) ^ x));
        if drawn >> 63 == 0 { Cause::Congestion } else { Cause::Wireless }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossKind, Seq, Time};

    fn guess(seed: u64, k: u64) -> Cause {
        // As losses come: by whole segments, at times that have much in common.
        let loss = Loss { now: Time::ms(k), kind: LossKind::DupAcks, seq: Seq::at(1 + k * 1460) };
        Random { seed }.verdict(&loss)
    }

    #[test]
    fn half_of_many_guesses_go_either_way_with_every_seed() {
        for seed in 0..20 {
            let wireless = (0..10_000).filter(|&k| guess(seed, k) == Cause::Wireless).count();
            assert!(wireless.abs_diff(5000) < 200, "seed {seed}: {wireless}"); // four standard deviations
        }
    }

    #[test]
    fn neither_the_guess_before_nor_another_seed_tells_a_guess() {
        let same = |f: &dyn Fn(u64) -> bool| (0..10_000).filter(|&k| f(k)).count();
        assert!(same(&|k| guess(1, k) == guess(1, k + 1)).abs_diff(5000) < 200);
        assert!(same(&|k| guess(1, k) == guess(2, k)).abs_diff(5000) < 200);
    }

    #[test]
    fn the_same_loss_is_guessed_the_same() {
        assert!((0..100).all(|k| guess(7, k) == guess(7, k)));
    }
}
