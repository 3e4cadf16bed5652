//! The contract of a bandwidth estimator. Its members have files of their own, and [`super`] lists them.

use crate::{Ack, Departure, Span, Time, Truth, Window};
use std::ops::RangeInclusive;

/// Where a filter's pole may be: [0, 1), with an end that can be written.
pub(super) const POLE: RangeInclusive<f64> = 0.0..=0.999_999;
/// What a filter's time constant may be: 1 ms to 1000 s.
pub(super) const SPAN: RangeInclusive<Span> = Span::ms(1)..=Span::s(1000);

/// The contract of a bandwidth estimator.
pub trait BandwidthEstimator: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// A data segment was sent, or sent again.
    fn on_sent(&mut self, _sent: &Departure) {}
    /// An ACK has come; `ack.delivered` is what it shows to have been delivered, `w` the window before it changes.
    fn on_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// It is `now`, and nothing has come: told before the estimate is read at a loss event.
    fn advance(&mut self, _now: Time) {}
    /// The retransmission timer has gone off, and the estimate was read.
    fn on_timeout(&mut self) {}
    /// The truth, of which only an oracle takes notice: the fate of a loss before its verdict, the path before an ACK.
    fn reveal(&mut self, _truth: Truth) {}
    /// Whether an oracle is in it, which [`BandwidthEstimator::reveal`] must tell the truth.
    fn wants_truth(&self) -> bool {
        false
    }
    /// The estimate, bit/s; `None` before there is one.
    fn bits_per_second(&self) -> Option<f64>;
    /// The smallest round-trip time, where it knows better than the window.
    fn rtt_min(&self) -> Option<Span> {
        None
    }
}
