//! Congestion or wireless? Predictors of what a loss was.
//!
//! A predictor sees every ACK (its RTT sample, the window) before the window changes, and is asked at each loss event.
//! Until a threshold was first crossed it answers congestion, what TCP would assume. It changes nothing itself: it
//! can be in charge (see [`crate::response::ByCause`]) or merely watch.

mod constant;
mod flip_flop;
mod ncpld;
mod oracle;
mod random;
mod spike;
mod vegas;
mod vegas_single;

pub use constant::{AlwaysCongested, AlwaysWireless};
pub use flip_flop::FlipFlop;
pub use ncpld::Ncpld;
pub use oracle::Ideal;
pub use random::Random;
pub use spike::Spike;
pub use vegas::Vegas;
pub use vegas_single::VegasSingle;

use crate::spec::family;
use crate::{Ack, Cause, Departure, Loss, Time, Truth, Window};

/// The contract of a loss predictor.
pub trait LossPredictor: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// An ACK has come.
    fn on_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// A data segment was sent, or sent again.
    fn on_sent(&mut self, _sent: &Departure) {}
    /// A retransmission timeout has been judged.
    fn on_timeout(&mut self, _now: Time) {}
    /// The truth, of which only an oracle takes notice: the fate of a loss before its verdict, the path before an ACK.
    fn reveal(&mut self, _truth: Truth) {}
    /// Whether an oracle is in it, which [`LossPredictor::reveal`] must tell the truth.
    fn wants_truth(&self) -> bool {
        false
    }
    /// What this loss is taken for.
    fn verdict(&self, loss: &Loss) -> Cause;
}

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
