//! How the window opens while nothing is lost.
//!
//! [`Growth::on_ack`] is called for each ACK of new data while no loss is being repaired and the window is what limits
//! the sender (RFC 7661's concern: an unused window must not grow); it raises `w.cwnd`. [`Growth::on_loss`] tells of
//! each loss event after the response to it. A growth rule owns `w.cwnd` between losses and never lowers it below one
//! MSS; `w.ssthresh` belongs to the response, but a rule that has slow start end of itself (Vegas) may lower it to
//! `w.cwnd`. The other methods serve rules that model the path: they hear of every ACK and departure, and may pace.

mod bbr;
mod bbr1;
mod byte_counting;
mod capped;
mod contract;
mod cubic;
mod cubic_linux;
mod highspeed;
mod hystart;
mod hystart_first;
mod hystart_linux;
mod hystart_linux_first;
mod limited_slow_start;
mod linux;
mod per_ack;
mod santa_cruz;
mod vegas;
mod vegas_ns2;

pub use bbr::Bbr;
pub use bbr1::Bbr1;
pub use byte_counting::ByteCounting;
pub use capped::Capped;
pub use contract::Growth;
pub use cubic::Cubic;
pub(crate) use cubic_linux::BETA;
pub use cubic_linux::CubicLinux;
pub use highspeed::HighSpeed;
pub use hystart_first::HyStartFirst;
pub use hystart_linux_first::HyStartLinuxFirst;
pub use limited_slow_start::LimitedSlowStart;
pub use linux::Linux;
pub use per_ack::PerAck;
pub use santa_cruz::SantaCruz;
pub use vegas::Vegas;
pub use vegas_ns2::VegasNs2;

use crate::pace::Spacing;
use crate::relative_delay::CongestedRounds;
use crate::spec::family;
use crate::{Ack, Air, Departure, Loss, Time, Window};

family! {
    /// Any growth rule.
    pub enum AnyGrowth: Growth, "growth rule" { PerAck, ByteCounting, Linux, Capped, LimitedSlowStart, HyStartFirst in Box, HyStartLinuxFirst in Box, HighSpeed, Vegas in Box, VegasNs2 in Box, SantaCruz, Cubic, CubicLinux, Bbr, Bbr1 }
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);
    fn on_report(&mut self, ack: &Ack, w: &mut Window);
    fn on_unused(&mut self, ack: &Ack);
    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window);
    fn on_undo(&mut self, now: Time, w: &mut Window);
    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window);
    fn on_sent(&mut self, sent: &Departure, w: &Window);
    fn listens(&self) -> bool;
    fn pacing_rate(&self) -> Option<f64>;
    fn spacing(&self) -> Spacing;
    fn least_burst(&self, rate: f64) -> u64;
    fn congested_rounds(&self) -> Option<CongestedRounds>;
    fn outlasts_idleness(&self) -> bool;
    fn wants_timestamps(&self) -> bool;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{LossKind, Seq, Span, Spec};

    pub(crate) fn window(cwnd_segments: f64, ssthresh_segments: f64) -> Window {
        Window {
            mss: 1000.0,
            cwnd: cwnd_segments * 1000.0,
            ssthresh: ssthresh_segments * 1000.0,
            flight: (cwnd_segments * 1000.0) as u64,
            rwnd: 1 << 30,
            srtt: Some(Span::ms(100)),
            rtt_min: Some(Span::ms(100)),
            clock: Span::ZERO,
            whole: false,
        }
    }

    pub(crate) fn ack(bytes: u64) -> Ack {
        let (rtt, sent) = (Some(Span::ms(100)), Some(Time::ms(900)));
        Ack { rtt, sent, ..Ack::of_bytes(Time::s(1), bytes) }
    }

    fn each(mut check: impl FnMut(&'static str, &mut AnyGrowth)) {
        for member in AnyGrowth::MEMBERS {
            let (mut growth, _) = AnyGrowth::build(&Spec::named(member.name)).unwrap();
            check(member.name, &mut growth);
        }
    }

    #[test]
    fn every_member_opens_a_small_window_in_slow_start() {
        each(|name, growth| {
            let mut w = window(10.0, 1000.0);
            growth.on_sent(&Departure::of_bytes(Time::ZERO, 1000), &w);
            for k in 1..=10 {
                let ack = Ack { ack: Seq::at(1 + 1000 * k), highest: Seq::at(9001 + 1000 * k), ..ack(1000) };
                growth.on_ack(&ack, &mut w);
                let air = Air { delivered: 1000 * k, in_flight: 9000, more: true, ..Air::default() };
                growth.after_ack(&ack, &air, &mut w);
            }
            assert!(w.cwnd > 10_000.0 && w.cwnd <= 20_000.0, "{name}: {}", w.cwnd);
        });
    }

    #[test]
    fn every_member_stays_finite_and_above_one_segment() {
        each(|name, growth| {
            for cwnd in [1.0, 2.0, 1e6] {
                let mut w = window(cwnd, 2.0);
                for bytes in [1, 1000, 1 << 40] {
                    growth.on_ack(&ack(bytes), &mut w);
                    let loss = Loss { now: Time::ns(1), kind: LossKind::Timeout, seq: Seq::FIRST };
                    growth.on_loss(&loss, w.cwnd, &mut w);
                }
                assert!(w.cwnd.is_finite() && w.cwnd >= w.mss, "{name}: {}", w.cwnd);
            }
        });
    }
}
