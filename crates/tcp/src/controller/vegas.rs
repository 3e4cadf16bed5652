//! Vegas: the backlog opens and closes the window ([`crate::growth::Vegas`]), a loss takes a quarter
//! ([`crate::response::Vegas`]).

use super::{Controller, Interest};
use crate::growth::{self, Growth};
use crate::response::{self, LossResponse};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Cause, Departure, Loss, Window};

/// Vegas, but for its early retransmissions, which are [`crate::recovery::Vegas`]'s.
#[derive(Debug, Clone)]
pub struct Vegas {
    backlog: growth::Vegas,
    decrease: response::Vegas,
}

impl Vegas {
    /// Of its halves.
    pub(super) fn of(backlog: growth::Vegas, decrease: response::Vegas) -> Self {
        Self { backlog, decrease }
    }
}

impl Member for Vegas {
    const INFO: Info = Info {
        name: "vegas",
        summary: "holds a few own segments waiting in queues, and takes a quarter of the window for a loss",
        formula: "once a round: diff < α: +1 MSS, diff > β: −1 MSS; loss: ¾·cwnd; α = 1, β = 3, γ = 1",
        source: "Brakmo and Peterson 1995, section 3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { backlog: growth::Vegas::build(args)?, decrease: response::Vegas::build(args)? })
    }
}

impl Controller for Vegas {
    fn interest(&self) -> Interest {
        Interest { paces: false, rates: false, ..Interest::ALL }
    }

    #[inline]
    fn hear(&mut self, ack: &Ack, w: &Window) {
        self.decrease.on_ack(ack, w);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.backlog.on_ack(ack, w);
    }

    #[inline]
    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        self.backlog.after_ack(ack, air, w);
    }

    #[inline]
    fn on_sent(&mut self, sent: &Departure, _: &Window) {
        self.decrease.on_sent(sent);
    }

    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        self.decrease.on_loss(loss, w)
    }

    fn after_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.backlog.on_loss(loss, before, w);
    }
}
