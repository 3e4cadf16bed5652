//! The ordinary start: the initial window of the stack, then slow start. Source: RFC 5681, section 3.1.

use super::Start;
use crate::spec::{Args, Info, Member, SpecError};

/// Nothing but the initial window.
#[derive(Debug, Clone, Default)]
pub struct SlowStart;

impl Member for SlowStart {
    const INFO: Info = Info {
        name: "slow-start",
        summary: "starts with the stack's initial window and opens it by slow start",
        formula: "cwnd = initial_window, ssthresh = initial_ssthresh",
        source: "RFC 5681, section 3.1",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl Start for SlowStart {}
