//! The family of effects: each loses, delays or doubles packets by a rule of its own.
//! Not for: how effects are combined (see [`Channel`](crate::Channel)).

mod bernoulli;
mod bit_errors;
mod bursts;
mod contract;
mod correlated;
mod delays;
mod duplicate;
mod gilbert;
#[cfg(test)]
pub(crate) mod interval;
mod jitter;
mod outages;
mod poisson_outages;
mod reorder;
mod scripted;
#[cfg(test)]
mod tests;

use crate::packet::Passage;
use crate::random::Xoshiro256PlusPlus;
use crate::{Effect, Packet};
use bernoulli::Bernoulli;
use bit_errors::BitErrors;
use bursts::Bursts;
pub(crate) use contract::Impairment;
use correlated::Correlated;
use delays::Listed;
use duplicate::Duplicate;
use enum_dispatch::enum_dispatch;
use gilbert::Gilbert;
use jitter::Jitter;
use outages::Outages;
use poisson_outages::PoissonOutages;
use reorder::Reorder;
use scripted::Scripted;

/// The members.
#[enum_dispatch(Impairment)]
#[derive(Debug, Clone)]
pub(crate) enum AnyImpairment {
    Bernoulli,
    BitErrors,
    Gilbert,
    Bursts,
    Outages,
    PoissonOutages,
    Scripted,
    Correlated,
    Jitter,
    Duplicate,
    Reorder,
    Listed,
}

impl AnyImpairment {
    /// The member that `effect` configures, drawing from `rng`; `None` for a recorded capacity, which is no member.
    pub fn new(effect: &Effect, rng: Xoshiro256PlusPlus) -> Option<Self> {
        Some(match *effect {
            Effect::Bernoulli { per } => Bernoulli::new(per, rng).into(),
            Effect::BitErrors { ber } => BitErrors::new(ber, rng).into(),
            Effect::Gilbert { good, bad, per_good, per_bad } => {
                Gilbert::new([good, bad], [per_good, per_bad], rng).into()
            }
            Effect::Bursts { every, lasting, until, phase } => {
                Bursts::new(every, lasting, until, phase, rng).into()
            }
            Effect::Outages { ref at } => Outages::new(at).into(),
            Effect::PoissonOutages { every, lasting } => PoissonOutages::new(every, lasting, rng).into(),
            Effect::Scripted(ref script) => Scripted::new(script).into(),
            Effect::Correlated { per, correlation } => Correlated::new(per, correlation, rng).into(),
            Effect::Jitter { ref distribution, correlation_time, keep_order } => {
                Jitter::new(distribution.clone(), correlation_time, keep_order, rng).into()
            }
            Effect::Duplicate { probability, after } => Duplicate::new(probability, after, rng).into(),
            Effect::Reorder { which, delay } => Reorder::new(which, delay, rng).into(),
            Effect::Delays(ref delays) => Listed::new(delays).into(),
            Effect::Trace(_) => return None,
        })
    }
}
