//! TCP Santa Cruz: one relative delay says how many segments wait, which opens and closes the window
//! ([`crate::growth::SantaCruz`]) and tells a loss of noise from one of congestion ([`crate::response::SantaCruz`]).

use super::{Controller, Interest};
use crate::growth::{self, Growth};
use crate::relative_delay::CongestedRounds;
use crate::response;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Cause, Loss, Window};

/// TCP Santa Cruz, but for how losses are repaired.
#[derive(Debug, Clone)]
pub struct SantaCruz {
    rule: growth::SantaCruz,
    /// Whether the ACK at hand ends a round.
    over: bool,
}

impl SantaCruz {
    /// Of a growth rule, whose operating point is the response's.
    pub(super) fn of(rule: growth::SantaCruz) -> Self {
        Self { rule, over: false }
    }
}

impl Member for SantaCruz {
    const INFO: Info = Info {
        name: "santa-cruz",
        summary: "holds the bottleneck's queue, which relative delays show, and keeps the window where a loss comes without one",
        formula: "once a round: N < n − δ: +1 MSS; N > n + δ: −1 MSS; loss: N > n + δ: as halve; N = Σ D/T, n = 1.5, δ = 0.5",
        source: "Parsa and Garcia-Luna-Aceves 1999",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        growth::SantaCruz::build(args).map(Self::of)
    }
}

impl Controller for SantaCruz {
    fn interest(&self) -> Interest {
        Interest { acks: true, air: true, departures: false, paces: false, rates: false }
    }

    fn hear(&mut self, ack: &Ack, w: &Window) {
        self.over = self.rule.hear(ack, w.mss);
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.rule.on_ack(ack, w);
    }

    fn after_ack(&mut self, _: &Ack, air: &Air, w: &mut Window) {
        if std::mem::take(&mut self.over) {
            self.rule.end_round(air, w);
        }
    }

    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        response::spare(self.rule.finds_no_queue(), loss, w)
    }

    fn congested_rounds(&self) -> Option<CongestedRounds> {
        self.rule.congested_rounds()
    }

    fn wants_timestamps(&self) -> bool {
        true
    }
}
