//! Congestion or wireless? Predictors of what a loss was.
//!
//! A predictor sees every ACK (its RTT sample, the window) before the window changes, and is asked at each loss event.
//! Until a threshold was first crossed it answers congestion, what TCP would assume. It changes nothing itself: it
//! can be in charge (see [`crate::response::ByCause`]) or merely watch.

mod constant;
mod oracle;
mod spike;
mod vegas;

pub use constant::{AlwaysCongested, AlwaysWireless};
pub use oracle::Ideal;
pub use spike::Spike;
pub use vegas::Vegas;

use crate::spec::family;
use crate::{Ack, Cause, Departure, Loss, Time, Window};

/// The contract of a loss predictor.
pub trait LossPredictor {
    /// An ACK has come.
    fn on_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// A data segment was sent, or sent again.
    fn on_sent(&mut self, _sent: &Departure) {}
    /// A retransmission timeout has been judged.
    fn on_timeout(&mut self, _now: Time) {}
    /// What this loss is taken for.
    fn verdict(&self, loss: &Loss) -> Cause;
}

family! {
    /// Any loss predictor.
    pub enum AnyPredictor: LossPredictor, "loss predictor" { Vegas, Spike, AlwaysCongested, AlwaysWireless, Ideal }
    fn on_ack(&mut self, ack: &Ack, w: &Window);
    fn on_sent(&mut self, sent: &Departure);
    fn on_timeout(&mut self, now: Time);
    fn verdict(&self, loss: &Loss) -> Cause;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossKind, Spec};

    #[test]
    fn before_any_ack_every_judging_member_says_congestion() {
        for member in AnyPredictor::MEMBERS.iter().filter(|m| m.name != "always-wireless") {
            let (predictor, _) = AnyPredictor::build(&Spec::named(member.name)).unwrap();
            let loss = Loss { now: 0, kind: LossKind::DupAcks, seq: 1, truth: None };
            assert_eq!(predictor.verdict(&loss), Cause::Congestion, "{}", member.name);
        }
    }

    #[test]
    fn only_the_ideal_one_reads_the_truth() {
        for member in AnyPredictor::MEMBERS {
            let (predictor, _) = AnyPredictor::build(&Spec::named(member.name)).unwrap();
            let verdict = |truth| {
                predictor.verdict(&Loss { now: 0, kind: LossKind::DupAcks, seq: 1, truth: Some(truth) })
            };
            let differs = verdict(Cause::Congestion) != verdict(Cause::Wireless);
            assert_eq!(differs, member.name == "ideal", "{}", member.name);
        }
    }
}
