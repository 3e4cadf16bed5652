//! What sets the window and the pace: one algorithm, whose state is in one place.
//!
//! A sender's controller hears of every ACK, departure and loss, owns `w.cwnd` and `w.ssthresh` while nothing is being
//! repaired, and may pace. [`Composed`] is the product of a growth rule, a loss response and a pacing, as a scenario writes it;
//! an algorithm whose halves share what they know ([`Cubic`], [`Bbr`], [`Vegas`], [`SantaCruz`]) is a member of its own, and
//! so is one from elsewhere. [`Steered`] is told both from outside the run, and no scenario names it. How losses are noticed
//! and repaired is [`crate::recovery`]'s.

mod bbr;
mod composed;
mod contract;
mod cubic;
mod order;
mod santa_cruz;
mod steered;
mod vegas;

pub use bbr::Bbr;
pub use composed::Composed;
pub use contract::{Controller, Interest};
pub use cubic::Cubic;
pub use order::Order;
pub use santa_cruz::SantaCruz;
pub use steered::Steered;
pub use vegas::Vegas;

use crate::delivery::Brief;
use crate::growth::{AnyGrowth, Growth};
use crate::pace::{AnyPacing, Spacing};
use crate::relative_delay::CongestedRounds;
use crate::response::AnyResponse;
use crate::spec::family;
use crate::{Ack, Air, Cause, Departure, Loss, Time, Truth, Window};

family! {
    /// Any controller.
    pub enum AnyController: Controller, "controller" { Composed, Cubic, Bbr, Vegas in Box, SantaCruz }
    fn interest(&self) -> Interest;
    fn hear(&mut self, ack: &Ack, w: &Window);
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);
    fn on_report(&mut self, ack: &Ack, w: &mut Window);
    fn on_unused(&mut self, ack: &Ack);
    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window);
    fn on_sent(&mut self, sent: &Departure, w: &Window);
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause;
    fn after_loss(&mut self, loss: &Loss, before: f64, w: &mut Window);
    fn on_undo(&mut self, now: Time, w: &mut Window);
    fn steer(&mut self, order: &Order, w: &mut Window);
    fn pacing_rate(&self, w: &Window) -> Option<f64>;
    fn spacing(&self) -> Spacing;
    fn least_burst(&self, rate: f64) -> u64;
    fn outlasts_idleness(&self) -> bool;
    fn wants_timestamps(&self) -> bool;
    fn congested_rounds(&self) -> Option<CongestedRounds>;
    fn estimate(&self) -> Option<f64>;
    fn reveal(&mut self, truth: Truth);
    fn wants_truth(&self) -> bool;
}

impl AnyController {
    /// As [`Controller::on_ack`]; in line the commonest rule, and one that needs nothing of the ACK.
    #[inline(always)]
    pub(crate) fn open(&mut self, ack: &Ack, w: &mut Window) {
        if let Self::Composed(composed) = self
            && let Some(growth) = composed.per_ack()
        {
            return growth.on_ack(ack, w);
        }
        if let Self::Bbr(bbr) = self {
            return bbr.on_ack(ack, w);
        }
        let ack = *ack; // what is handed on has to be in memory: only where somebody asks
        self.on_ack(&ack, w);
    }

    /// As [`Controller::on_unused`], of which the commonest want to know nothing.
    #[inline(always)]
    pub(crate) fn leave(&mut self, ack: &Ack) {
        let deaf = match self {
            Self::Composed(composed) => composed.per_ack().is_some(),
            Self::Bbr(_) => true,
            _ => false,
        };
        if !deaf {
            let ack = *ack; // what is handed on has to be in memory: only where somebody asks
            self.on_unused(&ack);
        }
    }

    /// As [`Controller::on_sent`]; told directly where who listens at every departure is known.
    #[inline(always)]
    pub(crate) fn hear_of_departure(&mut self, sent: &Departure, w: &Window) {
        if let Self::Bbr(bbr) = self { bbr.on_sent(sent, w) } else { self.on_sent(sent, w) }
    }

    /// The pacing rate of a controller that spaces by bytes on the wire, if that is known without asking much.
    #[inline(always)]
    pub(crate) fn wire_rate(&self) -> Option<f64> {
        if let Self::Bbr(bbr) = self { bbr.rate() } else { None }
    }

    /// Whether [`Self::passes_calmly`] is worth asking.
    #[inline(always)]
    pub(crate) fn is_often_calm(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// As [`Controller::after_ack`], where the ACK changes little, which takes little to see; else nothing happens. Whether it did.
    #[inline(always)]
    pub(crate) fn passes_calmly(&mut self, ack: &Brief, w: &mut Window) -> bool {
        if let Self::Bbr(bbr) = self { bbr.passes_calmly(ack, w) } else { false }
    }

    /// The controller of these parts: where both halves of one algorithm are asked for alike, and nothing but it paces, that
    /// algorithm, and otherwise their product.
    pub fn of_parts(growth: AnyGrowth, response: AnyResponse, pacing: AnyPacing) -> Self {
        if !matches!(pacing, AnyPacing::Unpaced(_)) {
            return Self::Composed(Composed::new(growth, response, pacing));
        }
        match (growth, response) {
            (AnyGrowth::Cubic(growth), AnyResponse::Cubic(response)) if growth.beta() == response.beta() => {
                Self::Cubic(Cubic::of(growth))
            }
            (AnyGrowth::Bbr(growth), AnyResponse::Bbr(_)) => Self::Bbr(Bbr::of(growth)),
            (AnyGrowth::Vegas(growth), AnyResponse::Vegas(response)) => {
                Self::Vegas(Vegas::of(*growth, *response).into())
            }
            (AnyGrowth::SantaCruz(growth), AnyResponse::SantaCruz(response)) if growth.aims_as(&response) => {
                Self::SantaCruz(SantaCruz::of(growth))
            }
            (growth, response) => Self::Composed(Composed::new(growth, response, pacing)),
        }
    }
}

#[cfg(test)]
mod tests;
