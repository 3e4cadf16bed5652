//! Predictors and estimators that watch a sender and change nothing: several ways of judging one flow, in one run.

use crate::estimate::{AnyEstimator, BandwidthEstimator};
use crate::judged::Judged;
use crate::predict::{AnyPredictor, LossPredictor};
use crate::{Ack, Cause, Departure, Loss, LossKind, Truth, Window};

/// What watches.
#[derive(Debug, Clone, Default)]
pub struct Observers {
    predictors: Vec<(AnyPredictor, Judged)>,
    estimators: Vec<AnyEstimator>,
}

impl Observers {
    /// These predictors and estimators.
    pub fn new(predictors: Vec<AnyPredictor>, estimators: Vec<AnyEstimator>) -> Self {
        let predictors = predictors.into_iter().map(|p| (p, Judged::default())).collect();
        Self { predictors, estimators }
    }

    /// An ACK has come, before the window changes.
    pub fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.predictors.iter_mut().for_each(|(p, _)| p.on_ack(ack, w));
        self.estimators.iter_mut().for_each(|e| e.on_ack(ack, w));
    }

    /// A data segment was sent, or sent again.
    pub fn on_sent(&mut self, sent: &Departure) {
        self.predictors.iter_mut().for_each(|(p, _)| p.on_sent(sent));
        self.estimators.iter_mut().for_each(|e| e.on_sent(sent));
    }

    /// The truth, for the oracles among them.
    pub fn reveal(&mut self, truth: Truth) {
        self.predictors.iter_mut().for_each(|(p, _)| p.reveal(truth));
        self.estimators.iter_mut().for_each(|e| e.reveal(truth));
    }

    /// A loss event of this fate, to be judged.
    pub fn on_loss(&mut self, loss: &Loss, fate: Option<Cause>) {
        self.reveal(Truth::Fate(fate));
        for (predictor, judged) in &mut self.predictors {
            judged.count(fate, predictor.verdict(loss));
            if loss.kind == LossKind::Timeout {
                predictor.on_timeout(loss.now);
            }
        }
        for estimator in &mut self.estimators {
            estimator.advance(loss.now);
            if loss.kind == LossKind::Timeout {
                estimator.on_timeout();
            }
        }
    }

    /// What each predictor takes this loss of this fate for, in their order.
    pub fn verdicts(&mut self, loss: &Loss, fate: Option<Cause>) -> impl Iterator<Item = Cause> {
        self.reveal(Truth::Fate(fate));
        self.predictors.iter().map(|(predictor, _)| predictor.verdict(loss))
    }

    /// How each predictor has judged, in their order.
    pub fn judged(&self) -> impl Iterator<Item = &Judged> {
        self.predictors.iter().map(|(_, judged)| judged)
    }

    /// What each estimator says, bit/s, in their order.
    pub fn estimates(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.estimators.iter().map(AnyEstimator::bits_per_second)
    }
}
