//! The ideal predictor: told the truth by the laboratory. It exists only where the truth is known. Source: lp,
//! section 5.2.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, Truth};

/// Knows; a segment that was not dropped at all counts as congestion, what TCP would assume.
#[derive(Debug, Clone, Default)]
pub struct Ideal {
    fate: Option<Cause>,
}

impl Member for Ideal {
    const INFO: Info = Info {
        name: "ideal",
        summary: "is told the true cause by the network: the upper bound",
        formula: "the cause of the drop",
        source: "Martignon, NewReno-LP, section 5.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl LossPredictor for Ideal {
    fn reveal(&mut self, truth: Truth) {
        if let Truth::Fate(fate) = truth {
            self.fate = fate;
        }
    }

    fn wants_truth(&self) -> bool {
        true
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.fate.unwrap_or(Cause::Congestion)
    }
}
