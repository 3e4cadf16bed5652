//! CUBIC: the cubic function of time ([`crate::growth::Cubic`]) and the reduction by β that it starts from, which is one β.

use super::{Controller, Interest};
use crate::growth::{self, Growth};
use crate::response;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, Time, Window};

/// RFC 9438, whole.
#[derive(Debug, Clone)]
pub struct Cubic(growth::Cubic);

impl Cubic {
    /// Of a growth rule, whose β is the response's.
    pub(super) fn of(growth: growth::Cubic) -> Self {
        Self(growth)
    }
}

impl Member for Cubic {
    const INFO: Info = Info {
        name: "cubic",
        summary: "a cubic function of the time since the last loss, which keeps seven tenths",
        formula: "W(t) = C·(t − K)³ + W_max, K = ∛((W_max − cwnd)/C); loss: β·flight; C = 0.4, β = 0.7",
        source: "RFC 9438; HyStart++: RFC 9406",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        growth::Cubic::build(args).map(Self)
    }
}

impl Controller for Cubic {
    fn interest(&self) -> Interest {
        Interest { acks: false, air: false, departures: false, paces: false, rates: false }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.0.on_ack(ack, w);
    }

    fn on_unused(&mut self, ack: &Ack) {
        self.0.on_unused(ack);
    }

    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        response::keep(self.0.beta(), loss, w)
    }

    fn after_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.0.on_loss(loss, before, w);
    }

    fn on_undo(&mut self, now: Time, w: &mut Window) {
        self.0.on_undo(now, w);
    }
}
