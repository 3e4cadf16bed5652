//! A controller that is told its window and its pace from outside the run: by a program that learns, say.
//!
//! It decides nothing. A loss leaves the window as it is, so that what a loss is worth is for whoever tells it; what is lost
//! is repaired by the [`crate::recovery`] as ever. Where that takes the window into its own hands for the length of a repair,
//! and where the same segment times out again (RFC 5681, section 3.1), the window is back with the first ACK after it.
//!
//! Not for: scenarios, which cannot name it, since without anybody to tell it nothing would ever open its window.

use super::contract::{Controller, Interest};
use super::order::Order;
use crate::{Ack, Air, Cause, Loss, Window};

/// Heeds an [`Order`], and until the first one the window that the stack opens with.
#[derive(Debug, Clone, Default)]
pub struct Steered {
    order: Option<Order>,
}

impl Steered {
    /// What the order makes of the window.
    fn obey(&self, w: &mut Window) {
        if let Some(order) = &self.order {
            w.cwnd = order.window.unwrap_or(w.rwnd as f64).max(w.mss);
            w.ssthresh = w.cwnd;
        }
    }
}

impl Controller for Steered {
    fn interest(&self) -> Interest {
        Interest { air: true, paces: true, acks: false, departures: false, rates: false }
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn after_ack(&mut self, _: &Ack, air: &Air, w: &mut Window) {
        if !air.repairing {
            self.obey(w);
        }
    }

    fn on_loss(&mut self, _: &Loss, w: &mut Window) -> Cause {
        self.obey(w);
        w.ssthresh = w.ssthresh.min(w.cwnd); // to where a recovery brings the window back
        Cause::Congestion
    }

    fn steer(&mut self, order: &Order, w: &mut Window) {
        self.order = Some(*order);
        self.obey(w);
    }

    fn pacing_rate(&self, _: &Window) -> Option<f64> {
        self.order.and_then(|order| order.pace)
    }

    fn outlasts_idleness(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossKind, Seq, Time};

    #[test]
    fn the_window_is_what_it_is_told_whatever_is_lost() {
        let (mut steered, mut w) = (Steered::default(), Window::new(1000.0, 10_000.0));
        let loss = |kind| Loss { now: Time::s(1), kind, seq: Seq::FIRST };
        steered.on_loss(&loss(LossKind::DupAcks), &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (10_000.0, 10_000.0), "until then it is the stack's");
        steered.steer(&Order { window: Some(25_000.0), pace: None }, &mut w);
        for kind in [LossKind::DupAcks, LossKind::Timeout, LossKind::EcnEcho] {
            steered.on_loss(&loss(kind), &mut w);
            assert_eq!((w.cwnd, w.ssthresh), (25_000.0, 25_000.0));
        }
        w.cwnd = 1000.0;
        let repairing = Air { repairing: true, ..Air::default() };
        steered.after_ack(&Ack::of_bytes(Time::s(2), 1000), &repairing, &mut w);
        assert_eq!(w.cwnd, 1000.0, "a repair has it for its length");
        steered.after_ack(&Ack::of_bytes(Time::s(2), 1000), &Air::default(), &mut w);
        assert_eq!(w.cwnd, 25_000.0);
    }

    #[test]
    fn no_window_is_what_the_receiver_takes_and_less_than_a_segment_is_one() {
        let (mut steered, mut w) =
            (Steered::default(), Window { rwnd: 64_000, ..Window::new(1000.0, 10_000.0) });
        steered.steer(&Order { window: None, pace: Some(1e6) }, &mut w);
        assert_eq!((w.cwnd, steered.pacing_rate(&w)), (64_000.0, Some(1e6)));
        steered.steer(&Order { window: Some(1.0), pace: None }, &mut w);
        assert_eq!((w.cwnd, steered.pacing_rate(&w)), (1000.0, None));
    }
}
