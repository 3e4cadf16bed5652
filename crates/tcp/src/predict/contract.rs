//! The contract of a loss predictor. Its members have files of their own, and [`super`] lists them.

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
