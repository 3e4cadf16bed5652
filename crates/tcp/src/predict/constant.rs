//! Predictors that do not look: the bounds that any other must beat. Source: lp, section 5.2.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss};

/// What every TCP assumes.
#[derive(Debug, Clone, Default)]
pub struct AlwaysCongested;

impl Member for AlwaysCongested {
    const INFO: Info = Info {
        name: "always-congested",
        summary: "takes every loss for congestion",
        formula: "congestion",
        source: "Martignon, NewReno-LP, section 5.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl LossPredictor for AlwaysCongested {
    fn verdict(&self, _: &Loss) -> Cause {
        Cause::Congestion
    }
}

/// What nobody should assume.
#[derive(Debug, Clone, Default)]
pub struct AlwaysWireless;

impl Member for AlwaysWireless {
    const INFO: Info = Info {
        name: "always-wireless",
        summary: "takes every loss for noise",
        formula: "wireless",
        source: "Martignon, NewReno-LP, section 5.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl LossPredictor for AlwaysWireless {
    fn verdict(&self, _: &Loss) -> Cause {
        Cause::Wireless
    }
}
