//! The predictor's answers held against the port's.
//!
//! An answer may differ where the round-trip time is as near to a threshold as the port's rounding: then the answer must
//! be what the definition gives for a round-trip time that much longer or shorter, and the definition goes on from there.

use crate::Error;
use truckee_tcp::predict::{AnyPredictor, LossPredictor};
use truckee_tcp::response::{AnyResponse, LossResponse};
use truckee_tcp::{Ack, Cause, Departure, Loss, LossKind, Seq, Span, Spec, Time, Truth, Window};

/// A response, and beside it the predictor that it asks: the one inside cannot be asked between losses.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    pub(super) response: AnyResponse,
    predictor: Option<AnyPredictor>,
}

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    Near,
    Differs,
}

/// What a record says of a cause.
pub(super) fn cause(verdict: u8) -> Option<Cause> {
    match verdict {
        1 => Some(Cause::Congestion),
        2 => Some(Cause::Wireless),
        _ => None,
    }
}

impl Judge {
    pub(super) fn new(response: &Spec, predictor: Option<&Spec>) -> Result<Self, Error> {
        let failed = |e: truckee_tcp::SpecError| Error::Broken(e.to_string());
        let response = AnyResponse::build(response).map_err(failed)?.0;
        let predictor = predictor.map(AnyPredictor::build).transpose().map_err(failed)?.map(|(p, _)| p);
        Ok(Self { response, predictor })
    }

    pub(super) fn on_sent(&mut self, sent: &Departure) {
        self.response.on_sent(sent);
        if let Some(predictor) = &mut self.predictor {
            predictor.on_sent(sent);
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.response.on_ack(ack, w);
        if let Some(predictor) = &mut self.predictor {
            predictor.on_ack(ack, w);
        }
    }

    fn verdict(&self, now: Time, seq: Seq) -> Option<Cause> {
        let loss = Loss::new(now, LossKind::DupAcks, seq);
        self.predictor.as_ref().map(|p| p.verdict(&loss))
    }

    /// An ACK, and what the port would take a loss for after it; none where there is no predictor.
    pub(super) fn hear(
        &mut self,
        ack: &Ack,
        w: &Window,
        port: Option<Cause>,
        bound: f64,
    ) -> Option<Agreement> {
        let before = self.predictor.is_some().then(|| self.clone());
        self.on_ack(ack, w);
        if self.response.wants_truth() {
            return None; // there is nothing that an oracle would answer before there is a loss
        }
        let answer = self.verdict(ack.now, ack.ack);
        if answer == port {
            return answer.map(|_| Agreement::Same);
        }
        let (before, rtt) = (before?, ack.rtt.unwrap_or(Span::ZERO));
        for shifted in [rtt + shift(rtt, bound), rtt.saturating_sub(shift(rtt, bound))] {
            let (mut other, mut ack) = (before.clone(), *ack);
            ack.rtt = ack.rtt.map(|_| shifted);
            other.on_ack(&ack, w);
            if other.verdict(ack.now, ack.ack) == port {
                *self = other;
                return Some(Agreement::Near);
            }
        }
        Some(Agreement::Differs)
    }

    /// What the port had been told of the loss that is judged next.
    pub(super) fn reveal(&mut self, fate: Option<Cause>) {
        self.response.reveal(Truth::Fate(fate));
    }

    /// A loss: what it was taken for, and whether the port took it for the same.
    pub(super) fn on_loss(&mut self, loss: &Loss, w: &mut Window, port: Option<Cause>) -> Option<Agreement> {
        let cause = self.response.on_loss(loss, w);
        if loss.kind == LossKind::Timeout
            && let Some(predictor) = &mut self.predictor
        {
            predictor.on_timeout(loss.now);
        }
        self.predictor.as_ref()?;
        Some(if Some(cause) == port { Agreement::Same } else { Agreement::Differs })
    }
}

fn shift(rtt: Span, bound: f64) -> Span {
    Span::truncated(rtt.as_f64() * bound).max(Span::ns(1))
}
