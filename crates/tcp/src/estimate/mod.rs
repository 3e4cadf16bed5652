//! How fast the path is for this flow: estimators of bandwidth from ACK arrivals or from departures.
//!
//! An estimator hears every segment sent and every ACK, in order of time; it may use either. It answers in bit/s once
//! it has heard enough, and its answer is always finite and not negative, whatever it was fed: zero intervals are
//! merged with the next sample, gaps may be hours long. The first ACK, or departure, only starts its clock.

mod contract;
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

pub use contract::BandwidthEstimator;
use contract::{POLE, SPAN};
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
