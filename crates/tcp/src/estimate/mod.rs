//! How fast the path is for this flow: estimators of bandwidth from ACK arrivals or from departures.
//!
//! An estimator hears every segment sent and every ACK, in order of time; it may use either. It answers in bit/s once
//! it has heard enough, and its answer is always finite and not negative, whatever it was fed: zero intervals are
//! merged with the next sample, gaps may be hours long. The first ACK, or departure, only starts its clock.

mod csfq;
mod ewma;
mod oracle;
mod packet_pair;
mod rtt_min;
mod stream;
mod tibet;
mod vegas_rate;
mod westwood1;
mod westwood2;
mod westwood3;
mod westwood_plus;

pub use csfq::Csfq;
pub use ewma::Ewma;
pub use oracle::Oracle;
pub use packet_pair::PacketPair;
pub use rtt_min::CoarseRttMin;
pub use tibet::Tibet;
pub use vegas_rate::VegasRate;
pub use westwood_plus::WestwoodPlus;
pub use westwood1::Westwood1;
pub use westwood2::Westwood2;
pub use westwood3::Westwood3;

use crate::spec::family;
use crate::{Ack, Departure, Span, Time, Truth, Window};
use std::ops::RangeInclusive;

/// Where a filter's pole may be: [0, 1), with an end that can be written.
const POLE: RangeInclusive<f64> = 0.0..=0.999_999;
/// What a filter's time constant may be: 1 ms to 1000 s.
const SPAN: RangeInclusive<Span> = Span::ms(1)..=Span::s(1000);

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

family! {
    /// Any bandwidth estimator.
    pub enum AnyEstimator: BandwidthEstimator, "bandwidth estimator" {
        PacketPair, VegasRate, Westwood1, Westwood2, Westwood3, WestwoodPlus, Csfq, Tibet, Ewma, Oracle
    }
    fn on_sent(&mut self, sent: &Departure);
    fn on_ack(&mut self, ack: &Ack, w: &Window);
    fn advance(&mut self, now: Time);
    fn on_timeout(&mut self);
    fn reveal(&mut self, truth: Truth);
    fn wants_truth(&self) -> bool;
    fn bits_per_second(&self) -> Option<f64>;
    fn rtt_min(&self) -> Option<Span>;
}

#[cfg(test)]
mod tests;
