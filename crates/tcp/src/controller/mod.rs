//! What sets the window and the pace: one algorithm, whose state is in one place.
//!
//! A sender's controller hears of every ACK, departure and loss, owns `w.cwnd` and `w.ssthresh` while nothing is being
//! repaired, and may pace. [`Composed`] is the product of a growth rule, a loss response and a pacing, as a scenario writes it;
//! an algorithm whose halves share what they know ([`Cubic`], [`Bbr`], [`Vegas`], [`SantaCruz`]) is a member of its own, and
//! so is one from elsewhere. How losses are noticed and repaired is [`crate::recovery`]'s.

mod bbr;
mod composed;
mod cubic;
mod santa_cruz;
mod vegas;

pub use bbr::Bbr;
pub use composed::Composed;
pub use cubic::Cubic;
pub use santa_cruz::SantaCruz;
pub use vegas::Vegas;

use crate::growth::{AnyGrowth, Growth};
use crate::pace::AnyPacing;
use crate::response::AnyResponse;
use crate::spec::family;
use crate::{Ack, Air, Cause, Departure, Loss, Time, Truth, Window};

/// What a controller wants to hear of. What it does not ask for spares every segment the trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// [`Controller::hear`].
    pub acks: bool,
    /// [`Controller::after_ack`].
    pub air: bool,
    /// [`Controller::on_sent`].
    pub departures: bool,
    /// [`Controller::pacing_rate`] may be asked.
    pub paces: bool,
    /// [`Air::rate`] is worked out, where `air` is asked for too.
    pub rates: bool,
}

impl Interest {
    /// Everything.
    pub const ALL: Self = Self { acks: true, air: true, departures: true, paces: true, rates: true };
}

/// The contract of a controller.
pub trait Controller: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// What it wants to hear of besides losses and what opens the window.
    fn interest(&self) -> Interest {
        Interest::ALL
    }
    /// Any ACK, before it changes anything.
    fn hear(&mut self, _ack: &Ack, _w: &Window) {}
    /// An ACK of `ack.newly_acked` > 0 bytes while no loss is being repaired and the window is what limits the sender: raises
    /// `w.cwnd`.
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);
    /// Any ACK, also duplicates and those that belong to the repair of a loss, after everything else that it brings.
    fn after_ack(&mut self, _ack: &Ack, _air: &Air, _w: &mut Window) {}
    /// A segment leaves.
    fn on_sent(&mut self, _sent: &Departure, _w: &Window) {}
    /// A loss event: sets `w.ssthresh` and `w.cwnd`, neither below one MSS, and says what it took the loss for.
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause;
    /// What the loss event has made of the window, which was `before` bytes until then. Not told where an ECN echo had
    /// reduced the window for the same round already.
    fn after_loss(&mut self, _loss: &Loss, _before: f64, _w: &mut Window) {}
    /// The last loss event was none: `w` is again what it was before.
    fn on_undo(&mut self, _now: Time, _w: &mut Window) {}
    /// Bytes per second, headers included, at which to pace; `None`: as fast as the windows allow.
    fn pacing_rate(&self, _w: &Window) -> Option<f64> {
        None
    }
    /// Whether its window still holds after the sender has been idle (RFC 5681, section 4.1, says no).
    fn outlasts_idleness(&self) -> bool {
        false
    }
    /// Whether it needs the peer's timestamps ([`Ack::peer_time`]).
    fn wants_timestamps(&self) -> bool {
        false
    }
    /// The estimate of the bandwidth it goes by, bit/s, where it goes by one.
    fn estimate(&self) -> Option<f64> {
        None
    }
    /// The truth, of which only an oracle takes notice.
    fn reveal(&mut self, _truth: Truth) {}
    /// Whether an oracle is in it, which [`Controller::reveal`] must tell the truth.
    fn wants_truth(&self) -> bool {
        false
    }
}

family! {
    /// Any controller.
    pub enum AnyController: Controller, "controller" { Composed, Cubic, Bbr, Vegas in Box, SantaCruz }
    fn interest(&self) -> Interest;
    fn hear(&mut self, ack: &Ack, w: &Window);
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);
    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window);
    fn on_sent(&mut self, sent: &Departure, w: &Window);
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause;
    fn after_loss(&mut self, loss: &Loss, before: f64, w: &mut Window);
    fn on_undo(&mut self, now: Time, w: &mut Window);
    fn pacing_rate(&self, w: &Window) -> Option<f64>;
    fn outlasts_idleness(&self) -> bool;
    fn wants_timestamps(&self) -> bool;
    fn estimate(&self) -> Option<f64>;
    fn reveal(&mut self, truth: Truth);
    fn wants_truth(&self) -> bool;
}

impl AnyController {
    /// As [`Controller::on_ack`], the commonest rule in line.
    #[inline(always)]
    pub(crate) fn open(&mut self, ack: &Ack, w: &mut Window) {
        if let Self::Composed(composed) = self
            && let Some(growth) = composed.per_ack()
        {
            return growth.on_ack(ack, w);
        }
        let ack = *ack; // what is handed on has to be in memory: only where somebody asks
        self.on_ack(&ack, w);
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
