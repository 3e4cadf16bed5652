//! The response of NewReno-LP: a predictor judges each loss, and only congestion shrinks the window.
//!
//! `over` is the response to congestion: halve, or highspeed (section 6.6). Duplicate ACKs: wireless → ssthresh = cwnd = flight; congestion → as that response (halve: the paper's "min" is a
//! misprint for RFC 5681's max). Timeout: ssthresh likewise by cause, cwnd = 1 MSS in both cases. An ECN echo is
//! congestion by definition. Source: lp, section 4.2, algorithm 4.2.1.

use super::LossResponse;
use crate::predict::{AnyPredictor, LossPredictor};
use crate::registry::AnyMember;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Departure, Loss, LossKind, Truth, Window};

/// Asks a loss predictor first. `R`: any response, of which it takes one for congestion.
#[derive(Debug, Clone)]
pub struct ByCause<R> {
    predictor: Box<AnyPredictor>,
    /// What congestion does to the window.
    over: Box<R>,
}

impl<R: AnyMember> Member for ByCause<R> {
    const INFO: Info = Info {
        name: "by-cause",
        summary: "asks a loss predictor, and shrinks the window only for congestion",
        formula: "wireless: ssthresh = cwnd = flight; congestion: max(flight/2, 2·MSS); timeout: cwnd = 1 MSS",
        source: "Martignon, NewReno-LP, section 4.2, algorithm 4.2.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let mut asks = false;
        let over = args.own_member("over", "halve", |spec, registry| {
            asks = spec.name == Self::INFO.name;
            R::build_among(spec, registry)
        })?;
        if asks {
            return Err(args.bad("over", &"by-cause", "a response that does not ask a predictor itself"));
        }
        let predictor = args.member("predictor", "vegas", AnyPredictor::build_among)?;
        Ok(Self { predictor: Box::new(predictor), over: Box::new(over) })
    }
}

impl<R: LossResponse + Clone + 'static> LossResponse for ByCause<R> {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let verdict =
            if loss.kind == LossKind::EcnEcho { Cause::Congestion } else { self.predictor.verdict(loss) };
        if loss.kind == LossKind::Timeout {
            self.predictor.on_timeout(loss.now);
        }
        if verdict == Cause::Congestion {
            return self.over.on_loss(loss, w);
        }
        w.ssthresh = (w.flight as f64).max(2.0 * w.mss);
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.ssthresh };
        verdict
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.predictor.on_ack(ack, w);
        self.over.on_ack(ack, w);
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.predictor.on_sent(sent);
        self.over.on_sent(sent);
    }

    fn reveal(&mut self, truth: Truth) {
        self.predictor.reveal(truth);
        self.over.reveal(truth);
    }

    fn wants_truth(&self) -> bool {
        self.predictor.wants_truth() || self.over.wants_truth()
    }

    fn estimate(&self) -> Option<f64> {
        self.over.estimate()
    }

    fn wants_timestamps(&self) -> bool {
        self.over.wants_timestamps()
    }
}
