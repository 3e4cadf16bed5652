//! The ideal predictor: told the truth by the laboratory. It exists only where the truth is known. Source: lp,
//! section 5.2.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss};

/// Knows; a segment that was not dropped at all counts as congestion, what TCP would assume.
#[derive(Debug, Clone, Default)]
pub struct Ideal;

impl Member for Ideal {
    const INFO: Info = Info {
        name: "ideal",
        summary: "is told the true cause by the network: the upper bound",
        formula: "the cause of the drop",
        source: "Martignon, NewReno-LP, section 5.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl LossPredictor for Ideal {
    fn verdict(&self, loss: &Loss) -> Cause {
        loss.truth.unwrap_or(Cause::Congestion)
    }
}
