//! BBR: one model of the path sets rate and window, and hears of losses ([`crate::growth::Bbr`] says how).

use super::{Controller, Interest};
use crate::delivery::Brief;
use crate::growth::{self, Growth};
use crate::response::{self, LossResponse};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Cause, Departure, Loss, Window};

/// BBR version 3, whole.
#[derive(Debug, Clone)]
pub struct Bbr(growth::Bbr);

impl Bbr {
    /// Of a growth rule, which is nearly all of it.
    pub(super) fn of(growth: growth::Bbr) -> Self {
        Self(growth)
    }

    /// As [`Controller::pacing_rate`].
    #[inline(always)]
    pub(super) fn rate(&self) -> Option<f64> {
        self.0.pacing_rate()
    }

    /// As [`Controller::after_ack`], where the ACK changes nothing but sums; else nothing happens. Whether it did.
    #[inline(always)]
    pub(super) fn passes_calmly(&mut self, ack: &Brief, w: &mut Window) -> bool {
        self.0.passes_calmly(ack, w)
    }
}

impl Member for Bbr {
    const INFO: Info = <growth::Bbr as Member>::INFO;
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        growth::Bbr::build(args).map(Self)
    }
}

impl Controller for Bbr {
    fn interest(&self) -> Interest {
        Interest { acks: false, rates: false, ..Interest::ALL }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.0.on_ack(ack, w);
    }

    #[inline]
    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        self.0.after_ack(ack, air, w);
    }

    #[inline]
    fn on_sent(&mut self, sent: &Departure, w: &Window) {
        self.0.on_sent(sent, w);
    }

    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        response::Bbr.on_loss(loss, w)
    }

    fn after_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.0.on_loss(loss, before, w);
    }

    #[inline]
    fn pacing_rate(&self, _: &Window) -> Option<f64> {
        self.rate()
    }

    fn outlasts_idleness(&self) -> bool {
        self.0.outlasts_idleness()
    }
}
