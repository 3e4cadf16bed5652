//! Who hears of an ACK's aftermath, known from a sender's parts. Not for: what they hear, which is `aftermath.rs`'s.

use crate::Stack;
use crate::controller::AnyController;
use crate::recovery::{AnyRecovery, Recovery};

/// Who hears of an ACK once all else that it brings is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearers {
    Nobody,
    /// A controller alone, which has little to do mostly ([`AnyController::is_often_calm`]).
    OftenCalm,
    Others,
}

impl Hearers {
    /// Of a sender with these parts.
    pub(super) fn of(stack: &Stack, recovery: &AnyRecovery, controller: &AnyController, air: bool) -> Self {
        let others = recovery.hears_departures() || stack.tso || stack.small_queues;
        match (others, air) {
            (false, false) => Self::Nobody,
            (false, true) if controller.is_often_calm() => Self::OftenCalm,
            _ => Self::Others,
        }
    }
}
