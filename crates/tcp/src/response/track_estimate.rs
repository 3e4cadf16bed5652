//! ssthresh from an estimate of the bandwidth, at every ACK: what TIBET's authors tried and advise against.
//!
//! Losses as [`ToEstimate`] has them. Besides, ssthresh = B·RTTmin, at least 2 MSS, after each ACK outside of the repair of a
//! loss: a sender in slow start leaves it when its window reaches what it is estimated to use. Source: Martignon,
//! NewReno-LP thesis, section 3.3.2, after figure 3.12.

use super::{LossResponse, ToEstimate};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Departure, Loss, Truth, Window};

/// Threshold to the estimated bandwidth–delay product at all times.
#[derive(Debug, Clone)]
pub struct TrackEstimate {
    at_losses: ToEstimate,
}

impl Member for TrackEstimate {
    const INFO: Info = Info {
        name: "track-estimate",
        summary: "as to-estimate, and sets the threshold anew at every ACK",
        formula: "each ACK: ssthresh = max(B·RTTmin, 2·MSS); loss: as to-estimate",
        source: "Martignon, NewReno-LP, section 3.3.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        ToEstimate::build(args).map(|at_losses| Self { at_losses })
    }
}

impl LossResponse for TrackEstimate {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        self.at_losses.on_loss(loss, w)
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.at_losses.on_ack(ack, w);
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.at_losses.on_sent(sent);
    }

    fn reveal(&mut self, truth: Truth) {
        self.at_losses.reveal(truth);
    }

    fn wants_truth(&self) -> bool {
        self.at_losses.wants_truth()
    }

    fn estimate(&self) -> Option<f64> {
        self.at_losses.estimate()
    }

    fn tracks(&self) -> bool {
        true
    }

    fn threshold(&self, w: &Window) -> Option<f64> {
        self.at_losses.bandwidth_delay(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{AnyController, Controller};
    use crate::growth::AnyGrowth;
    use crate::pace::AnyPacing;
    use crate::response::AnyResponse;
    use crate::{Air, Span, Spec, Time};

    /// What ssthresh is after a second of 8 Mbit/s and a smallest round-trip time of 100 ms.
    fn after(response: &str, repairing: bool) -> f64 {
        let growth = AnyGrowth::build(&Spec::named("per-ack")).unwrap().0;
        let pacing = AnyPacing::build(&Spec::named("none")).unwrap().0;
        let response = AnyResponse::build(&Spec::named(response)).unwrap().0;
        let mut controller = AnyController::of_parts(growth, response, pacing);
        let mut w = crate::growth::tests::window(10.0, 500.0);
        w.rtt_min = Some(Span::ms(100));
        let interest = controller.interest();
        for k in 0..1000 {
            controller.on_sent(&Departure::of_bytes(Time::ms(k), 1000), &w);
            let ack = Ack::of_bytes(Time::ms(k), 1000);
            controller.hear(&ack, &w);
            if interest.air {
                controller.after_ack(&ack, &Air { repairing, ..Air::default() }, &mut w);
            }
        }
        w.ssthresh
    }

    #[test]
    fn the_threshold_follows_the_estimate_outside_of_repairs() {
        assert!((after("track-estimate", false) - 100e3).abs() < 1.0);
        assert_eq!(after("track-estimate", true), 500e3);
        assert_eq!(after("to-estimate", false), 500e3, "at losses only");
    }
}
