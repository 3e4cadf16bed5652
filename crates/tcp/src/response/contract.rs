//! The contract of a loss response. Its members have files of their own, and [`super`] lists them.

use crate::{Ack, Cause, Departure, Loss, Truth, Window};

/// The contract of a loss response.
pub trait LossResponse: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// A loss event: sets the window, returns what the loss was taken for.
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause;
    /// Every ACK, before the window changes.
    fn on_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// Every data segment sent.
    fn on_sent(&mut self, _sent: &Departure) {}
    /// The truth, of which only an oracle takes notice: the fate of a loss before its verdict, the path before an ACK.
    fn reveal(&mut self, _truth: Truth) {}
    /// Whether an oracle is in it, which [`LossResponse::reveal`] must tell the truth.
    fn wants_truth(&self) -> bool {
        false
    }
    /// Whether it wants to hear through [`LossResponse::on_ack`] and [`LossResponse::on_sent`]. One that does not spares
    /// every segment the trouble.
    fn listens(&self) -> bool {
        true
    }
    /// The estimate of the bandwidth it goes by, bit/s, where it goes by one.
    fn estimate(&self) -> Option<f64> {
        None
    }
    /// What the threshold is to be after an ACK outside of the repair of a loss, bytes; asked of one that
    /// [`tracks`](LossResponse::tracks) something at all times.
    fn threshold(&self, _w: &Window) -> Option<f64> {
        None
    }
    /// Whether [`LossResponse::threshold`] is to be asked.
    fn tracks(&self) -> bool {
        false
    }
    /// Whether it needs the peer's timestamps ([`Ack::peer_time`]).
    fn wants_timestamps(&self) -> bool {
        false
    }
}
