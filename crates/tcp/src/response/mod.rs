//! What a noticed loss, or an ECN echo, does to ssthresh and cwnd.
//!
//! [`LossResponse::on_loss`] is asked once per loss event, sets `w.ssthresh` and `w.cwnd`, and says what it took the
//! loss for. On duplicate ACKs and ECN it leaves `w.cwnd` where the sender should go on after recovery, without
//! inflation, which belongs to [`crate::recovery`]; on a timeout it sets `w.cwnd` to one MSS unless it has a reason.
//! Neither falls below one MSS. The other methods let a response that listens (to estimate or to judge) listen.

mod bbr;
mod by_cause;
mod contract;
mod cubic;
mod cubic_linux;
mod halve;
mod highspeed;
mod santa_cruz;
mod selective_slow_start;
mod to_estimate;
mod track_estimate;
mod vegas;
mod vegas_ns2;

pub use bbr::Bbr;
pub use contract::LossResponse;
pub use cubic::Cubic;
pub(crate) use cubic::keep;
pub use cubic_linux::CubicLinux;
pub use halve::Halve;
pub use highspeed::HighSpeed;
pub use santa_cruz::SantaCruz;
pub(crate) use santa_cruz::spare;
pub use selective_slow_start::SelectiveSlowStart;
pub use to_estimate::ToEstimate;
pub use track_estimate::TrackEstimate;
pub use vegas::Vegas;
pub use vegas_ns2::VegasNs2;

use crate::spec::family;
use crate::{Ack, Cause, Departure, Loss, Truth, Window};

/// Asks a loss predictor first.
pub type ByCause = by_cause::ByCause<AnyResponse>;

family! {
    /// Any loss response.
    pub enum AnyResponse: LossResponse, "loss response" { Halve, ToEstimate in Box, TrackEstimate in Box, ByCause in Box, HighSpeed, Vegas in Box, VegasNs2 in Box, SelectiveSlowStart in Box, SantaCruz in Box, Cubic, CubicLinux, Bbr }
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause;
    fn on_ack(&mut self, ack: &Ack, w: &Window);
    fn on_sent(&mut self, sent: &Departure);
    fn reveal(&mut self, truth: Truth);
    fn wants_truth(&self) -> bool;
    fn listens(&self) -> bool;
    fn estimate(&self) -> Option<f64>;
    fn threshold(&self, w: &Window) -> Option<f64>;
    fn tracks(&self) -> bool;
    fn wants_timestamps(&self) -> bool;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{LossKind, Seq, Span, Spec, Time};

    /// A window of ten segments with `flight` bytes in flight.
    pub(crate) fn window(flight: u64) -> Window {
        Window {
            mss: 1000.0,
            cwnd: 10_000.0,
            ssthresh: 1e9,
            flight,
            rwnd: 1 << 20,
            srtt: None,
            rtt_min: None,
            clock: Span::ZERO,
            whole: false,
        }
    }

    pub(crate) fn loss(kind: LossKind) -> Loss {
        Loss { now: Time::ns(5), kind, seq: Seq::FIRST }
    }

    #[test]
    fn no_member_leaves_less_than_one_segment() {
        for member in AnyResponse::MEMBERS {
            for flight in [0, 1, 100_000] {
                for kind in [LossKind::DupAcks, LossKind::Timeout, LossKind::EcnEcho] {
                    let (mut response, _) = AnyResponse::build(&Spec::named(member.name)).unwrap();
                    let mut w = window(flight);
                    response.on_loss(&loss(kind), &mut w);
                    assert!(w.cwnd >= w.mss && w.ssthresh >= w.mss, "{}: {w:?}", member.name);
                    assert!(w.cwnd <= 100_000.0, "{}: {w:?}", member.name);
                }
            }
        }
    }

    /// Those that have a reason not to: a first timeout may have been a handoff; ns-2's Vegas begins with two.
    const KEPT: [(&str, f64); 2] = [("selective-slow-start", 10.0), ("vegas-ns2", 2.0)];

    #[test]
    fn a_timeout_leaves_one_segment_but_with_who_means_to_go_on() {
        for member in AnyResponse::MEMBERS {
            let (mut response, _) = AnyResponse::build(&Spec::named(member.name)).unwrap();
            let mut w = window(10_000);
            response.on_loss(&loss(LossKind::Timeout), &mut w);
            let kept = KEPT.iter().find(|(name, _)| *name == member.name).map_or(1.0, |(_, kept)| *kept);
            assert_eq!(w.cwnd, kept * w.mss, "{}", member.name);
        }
    }
}
