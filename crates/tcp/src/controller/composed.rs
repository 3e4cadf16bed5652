//! The product of parts: how the window opens, what a loss does to it, how segments are spaced, each for itself.

use super::{Controller, Interest};
use crate::growth::{AnyGrowth, Growth, PerAck};
use crate::pace::{AnyPacing, Pacing, Spacing};
use crate::relative_delay::CongestedRounds;
use crate::response::{AnyResponse, LossResponse};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Cause, Departure, Loss, Time, Truth, Window};

/// A growth rule, a loss response and a pacing.
#[derive(Debug, Clone)]
pub struct Composed {
    growth: AnyGrowth,
    response: AnyResponse,
    pacing: AnyPacing,
}

impl Composed {
    /// These three.
    pub fn new(growth: AnyGrowth, response: AnyResponse, pacing: AnyPacing) -> Self {
        Self { growth, response, pacing }
    }

    /// Its growth rule, if that is the commonest.
    #[inline(always)]
    pub(super) fn per_ack(&mut self) -> Option<&mut PerAck> {
        if let AnyGrowth::PerAck(growth) = &mut self.growth { Some(growth) } else { None }
    }
}

impl Member for Composed {
    const INFO: Info = Info {
        name: "composed",
        summary: "a growth rule, a loss response and a pacing, each for itself",
        formula: "growth + response, paced by pacing",
        source: "RFC 5681, sections 3.1 and 3.2, whose parts they are",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            growth: args.own_member("growth", "per-ack", AnyGrowth::build_among)?,
            response: args.own_member("response", "halve", AnyResponse::build_among)?,
            pacing: args.own_member("pacing", "none", AnyPacing::build_among)?,
        })
    }
}

impl Controller for Composed {
    fn interest(&self) -> Interest {
        let (growth, response) = (self.growth.listens(), self.response.listens());
        let paces = growth || !matches!(self.pacing, AnyPacing::Unpaced(_));
        let air = growth || self.response.tracks() || self.pacing.listens();
        Interest { acks: response, air, departures: growth || response, paces, rates: false }
    }

    #[inline]
    fn hear(&mut self, ack: &Ack, w: &Window) {
        self.response.on_ack(ack, w);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.growth.on_ack(ack, w);
    }

    fn on_report(&mut self, ack: &Ack, w: &mut Window) {
        self.growth.on_report(ack, w);
    }

    fn on_unused(&mut self, ack: &Ack) {
        self.growth.on_unused(ack);
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        self.growth.after_ack(ack, air, w);
        if let Some(threshold) = self.response.threshold(w).filter(|_| !air.repairing) {
            w.ssthresh = threshold;
        }
        self.pacing.after_ack(ack, w);
    }

    #[inline]
    fn on_sent(&mut self, sent: &Departure, w: &Window) {
        self.response.on_sent(sent);
        self.growth.on_sent(sent, w);
    }

    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        self.response.on_loss(loss, w)
    }

    fn after_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        self.growth.on_loss(loss, before, w);
    }

    fn on_undo(&mut self, now: Time, w: &mut Window) {
        self.growth.on_undo(now, w);
    }

    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        self.growth.pacing_rate().or_else(|| self.pacing.rate(w))
    }

    fn spacing(&self) -> Spacing {
        match self.growth.pacing_rate() {
            Some(_) => self.growth.spacing(),
            None => self.pacing.spacing(),
        }
    }

    fn least_burst(&self, rate: f64) -> u64 {
        self.growth.least_burst(rate)
    }

    fn outlasts_idleness(&self) -> bool {
        self.growth.outlasts_idleness()
    }

    fn wants_timestamps(&self) -> bool {
        self.growth.wants_timestamps() || self.response.wants_timestamps()
    }

    fn congested_rounds(&self) -> Option<CongestedRounds> {
        self.growth.congested_rounds()
    }

    fn estimate(&self) -> Option<f64> {
        self.response.estimate()
    }

    fn reveal(&mut self, truth: Truth) {
        self.response.reveal(truth);
    }

    fn wants_truth(&self) -> bool {
        self.response.wants_truth()
    }
}
