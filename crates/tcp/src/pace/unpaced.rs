//! No pacing: ACKs alone clock the segments out.

use super::Pacing;
use crate::Window;
use crate::spec::{Args, Info, Member, SpecError};

/// Segments leave as soon as the windows allow.
#[derive(Debug, Clone, Default)]
pub struct Unpaced;

impl Member for Unpaced {
    const INFO: Info = Info {
        name: "none",
        summary: "segments leave as soon as the windows allow",
        formula: "no rate",
        source: "RFC 5681",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl Pacing for Unpaced {
    fn rate(&self, _: &Window) -> Option<f64> {
        None
    }
}
