//! Congestion or wireless? Predictors of what a loss was.
//!
//! A predictor sees every ACK (its RTT sample, the window) before the window changes, and is asked at each loss event.
//! Until a threshold was first crossed it answers congestion, what TCP would assume. It changes nothing itself: it
//! can be in charge (see [`crate::response::ByCause`]) or merely watch.

mod constant;
mod contract;
mod flip_flop;
mod ncpld;
mod oracle;
mod random;
mod spike;
mod vegas;
mod vegas_single;

pub use constant::{AlwaysCongested, AlwaysWireless};
pub use contract::LossPredictor;
pub use flip_flop::FlipFlop;
pub use ncpld::Ncpld;
pub use oracle::Ideal;
pub use random::Random;
pub use spike::Spike;
pub use vegas::Vegas;
pub use vegas_single::VegasSingle;

use crate::spec::family;
use crate::{Ack, Cause, Departure, Loss, Time, Truth, Window};

family! {
    /// Any loss predictor.
    pub enum AnyPredictor: LossPredictor, "loss predictor" {
        Vegas, VegasSingle, Ncpld, Spike, FlipFlop, AlwaysCongested, AlwaysWireless, Random, Ideal
    }
    fn on_ack(&mut self, ack: &Ack, w: &Window);
    fn on_sent(&mut self, sent: &Departure);
    fn on_timeout(&mut self, now: Time);
    fn reveal(&mut self, truth: Truth);
    fn wants_truth(&self) -> bool;
    fn verdict(&self, loss: &Loss) -> Cause;
}

#[cfg(test)]
mod tests;
